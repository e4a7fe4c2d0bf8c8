//! How close to the kernel is close enough: the claims of `paper.toml` about rows, and about what MPTCP is compared by
//! beside goodput and completion.

use subflow_lab::statistics::mean;
use subflow_report::Table;

use super::LINUX612;
use super::comparison::{BYTES, Comparison, Outcome};
use super::delays;
use super::measurements::{ALL, flow_name};
use super::outage::outage;
use crate::study::{self, Check, Claim, Results};

/// The check of rows, whose claims say which: `where` has variables, `flows` is `first` or `each`. The bound is `percent`,
/// or `milliseconds` of completion.
const NEAR: &str = "near the kernel";
const SPLIT: &str = "bytes on each path";
const STALL: &str = "stall after a failure";
const RETURN: &str = "return of a path";

pub(super) const CHECKS: [(&str, Check); 5] = [
    (NEAR, near_the_kernel),
    (SPLIT, part_of_mptcp),
    (STALL, part_of_mptcp),
    (RETURN, part_of_mptcp),
    (delays::CHECK, delays::near_the_kernel),
];

/// Whether `claim` is about this row.
fn judges(claim: &Claim, comparison: &Comparison<'_>) -> bool {
    let flow = comparison.reference.flow;
    claim.check == NEAR
        && if claim.text("flows") == "first" { flow == 1 } else { flow != ALL }
        && comparison.outcome.row.cell.has(&claim.only)
}

/// The claim that judges a row; `None` where figures are only put side by side.
pub(super) fn claim_of(comparison: &Comparison<'_>) -> Option<&'static Claim> {
    LINUX612.description.claims.iter().find(|claim| judges(claim, comparison))
}

/// A deviation as a share of the bound, and as text.
fn deviation(claim: &Claim, (ours, kernel): (f64, f64)) -> (f64, String) {
    let percent = (ours / kernel - 1.0) * 100.0;
    let milliseconds = (ours - kernel) * 1e3;
    match claim.percent {
        Some(bound) => (percent.abs() / bound, format!("{percent:+.2} %")),
        None => (milliseconds.abs() / claim.number("milliseconds"), format!("{milliseconds:+.2} ms")),
    }
}

/// Whether `ours` is near enough.
fn admits(claim: &Claim, (ours, kernel): (f64, f64)) -> bool {
    match claim.percent {
        Some(bound) => (ours - kernel).abs() <= kernel * bound / 100.0,
        None => (ours - kernel).abs() * 1e3 <= claim.number("milliseconds"),
    }
}

/// The verdict on a row, in a word.
pub(super) fn verdict(comparison: &Comparison<'_>) -> &'static str {
    match (claim_of(comparison), comparison.figures()) {
        _ if !comparison.outcome.is_run() => "not supported",
        (None, _) => "",
        (Some(_), None) if comparison.ours().is_none() => "did not finish",
        (Some(_), None) => "no reference",
        (Some(claim), Some(figures)) if admits(claim, figures) => "met",
        _ => "off",
    }
}

/// Whether all rows of a claim meet it, and the worst.
fn near_the_kernel(results: &Results, claim: &Claim) -> Option<study::Outcome> {
    let outcomes = Outcome::all(results);
    let rows: Vec<Comparison<'_>> = outcomes
        .iter()
        .filter(|outcome| outcome.is_run())
        .flat_map(Outcome::comparisons)
        .filter(|comparison| judges(claim, comparison))
        .collect();
    let met = rows.iter().filter(|row| verdict(row) == "met").count();
    let used = |row: &Comparison<'_>| row.figures().map_or(f64::INFINITY, |figures| deviation(claim, figures).0);
    let worst = rows.iter().max_by(|a, b| used(a).total_cmp(&used(b)))?;
    let configuration = &worst.outcome.configuration;
    let reference = worst.reference;
    let flow =
        if configuration.flows.len() > 1 { format!(", flow {}", flow_name(reference.flow)) } else { String::new() };
    let shown = worst.figures().map_or_else(|| verdict(worst).to_owned(), |figures| deviation(claim, figures).1);
    let evidence = format!(
        "{met} of {} rows; the worst is {shown} ({} {} {} {}{flow})",
        rows.len(),
        configuration.case,
        reference.protocol,
        reference.cc,
        configuration.paths_text,
    );
    Some(study::Outcome::new(Some(met == rows.len()), None, evidence))
}

/// One figure of ours and of the kernel's.
struct Part {
    /// The check that it belongs to.
    check: &'static str,
    name: String,
    ours: f64,
    kernel: f64,
}

impl Part {
    fn deviation_pct(&self) -> f64 {
        (self.ours / self.kernel - 1.0) * 100.0
    }

    fn is_met(&self) -> bool {
        let claim = LINUX612.description.claims.iter().find(|claim| claim.check == self.check);
        claim.and_then(|claim| claim.percent).is_some_and(|bound| self.deviation_pct().abs() <= bound)
    }
}

/// All parts of a row. There are none where nothing was run, in short transfers (F), whose second path carries next to
/// nothing, or where losses are random and the kernel's own repetitions lie further apart.
fn parts(comparison: &Comparison<'_>) -> Vec<Part> {
    let Comparison { outcome, reference } = comparison;
    let configuration = &outcome.configuration;
    let is_compared = configuration.case.starts_with(['D', 'G']) && reference.protocol == "mptcp";
    if !is_compared || !outcome.is_run() || configuration.flows.len() > 1 || configuration.lossy {
        return Vec::new();
    }
    let is_split = configuration.paths.len() > 1;
    let bytes = reference.path_bytes.iter().enumerate().filter(|_| is_split).filter_map(|(path, kernel)| {
        let (ours, kernel) = (outcome.path(path, BYTES)? / 1e6, mean(kernel)? / 1e6);
        Some(Part { check: SPLIT, name: format!("path {}, MB", path + 1), ours, kernel })
    });
    let mut parts: Vec<Part> = bytes.collect();
    if let Some((ours, kernel)) = outcome.outage().zip(outage(configuration, &reference.per_second)) {
        let part = |check, name: &str, ours, kernel| Part { check, name: name.to_owned(), ours, kernel };
        parts.push(part(STALL, "stall, s", ours.stall_s, kernel.stall_s));
        parts.push(part(RETURN, "return, s", ours.return_s, kernel.return_s));
    }
    parts.retain(|part| part.kernel > 0.0);
    parts
}

/// A table of the parts; none where there is nothing to compare.
pub(super) fn readable(comparisons: &[Comparison<'_>]) -> Option<(String, Table)> {
    let mut table = Table::new(["case", "cc", "paths", "of", "ours", "kernel", "dev %", "verdict"]);
    for comparison in comparisons {
        for part in parts(comparison) {
            table.row([
                comparison.outcome.configuration.case.as_str().into(),
                comparison.reference.cc.as_str().into(),
                comparison.outcome.configuration.paths_text.as_str().into(),
                part.name.as_str().into(),
                format!("{:.3}", part.ours).into(),
                format!("{:.3}", part.kernel).into(),
                part.deviation_pct().into(),
                if part.is_met() { "met" } else { "off" }.into(),
            ]);
        }
    }
    (!table.rows().is_empty()).then(|| ("MPTCP: split over the paths, and what a failure costs".to_owned(), table))
}

/// Whether all parts of a claim meet it, and the worst.
fn part_of_mptcp(results: &Results, claim: &Claim) -> Option<study::Outcome> {
    let outcomes = Outcome::all(results);
    let named = |row: Comparison<'_>| parts(&row).into_iter().map(|part| (row.name(), part)).collect::<Vec<_>>();
    let all = outcomes.iter().flat_map(Outcome::comparisons).flat_map(named);
    let of_it: Vec<(String, Part)> = all.filter(|(_, part)| part.check == claim.check).collect();
    let far = |(_, part): &&(String, Part)| part.deviation_pct().abs();
    let (name, worst) = of_it.iter().max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let met = of_it.iter().filter(|(_, part)| part.is_met()).count();
    let evidence = format!(
        "{met} of {} figures; the worst is {:+.2} % ({:.3} instead of {:.3}, {}, {name})",
        of_it.len(),
        worst.deviation_pct(),
        worst.ours,
        worst.kernel,
        worst.name,
    );
    Some(study::Outcome::new(Some(met == of_it.len()), None, evidence))
}
