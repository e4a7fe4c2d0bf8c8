//! How close to the kernel is close enough: the claims of `paper.toml` about rows, and about what MPTCP is compared by
//! beside goodput and completion.

use subflow_lab::statistics::mean;
use subflow_report::Table;

use super::LINUX612;
use super::comparison::{BYTES, Comparison, Outcome};
use super::measurements::{ALL, DELAYS, flow_name};
use crate::study::{self, Check, Claim, Results};

/// The check of rows, whose claims say which: `where` has variables, `flows` is `first` or `each`. The bound is `percent`,
/// or `milliseconds` of completion.
const NEAR: &str = "near the kernel";
const SPLIT: &str = "bytes on each path";
const STALL: &str = "stall after a failure";
const RETURN: &str = "return of a path";
/// The bound of these is at least a packet or a millisecond, since a median of a few packets is a whole number.
const DELAY: &str = "queue and round-trip time";
const LEAST_BOUND: f64 = 1.0;

pub(super) const CHECKS: [(&str, Check); 5] = [
    (NEAR, near_the_kernel),
    (SPLIT, figures_near_the_kernel),
    (STALL, figures_near_the_kernel),
    (RETURN, figures_near_the_kernel),
    (DELAY, figures_near_the_kernel),
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
    let (outcome, reference) = (worst.outcome, worst.reference);
    let flow = if outcome.flows() > 1 { format!(", flow {}", flow_name(reference.flow)) } else { String::new() };
    let shown = worst.figures().map_or_else(|| verdict(worst).to_owned(), |figures| deviation(claim, figures).1);
    let evidence = format!(
        "{met} of {} rows; the worst is {shown} ({} {} {} {}{flow})",
        rows.len(),
        outcome.text("case"),
        reference.protocol,
        reference.cc,
        outcome.text("paths_text"),
    );
    Some(study::Outcome::new(Some(met == rows.len()), None, evidence))
}

/// A figure of ours and of the kernel's beside goodput and completion.
struct Figure<'o> {
    /// The check that it belongs to.
    check: &'static str,
    /// The row that it is of, and what it is.
    row: Comparison<'o>,
    name: String,
    ours: f64,
    kernel: f64,
}

impl Figure<'_> {
    fn deviation_pct(&self) -> f64 {
        (self.ours / self.kernel - 1.0) * 100.0
    }

    /// The deviation as a share of the claim's bound.
    fn used(&self, claim: &Claim) -> f64 {
        let percent = claim.percent.unwrap_or(0.0);
        if self.check == DELAY {
            (self.ours - self.kernel).abs() / bound_of_delay(self.kernel, percent)
        } else {
            self.deviation_pct().abs() / percent
        }
    }

    fn verdict(&self) -> &'static str {
        let claim = LINUX612.description.claims.iter().find(|claim| claim.check == self.check);
        if claim.is_some_and(|claim| self.used(claim) <= 1.0) { "met" } else { "off" }
    }
}

/// The bound of a delay, in packets or milliseconds.
fn bound_of_delay(kernel: f64, percent: f64) -> f64 {
    (kernel * percent / 100.0).max(LEAST_BOUND)
}

/// All figures of a row that was run.
fn figures<'o>(row: Comparison<'o>) -> Vec<Figure<'o>> {
    if !row.outcome.is_run() {
        return Vec::new();
    }
    let found = bytes_and_outage(row).into_iter().chain(delays(row));
    let figure = |(check, name, ours, kernel)| Figure { check, row, name, ours, kernel };
    found.map(figure).filter(|figure| figure.kernel > 0.0).collect()
}

/// Check, name, and the figure of ours and of the kernel's.
type Found = (&'static str, String, f64, f64);

/// What MPTCP is compared by. There is nothing in short transfers (F), whose second path carries next to nothing, or where
/// losses are random and the kernel's own repetitions lie further apart.
fn bytes_and_outage(Comparison { outcome, reference }: Comparison<'_>) -> Vec<Found> {
    let is_compared = outcome.text("case").starts_with(['D', 'G']) && reference.protocol == "mptcp";
    if !is_compared || outcome.flows() > 1 || outcome.is("lossy") {
        return Vec::new();
    }
    let is_split = outcome.paths.len() > 1;
    let bytes = reference.path_bytes.iter().enumerate().filter(|_| is_split).filter_map(|(path, kernel)| {
        Some((SPLIT, format!("path {}, MB", path + 1), outcome.path(path, BYTES)? / 1e6, mean(kernel)? / 1e6))
    });
    let outages = outcome.outage().zip(outcome.outage_of(&outcome.per_second)).map(|(ours, kernel)| {
        let stall = (STALL, "stall, s".to_owned(), ours.stall_s, kernel.stall_s);
        [stall, (RETURN, "return, s".to_owned(), ours.return_s, kernel.return_s)]
    });
    bytes.chain(outages.into_iter().flatten()).collect()
}

/// Queue and round-trip time over time, where there is one flow. A transfer's run goes on after its end.
fn delays(Comparison { outcome, reference }: Comparison<'_>) -> impl Iterator<Item = Found> {
    let is_compared = outcome.references.len() == 1 && !outcome.is("transfer");
    let figures = DELAYS.iter().zip(&reference.delays).enumerate().filter(move |_| is_compared);
    figures
        .filter_map(|(place, (name, kernel))| Some((DELAY, (*name).to_owned(), outcome.delay(place)?, mean(kernel)?)))
}

/// Tables of the figures; none where there is nothing to compare.
pub(super) fn readable(outcomes: &[Outcome<'_>]) -> Vec<(String, Table)> {
    let mut parts = Table::new(["case", "cc", "paths", "of", "ours", "kernel", "dev %", "verdict"]);
    let mut delays = Table::new(["case", "protocol", "cc", "paths", "of", "ours", "kernel", "dev %"]);
    for figure in outcomes.iter().flat_map(Outcome::comparisons).flat_map(figures) {
        let Figure { row: Comparison { outcome, reference }, name, ours, kernel, .. } = &figure;
        let [case, paths] = ["case", "paths_text"].map(|name| outcome.text(name));
        let [protocol, cc] = [&reference.protocol, &reference.cc].map(String::as_str);
        let decimals = if figure.check == DELAY { 2 } else { 3 };
        let [ours, kernel] = [ours, kernel].map(|value| format!("{value:.decimals$}"));
        let compared = [paths.into(), name.as_str().into(), ours.into(), kernel.into(), figure.deviation_pct().into()];
        match figure.check {
            DELAY => delays.row([case.into(), protocol.into(), cc.into()].into_iter().chain(compared)),
            _ => parts.row([case.into(), cc.into()].into_iter().chain(compared).chain([figure.verdict().into()])),
        }
    }
    let titles = ["MPTCP: split over the paths, and what a failure costs", "Queue and round-trip time"];
    let tables = titles.map(str::to_owned).into_iter().zip([parts, delays]);
    tables.filter(|(_, table)| !table.rows().is_empty()).collect()
}

/// Whether all figures of a claim meet it, and the worst.
fn figures_near_the_kernel(results: &Results, claim: &Claim) -> Option<study::Outcome> {
    let outcomes = Outcome::all(results);
    let of_claim = outcomes.iter().filter(|outcome| outcome.row.cell.has(&claim.only));
    let all = of_claim.flat_map(Outcome::comparisons).flat_map(figures);
    let all: Vec<Figure<'_>> = all.filter(|figure| figure.check == claim.check).collect();
    let worst = all.iter().max_by(|a, b| a.used(claim).total_cmp(&b.used(claim)))?;
    let met = all.iter().filter(|figure| figure.used(claim) <= 1.0).count();
    let Figure { row, name, ours, kernel, .. } = worst;
    let (deviation, [case, paths]) = (worst.deviation_pct(), ["case", "paths_text"].map(|name| row.outcome.text(name)));
    let shown = match worst.check {
        DELAY => format!(
            "{deviation:+.1} % ({ours:.2} instead of {kernel:.2}, {case} {} {} {paths} {name})",
            row.reference.protocol, row.reference.cc
        ),
        _ => format!("{deviation:+.2} % ({ours:.3} instead of {kernel:.3}, {name}, {})", row.name()),
    };
    let evidence = format!("{met} of {} figures; the worst is {shown}", all.len());
    Some(study::Outcome::new(Some(met == all.len()), None, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_a_few_packets_may_be_one_off() {
        assert_eq!([6.0, 50.0].map(|kernel| bound_of_delay(kernel, 10.0)), [1.0, 5.0]);
    }
}
