//! How each finding of the thesis is checked against our figures, with what our figures say of the cause.

use super::causes;
use super::comparison::{CHUNKS, TIME, average, has_loss, loss, points, points_of_both, rtt, side_by_side, summary};
use super::{CUC_BY_DESTINATION, METRICS, NO_CUC_BY_ASSOCIATION, PROPOSAL, REFERENCE, TRANSFER};
use crate::study::{Check, Claim, Outcome, Ratio, Results};

pub(super) const CHECKS: [(&str, Check); 5] = [
    ("less on average", |all, claim| on_average(all, claim, is_less)),
    ("more on average", |all, claim| on_average(all, claim, is_more)),
    ("gain grows with the RTT", gain_grows_with_rtt),
    ("no gain when near", no_gain_when_near),
    ("CUC is dispensable", cuc_is_dispensable),
];

/// Up to this loss it is low.
const LOW_LOSS_PCT: i64 = 2;
/// Averages within this share of each other are about equal.
const ABOUT_EQUAL: f64 = 0.05;
/// An average that differs by less than this share is no finding, however narrow its interval.
const NEGLIGIBLE: f64 = 0.01;

/// A verdict, the ratio that decides, and our figures with what they say of the cause.
fn outcome(
    verdict: Option<bool>,
    ratio: Ratio,
    sentences: impl IntoIterator<Item = Option<String>>,
) -> Option<Outcome> {
    let doubt = verdict.is_none().then(|| " More runs would tell.".to_owned());
    let sentences: Vec<String> = sentences.into_iter().flatten().map(|sentence| format!("{sentence}.")).collect();
    Some(Outcome::new(verdict, ratio.measured(), sentences.join(" ") + &doubt.unwrap_or_default()))
}

/// What an average says of a finding that it lies below 1: yes where its whole interval does, by more than next to
/// nothing; undecided where the interval reaches from above 1 to so far below it.
fn is_less(average: Ratio) -> Option<bool> {
    if average.is_below_one() && average.value < 1.0 - NEGLIGIBLE {
        Some(true)
    } else if average.high >= 1.0 && average.low < 1.0 - NEGLIGIBLE {
        None
    } else {
        Some(false)
    }
}

/// The same of a finding that it lies above 1.
fn is_more(average: Ratio) -> Option<bool> {
    is_less(Ratio::around(2.0 - average.value, average.half()))
}

/// What the proposal makes of a metric at the claim's points, on average, and the causes that it names.
fn on_average(all: &Results, claim: &Claim, holds: fn(Ratio) -> Option<bool>) -> Option<Outcome> {
    let metric = METRICS.iter().position(|name| Some(*name) == claim.metric.as_deref())?;
    let points = points(all, &claim.item, metric, |row| row.cell.has(&claim.only));
    let average = average(&points)?;
    let verdict = holds(average);
    let words = claim.words.as_deref().unwrap_or_default();
    let summary = summary(words, &points, if metric == TRANSFER { TIME } else { CHUNKS });
    let unless_confirmed = claim.texts("causes_unless_confirmed").into_iter().filter(|_| verdict != Some(true));
    let causes = unless_confirmed.chain(claim.texts("causes")).map(|cause| causes::of(cause, all, &claim.item));
    outcome(verdict, average, [summary].into_iter().chain(causes))
}

/// A gain at the longest RTT, for certain, and a larger one the longer the RTT.
fn gain_grows_with_rtt(all: &Results, _: &Claim) -> Option<Outcome> {
    let points = points_of_both(all, TRANSFER, has_loss);
    let mut rtts: Vec<i64> = points.iter().map(|point| rtt(point.reference)).collect();
    rtts.sort_unstable();
    rtts.dedup();
    let at = |&ms: &i64| {
        let ratios = points.iter().filter(|point| rtt(point.reference) == ms).map(|point| point.ratio);
        Ratio::average(&ratios.collect::<Vec<_>>())
    };
    let averages: Vec<Ratio> = rtts.iter().filter_map(at).collect();
    let (Some(first), Some(last), true) = (averages.first(), averages.last(), averages.len() > 1) else { return None };
    let shown: Vec<String> =
        rtts.iter().zip(&averages).map(|(ms, average)| format!("{} at {ms} ms", TIME.difference(*average))).collect();
    let grows = averages.is_sorted_by(|a, b| a.value > b.value) && last.high < first.low;
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
    outcome(Some(verdict), *last, [Some(shown), cause])
}

/// The average is 1, as far as can be told, and that is far enough.
fn no_gain_when_near(all: &Results, _: &Claim) -> Option<Outcome> {
    let points = points_of_both(all, TRANSFER, |row| rtt(row) == 24 && loss(row) <= LOW_LOSS_PCT);
    let average = average(&points)?;
    let differs = average.is_below_one() || average.is_above_one();
    let (verdict, cause) = match () {
        () if differs && average.value > 1.0 + NEGLIGIBLE => (Some(false), Some("There is no gain, but a cost")),
        () if differs && average.value < 1.0 - NEGLIGIBLE => (Some(false), Some("There is a gain")),
        () if average.half() < ABOUT_EQUAL => (Some(true), None),
        () => (None, None),
    };
    let summary = summary(&format!("At 24 ms and up to {LOW_LOSS_PCT} % the proposal's transfers are"), &points, TIME);
    outcome(verdict, average, [summary, cause.map(str::to_owned)])
}

/// Transfers without CUC take at most 5 % longer, for certain, on average over both scopes of recovery.
fn cuc_is_dispensable(all: &Results, _: &Claim) -> Option<Outcome> {
    let mut shown = Vec::new();
    let mut ratios = Vec::new();
    for (with, without) in [(REFERENCE, NO_CUC_BY_ASSOCIATION), (CUC_BY_DESTINATION, PROPOSAL)] {
        for (with, without) in side_by_side(all, with, without) {
            let ratio = Ratio::by_errors(without, with, TRANSFER)?;
            shown.push(format!(
                "{} with recovery by {} at {} %",
                TIME.difference(ratio),
                with.cell.text("fast_recovery"),
                loss(with)
            ));
            ratios.push(ratio);
        }
    }
    let average = Ratio::average(&ratios)?;
    let verdict = match average {
        _ if average.is_above_one() => Some(false),
        _ if average.high <= 1.0 + ABOUT_EQUAL => Some(true),
        _ => None,
    };
    let evidence = format!("Without CUC transfers are {} on average: {}", TIME.difference(average), shown.join(", "));
    outcome(verdict, average, [Some(evidence)])
}

#[cfg(test)]
pub(super) mod tests {
    use subflow_report::{Chart, Finding};

    use super::super::LEITNER2019;
    use super::*;
    use crate::study::Effort;

    /// Results of a quick look in which each figure of the proposal is `scale` times the reference's, and runs differ by
    /// one per cent.
    pub(in crate::leitner2019) fn made(scale: f64) -> Results {
        spread(scale, 0.01)
    }

    fn spread(scale: f64, spread: f64) -> Results {
        LEITNER2019.invented(Effort::Quick, |cell| {
            let x = if cell.is("mode", PROPOSAL) { scale } else { 1.0 };
            [x, (1.0 + spread) * x, x, (1.0 + spread) * x].map(|x| vec![x; 5]).to_vec()
        })
    }

    fn findings(all: &Results) -> Vec<Finding> {
        LEITNER2019.findings(all)
    }

    fn verdicts(all: &Results) -> Vec<Option<bool>> {
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
        assert_eq!(verdicts(&Results::default()), vec![None; 8]);
        let evidence = &findings(&Results::default())[7].evidence;
        assert!(evidence.contains("beyond"), "{evidence}");
    }

    #[test]
    fn each_rtt_has_its_curves_and_ratios_tell_what_the_proposal_changes() {
        let figures = LEITNER2019.shown(&made(0.8)).figures;
        assert_eq!(figures.len(), 2 * (2 * 5 + 4) + 1, "two experiments at two RTTs, and what lies beyond");
        let Chart::Curves(times) = &figures[0].chart else { panic!("curves") };
        assert_eq!(times.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["reference", "proposal"]);
        assert_eq!(times.curves[0].points.len(), 4, "a point for each loss");
        let Chart::Curves(ratios) = &figures[10].chart else { panic!("curves") };
        assert_eq!(ratios.curves.len(), 2);
        assert!((ratios.curves[0].points[1].y - 0.8).abs() < 1e-9);
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
