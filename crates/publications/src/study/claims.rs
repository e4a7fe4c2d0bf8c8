//! Claims: what a publication says, or we beyond it.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use subflow_report::{Finding, Verdict};
use subflow_scenario::sweep::Parameters;

use super::cell::SLICE;
use super::experiment::Variable;
use super::results::{Outcome, Results};

/// A finding of the publication, or of ours beyond it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Claim {
    pub(super) statement: String,
    source: String,
    published: Option<String>,
    beyond: bool,
    /// Whose runs it is checked against; both unless given.
    system: Option<System>,
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
    pub(crate) by_values: bool,
    /// Whether it is the mean of all cells that counts.
    pub(crate) average: bool,
    pub(crate) about: bool,
    /// Flows whose medians are added up, counted from the end where negative, and whether these are a share of all flows.
    pub(crate) of_flows: Vec<i64>,
    pub(crate) share: bool,
    pub(crate) shows: Shown,
    #[serde(rename = "ratio_as")]
    pub(crate) told: Told,
    /// Further criteria, and another reading.
    pub(crate) also: Vec<Self>,
    pub(crate) beside: Option<Beside>,
    /// All other keys: those of a check of the paper's code.
    #[serde(flatten)]
    pub(crate) arguments: Parameters,
}

/// What a quick look that is asked for items that are `wanted` does not decide, as a note; `None` where it decides all.
pub(super) fn undecided(claims: &[Claim], findings: &[Finding], wanted: impl Fn(&str) -> bool) -> Option<String> {
    let open =
        findings.iter().filter(|finding| finding.verdict == Verdict::Undecided).map(|finding| &finding.statement);
    let is_missing = |claim: &&Claim| {
        let is_asked_for = claim.is_about(System::Simulator) && claim.items().iter().any(|item| wanted(item));
        is_asked_for && findings.iter().all(|known| known.statement != claim.statement)
    };
    let all = open.chain(claims.iter().filter(is_missing).map(|claim| &claim.statement));
    let shown = all.map(|statement| format!("\"{}\"", statement.trim_end_matches('.'))).collect::<Vec<_>>().join("; ");
    let note = format!("This quick look does not decide, for want of runs or of cells: {shown}. All runs may.");
    (!shown.is_empty()).then_some(note)
}

/// What has runs: the simulator, or Linux in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum System {
    Simulator,
    Linux,
}

/// Another reading of a claim: by another metric, or in another item.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    pub(crate) name: String,
    metric: Option<String>,
    item: Option<String>,
}

/// What of two cells that are compared is our figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shown {
    #[default]
    Ratio,
    First,
    Second,
}

/// How ratios are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Told {
    #[default]
    #[serde(rename = "times")]
    Times,
    #[serde(rename = "% less")]
    Less,
    #[serde(rename = "% more")]
    More,
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
            None => Finding::new(statement, None, not_run?.replace("${item}", &self.items().join(", "))),
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

    /// Whether it is checked against such runs.
    pub(super) fn is_about(&self, system: System) -> bool {
        self.system.is_none_or(|own| own == system)
    }

    /// What stands before its statement where it is checked against runs on Linux.
    pub(super) fn prefix_on_linux(&self) -> &'static str {
        if self.system.is_none() { "On Linux: " } else { "" }
    }

    fn items(&self) -> Vec<String> {
        let items = self.cells().swap_remove("item");
        items.iter().flat_map(each_of).filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The cells that it is about: their `item`, and the values of their variables.
    pub(super) fn cells(&self) -> Parameters {
        let item = (!self.item.is_empty()).then(|| ("item".to_owned(), Value::from(self.item.as_str())));
        let each = self.each.iter().map(|(name, values)| (name.clone(), values.clone().into()));
        let both = self.compare.iter().map(|compare| {
            let values = each_of(&compare.value).iter().flat_map(each_of).cloned();
            (compare.name.clone(), Value::Array(values.collect()))
        });
        // Slices have the runs of their cell.
        let only = self.only.iter().filter(|(name, _)| *name != SLICE);
        let only = only.map(|(name, value)| (name.clone(), value.clone()));
        item.into_iter().chain(only).chain(each).chain(both).collect()
    }

    /// The same claim in another reading.
    pub(super) fn read_as(&self, other: &Beside) -> Self {
        let metric = other.metric.clone().or_else(|| self.metric.clone());
        let item = other.item.clone().unwrap_or_else(|| self.item.clone());
        Self { metric, item, beside: None, ..self.clone() }
    }

    /// A key as text, for functions of papers that check it: tests run each of them.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.argument(key).as_str().unwrap_or_default()
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        self.argument(key).as_f64().unwrap_or(f64::NAN)
    }

    fn argument(&self, key: &str) -> &Value {
        self.arguments.get(key).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }
}

/// The elements of a list, or a value that is none.
fn each_of(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}
