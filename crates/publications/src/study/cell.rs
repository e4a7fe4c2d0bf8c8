//! A cell of an experiment: its variables, and its scenario.

use std::sync::Arc;

use indexmap::IndexMap;
use rand_core::RngCore;
use serde_json::Value;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::{Document, Problem, Problems};
use subflow_scenario::sweep::{Parameters, Plan, Point};

use super::experiment::{Draw, Experiment};
use super::folder::Folder;
use super::template::{fill, fill_all, shown, to_toml};

/// The variable that slices beside a cell have.
pub(super) const SLICE: &str = "slice";

/// What a figure is of: a point of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) item: String,
    pub(crate) variables: Parameters,
    /// The names of the variables that tell it from others of its experiment, together those that vary together.
    pub(super) axes: Arc<Vec<Vec<String>>>,
    /// Whether the publication has it.
    pub(crate) is_published: bool,
    pub(crate) experiment: Arc<Experiment>,
    pub(crate) runs: u64,
    pub(super) scenario: String,
    /// Paths of the scenario, and templates of their values.
    pub(super) set: Parameters,
    pub(super) draws: Arc<Vec<Draw>>,
}

impl Cell {
    pub(crate) fn is(&self, name: &str, value: impl Into<Value>) -> bool {
        self.variables.get(name) == Some(&value.into())
    }

    /// Whether a variable is written as `text`.
    pub(crate) fn says(&self, name: &str, text: &str) -> bool {
        self.variables.get(name).is_some_and(|value| shown(value) == text)
    }

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

    /// Whether variables, or `item`, have these values. A list stands for any of its values, `{ from = 4, to = 8 }` for
    /// numbers between these, of which one may be missing.
    pub(crate) fn has(&self, wanted: &Parameters) -> bool {
        let item = Value::from(self.item.as_str());
        wanted.iter().all(|(name, wanted)| {
            let own = if name == "item" { Some(&item) } else { self.variables.get(name) };
            match wanted {
                Value::Array(any) => any.iter().any(|one| own == Some(one)),
                Value::Object(range) => {
                    let end = |key: &str, open: f64| range.get(key).and_then(Value::as_f64).unwrap_or(open);
                    (end("from", f64::NEG_INFINITY)..=end("to", f64::INFINITY)).contains(&self.number(name))
                }
                one => own == Some(one),
            }
        })
    }

    /// Whether it is one of those that `wanted` is about: it has these values, and is no slice of a cell unless `wanted` says
    /// of which kind.
    pub(super) fn is_among(&self, wanted: &Parameters) -> bool {
        self.variables.get(SLICE) == wanted.get(SLICE) && self.has(wanted)
    }

    /// The names of the variables that tell it from others of its experiment.
    pub(crate) fn swept(&self) -> impl Iterator<Item = &String> {
        self.axes.iter().flatten()
    }

    /// Whether `other` differs from it in nothing but variables that vary together with `name`.
    pub(super) fn is_beside(&self, other: &Self, name: &str) -> bool {
        let mut axes = self.axes.iter();
        let axis = axes.find(|axis| axis.iter().any(|one| one == name)).map_or(&[] as &[String], Vec::as_slice);
        let is_other = |(one, _): &(&String, &Value)| !axis.contains(one);
        self.item == other.item && self.variables.iter().filter(is_other).eq(other.variables.iter().filter(is_other))
    }

    /// The values that tell it from others of its item.
    pub(crate) fn name(&self) -> String {
        self.swept().map(|name| self.text(name)).collect::<Vec<_>>().join(", ")
    }

    /// `text` with its variables, and `item`; the text itself where one is missing.
    pub(crate) fn fill(&self, text: &str) -> String {
        let item = [("item".to_owned(), Value::from(self.item.as_str()))];
        let variables = self.variables.clone().into_iter().chain(item).collect();
        fill(text, &variables).map_or_else(|_| text.to_owned(), |filled| shown(&filled))
    }

    /// Whether its scenario may depend on the seed.
    pub(super) fn varies(&self) -> bool {
        let names_seed = |set: &Parameters| set.values().any(|value| value.to_string().contains("seed"));
        !self.draws.is_empty() || names_seed(&self.set) || self.experiment.each.iter().any(|each| names_seed(&each.set))
    }

    fn assignments(&self, seed: u64) -> Result<Parameters, String> {
        let mut variables = self.variables.clone();
        variables.insert("seed".to_owned(), seed.into());
        self.draw(seed, &mut variables)?;
        let mut assignments = Parameters::new();
        assign(&mut assignments, &self.set, &variables)?;
        for each in self.experiment.each.iter() {
            for value in each.values(&variables)? {
                variables.insert(each.of.name.clone(), value);
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

    fn document(&self, folder: &Folder, seed: u64) -> Result<Document, Problem> {
        let mut document = folder.scenario(&self.scenario)?;
        let of_item = |problem| Problem::nowhere(format!("{}, item {}: {problem}", folder.name, self.item));
        for (path, value) in self.assignments(seed).map_err(of_item)? {
            document.set("set", &format!("{path}={}", to_toml(&value).to_string().trim()))?;
        }
        Ok(document)
    }

    pub(crate) fn scenario(&self, folder: &Folder, seed: u64) -> Result<Scenario, Problems> {
        Scenario::read(&self.document(folder, seed)?)
    }

    /// The scenario as the point of a plan that has nothing else.
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
