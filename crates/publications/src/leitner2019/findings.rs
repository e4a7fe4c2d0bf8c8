//! How each finding of the thesis is checked against our figures, with what our figures say of the cause.

use subflow_lab::statistics::Interval;
use subflow_report::{Alternative, Measured};

use super::causes;
use super::comparison::{CHUNKS, TIME, average, has_loss, loss, points, points_of_both, rtt, side_by_side, summary};
use super::{
    CUC_BY_DESTINATION, EQUAL_LOSS, LOSS_ON_PATH_2, METRICS, NO_CUC_BY_ASSOCIATION, PROPOSAL, REFERENCE, TRANSFER,
};
use crate::study::{Check, Claim, Outcome, Ratio, Results, Row};

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
    let at = |wanted: &str| {
        let metric = METRICS.iter().position(|name| *name == wanted)?;
        let points = points(all, &claim.item, metric, |row| row.cell.has(&claim.only));
        Some((metric, average(&points)?, points))
    };
    let (metric, average, points) = at(claim.metric.as_deref()?)?;
    let verdict = holds(average);
    let words = claim.words.as_deref().unwrap_or_default();
    let summary = summary(words, &points, if metric == TRANSFER { TIME } else { CHUNKS });
    let unless_confirmed = claim.texts("causes_unless_confirmed").into_iter().filter(|_| verdict != Some(true));
    let causes = unless_confirmed.chain(claim.texts("causes")).map(|cause| causes::of(cause, all, &claim.item));
    let outcome = outcome(verdict, average, [summary].into_iter().chain(causes))?;
    let beside = claim.arguments.get("beside");
    let beside = beside.and_then(|it| Some((it["name"].as_str()?, at(it["metric"].as_str()?)?)));
    let alternatives = beside.map(|(choice, (_, average, _))| alternative(choice, holds(average), average));
    Some(Outcome { alternatives: alternatives.into_iter().collect(), ..outcome })
}

/// What another reading gives.
fn alternative(choice: &str, verdict: Option<bool>, ratio: Ratio) -> Alternative {
    let measured = Some(ratio.measured());
    Alternative { choice: choice.to_owned(), verdict: verdict.into(), measured, instead_of: None }
}

/// Whether the proposal saves time at the longest RTT, and more of it than at the shortest, in the claim's experiment; the
/// other one stands beside.
fn gain_grows_with_rtt(all: &Results, claim: &Claim) -> Option<Outcome> {
    let saved = Saved::of(all, &claim.item)?;
    let grows = if saved.verdict() == Some(true) { "" } else { "; it does not grow for certain" };
    let mut outcome = Outcome::new(saved.verdict(), saved.measured(), format!("{}{grows}.", saved.shown()));
    let other = if claim.item == LOSS_ON_PATH_2 { EQUAL_LOSS } else { LOSS_ON_PATH_2 };
    outcome.alternatives.extend(Saved::of(all, other).map(|saved| Alternative {
        choice: format!("the experiment {other}"),
        verdict: saved.verdict().into(),
        measured: Some(saved.measured()),
        instead_of: None,
    }));
    Some(outcome)
}

/// The seconds that the proposal saves where there is loss, on average: by RTT, with half of the interval.
struct Saved<'a> {
    item: &'a str,
    by_rtt: Vec<(i64, f64, f64)>,
}

impl<'a> Saved<'a> {
    /// Those in an experiment that was run at several RTTs.
    fn of(all: &Results, item: &'a str) -> Option<Self> {
        let points = points(all, item, TRANSFER, has_loss);
        let mut rtts: Vec<i64> = points.iter().map(|point| rtt(point.reference)).collect();
        rtts.sort_unstable();
        rtts.dedup();
        let half = |row: &Row| row.interval(TRANSFER).map_or(f64::INFINITY, |it| (it.high - it.low) / 2.0);
        let at = |&ms: &i64| {
            let at = || points.iter().filter(|point| rtt(point.reference) == ms);
            let saved: Vec<f64> =
                at().map(|point| point.reference.mean(TRANSFER) - point.proposal.mean(TRANSFER)).collect();
            let squares: f64 = at().map(|point| half(point.reference).powi(2) + half(point.proposal).powi(2)).sum();
            let number = saved.len() as f64;
            (ms, saved.iter().sum::<f64>() / number, squares.sqrt() / number)
        };
        (rtts.len() > 1).then(|| Self { item, by_rtt: rtts.iter().map(at).collect() })
    }

    fn extremes(&self) -> [(f64, f64); 2] {
        [self.by_rtt[0], self.by_rtt[self.by_rtt.len() - 1]].map(|(_, seconds, half)| (seconds, half))
    }

    fn verdict(&self) -> Option<bool> {
        let [(near, near_half), (far, far_half)] = self.extremes();
        let (growth, half) = (far - near, far_half.hypot(near_half));
        match () {
            () if far - far_half > 0.0 && growth - half > 0.0 => Some(true),
            () if far + far_half < 0.0 || growth + half < 0.0 => Some(false),
            () => None,
        }
    }

    fn measured(&self) -> Measured {
        let [(near, near_half), (far, far_half)] = self.extremes();
        let (growth, half) = (far - near, far_half.hypot(near_half));
        let interval = Interval { low: growth - half, high: growth + half, confidence: 0.95 };
        Measured::new(growth, Some(interval), "s more saved")
    }

    fn shown(&self) -> String {
        let at = |(ms, seconds, half): &(i64, f64, f64)| format!("{seconds:.2} ± {half:.2} s at {ms} ms");
        let shown: Vec<String> = self.by_rtt.iter().map(at).collect();
        format!("In {} the proposal saves {} on average over the losses", self.item, shown.join(", "))
    }
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
            [x, (1.0 + spread) * x, x, (1.0 + spread) * x].map(|x| vec![x; 6]).to_vec()
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
        let [yes, no] = [Some(true), Some(false)];
        // The same is saved at each RTT, which leaves open whether it grows.
        assert_eq!(verdicts(&made(0.8)), [yes, yes, yes, no, yes, None, no, yes]);
        assert_eq!(verdicts(&made(1.2)), [no, no, no, yes, no, no, no, no]);
        assert_eq!(verdicts(&made(1.0)), [no, no, no, no, no, None, yes, yes]);
        let grows = LEITNER2019.invented(Effort::Quick, |cell| {
            let saved = if cell.is("mode", PROPOSAL) { cell.number("rtt2") / 1000.0 } else { 0.0 };
            [1.0, 1.001, 1.0, 1.001].map(|x| vec![x - saved; 6]).to_vec()
        });
        assert_eq!(verdicts(&grows)[5], yes);
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
        assert_eq!(figures.len(), 2 * (2 * 6 + 4) + 1, "two experiments at two RTTs, and what lies beyond");
        let Chart::Curves(times) = &figures[0].chart else { panic!("curves") };
        assert_eq!(times.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["reference", "proposal"]);
        assert_eq!(times.curves[0].points.len(), 4, "a point for each loss");
        let Chart::Curves(ratios) = &figures[12].chart else { panic!("curves") };
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
