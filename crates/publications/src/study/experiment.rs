//! The experiments of a paper's file.

use serde::Deserialize;
use serde_json::Value;
use subflow_scenario::sweep::Parameters;

use super::effort::Effort;
use super::template::fill_all;

/// A variable that differs from run to run. Draws from one stream are made one after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draw {
    pub(crate) variable: String,
    pub(crate) stream: String,
    /// The smallest and the largest value.
    pub(crate) values: [u64; 2],
    /// How many values a list of them has; a template. No list without.
    pub(crate) count: Option<Value>,
}

/// A set of cells.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Experiment {
    /// A template of the item's name.
    pub(crate) item: String,
    /// That of the paper where it has none.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    pub(crate) each: Vec<Each>,
    /// Variables, joined by commas, and their values, which may depend on the effort.
    pub(crate) sweep: Parameters,
    /// Measured tables of the folder, of which the paper's code reads further variables of its cells.
    pub(crate) cases: Vec<String>,
    /// Whether the publication has it: verdicts under other choices are about these.
    pub(crate) published: bool,
    /// Whether metrics over time are measured.
    pub(crate) series: bool,
    /// Whether every sample of each path is recorded, for the paper's code. No store keeps such runs.
    pub(crate) records: bool,
    /// Whether a run ends when its first flow has completed.
    pub(crate) until_complete: bool,
    /// Whether figures of flows are noted second by second, for the paper's code.
    pub(crate) by_second: bool,
    /// Whether its runs are part of a quick look at all items.
    #[serde(default = "yes")]
    pub(crate) quick_look: bool,
    /// For runs on Linux: none that is simulated alone.
    pub(crate) on_linux: bool,
}

/// What runs are done alike: those of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) series: bool,
    pub(super) records: bool,
    pub(super) until_complete: bool,
    pub(super) by_second: bool,
}

impl Experiment {
    pub(super) fn kind(&self) -> Kind {
        let &Self { series, records, until_complete, by_second, .. } = self;
        Kind { series, records, until_complete, by_second }
    }
}

/// The value of keys that are true unless they are given.
pub(super) fn yes() -> bool {
    true
}

/// Changes of the scenario for each of several values of a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Each {
    /// A variable, and a template of a list of its values, or of a number above all of them.
    pub(crate) of: Variable,
    /// Variables and the values that they need to have.
    #[serde(default, rename = "where")]
    pub(crate) only: Parameters,
    pub(crate) set: Parameters,
}

/// A table with one variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Parameters")]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl TryFrom<Parameters> for Variable {
    type Error = &'static str;

    fn try_from(variables: Parameters) -> Result<Self, Self::Error> {
        let mut variables = variables.into_iter();
        match (variables.next(), variables.next()) {
            (Some((name, value)), None) => Ok(Self { name, value }),
            _ => Err("expected one variable with its values, as in { n = 4 }"),
        }
    }
}

/// A choice other than that of the figures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Another scenario.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Other values of axes that several sweeps have.
    pub(crate) axes: Parameters,
    /// The items whose verdicts can depend on it; all unless given.
    pub(crate) items: Vec<String>,
    /// With such variables cells are among the figures. Their verdicts are those under this choice, without further runs.
    #[serde(rename = "where")]
    pub(crate) shown: Parameters,
}

impl Choice {
    /// Whether verdicts on an item can depend on it.
    pub(crate) fn is_about(&self, item: &str) -> bool {
        self.items.is_empty() || self.items.iter().any(|one| one == item)
    }
}

impl Each {
    pub(crate) fn values(&self, variables: &Parameters) -> Result<Vec<Value>, String> {
        match fill_all(&self.of.value, variables)? {
            Value::Array(values) => Ok(values),
            Value::Number(number) => match number.as_u64().filter(|number| *number <= MOST_VALUES) {
                Some(number) => Ok((0..number).map(Value::from).collect()),
                None => Err(format!("found {number} values of {}, expected at most {MOST_VALUES}", self.of.name)),
            },
            other => Err(format!("{}: found {other}, expected a list or a number", self.of.name)),
        }
    }
}

/// More are no list of hosts but a mistake.
const MOST_VALUES: u64 = 100_000;

/// The values of `entries` at this effort.
pub(crate) fn at(entries: &Parameters, effort: Effort) -> Parameters {
    entries.iter().map(|(name, value)| (name.clone(), effort.choose(value).clone())).collect()
}
