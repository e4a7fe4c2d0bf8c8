//! Claims: what a publication says, or we beyond it, and the check of each.

use serde_json::Value;
use subflow_report::Finding;
use subflow_scenario::file::Problem;
use subflow_scenario::sweep::Parameters;

use super::checks::Rule;
use super::keys::Keys;
use super::results::{Outcome, Results};

/// A finding of the publication, or of ours beyond it.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    statement: String,
    source: String,
    published: Option<String>,
    beyond: bool,
    /// Whether it is checked against figures of runs on Linux, too.
    pub(crate) on_linux: bool,
    /// The name of its check.
    pub(crate) check: String,
    /// The check, if it is one that all papers share.
    pub(crate) rule: Option<Rule>,
    /// What is said where its cells were not run; `None` leaves the claim out then.
    if_not_run: Option<String>,
    /// All keys of the claim.
    pub(crate) arguments: Parameters,
}

/// Checks a claim; `None` where its cells were not run.
pub(crate) type Check = fn(&Results, &Claim) -> Option<Outcome>;

impl Claim {
    pub(super) fn read(keys: &Keys, rule: Option<Rule>, not_run: Option<&str>) -> Result<Self, Problem> {
        let item = keys.text("item")?.unwrap_or_default();
        Ok(Self {
            statement: keys.needed("statement")?,
            source: keys.text("source")?.unwrap_or_default(),
            published: keys.text("published")?,
            beyond: keys.is("beyond", false)?,
            on_linux: keys.is("on_linux", true)?,
            check: keys.needed("check")?,
            rule,
            if_not_run: not_run.map(|text| text.replace("${item}", &item)),
            arguments: keys.all(),
        })
    }

    /// What our figures say of it, by its rule or the function of its name among `checks`; `None` where its cells were not
    /// run.
    fn judge(&self, checks: &[(&str, Check)], results: &Results) -> Option<Outcome> {
        match &self.rule {
            Some(rule) => rule.judge(results),
            None => checks.iter().find(|(name, _)| *name == self.check).and_then(|(_, check)| check(results, self)),
        }
    }

    /// Its finding.
    pub(super) fn finding(&self, checks: &[(&str, Check)], results: &Results) -> Option<Finding> {
        match self.judge(checks, results) {
            Some(outcome) => Some(self.judged(&self.statement, outcome)),
            None => Some(self.described(Finding::new(&self.statement, None, self.if_not_run.clone()?))),
        }
    }

    /// The same of runs on Linux.
    pub(super) fn finding_on_linux(&self, checks: &[(&str, Check)], results: &Results) -> Option<Finding> {
        let outcome = self.judge(checks, results).filter(|_| self.on_linux)?;
        Some(self.judged(&format!("On Linux: {}", self.statement), outcome))
    }

    fn judged(&self, statement: &str, Outcome { verdict, measured, evidence }: Outcome) -> Finding {
        self.described(Finding::new(statement, verdict, evidence).measured(measured))
    }

    fn described(&self, finding: Finding) -> Finding {
        let finding = finding.source(&self.source);
        let finding = if self.beyond { finding.beyond() } else { finding };
        match &self.published {
            Some(figure) => finding.published(figure),
            None => finding,
        }
    }

    /// A key of it as text, for functions that check it: tests run each of them.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.arguments.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }

    /// A key of it as a number.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.arguments.get(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }

    /// A key of it as a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Vec<&str> {
        let list = self.arguments.get(key).and_then(Value::as_array);
        let list = list.unwrap_or_else(|| panic!("{}: no {key}", self.statement));
        list.iter().filter_map(Value::as_str).collect()
    }
}
