//! The cells of a paper's experiments, and the scenario of each.

use std::sync::Arc;

use indexmap::IndexMap;
use rand_core::RngCore;
use serde_json::Value;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::{Document, Problem, Problems};
use subflow_scenario::sweep::{Parameters, Plan, Point};

use super::effort::Effort;
use super::experiment::{Choice, Common, Draw, Each, Experiment, at};
use super::folder::Folder;
use super::template::{fill, fill_all, shown, to_toml};

/// The variable that changes the scenario like the table of this name.
const SET: &str = "set";
/// More runs of a cell are assumed to be a mistake.
const MOST_RUNS: u64 = 100_000;

/// What a figure is of: a point of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The item that it belongs to.
    pub(crate) item: String,
    pub(crate) variables: Parameters,
    /// The names of the variables that tell it from others of its experiment.
    pub(crate) swept: Arc<Vec<String>>,
    /// Whether the publication has it.
    pub(crate) is_published: bool,
    /// Whether metrics over time are measured.
    pub(crate) series: bool,
    /// Whether a run ends when its first flow has completed.
    pub(crate) until_complete: bool,
    /// Whether its runs are part of a quick look at all items.
    pub(crate) is_in_quick_look: bool,
    runs: u64,
    scenario: String,
    /// Paths of the scenario, and templates of their values.
    set: Parameters,
    each: Arc<Vec<Each>>,
    draws: Arc<Vec<Draw>>,
}

impl Cell {
    /// Whether a variable has this value.
    pub(crate) fn is(&self, name: &str, value: impl Into<Value>) -> bool {
        self.variables.get(name) == Some(&value.into())
    }

    /// Whether a variable is written as `text`.
    pub(crate) fn says(&self, name: &str, text: &str) -> bool {
        self.variables.get(name).is_some_and(|value| shown(value) == text)
    }

    /// A variable as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.variables.get(name).map_or_else(String::new, shown)
    }

    /// A variable as a number; NaN if it is none.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.variables.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    /// A variable that is a whole number; 0 if it is none.
    pub(crate) fn integer(&self, name: &str) -> i64 {
        self.variables.get(name).and_then(Value::as_i64).unwrap_or(0)
    }

    /// The values that tell it from others of its item.
    pub(crate) fn name(&self) -> String {
        self.swept.iter().map(|name| self.text(name)).collect::<Vec<_>>().join(", ")
    }

    /// The number of its runs.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether its scenario may depend on the seed.
    pub(super) fn varies(&self) -> bool {
        let names_seed = |set: &Parameters| set.values().any(|value| value.to_string().contains("seed"));
        !self.draws.is_empty() || names_seed(&self.set) || self.each.iter().any(|each| names_seed(&each.set))
    }

    /// The changes of the scenario in the run with `seed`.
    fn assignments(&self, seed: u64) -> Result<Parameters, String> {
        let mut variables = self.variables.clone();
        variables.insert("seed".to_owned(), seed.into());
        self.draw(seed, &mut variables)?;
        let mut assignments = Parameters::new();
        assign(&mut assignments, &self.set, &variables)?;
        for each in self.each.iter() {
            for value in each.values(&variables)? {
                variables.insert(each.variable.clone(), value);
                let has =
                    |(name, value): (&String, &Value)| fill(&format!("${{{name}}}"), &variables).as_ref() == Ok(value);
                if each.only.iter().all(has) {
                    assign(&mut assignments, &each.set, &variables)?;
                }
            }
        }
        Ok(assignments)
    }

    /// Adds the variables that are drawn.
    fn draw(&self, seed: u64, variables: &mut Parameters) -> Result<(), String> {
        let mut streams = IndexMap::new();
        let mut value = |name: String, [least, most]: [u64; 2]| -> Value {
            let random = streams.entry(name).or_insert_with_key(|name| stream(seed, name));
            (least + random.next_u64() % (most - least + 1)).into()
        };
        for Draw { variable, stream, values, count } in self.draws.iter() {
            let drawn = match count {
                None => value(stream.clone(), *values),
                Some(count) => {
                    let count = fill_all(count, variables)?.as_u64().unwrap_or(0);
                    (0..count).map(|n| value(stream.replace("${n}", &n.to_string()), *values)).collect()
                }
            };
            variables.insert(variable.clone(), drawn);
        }
        Ok(())
    }

    /// The scenario's file with all values of the run with `seed`.
    fn document(&self, folder: &Folder, seed: u64) -> Result<Document, Problem> {
        let mut document = folder.scenario(&self.scenario)?;
        let of_item = |problem| Problem::nowhere(format!("{}, item {}: {problem}", folder.name, self.item));
        for (path, value) in self.assignments(seed).map_err(of_item)? {
            document.set("set", &format!("{path}={}", to_toml(&value).to_string().trim()))?;
        }
        Ok(document)
    }

    /// The scenario of the run with `seed`.
    pub(crate) fn scenario(&self, folder: &Folder, seed: u64) -> Result<Scenario, Problems> {
        Scenario::read(&self.document(folder, seed)?)
    }

    /// The same as a point of a plan; the plan has nothing else.
    pub(super) fn plan(&self, folder: &Folder, seed: u64) -> Result<Plan, Problems> {
        let mut plan = Plan::read(self.document(folder, seed)?)?;
        let [Point { parameters, .. }] = plan.points.as_mut_slice() else {
            let message = format!("{}: {}: the scenario has a sweep", folder.name, self.scenario);
            return Err(Problem::nowhere(message).help("put it into the experiment's table `sweep`").into());
        };
        parameters.insert("item".to_owned(), self.item.as_str().into());
        parameters.extend(self.variables.iter().map(|(name, value)| (name.clone(), value.clone())));
        Ok(plan)
    }
}

/// Adds the changes `set`. A path that ends with `[]` adds an element to the list that it has so far.
fn assign(all: &mut Parameters, set: &Parameters, variables: &Parameters) -> Result<(), String> {
    for (path, value) in set {
        let (path, value) = (shown(&fill(path, variables)?), fill_all(value, variables)?);
        match path.strip_suffix("[]") {
            None => {
                all.insert(path, value);
            }
            Some(list) => match all.entry(list.to_owned()).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(elements) => elements.push(value),
                other => return Err(format!("{path}: found {other}, expected a list")),
            },
        }
    }
    Ok(())
}

/// The cells of `experiment` at this effort, under `choice` if there is one. `cases` are further variables, of one cell
/// each, for an experiment that has such.
pub(crate) fn cells(
    all: &Common,
    experiment: &Experiment,
    effort: Effort,
    choice: Option<&Choice>,
    cases: &[Parameters],
) -> Result<Vec<Cell>, Problem> {
    let mut common = at(&all.variables, effort);
    common.extend(at(&experiment.variables, effort));
    let (mut set, mut axes) = (all.set.clone(), all.axes.clone());
    set.extend(experiment.set.clone());
    if let Some(choice) = choice {
        common.extend(at(&choice.variables, effort));
        set.extend(choice.set.clone());
        axes.extend(choice.axes.clone());
    }
    let other = choice.and_then(|choice| choice.scenario.as_ref());
    let scenario = other.unwrap_or(&experiment.scenario);
    let (each, draws) = (Arc::new(experiment.each.clone()), Arc::new(all.draws.clone()));
    let names = experiment.sweep.keys().flat_map(|names| names.split(',').map(str::trim));
    let swept = Arc::new(names.filter(|name| *name != SET).map(str::to_owned).collect::<Vec<_>>());
    let cell = |step: Step| -> Result<Cell, String> {
        let (mut variables, mut set) = (common.clone(), set.clone());
        variables.extend(step.variables);
        set.extend(step.set);
        let variables = resolved(&variables);
        let runs = variables.get("runs").unwrap_or(&Value::Null);
        let wrong = || format!("runs: found {runs}, expected a whole number up to {MOST_RUNS}");
        Ok(Cell {
            item: shown(&fill(&experiment.item, &variables)?),
            is_published: experiment.is_published && variables.get("published") != Some(&false.into()),
            series: experiment.series,
            until_complete: experiment.until_complete,
            is_in_quick_look: experiment.is_in_quick_look,
            runs: runs.as_u64().filter(|runs| *runs <= MOST_RUNS).ok_or_else(wrong)?,
            swept: Arc::clone(&swept),
            scenario: scenario.clone(),
            set,
            each: Arc::clone(&each),
            draws: Arc::clone(&draws),
            variables,
        })
    };
    let cells = product(&axes, experiment, effort, cases).and_then(|steps| steps.into_iter().map(cell).collect());
    cells.map_err(|problem| Problem::nowhere(format!("paper.toml: experiments, item {}: {problem}", experiment.item)))
}

/// The variables without references among them. What depends on a run stays a template.
fn resolved(variables: &Parameters) -> Parameters {
    let value = |value: &Value| fill_all(value, variables).unwrap_or_else(|_| value.clone());
    variables.iter().map(|(name, of)| (name.clone(), value(of))).collect()
}

/// What the values of some axes are.
#[derive(Clone, Debug, Default)]
struct Step {
    variables: Parameters,
    set: Parameters,
}

/// All combinations of the axes' values; the last axis varies fastest.
fn product(
    axes: &Parameters,
    experiment: &Experiment,
    effort: Effort,
    cases: &[Parameters],
) -> Result<Vec<Step>, String> {
    let case = |variables: &Parameters| Step { variables: variables.clone(), set: Parameters::new() };
    let mut all = if experiment.has_cases { cases.iter().map(case).collect() } else { vec![Step::default()] };
    for (names, values) in &experiment.sweep {
        let values = effort.choose(values);
        let values = match values.as_str() {
            None => values,
            Some(name) => effort.choose(axes.get(name).ok_or_else(|| format!("sweep: there is no axis {name:?}"))?),
        };
        let values = values.as_array().ok_or_else(|| format!("sweep: {names}: found {values}, expected a list"))?;
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let with = |step: &Step| values.iter().map(|value| step.with(&names, value)).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

impl Step {
    /// The same with `value` of the variables `names`: one value for all, or a list with one for each.
    fn with(&self, names: &[&str], value: &Value) -> Self {
        let mut step = self.clone();
        let each = value.as_array().filter(|each| names.len() > 1 && each.len() == names.len());
        for (index, &name) in names.iter().enumerate() {
            let value = each.map_or(value, |each| &each[index]);
            match value.as_object() {
                Some(changes) if name == SET => {
                    step.set.extend(changes.iter().map(|(path, value)| (path.clone(), value.clone())));
                }
                _ => {
                    step.variables.insert(name.to_owned(), value.clone());
                }
            }
        }
        step
    }
}
