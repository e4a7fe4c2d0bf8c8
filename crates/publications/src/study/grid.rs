//! The cells of an experiment: the combinations of the values that its sweep has.

use std::sync::Arc;

use serde_json::Value;
use subflow_scenario::file::Problem;
use subflow_scenario::sweep::Parameters;

use super::cell::Cell;
use super::description::Description;
use super::effort::Effort;
use super::experiment::{Choice, Experiment, at};
use super::template::{fill, fill_all, shown};

/// The variable that changes the scenario like the table of this name.
const SET: &str = "set";
/// More runs of a cell are assumed to be a mistake.
const MOST_RUNS: u64 = 100_000;

/// The cells of `experiment` at this effort, under `choice` if there is one. `cases` are further variables, of one cell
/// each, for an experiment that has such.
pub(crate) fn cells(
    all: &Description,
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
    let scenario = choice.and_then(|choice| choice.scenario.as_ref()).or(experiment.scenario.as_ref());
    let scenario = scenario.or(all.scenario.as_ref()).expect("the file was checked for it");
    let (shared, draws) = (Arc::new(experiment.clone()), Arc::new(all.draws.clone()));
    let names = |names: &String| split(names).filter(|name| *name != SET).map(str::to_owned).collect();
    let axes_of_cells = Arc::new(experiment.sweep.keys().map(names).collect::<Vec<Vec<String>>>());
    let cell = |step: Step| -> Result<Cell, String> {
        let (mut variables, mut set) = (common.clone(), set.clone());
        variables.extend(step.variables);
        set.extend(step.set);
        let variables = resolved(&variables);
        let runs = variables.get("runs").unwrap_or(&Value::Null);
        let wrong = || format!("runs: found {runs}, expected a whole number up to {MOST_RUNS}");
        Ok(Cell {
            item: shown(&fill(&experiment.item, &variables)?),
            is_published: experiment.published && variables.get("published") != Some(&false.into()),
            experiment: Arc::clone(&shared),
            runs: runs.as_u64().filter(|runs| *runs <= MOST_RUNS).ok_or_else(wrong)?,
            axes: Arc::clone(&axes_of_cells),
            scenario: scenario.clone(),
            set,
            draws: Arc::clone(&draws),
            variables,
        })
    };
    let cells = product(&axes, experiment, effort, cases).and_then(|steps| steps.into_iter().map(cell).collect());
    cells.map_err(|problem| Problem::nowhere(format!("paper.toml: experiments, item {}: {problem}", experiment.item)))
}

fn split(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').map(str::trim)
}

/// The variables without references among them. What depends on a run stays a template.
pub(super) fn resolved(variables: &Parameters) -> Parameters {
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
    let mut all = if experiment.cases.is_empty() { vec![Step::default()] } else { cases.iter().map(case).collect() };
    for (names, values) in &experiment.sweep {
        let values = effort.choose(values);
        let values = match values.as_str() {
            None => values,
            Some(name) => effort.choose(axes.get(name).ok_or_else(|| format!("sweep: there is no axis {name:?}"))?),
        };
        let values = values.as_array().ok_or_else(|| format!("sweep: {names}: found {values}, expected a list"))?;
        let names: Vec<&str> = split(names).collect();
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
