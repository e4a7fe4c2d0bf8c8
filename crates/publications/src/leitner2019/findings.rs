//! The thesis's findings, each checked against our figures, with what our figures say of the cause.

use subflow_report::Finding;

use super::causes;
use super::comparison::{Quantity, average, points, points_of_both, summary};
use super::grid::{
    BEYOND, CUC_BY_DESTINATION, EQUAL_LOSS, LOSS_ON_PATH_2, MUCH_LOSS_PCT, NO_CUC_BY_ASSOCIATION, PROPOSAL, REFERENCE,
};
use super::measurement::{BY_TIMEOUT, Measurements, RETRANSMISSIONS, Ratio, TRANSFER, ratio};

/// A verdict (`None`: our figures cannot tell), the ratio that decides, and our figures with what they say of the
/// cause.
type Outcome = (Option<bool>, Ratio, String);

/// A finding of the thesis.
struct Claim {
    statement: &'static str,
    source: &'static str,
    /// What the thesis prints.
    published: Option<&'static str>,
    /// The item that it needs.
    item: &'static str,
    /// Nothing where its cells were not run.
    check: fn(&Measurements) -> Option<Outcome>,
}

const CLAIMS: [Claim; 8] = [
    Claim {
        statement: "with loss on path 2 the transfer takes less time",
        source: "figure 8",
        published: Some("up to 20.8 % less"),
        item: LOSS_ON_PATH_2,
        check: shorter_with_loss_on_path_2,
    },
    Claim {
        statement: "with loss on path 2 there are fewer retransmissions",
        source: "figures 9 and 10",
        published: Some("up to 26.4 % fewer"),
        item: LOSS_ON_PATH_2,
        check: fewer_retransmissions,
    },
    Claim {
        statement: "with equal loss the transfer takes less time",
        source: "figure 15",
        published: Some("up to 23.7 % less, at 10 %"),
        item: EQUAL_LOSS,
        check: shorter_with_equal_loss,
    },
    Claim {
        statement: "with much equal loss there are more retransmissions in all",
        source: "figures 16 to 21",
        published: None,
        item: EQUAL_LOSS,
        check: more_retransmissions,
    },
    Claim {
        statement: "with much equal loss fewer of the retransmissions are by timeout",
        source: "figures 22 to 27",
        published: None,
        item: EQUAL_LOSS,
        check: fewer_by_timeout,
    },
    Claim {
        statement: "the gain in transfer time grows with the RTT",
        source: "section 4.2",
        published: None,
        item: EQUAL_LOSS,
        check: gain_grows_with_rtt,
    },
    Claim {
        statement: "at 24 ms and low loss there is about no gain",
        source: "section 4.2",
        published: None,
        item: EQUAL_LOSS,
        check: no_gain_when_near,
    },
    Claim {
        statement: "CUC can be left out: with the same scope of fast recovery, transfers take no longer without it",
        source: "chapter 3",
        published: None,
        item: BEYOND,
        check: cuc_is_dispensable,
    },
];

/// Up to this loss it is low.
const LOW_LOSS_PCT: u32 = 2;
/// Averages within this share of each other are about equal.
const ABOUT_EQUAL: f64 = 0.05;
/// An average that differs by less than this share is no finding, however narrow its interval.
const NEGLIGIBLE: f64 = 0.01;

/// All findings. One is undecided where its cells were not run, or too seldom.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    CLAIMS.iter().map(|claim| claim.judged(measurements)).collect()
}

impl Claim {
    fn judged(&self, measurements: &Measurements) -> Finding {
        let finding = match (self.check)(measurements) {
            Some((verdict, ratio, evidence)) => {
                let doubt = if verdict.is_none() { " More runs would tell." } else { "" };
                Finding::new(self.statement, verdict, evidence + doubt).measured(ratio.measured())
            }
            None => Finding::new(self.statement, None, format!("the item {}, which tells, was not run", self.item)),
        };
        let finding = finding.source(self.source);
        match self.published {
            Some(figure) => finding.published(figure),
            None => finding,
        }
    }
}

/// What an average says of a finding that it lies below 1: yes where its whole interval does, by more than next to
/// nothing; undecided where the interval reaches from above 1 to so far below it.
fn is_less(average: Ratio) -> Option<bool> {
    if average.is_below_one() && average.value < 1.0 - NEGLIGIBLE {
        Some(true)
    } else if average.high() >= 1.0 && average.low() < 1.0 - NEGLIGIBLE {
        None
    } else {
        Some(false)
    }
}

/// The same of a finding that it lies above 1.
fn is_more(average: Ratio) -> Option<bool> {
    is_less(Ratio { value: 2.0 - average.value, ..average })
}

fn shorter_with_loss_on_path_2(all: &Measurements) -> Option<Outcome> {
    let points = points(all, LOSS_ON_PATH_2, TRANSFER, |cell| cell.has_loss());
    let average = average(&points)?;
    let verdict = is_less(average);
    let cause = if verdict == Some(true) { None } else { causes::cuts(all, LOSS_ON_PATH_2) };
    let summary = summary("With loss on path 2 the proposal's transfers are", &points, Quantity::Time);
    Some((verdict, average, joined([summary, cause, causes::spared_path_in_time(all)])))
}

fn fewer_retransmissions(all: &Measurements) -> Option<Outcome> {
    let points = points(all, LOSS_ON_PATH_2, RETRANSMISSIONS, |cell| cell.has_loss());
    let average = average(&points)?;
    let verdict = is_less(average);
    let summary =
        summary("With loss on path 2 the chunks that the proposal sends again are", &points, Quantity::Chunks);
    Some((verdict, average, joined([summary, causes::spared_path_in_chunks(all)])))
}

fn shorter_with_equal_loss(all: &Measurements) -> Option<Outcome> {
    let points = points(all, EQUAL_LOSS, TRANSFER, |cell| cell.has_loss());
    let average = average(&points)?;
    let verdict = is_less(average);
    let summary = summary("With equal loss the proposal's transfers are", &points, Quantity::Time);
    let causes =
        if verdict == Some(true) { [None, None] } else { [causes::cuts(all, EQUAL_LOSS), causes::greatest_loss(all)] };
    let [cuts, greatest] = causes;
    Some((verdict, average, joined([summary, cuts, greatest])))
}

fn more_retransmissions(all: &Measurements) -> Option<Outcome> {
    let points = points(all, EQUAL_LOSS, RETRANSMISSIONS, |cell| cell.has_much_loss());
    let average = average(&points)?;
    let verdict = is_more(average);
    let summary = summary(&sent_again_with_much_loss(""), &points, Quantity::Chunks);
    Some((verdict, average, joined([summary, causes::lost_chunks(all)])))
}

fn fewer_by_timeout(all: &Measurements) -> Option<Outcome> {
    let points = points(all, EQUAL_LOSS, BY_TIMEOUT, |cell| cell.has_much_loss());
    let average = average(&points)?;
    let verdict = is_less(average);
    let summary = summary(&sent_again_with_much_loss("after a timeout "), &points, Quantity::Chunks);
    Some((verdict, average, joined([summary, causes::chunks_lost_twice(all)])))
}

/// A gain at the longest RTT, for certain, and a larger one the longer the RTT.
fn gain_grows_with_rtt(all: &Measurements) -> Option<Outcome> {
    let points = points_of_both(all, TRANSFER, |cell| cell.has_loss());
    let mut rtts: Vec<u32> = points.iter().map(|point| point.reference.cell.rtt_ms[1]).collect();
    rtts.sort_unstable();
    rtts.dedup();
    let at = |&rtt: &u32| {
        let ratios = points.iter().filter(|point| point.reference.cell.rtt_ms[1] == rtt).map(|point| point.ratio);
        Ratio::mean(&ratios.collect::<Vec<_>>())
    };
    let averages: Vec<Ratio> = rtts.iter().filter_map(at).collect();
    let (Some(first), Some(last), true) = (averages.first(), averages.last(), averages.len() > 1) else { return None };
    let shown: Vec<String> = rtts
        .iter()
        .zip(&averages)
        .map(|(rtt, average)| format!("{} at {rtt} ms", Quantity::Time.difference(*average)))
        .collect();
    let grows = averages.is_sorted_by(|a, b| a.value > b.value) && last.high() < first.low();
    let verdict = last.is_below_one() && grows;
    let shown = format!(
        "With loss on path 2 the proposal's transfers are, on average over both experiments, {}",
        shown.join(", ")
    );
    let cause = match (verdict, first.is_below_one() || last.is_below_one()) {
        (true, _) => None,
        (false, true) => Some("There is a gain, but it does not grow with every step for certain".to_owned()),
        (false, false) if grows => {
            Some("There is no gain that could grow; what the proposal costs becomes less with the RTT".to_owned())
        }
        (false, false) => Some("There is no gain that could grow".to_owned()),
    };
    Some((Some(verdict), *last, joined([Some(shown), cause])))
}

/// The average is 1, as far as can be told, and that is far enough.
fn no_gain_when_near(all: &Measurements) -> Option<Outcome> {
    let points = points_of_both(all, TRANSFER, |cell| cell.rtt_ms[1] == 24 && cell.loss_pct[1] <= LOW_LOSS_PCT);
    let average = average(&points)?;
    let differs = average.is_below_one() || average.is_above_one();
    let (verdict, cause) = match () {
        () if differs && average.value > 1.0 + NEGLIGIBLE => (Some(false), Some("There is no gain, but a cost")),
        () if differs && average.value < 1.0 - NEGLIGIBLE => (Some(false), Some("There is a gain")),
        () if average.half < ABOUT_EQUAL => (Some(true), None),
        () => (None, None),
    };
    let summary =
        summary(&format!("At 24 ms and up to {LOW_LOSS_PCT} % the proposal's transfers are"), &points, Quantity::Time);
    Some((verdict, average, joined([summary, cause.map(str::to_owned)])))
}

/// Transfers without CUC take at most 5 % longer, for certain, on average over both scopes of recovery.
fn cuc_is_dispensable(all: &Measurements) -> Option<Outcome> {
    let mut shown = Vec::new();
    let mut ratios = Vec::new();
    for (with, without) in [(REFERENCE, NO_CUC_BY_ASSOCIATION), (CUC_BY_DESTINATION, PROPOSAL)] {
        for (with, without) in all.side_by_side(with, without) {
            let ratio = ratio(with, without, TRANSFER)?;
            let cell = &with.cell;
            shown.push(format!(
                "{} with recovery by {} at {} %",
                Quantity::Time.difference(ratio),
                cell.mode.fast_recovery,
                cell.loss_pct[1]
            ));
            ratios.push(ratio);
        }
    }
    let average = Ratio::mean(&ratios)?;
    let verdict = match average {
        _ if average.is_above_one() => Some(false),
        _ if average.high() <= 1.0 + ABOUT_EQUAL => Some(true),
        _ => None,
    };
    let evidence =
        format!("Without CUC transfers are {} on average: {}", Quantity::Time.difference(average), shown.join(", "));
    Some((verdict, average, joined([Some(evidence)])))
}

/// The beginning of what is said of chunks that were sent again, of those `after` something.
fn sent_again_with_much_loss(after: &str) -> String {
    format!("With {MUCH_LOSS_PCT} % equal loss and more the chunks that the proposal sends again {after}are")
}

/// The sentences that there are, joined.
fn joined<const N: usize>(sentences: [Option<String>; N]) -> String {
    let sentences: Vec<String> = sentences.into_iter().flatten().map(|sentence| format!("{sentence}.")).collect();
    sentences.join(" ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::grid::{Extent, cells};
    use super::super::measurement::Measurement;
    use super::*;

    /// Measurements of the quick grid in which each figure of the proposal is `scale` times the reference's, and runs
    /// differ by one per cent.
    pub(in crate::leitner2019) fn made(scale: f64) -> Measurements {
        spread(scale, 0.01)
    }

    fn spread(scale: f64, spread: f64) -> Measurements {
        let cells = cells(&Extent::of(true)).into_iter();
        let of = |mode: &str| if mode == "proposal" { scale } else { 1.0 };
        let runs = |x: f64| [[x; 5], [(1.0 + spread) * x; 5], [x; 5], [(1.0 + spread) * x; 5]];
        Measurements(
            cells.map(|cell| (of(cell.mode.name), cell)).map(|(x, cell)| Measurement::of(cell, &runs(x))).collect(),
        )
    }

    fn verdicts(all: &Measurements) -> Vec<Option<bool>> {
        findings(all).into_iter().map(|finding| finding.verdict.confirmed()).collect()
    }

    #[test]
    fn findings_are_confirmed_or_refuted() {
        let yes_no = |answers: [bool; 8]| answers.map(Some).to_vec();
        assert_eq!(verdicts(&made(0.8)), yes_no([true, true, true, false, true, false, false, true]));
        assert_eq!(verdicts(&made(1.2)), yes_no([false, false, false, true, false, false, false, false]));
        assert_eq!(verdicts(&made(1.0)), yes_no([false, false, false, false, false, false, true, true]));
    }

    #[test]
    fn too_few_runs_and_cells_that_were_not_run_decide_nothing() {
        assert_eq!(verdicts(&spread(0.95, 0.9))[..5], [None; 5]);
        assert_eq!(verdicts(&Measurements(Vec::new())), vec![None; 8]);
        let evidence = &findings(&Measurements(Vec::new()))[7].evidence;
        assert!(evidence.contains("beyond"), "{evidence}");
    }

    #[test]
    fn no_two_findings_say_the_same() {
        for scale in [0.8, 1.0, 1.2] {
            let findings = findings(&made(scale));
            for (index, finding) in findings.iter().enumerate() {
                let sentences: Vec<&str> = finding
                    .evidence
                    .split(". ")
                    .filter(|sentence| !sentence.contains("see the note") && !sentence.starts_with("More runs"))
                    .collect();
                let others = findings[index + 1..].iter();
                for other in others {
                    assert!(!sentences.iter().any(|sentence| other.evidence.contains(sentence)), "{}", other.evidence);
                }
            }
        }
    }
}
