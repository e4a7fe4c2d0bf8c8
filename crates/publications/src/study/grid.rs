//! The cells of a paper's experiments, and the scenario of each.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use rand_core::RngCore;
use serde_json::Value;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Parameters, Plan, Point};
use toml_edit::Value as Toml;

use super::Folder;
use super::description::{Choice, Description, Draw, Entries, Experiment, at};
use super::effort::Effort;
use super::template::{fill_json, fill_toml, shown, to_json};

/// The variable that changes the scenario like the table of this name.
const SET: &str = "set";

/// What a figure is of: a point of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The item that it belongs to.
    pub(crate) item: String,
    pub(crate) variables: Parameters,
    /// Whether the publication has it.
    pub(crate) is_published: bool,
    /// Whether metrics over time are measured.
    pub(crate) series: bool,
    /// Whether a run ends when its first flow has completed.
    pub(crate) until_complete: bool,
    scenario: String,
    /// Paths of the scenario, and templates of their values.
    set: Entries,
    draws: Arc<Vec<Draw>>,
}

impl Cell {
    /// Whether a variable has this value.
    pub(crate) fn is(&self, name: &str, value: impl Into<Value>) -> bool {
        self.variables.get(name) == Some(&value.into())
    }

    /// Whether a variable is written as `text`.
    pub(crate) fn says(&self, name: &str, text: &str) -> bool {
        match self.variables.get(name) {
            Some(Value::String(value)) => value == text,
            Some(value) => shown(value) == text,
            None => false,
        }
    }

    /// A variable as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.variables.get(name).map_or_else(String::new, shown)
    }

    /// A variable that is a whole number.
    ///
    /// # Panics
    ///
    /// It is none.
    pub(crate) fn integer(&self, name: &str) -> i64 {
        let value = self.variables.get(name).and_then(Value::as_i64);
        value.unwrap_or_else(|| panic!("{name}: found {}, expected a whole number", self.text(name)))
    }

    /// The number of its runs.
    pub(crate) fn runs(&self) -> u64 {
        self.integer("runs").unsigned_abs()
    }

    /// Whether its scenario depends on the seed.
    pub(super) fn varies(&self) -> bool {
        let names_seed = |value: &Toml| value.to_string().contains("seed");
        !self.draws.is_empty() || self.set.values().any(names_seed)
    }

    /// The scenario's file with all values of the run with `seed`.
    ///
    /// # Panics
    ///
    /// The paper's folder is wrong. A test reads every cell.
    fn document(&self, folder: &Folder, seed: u64) -> Document {
        let mut variables = self.variables.clone();
        variables.insert("seed".to_owned(), seed.into());
        let mut streams = IndexMap::new();
        for Draw { variable, stream: name, values: [least, most] } in self.draws.iter() {
            let random = streams.entry(name).or_insert_with(|| stream(seed, name));
            variables.insert(variable.clone(), (least + random.next_u64() % (most - least + 1)).into());
        }
        let right = |problem: String| -> ! { panic!("{}, {}: {problem}", folder.name, self.item) };
        let text = folder.text(&self.scenario).to_owned();
        let path = format!("{}/{}", folder.name, self.scenario);
        let mut document = Document::parse(Path::new(&path), text).unwrap_or_else(|error| right(format!("{error:?}")));
        let directory = self.scenario.rsplit_once('/').map_or(0, |(directory, _)| directory.len() + 1);
        for (path, text) in folder.files.iter().filter(|(path, _)| path.ends_with(".up")) {
            document.add_trace(&path[directory..], text);
        }
        for (path, value) in &self.set {
            let value = fill_toml(value, &variables).unwrap_or_else(|problem| right(problem));
            let assignment = format!("{path}={}", value.to_string().trim());
            document.set("set", &assignment).unwrap_or_else(|error| right(format!("{assignment}: {error:?}")));
        }
        document
    }

    /// The scenario of the run with `seed`.
    pub(crate) fn scenario(&self, folder: &Folder, seed: u64) -> Scenario {
        Scenario::read(&self.document(folder, seed)).unwrap_or_else(|error| panic!("{}: {error:?}", folder.name))
    }

    /// The same as a point of a plan; the plan has nothing else.
    pub(super) fn plan(&self, folder: &Folder, seed: u64) -> Plan {
        let mut plan =
            Plan::read(self.document(folder, seed)).unwrap_or_else(|error| panic!("{}: {error:?}", folder.name));
        assert_eq!(plan.points.len(), 1, "{}, {}: the scenario has a sweep", folder.name, self.item);
        let Point { parameters, .. } = &mut plan.points[0];
        parameters.insert("item".to_owned(), self.item.as_str().into());
        parameters.extend(self.variables.iter().map(|(name, value)| (name.clone(), value.clone())));
        plan
    }
}

/// The cells of `experiment` at this effort, under `choice` if there is one.
pub(crate) fn cells(
    description: &Description,
    experiment: &Experiment,
    effort: Effort,
    choice: Option<&Choice>,
) -> Vec<Cell> {
    let mut common = at(&description.variables, effort);
    common.extend(at(&experiment.variables, effort));
    let (mut set, mut axes) = (description.set.clone(), description.axes.clone());
    set.extend(experiment.set.clone());
    if let Some(choice) = choice {
        common.extend(at(&choice.variables, effort));
        set.extend(choice.set.clone());
        axes.extend(choice.axes.clone());
    }
    let other = choice.and_then(|choice| choice.scenario.as_deref());
    let scenario = other.unwrap_or_else(|| description.scenario(experiment));
    let draws = Arc::new(description.draws.clone());
    let cell = |step: Step| {
        let (mut variables, mut set) = (common.clone(), set.clone());
        variables.extend(step.variables);
        set.extend(step.set);
        Cell {
            item: experiment.item.clone(),
            is_published: experiment.is_published && variables.get("published") != Some(&false.into()),
            variables: resolved(&variables),
            series: experiment.series,
            until_complete: experiment.until_complete,
            scenario: scenario.to_owned(),
            set,
            draws: Arc::clone(&draws),
        }
    };
    product(&axes, &experiment.sweep, effort).into_iter().map(cell).collect()
}

/// The variables without references among them. What depends on a run stays a template.
fn resolved(variables: &Parameters) -> Parameters {
    let value = |value: &Value| fill_json(value, variables).unwrap_or_else(|_| value.clone());
    variables.iter().map(|(name, of)| (name.clone(), value(of))).collect()
}

/// What the values of some axes are.
#[derive(Clone, Debug, Default)]
struct Step {
    variables: Parameters,
    set: Entries,
}

/// All combinations of the axes' values; the last axis varies fastest.
fn product(axes: &Entries, sweep: &Entries, effort: Effort) -> Vec<Step> {
    let mut all = vec![Step::default()];
    for (names, values) in sweep {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let values = effort.choose(values);
        let values = values.as_str().map_or(values, |name| effort.choose(&axes[name]));
        let values = values.as_array().unwrap_or_else(|| panic!("{names:?}: expected a list of values"));
        all = all.iter().flat_map(|step| values.iter().map(|value| step.with(&names, value))).collect();
    }
    all
}

impl Step {
    /// The same with `value` of the variables `names`: one value for all, or a list with one for each.
    fn with(&self, names: &[&str], value: &Toml) -> Self {
        let mut step = self.clone();
        let each = value.as_array().filter(|each| names.len() > 1 && each.len() == names.len());
        for (index, &name) in names.iter().enumerate() {
            let value = each.map_or(value, |each| each.get(index).expect("there is one for each name"));
            match value.as_inline_table() {
                Some(changes) if name == SET => {
                    step.set.extend(changes.iter().map(|(path, value)| (path.to_owned(), value.clone())));
                }
                _ => {
                    step.variables.insert(name.to_owned(), to_json(value));
                }
            }
        }
        step
    }
}
