//! How close to the kernel is close enough: the claims of `paper.toml` about rows, and about what MPTCP is compared by
//! beside goodput and completion.

use subflow_lab::statistics::mean;
use subflow_report::{Measured, Table};

use super::LINUX612;
use super::comparison::{BYTES, Comparison, Outcome};
use super::measurements::{ALL, COUNTS, DELAYS};
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
/// The same for counts of packets.
const COUNT: &str = "drops and marks";

pub(super) const CHECKS: [(&str, Check); 6] = [
    (NEAR, near_the_kernel),
    (SPLIT, near_the_kernel),
    (STALL, near_the_kernel),
    (RETURN, near_the_kernel),
    (DELAY, near_the_kernel),
    (COUNT, near_the_kernel),
];

/// A figure of ours beside the kernel's.
pub(super) struct Deviation<'o> {
    check: &'static str,
    /// The row that it is of, and what it is besides goodput or completion.
    row: Comparison<'o>,
    name: String,
    /// Ours and the kernel's; `None` where one is missing.
    compared: Option<(f64, f64)>,
}

impl<'o> Deviation<'o> {
    /// The goodput of a row, or its completion.
    pub(super) fn of(row: Comparison<'o>) -> Self {
        Self { check: NEAR, row, name: String::new(), compared: row.figures() }
    }

    pub(super) fn percent(&self) -> Option<f64> {
        self.compared.map(|(ours, kernel)| (ours / kernel - 1.0) * 100.0)
    }

    fn is_judged_by(&self, claim: &Claim) -> bool {
        let flow = self.row.reference.flow;
        let is_of_flow = || if claim.text("flows") == "first" { flow == 1 } else { flow != ALL };
        claim.check == self.check && (claim.check != NEAR || is_of_flow()) && self.row.outcome.row.cell.has(&claim.only)
    }

    /// The claim that judges it; `None` where figures are only put side by side.
    pub(super) fn claim(&self) -> Option<&'static Claim> {
        LINUX612.description.claims.iter().find(|claim| self.is_judged_by(claim))
    }

    pub(super) fn verdict(&self) -> &'static str {
        match (self.claim(), self.compared) {
            _ if !self.row.outcome.is_run() => "not supported",
            (None, _) => "",
            (Some(_), None) if self.row.ours().is_none() => "did not finish",
            (Some(_), None) => "no reference",
            (Some(claim), Some(_)) if self.used(claim) <= 1.0 => "met",
            _ => "off",
        }
    }

    /// The deviation as a share of the claim's bound.
    fn used(&self, claim: &Claim) -> f64 {
        self.compared.map_or(f64::INFINITY, |(ours, kernel)| (ours - kernel).abs() / bound(claim, kernel))
    }

    /// The unit of both figures.
    fn unit(&self) -> &'static str {
        match self.check {
            NEAR if self.row.outcome.is("transfer") => "s",
            NEAR => "Mbit/s",
            SPLIT => "MB",
            STALL | RETURN => "s",
            DELAY if self.name.ends_with("_ms") => "ms",
            _ => "packets",
        }
    }

    /// Both figures, and what they are of.
    fn text(&self) -> String {
        let row = self.row.name();
        let of = if self.name.is_empty() { row } else { format!("{row}, {}", self.name) };
        match self.compared.zip(self.percent()) {
            Some(((ours, kernel), percent)) => {
                let unit = self.unit();
                format!("{percent:+.2} %: ours {ours:.4} {unit}, Linux 6.12 {kernel:.4} {unit} ({of})")
            }
            None => format!("{} ({of})", self.verdict()),
        }
    }
}

/// How far from the kernel's figure ours may be, in its unit.
fn bound(claim: &Claim, kernel: f64) -> f64 {
    match claim.percent {
        Some(percent) => (kernel * percent / 100.0).max(if [DELAY, COUNT].contains(&claim.check.as_str()) {
            LEAST_BOUND
        } else {
            0.0
        }),
        None => claim.number("milliseconds") / 1e3,
    }
}

fn deviations<'o>(row: Comparison<'o>) -> Vec<Deviation<'o>> {
    if !row.outcome.is_run() {
        return Vec::new();
    }
    let found = bytes_and_outage(row).into_iter().chain(delays(row));
    // Where the kernel has no drops, some of ours are a deviation.
    let found = found.filter(|(check, .., ours, kernel)| *kernel > 0.0 || *check == COUNT && *ours > 0.0);
    let figure = |(check, name, ours, kernel)| Deviation { check, row, name, compared: Some((ours, kernel)) };
    [Deviation::of(row)].into_iter().chain(found.map(figure)).collect()
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
    let outages = outcome.outage().zip(outcome.outage_of_kernel()).map(|(ours, kernel)| {
        let stall = (STALL, "stall, s".to_owned(), ours.stall_s, kernel.stall_s);
        [stall, (RETURN, "return, s".to_owned(), ours.return_s, kernel.return_s)]
    });
    bytes.chain(outages.into_iter().flatten()).collect()
}

/// Queue, round-trip time, drops and marks, where there is one flow. A transfer's run goes on after its end.
fn delays(Comparison { outcome, reference }: Comparison<'_>) -> impl Iterator<Item = Found> {
    let is_compared = outcome.references.len() == 1 && !outcome.is("transfer");
    let figures = DELAYS.iter().zip(&reference.delays).enumerate().filter(move |_| is_compared);
    figures.filter_map(|(place, (name, kernel))| {
        let check = if place < COUNTS { DELAY } else { COUNT };
        Some((check, (*name).to_owned(), outcome.delay(place)?, mean(kernel)?))
    })
}

/// Tables of the figures; none where there is nothing to compare.
pub(super) fn readable(outcomes: &[Outcome<'_>]) -> Vec<(String, Table)> {
    let mut parts = Table::new(["case", "cc", "paths", "of", "ours", "kernel", "dev %", "verdict"]);
    let mut delays = Table::new(["case", "protocol", "cc", "paths", "of", "ours", "kernel", "dev %"]);
    for figure in outcomes.iter().flat_map(Outcome::comparisons).flat_map(deviations) {
        let Deviation { check, row: Comparison { outcome, reference }, name, compared: Some((ours, kernel)) } = &figure
        else {
            continue;
        };
        let [case, paths] = ["case", "paths_text"].map(|name| outcome.text(name));
        let [protocol, cc] = [&reference.protocol, &reference.cc].map(String::as_str);
        let is_of_queue = [DELAY, COUNT].contains(check);
        let decimals = if is_of_queue { 2 } else { 3 };
        let [ours, kernel] = [ours, kernel].map(|value| format!("{value:.decimals$}"));
        let compared = [paths.into(), name.as_str().into(), ours.into(), kernel.into(), figure.percent().into()];
        match *check {
            NEAR => {}
            _ if is_of_queue => delays.row([case.into(), protocol.into(), cc.into()].into_iter().chain(compared)),
            _ => parts.row([case.into(), cc.into()].into_iter().chain(compared).chain([figure.verdict().into()])),
        }
    }
    let titles = ["MPTCP: split over the paths, and what a failure costs", "Queue, round-trip time, drops and marks"];
    let tables = titles.map(str::to_owned).into_iter().zip([parts, delays]);
    tables.filter(|(_, table)| !table.rows().is_empty()).collect()
}

/// Whether all figures of a claim meet it, and the worst.
fn near_the_kernel(results: &Results, claim: &Claim) -> Option<study::Outcome> {
    let outcomes = Outcome::all(results);
    let all = outcomes.iter().flat_map(Outcome::comparisons).flat_map(deviations);
    let all: Vec<Deviation<'_>> = all.filter(|figure| figure.is_judged_by(claim)).collect();
    let worst = all.iter().max_by(|a, b| a.used(claim).total_cmp(&b.used(claim)))?;
    let (met, number) = (all.iter().filter(|figure| figure.used(claim) <= 1.0).count(), all.len());
    let bound = match claim.percent {
        Some(percent) if claim.check == DELAY => format!("{percent} %, or {LEAST_BOUND} packet or ms"),
        Some(percent) if claim.check == COUNT => format!("{percent} %, or {LEAST_BOUND} packet"),
        Some(percent) => format!("{percent} %"),
        None => format!("{} ms", claim.number("milliseconds")),
    };
    let text = worst.text();
    let evidence =
        format!("criterion: within {bound} of Linux 6.12; {met} of {number} figures are; the worst is {text}");
    let measured = worst.percent().map(|percent| Measured::new(percent, None, "% off"));
    Some(study::Outcome::new(Some(met == number), measured, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_a_few_packets_may_be_one_off() {
        let claim = LINUX612.description.claims.iter().find(|claim| claim.check == DELAY).expect("there is one");
        assert_eq!([6.0, 50.0].map(|kernel| bound(claim, kernel)), [1.0, 5.0]);
    }
}
