//! The thesis's findings, each checked against our figures.

use super::grid::{CUC_BY_DESTINATION, EQUAL_LOSS, LOSS_ON_PATH_2, NO_CUC_BY_ASSOCIATION, PROPOSAL, REFERENCE};
use super::measurement::{BY_TIMEOUT, Measurement, Measurements, RETRANSMISSIONS, Ratio, TRANSFER, ratio};
use crate::papers::Finding;
use crate::statistics::mean;

/// Says whether a finding holds, and our figures; nothing where its cells were not run.
type Check = fn(&Measurements) -> Option<(bool, String)>;

const CHECKS: [(&str, Check); 8] = [
    ("with loss on path 2 the transfer takes less time, by up to 20.8 % (figure 8)", |all| {
        falls(all, LOSS_ON_PATH_2, TRANSFER)
    }),
    ("with loss on path 2 there are fewer retransmissions, by up to 26.4 % (figures 9 and 10)", |all| {
        falls(all, LOSS_ON_PATH_2, RETRANSMISSIONS)
    }),
    ("with equal loss the transfer takes less time, by up to 23.7 %, at 10 % loss (figure 15)", |all| {
        falls(all, EQUAL_LOSS, TRANSFER)
    }),
    ("with much equal loss there are more retransmissions in all (figures 16 to 21)", more_retransmissions),
    ("with much equal loss fewer of the retransmissions are by timeout (figures 22 to 27)", fewer_by_timeout),
    ("the gain in transfer time grows with the RTT", gain_grows_with_rtt),
    ("at 24 ms and low loss there is about no gain", no_gain_when_near),
    (
        "CUC can be left out: with the same scope of fast recovery, transfers take no longer without it",
        cuc_is_dispensable,
    ),
];

/// From this loss on, in percent, it is much.
const MUCH_LOSS_PCT: u32 = 5;
/// Up to this loss it is low.
const LOW_LOSS_PCT: u32 = 2;
/// A gain up to this, in percent, is about none.
const ABOUT_NONE_PCT: f64 = 5.0;

/// All findings. One is undecided where its cells were not run.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    let finding = |&(statement, check): &(&str, Check)| {
        let outcome = check(measurements);
        Finding {
            statement: statement.to_owned(),
            confirmed: outcome.as_ref().map(|(confirmed, _)| *confirmed),
            evidence: outcome.map_or_else(|| "not run".to_owned(), |(_, evidence)| evidence),
        }
    };
    CHECKS.iter().map(finding).collect()
}

/// One point of an experiment.
struct Point<'a> {
    reference: &'a Measurement,
    ratio: Ratio,
}

impl Point<'_> {
    fn name(&self) -> String {
        format!("{} ms and {} %", self.reference.cell.rtt_ms[1], self.reference.cell.loss_pct[1])
    }
}

/// The points of `item` where the ratio of the figure at `index` is known.
fn points<'a>(all: &'a Measurements, item: &str, index: usize) -> Vec<Point<'a>> {
    let pairs = all.pairs(item).into_iter();
    pairs
        .filter_map(|(reference, proposal)| Some(Point { reference, ratio: ratio(reference, proposal, index)? }))
        .collect()
}

/// The figure is lower at some points for certain, at more of them than it is higher.
fn falls(all: &Measurements, item: &str, index: usize) -> Option<(bool, String)> {
    let points = points(all, item, index);
    let best = points.iter().min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let worst = points.iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let lower = points.iter().filter(|point| point.ratio.is_below_one()).count();
    let higher = points.iter().filter(|point| point.ratio.is_above_one()).count();
    let evidence = format!(
        "lower at {lower} and higher at {higher} of {} points for certain; most {:.1} % ± {:.1} lower, at {}; least {:.1} % ± {:.1}, at {}",
        points.len(),
        best.ratio.reduction_pct(),
        best.ratio.half * 100.0,
        best.name(),
        worst.ratio.reduction_pct(),
        worst.ratio.half * 100.0,
        worst.name(),
    );
    Some(with_reason(best.ratio.is_below_one() && lower > 2 * higher, evidence))
}

/// Why our figures differ from the thesis's, told where they do.
const REASON: &str = "The item beyond takes the proposal apart: leaving CUC out shortens transfers, recovery by destination \
                      lengthens them. With one fast recovery for the association, a loss on one path while the other one \
                      recovers leaves the window as it is (RFC 9260, section 7.2.4), and random loss on both paths makes that frequent";

fn more_retransmissions(all: &Measurements) -> Option<(bool, String)> {
    let mut points = points(all, EQUAL_LOSS, RETRANSMISSIONS);
    points.retain(|point| point.reference.cell.loss_pct[1] >= MUCH_LOSS_PCT);
    let ratio = mean(&points.iter().map(|point| point.ratio.value).collect::<Vec<_>>())?;
    let higher = points.iter().filter(|point| point.ratio.is_above_one()).count();
    let evidence =
        format!("{ratio:.3} times as many on average; more for certain at {higher} of {} points", points.len());
    Some((ratio > 1.0 && 2 * higher > points.len(), evidence))
}

fn fewer_by_timeout(all: &Measurements) -> Option<(bool, String)> {
    let mut points = points(all, EQUAL_LOSS, BY_TIMEOUT);
    points.retain(|point| point.reference.cell.loss_pct[1] >= MUCH_LOSS_PCT);
    let ratio = mean(&points.iter().map(|point| point.ratio.value).collect::<Vec<_>>())?;
    let lower = points.iter().filter(|point| point.ratio.is_below_one()).count();
    let evidence =
        format!("{ratio:.3} times as many on average; fewer for certain at {lower} of {} points", points.len());
    Some((ratio < 1.0 && 2 * lower > points.len(), evidence))
}

fn gain_grows_with_rtt(all: &Measurements) -> Option<(bool, String)> {
    let points: Vec<Point<'_>> =
        [LOSS_ON_PATH_2, EQUAL_LOSS].iter().flat_map(|item| points(all, item, TRANSFER)).collect();
    let mut rtts: Vec<u32> = points.iter().map(|point| point.reference.cell.rtt_ms[1]).collect();
    rtts.sort_unstable();
    rtts.dedup();
    let gain = |&rtt: &u32| {
        let at = points.iter().filter(|point| point.reference.cell.rtt_ms[1] == rtt);
        mean(&at.map(|point| point.ratio.reduction_pct()).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let gains: Vec<f64> = rtts.iter().map(gain).collect();
    if gains.len() < 2 {
        return None;
    }
    let shown: Vec<String> = rtts.iter().zip(&gains).map(|(rtt, gain)| format!("{gain:.1} % at {rtt} ms")).collect();
    Some((gains.is_sorted_by(|a, b| a < b), format!("mean gain {}", shown.join(", "))))
}

fn no_gain_when_near(all: &Measurements) -> Option<(bool, String)> {
    let mut points: Vec<Point<'_>> =
        [LOSS_ON_PATH_2, EQUAL_LOSS].iter().flat_map(|item| points(all, item, TRANSFER)).collect();
    points.retain(|point| point.reference.cell.rtt_ms[1] == 24 && point.reference.cell.loss_pct[1] <= LOW_LOSS_PCT);
    let most = points.iter().max_by(|a, b| a.ratio.reduction_pct().abs().total_cmp(&b.ratio.reduction_pct().abs()))?;
    let evidence = format!("the largest difference is {:+.1} %, at {}", -most.ratio.reduction_pct(), most.name());
    Some((most.ratio.reduction_pct().abs() <= ABOUT_NONE_PCT, evidence))
}

fn cuc_is_dispensable(all: &Measurements) -> Option<(bool, String)> {
    let mut shown = Vec::new();
    let mut holds = true;
    for (with, without) in [(REFERENCE, NO_CUC_BY_ASSOCIATION), (CUC_BY_DESTINATION, PROPOSAL)] {
        for (with, without) in all.side_by_side(with, without) {
            let ratio = ratio(with, without, TRANSFER)?;
            holds &= !ratio.is_above_one();
            let Measurement { cell, .. } = with;
            shown.push(format!(
                "{:.3} ± {:.3} by {} at {} %",
                ratio.value, ratio.half, cell.mode.fast_recovery, cell.loss_pct[1]
            ));
        }
    }
    (!shown.is_empty()).then(|| (holds, format!("time without CUC over time with it: {}", shown.join(", "))))
}

/// An outcome, with the reason where it is not the thesis's.
fn with_reason(confirmed: bool, evidence: String) -> (bool, String) {
    if confirmed { (true, evidence) } else { (false, format!("{evidence}. {REASON}")) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::grid::{Extent, cells};
    use super::*;

    /// Measurements of the quick grid in which each figure of the proposal is `scale` times the reference's.
    pub(in crate::papers::leitner2019) fn made(scale: f64) -> Measurements {
        let cells = cells(&Extent::of(true)).into_iter();
        Measurements(
            cells
                .map(|cell| {
                    let x = if cell.mode.name == "proposal" { scale } else { 1.0 };
                    Measurement::of(cell, &[[x, x, x, x], [1.01 * x, 1.01 * x, 1.01 * x, 1.01 * x]])
                })
                .collect(),
        )
    }

    #[test]
    fn findings_are_confirmed_or_refuted() {
        let confirmed = |all: &Measurements| findings(all).into_iter().map(|f| f.confirmed).collect::<Vec<_>>();
        let yes_no = |answers: [bool; 8]| answers.map(Some).to_vec();
        assert_eq!(confirmed(&made(0.8)), yes_no([true, true, true, false, true, false, false, true]));
        assert_eq!(confirmed(&made(1.2)), yes_no([false, false, false, true, false, false, false, false]));
        assert_eq!(confirmed(&made(1.0))[6], Some(true));
        assert_eq!(confirmed(&Measurements(Vec::new())), vec![None; 8]);
    }
}
