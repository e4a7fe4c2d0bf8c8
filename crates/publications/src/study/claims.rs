//! Claims: what a publication says, or we beyond it.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use subflow_report::Finding;
use subflow_scenario::sweep::Parameters;

use super::experiment::{Variable, yes};
use super::results::{Outcome, Results};

/// A finding of the publication, or of ours beyond it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Claim {
    pub(super) statement: String,
    source: String,
    published: Option<String>,
    beyond: bool,
    /// Whether it is checked against figures of runs on Linux, too.
    #[serde(default = "yes")]
    pub(crate) on_linux: bool,
    /// The name of its check.
    pub(crate) check: String,
    /// What is said where it is not confirmed.
    why: String,
    /// Which cells it is about, for checks that all papers may use: the book explains these keys.
    pub(crate) item: String,
    #[serde(rename = "where")]
    pub(crate) only: Parameters,
    pub(crate) each: IndexMap<String, Vec<Value>>,
    pub(crate) compare: Option<Variable>,
    pub(crate) metric: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) words: Option<String>,
    pub(crate) percent: Option<f64>,
    pub(crate) times: Option<Bounds>,
    pub(crate) bounds: Option<Bounds>,
    pub(crate) along: Option<String>,
    /// All other keys: those of a check of the paper's code.
    #[serde(flatten)]
    pub(crate) arguments: Parameters,
}

/// From a number to one that is not smaller.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "[f64; 2]")]
pub(crate) struct Bounds(pub(crate) f64, pub(crate) f64);

impl TryFrom<[f64; 2]> for Bounds {
    type Error = &'static str;

    fn try_from([low, high]: [f64; 2]) -> Result<Self, Self::Error> {
        let is_right = low <= high;
        is_right.then_some(Self(low, high)).ok_or("expected two numbers, the smaller one first; the second may be inf")
    }
}

/// Checks a claim; `None` where its cells were not run.
pub(crate) type Check = fn(&Results, &Claim) -> Option<Outcome>;

impl Claim {
    /// Its finding by an outcome, with words before the statement. Without an outcome its cells were not run, of which
    /// `not_run` is said.
    pub(super) fn finding(&self, before: &str, outcome: Option<Outcome>, not_run: Option<&str>) -> Option<Finding> {
        let statement = format!("{before}{}", self.statement);
        let finding = match outcome {
            None => Finding::new(statement, None, not_run?.replace("${item}", &self.item)),
            Some(Outcome { verdict, measured, mut evidence, alternatives }) => {
                if verdict != Some(true) && !self.why.is_empty() {
                    evidence += &format!(". {}", self.why);
                }
                Finding { alternatives, ..Finding::new(statement, verdict, evidence).measured(measured) }
            }
        };
        let (source, published) = (self.source.clone(), self.published.clone());
        Some(Finding { source, published, beyond: self.beyond, ..finding })
    }

    /// A key as text, for functions of papers that check it: tests run each of them.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.argument(key).as_str().unwrap_or_default()
    }

    /// A key as a number.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.argument(key).as_f64().unwrap_or(f64::NAN)
    }

    /// A key as a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Vec<&str> {
        self.argument(key).as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn argument(&self, key: &str) -> &Value {
        self.arguments.get(key).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }
}
