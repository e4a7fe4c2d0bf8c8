//! The experiments of a paper's file, and what their cells have in common.

use serde_json::Value;
use subflow_scenario::file::Problem;
use subflow_scenario::sweep::Parameters;

use super::effort::Effort;
use super::keys::Keys;
use super::template::fill_all;
use crate::Item;

/// What all experiments have.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Lists of values that several sweeps name.
    pub(crate) axes: Parameters,
    pub(crate) draws: Vec<Draw>,
}

/// A variable that differs from run to run. Draws from one stream are made one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) variable: String,
    pub(crate) stream: String,
    /// The smallest and the largest value.
    pub(crate) values: [u64; 2],
    /// How many values a list of them has; a template. No list without.
    pub(crate) count: Option<Value>,
}

/// A set of cells.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    /// A template of the item's name.
    pub(crate) item: String,
    pub(crate) scenario: String,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    pub(crate) each: Vec<Each>,
    /// Variables, joined by commas, and their values, which may depend on the effort.
    pub(crate) sweep: Parameters,
    /// Whether the paper's code has further variables of its cells.
    pub(crate) has_cases: bool,
    /// Whether the publication has it: verdicts under other choices are about these.
    pub(crate) is_published: bool,
    /// Whether metrics over time are measured.
    pub(crate) series: bool,
    /// Whether a run ends when its first flow has completed.
    pub(crate) until_complete: bool,
    /// Whether its runs are part of a quick look at all items.
    pub(crate) is_in_quick_look: bool,
    /// For runs on Linux: none that is simulated alone.
    pub(crate) on_linux: bool,
}

/// Changes of the scenario for each of several values of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) variable: String,
    /// A template of a list, or of a number above all values.
    pub(crate) of: Value,
    /// Variables and the values that they need to have.
    pub(crate) only: Parameters,
    pub(crate) set: Parameters,
}

/// A choice other than that of the figures.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Another scenario.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Other values of axes that several sweeps have.
    pub(crate) axes: Parameters,
}

impl Common {
    pub(super) fn read(root: &Keys) -> Result<Self, Problem> {
        Ok(Self {
            variables: root.table("variables")?,
            set: root.table("set")?,
            axes: root.table("axes")?,
            draws: root.tables("draws", Draw::read)?,
        })
    }
}

impl Draw {
    fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["variable", "stream", "values", "count"])?;
        let values = keys.list("values")?;
        let [Some(least), Some(most)] = [0, 1].map(|index| values.get(index).and_then(Value::as_u64)) else {
            return Err(keys.problem("values", "expected the smallest and the largest, whole numbers from 0"));
        };
        if least > most {
            return Err(keys.problem("values", format!("found {least} before {most}, expected the smallest first")));
        }
        let count = keys.all().swap_remove("count");
        Ok(Self { variable: keys.needed("variable")?, stream: keys.needed("stream")?, values: [least, most], count })
    }
}

impl Experiment {
    pub(super) fn read(keys: &Keys, scenario: Option<&str>, items: &[Item]) -> Result<Self, Problem> {
        keys.only(&[
            "item",
            "scenario",
            "variables",
            "set",
            "each",
            "sweep",
            "cases",
            "published",
            "series",
            "until_complete",
            "quick_look",
            "on_linux",
        ])?;
        let item = keys.needed("item")?;
        if !item.contains("${") && !items.iter().any(|known| known.name == item) {
            let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
            return Err(keys.problem("item", format!("found {item:?}, expected one of {}", names.join(", "))));
        }
        let scenario = keys.text("scenario")?.or_else(|| scenario.map(str::to_owned));
        Ok(Self {
            item,
            scenario: scenario
                .ok_or_else(|| keys.problem("scenario", "neither the experiment nor the paper has one"))?,
            variables: keys.table("variables")?,
            set: keys.table("set")?,
            each: keys.tables("each", Each::read)?,
            sweep: keys.table("sweep")?,
            has_cases: keys.is("cases", false)?,
            is_published: keys.is("published", false)?,
            series: keys.is("series", false)?,
            until_complete: keys.is("until_complete", false)?,
            is_in_quick_look: keys.is("quick_look", true)?,
            on_linux: keys.is("on_linux", false)?,
        })
    }
}

impl Each {
    fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["of", "where", "set"])?;
        let mut of = keys.table("of")?.into_iter();
        let (Some((variable, values)), None) = (of.next(), of.next()) else {
            return Err(keys.problem("of", "expected one variable with its values, as in { n = 4 }"));
        };
        Ok(Self { variable, of: values, only: keys.table("where")?, set: keys.table("set")? })
    }

    /// The values of its variable.
    pub(crate) fn values(&self, variables: &Parameters) -> Result<Vec<Value>, String> {
        match fill_all(&self.of, variables)? {
            Value::Array(values) => Ok(values),
            Value::Number(number) => match number.as_u64().filter(|number| *number <= MOST_VALUES) {
                Some(number) => Ok((0..number).map(Value::from).collect()),
                None => Err(format!("found {number} values of {}, expected at most {MOST_VALUES}", self.variable)),
            },
            other => Err(format!("{}: found {other}, expected a list or a number", self.variable)),
        }
    }
}

/// More are no list of hosts but a mistake.
const MOST_VALUES: u64 = 100_000;

impl Choice {
    pub(super) fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["name", "scenario", "variables", "set", "axes"])?;
        Ok(Self {
            name: keys.needed("name")?,
            scenario: keys.text("scenario")?,
            variables: keys.table("variables")?,
            set: keys.table("set")?,
            axes: keys.table("axes")?,
        })
    }
}

/// The values of `entries` at this effort.
pub(crate) fn at(entries: &Parameters, effort: Effort) -> Parameters {
    entries.iter().map(|(name, value)| (name.clone(), effort.choose(value).clone())).collect()
}
