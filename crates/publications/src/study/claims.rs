//! Claims, checked against a results table.

use subflow_report::{Finding, Measured};

use super::Results;
use super::checks::CHECKS;
use super::description::Claim;

/// What our figures say of a claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Whether it holds; `None` where the runs cannot tell.
    pub(crate) verdict: Option<bool>,
    /// The figure that decides.
    pub(crate) measured: Option<Measured>,
    /// All figures, in words.
    pub(crate) evidence: String,
}

impl Outcome {
    /// A verdict with the figure that decides, and all figures.
    pub(crate) fn new(verdict: Option<bool>, measured: impl Into<Option<Measured>>, evidence: String) -> Self {
        Self { verdict, measured: measured.into(), evidence }
    }
}

/// Checks a claim; `None` where its cells were not run.
pub(crate) type Check = fn(&Results, &Claim) -> Option<Outcome>;

/// The findings of `claims`, each checked by the function of its name among `checks` and those that
/// all papers share.
///
/// # Panics
///
/// There is no such function. A test looks for each.
pub(crate) fn findings(claims: &[Claim], checks: &[(&str, Check)], results: &Results) -> Vec<Finding> {
    claims
        .iter()
        .filter_map(|claim| {
            let outcome = check_of(claim, checks)(results, claim);
            let not_run = || Some(described(claim, Finding::new(&claim.statement, None, claim.if_not_run.clone()?)));
            outcome.map(|outcome| judged(claim, &claim.statement, outcome)).or_else(not_run)
        })
        .collect()
}

/// Those whose cells were run on Linux.
pub(crate) fn findings_on_linux(claims: &[Claim], checks: &[(&str, Check)], results: &Results) -> Vec<Finding> {
    let found = claims.iter().filter(|claim| claim.on_linux).filter_map(|claim| {
        let outcome = check_of(claim, checks)(results, claim)?;
        Some(judged(claim, &format!("On Linux: {}", claim.statement), outcome))
    });
    found.collect()
}

fn check_of(claim: &Claim, checks: &[(&str, Check)]) -> Check {
    let known = checks.iter().chain(&CHECKS).find(|(name, _)| *name == claim.check);
    known.unwrap_or_else(|| panic!("{}: there is no check {:?}", claim.statement, claim.check)).1
}

fn judged(claim: &Claim, statement: &str, outcome: Outcome) -> Finding {
    let Outcome { verdict, measured, evidence } = outcome;
    described(claim, Finding::new(statement, verdict, evidence).measured(measured))
}

fn described(claim: &Claim, finding: Finding) -> Finding {
    let finding = finding.source(&claim.source);
    let finding = if claim.beyond { finding.beyond() } else { finding };
    match &claim.published {
        Some(figure) => finding.published(figure),
        None => finding,
    }
}
