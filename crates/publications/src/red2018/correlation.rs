//! Figures 6 and 7: the distribution of the degrees of each pair, false positives against φ, and the receiver operating
//! characteristic.

use serde_json::Value;
use subflow_lab::statistics::{mean, mean_interval, quantile};
use subflow_report::{Axis, Boxes, Cell, Figure, Measured, Table, Verdict};

use super::PAIRS;
use super::replay::{BOUNDS, READINGS, RFC8382, SKEWNESS, VARIANTS, Variant, share_above};
use super::testbed::{degrees, thinned};
use crate::study::{Check, Claim, Outcome, Results, Row, Sample, Slice};

pub(super) const CHECKS: [(&str, Check); 5] = [
    ("close to 1", |all, _| by_medians(all, false, |[_, _, bc]| (bc >= 0.9, 2))),
    ("centred on 0", |all, _| {
        by_medians(all, false, |[ab, ac, _]| (ab.abs() <= 0.1 && ac.abs() <= 0.1, usize::from(ac.abs() >= ab.abs())))
    }),
    ("below and above 0", |all, _| {
        by_medians(all, true, |[ab, ac, bc]| (ab < 0.0 && ac < 0.0 && bc > 0.0, usize::from(ac >= ab)))
    }),
    ("fewer false positives", fewer_false_positives),
    ("best threshold", best_threshold),
];

/// The samples of an item's runs, all with the plain redundant scheduler.
pub(super) fn runs<'r>(all: &'r Results, item: &str) -> Vec<&'r Sample> {
    all.of(item).flat_map(|row| &row.runs).collect()
}

fn thresholds() -> impl Iterator<Item = f64> {
    (0..=20).map(|step| f64::from(step) / 20.0)
}

/// False and true positive rate of a run: of pairs that share nothing, and of those that share the bottleneck.
fn rates(run: &Sample, detector: usize, threshold: f64) -> Option<(f64, f64)> {
    let pairs = degrees(run, detector);
    let of = |shared| pairs.into_iter().zip(PAIRS).filter(move |(_, pair)| pair.3 == shared).map(|(of, _)| of);
    Some((share_above(of(false), threshold)?, share_above(of(true), threshold)?))
}

fn rates_of(runs: &[&Sample], detector: usize, threshold: f64) -> (Vec<f64>, Vec<f64>) {
    runs.iter().filter_map(|run| rates(run, detector, threshold)).unzip()
}

fn mean_rates(runs: &[&Sample], detector: usize, threshold: f64) -> Option<(f64, f64)> {
    let (false_rates, true_rates) = rates_of(runs, detector, threshold);
    Some((mean(&false_rates)?, mean(&true_rates)?))
}

/// The known degrees of a pair over all runs.
fn pooled(runs: &[&Sample], detector: usize, pair: usize) -> Vec<f64> {
    runs.iter().flat_map(|run| degrees(run, detector)[pair]).copied().filter(|degree| !degree.is_nan()).collect()
}

/// A quantile of the degrees of a pair in each run.
fn by_run(runs: &[&Sample], detector: usize, pair: usize, p: f64) -> Vec<f64> {
    runs.iter().filter_map(|run| quantile(&pooled(&[run], detector, pair), p)).collect()
}

/// The quantiles that stand in tables, by their metrics.
const QUANTILES: [(&str, f64); 5] =
    [("c_q05", 0.05), ("c_q25", 0.25), ("c_median", 0.5), ("c_q75", 0.75), ("c_q95", 0.95)];

/// The pairs by detector, with the quantiles of their degrees in each run.
pub(super) fn pairs(row: &Row) -> Vec<Slice> {
    let runs = &row.runs.iter().collect::<Vec<_>>()[..];
    let slice = |(v, variant): (usize, &Variant), (p, (pair, ..)): (usize, &(&str, usize, usize, bool))| Slice {
        variables: vec![("detector", variant.name.into()), ("of", (*pair).into())],
        figures: QUANTILES.iter().map(|(metric, at)| (*metric, by_run(runs, v, p, *at))).collect(),
    };
    let variants = VARIANTS.iter().enumerate();
    variants.flat_map(|variant| PAIRS.iter().enumerate().map(move |pair| slice(variant, pair))).collect()
}

/// Figure 6, of all runs together: its quantiles, and box plots.
pub(super) fn figure_6(runs: &[&Sample]) -> (Table, Figure) {
    let mut table = Table::new(["detector", "pair", "5 %", "25 %", "median", "75 %", "95 %", "known %"]);
    let mut boxes = Boxes::new(Axis::new("c", "").between(-1.0, 1.0));
    for (v, variant) in VARIANTS.iter().enumerate() {
        for (p, (pair, ..)) in PAIRS.iter().enumerate() {
            let known = pooled(runs, v, p);
            let all: usize = runs.iter().map(|run| degrees(run, v)[p].len()).sum();
            let share = (all > 0).then(|| 100.0 * known.len() as f64 / all as f64);
            let quantiles = QUANTILES.map(|(_, at)| Cell::from(quantile(&known, at)));
            table.row([variant.name.into(), (*pair).into()].into_iter().chain(quantiles).chain([share.into()]));
            if variant.name != RFC8382 {
                boxes.add(variant.name, *pair, &thinned(&known));
            }
        }
    }
    let caption = "B and C share a bottleneck, A shares none. Asked every 100 ms, all runs together.";
    (table, Figure::boxes("Degree c of each pair (figure 6)", boxes).caption(caption))
}

/// What the [`READINGS`] make of a claim, each by its name. The first is taken for the paper's, the others are
/// alternatives; the evidence tells the verdicts of the first two.
fn by_reading(readings: impl Iterator<Item = (&'static str, Outcome)>) -> Option<Outcome> {
    let readings: Vec<(&str, Outcome)> = readings.collect();
    let told =
        |(choice, of): &(&str, Outcome)| format!("{choice}: {}, {}", Verdict::from(of.verdict).text(), of.evidence);
    let evidence = readings.iter().take(2).map(told).collect::<Vec<_>>().join("; ");
    let mut readings = readings.into_iter();
    let (_, first) = readings.next()?;
    let alternatives = readings.map(|(choice, outcome)| outcome.alternative(choice)).collect();
    Some(Outcome { evidence, alternatives, ..first })
}

/// What `judge` says of the medians of the three pairs, by RED-CPI or by MSCM: whether the claim holds, and by which pair.
fn by_medians(all: &Results, of_mscm: bool, judge: fn([f64; 3]) -> (bool, usize)) -> Option<Outcome> {
    let runs = &runs(all, "correlation")[..];
    let reading = |&(choice, red, mscm): &(&'static str, usize, usize)| {
        let variant = if of_mscm { mscm } else { red };
        let [ab, ac, bc] = [0, 1, 2].map(|pair| quantile(&pooled(runs, variant, pair), 0.5));
        let (Some(ab), Some(ac), Some(bc)) = (ab, ac, bc) else {
            let evidence = "c of some pair is never known, as its windows hold one value".to_owned();
            return (choice, Outcome { evidence, ..Outcome::default() });
        };
        let close = share_above(runs.iter().map(|run| degrees(run, variant)[2]), 0.8).unwrap_or(0.0);
        let (holds, deciding) = judge([ab, ac, bc]);
        // The mean of the runs' medians of the pair that decides, with its interval.
        let medians = by_run(runs, variant, deciding, 0.5);
        let measured = Measured::new(mean(&medians).unwrap_or(f64::NAN), mean_interval(&medians, 0.95), "");
        let shown = format!("median c A-B {ab:.2}, A-C {ac:.2}, B-C {bc:.2}; c of B-C ≥ 0.8 in {:.0} %", 100.0 * close);
        (choice, Outcome::new(Some(holds), measured, shown))
    };
    if runs.is_empty() { None } else { by_reading(READINGS.iter().map(reading)) }
}

/// The thresholds that the table of figure 7 has.
const IN_TABLE: [f64; 8] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95];

/// Detectors at each threshold, with their rates, and the area under the curve of each.
pub(super) fn detectors_at_thresholds(row: &Row) -> Vec<Slice> {
    let runs = &row.runs.iter().collect::<Vec<_>>()[..];
    let mut slices = Vec::new();
    let mut at = |name: &str, threshold: Value, case: String, (detector, level): (usize, f64), in_table: bool| {
        let (false_rates, true_rates) = rates_of(runs, detector, level);
        let pairs = [("A-B, A-C", "false_positive_rate", false_rates), ("B-C", "true_positive_rate", true_rates)];
        slices.extend(pairs.map(|(of, metric, rates)| Slice {
            variables: vec![
                ("case", format!("${{load}}, {case}").into()),
                ("detector", name.into()),
                ("threshold", threshold.clone()),
                ("in_table", in_table.into()),
                ("of", of.into()),
            ],
            figures: vec![(metric, rates)],
        }));
    };
    for (v, variant) in VARIANTS.iter().enumerate().filter(|(_, variant)| variant.name != RFC8382) {
        for threshold in thresholds() {
            let case = format!("{}, φ = {threshold:.2}", variant.name);
            at(variant.name, threshold.into(), case, (v, threshold), IN_TABLE.contains(&threshold));
        }
    }
    // What RFC 8382 says is 1 or 0.
    for (skewness, detector) in SKEWNESS.into_iter().zip(VARIANTS.len()..) {
        let threshold = format!("{skewness:.2}");
        let case = format!("{RFC8382}, c_s = {threshold}");
        at("rfc8382, c_s", threshold.into(), case, (detector, 1.0), true);
    }
    for (scale, detector) in bounds_of_rfc8382() {
        let factor = if scale.is_finite() { format!("{scale:.2}") } else { "∞".to_owned() };
        let case = format!("{RFC8382}, bounds × {factor}");
        at("rfc8382, bounds ×", factor.into(), case, (detector, 1.0), true);
    }
    let area = |(name, points): (&str, Rates)| Slice {
        variables: vec![("detector", name.into()), ("of", "all pairs".into())],
        figures: vec![("area_under_curve", vec![area(&points)])],
    };
    slices.extend(characteristics(runs).into_iter().map(area));
    slices
}

/// False and true positive rates by threshold.
type Rates = Vec<(f64, f64)>;

/// What the bounds of RFC 8382 are multiplied by, and the places of such detectors.
fn bounds_of_rfc8382() -> impl Iterator<Item = (f64, usize)> {
    BOUNDS.into_iter().zip(VARIANTS.len() + SKEWNESS.len()..)
}

/// The characteristics of all detectors that have points.
fn characteristics(runs: &[&Sample]) -> Vec<(&'static str, Rates)> {
    let variants = VARIANTS.iter().enumerate().filter(|(_, variant)| variant.name != RFC8382);
    let of_rfc = bounds_of_rfc8382().filter_map(|(_, detector)| mean_rates(runs, detector, 1.0));
    let all = variants.map(|(v, variant)| (variant.name, characteristic(runs, v)));
    all.chain([(RFC8382, of_rfc.collect())]).filter(|(_, points): &(_, Rates)| !points.is_empty()).collect()
}

pub(super) fn figure_7b(runs: &[&Sample]) -> Figure {
    let title = "Receiver operating characteristic (figure 7b)";
    Figure::receiver_operating_characteristic(title, characteristics(runs)).caption(
        "φ from -1 to 1; rfc8382: the bounds within which statistics count as alike (p_f, p_mad, p_s, p_d) \
         from 0 to infinity, 1 being the RFC's; its skewness threshold says whether there is a queue, not \
         whose. In the first 10.5 s it knows too little, which counts as no.",
    )
}

/// The points of a detector. φ below 0 only completes the curve.
fn characteristic(runs: &[&Sample], variant: usize) -> Rates {
    let below = (-20..0).map(|step| f64::from(step) / 20.0);
    below.chain(thresholds()).filter_map(|threshold| mean_rates(runs, variant, threshold)).collect()
}

/// Area under the curve through `points`, by trapezoids from (0, 0) to (1, 1).
fn area(points: &[(f64, f64)]) -> f64 {
    let mut corners: Rates = points.iter().copied().chain([(0.0, 0.0), (1.0, 1.0)]).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    corners.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
}

/// The readings whose rates are known at all thresholds: the words for one, RED-CPI, its rates and those of MSCM.
fn known(runs: &[&Sample]) -> impl Iterator<Item = (&'static str, [usize; 2], Rates, Rates)> {
    let rates = |variant| thresholds().filter_map(|threshold| mean_rates(runs, variant, threshold)).collect::<Rates>();
    let of = move |&(choice, red, mscm): &(&'static str, usize, usize)| (choice, [red, mscm], rates(red), rates(mscm));
    READINGS.iter().map(of).filter(|(_, _, red, mscm)| !red.is_empty() && red.len() == mscm.len())
}

/// φ = 0.8 is the 17th threshold.
const AT_0_8: usize = 16;

fn fewer_false_positives(all: &Results, _: &Claim) -> Option<Outcome> {
    let runs = &runs(all, "roc")[..];
    let reading = |(choice, [red, mscm], of_red, of_mscm): (_, [usize; 2], Rates, Rates)| {
        let (low, area_of) = (AT_0_8 + 1, |variant| area(&characteristic(runs, variant)));
        let better = of_red.iter().zip(&of_mscm).take(low).filter(|(red, mscm)| red.0 < mscm.0).count();
        let at = 100.0 * of_red[AT_0_8].0;
        let shown = format!(
            "at {better} of {low} values of φ up to 0.8; at 0.8: RED-CPI {at:.1} %, MSCM {:.1} %; area under the curve: \
             RED-CPI {:.2}, MSCM {:.2}",
            100.0 * of_mscm[AT_0_8].0,
            area_of(red),
            area_of(mscm),
        );
        let by_run: Vec<f64> = rates_of(runs, red, 0.8).0.iter().map(|rate| 100.0 * rate).collect();
        let measured = Measured::new(at, mean_interval(&by_run, 0.95), "% at 0.8");
        (choice, Outcome::new(Some(better == low), measured, shown))
    };
    by_reading(known(runs).map(reading))
}

fn best_threshold(all: &Results, _: &Claim) -> Option<Outcome> {
    let runs = &runs(all, "roc")[..];
    let gain = |rates: &(f64, f64)| rates.1 - rates.0;
    let best_of = |rates: &[(f64, f64)]| {
        (0..rates.len()).max_by(|&a, &b| gain(&rates[a]).total_cmp(&gain(&rates[b]))).unwrap_or(0)
    };
    let reading = |(choice, [red, _], rates, _): (_, [usize; 2], Rates, Rates)| {
        let best = best_of(&rates);
        let of_run = |run: &&Sample| {
            let rates = thresholds().filter_map(|threshold| self::rates(run, red, threshold));
            best_of(&rates.collect::<Vec<_>>()) as f64 / 20.0
        };
        let by_run: Vec<f64> = runs.iter().map(of_run).collect();
        let threshold = best as f64 / 20.0;
        let shown = format!(
            "hits less errors are most at φ = {threshold:.2}: {:.1} % less {:.1} %; at 0.8 {:.1} % less {:.1} %",
            100.0 * rates[best].1,
            100.0 * rates[best].0,
            100.0 * rates[AT_0_8].1,
            100.0 * rates[AT_0_8].0
        );
        let measured = Measured::new(threshold, mean_interval(&by_run, 0.95), "");
        (choice, Outcome::new(Some((0.8..=0.9).contains(&threshold)), measured, shown))
    };
    by_reading(known(runs).map(reading))
}

#[cfg(test)]
mod tests {
    use super::super::RED2018;
    use super::*;
    use crate::study::Effort;

    /// A run in which every detector gave these degrees to the three pairs.
    fn run(pairs: [&[f64]; 3]) -> Sample {
        let detectors = VARIANTS.len() + SKEWNESS.len() + BOUNDS.len();
        // Figures of paths and of the connection, then RTTs and throughputs of none.
        let mut sample = vec![0.0; 7 * 3 + 4 + 6];
        for pair in (0..detectors).flat_map(|_| pairs) {
            sample.push(pair.len() as f64);
            sample.extend(pair);
        }
        sample
    }

    #[test]
    fn rates_tell_pairs_that_share_from_those_that_do_not() {
        let run = run([&[0.9, 0.0], &[0.0, f64::NAN], &[1.0, 0.5]]);
        assert_eq!(rates(&run, 0, 0.8), Some((0.25, 0.5)));
        assert_eq!(rates(&run, 30, 0.8), Some((0.25, 0.5)), "the last detector");
    }

    #[test]
    fn findings_follow_the_figures() {
        let good = run([&[0.0, 0.05, -0.05], &[0.0, 0.1, -0.1], &[0.95, 0.97, 0.85]]);
        let results = |item: &str| {
            let all = RED2018.invented(Effort::Quick, |_| vec![good.clone()]);
            all.only(|row| row.cell.item == item && row.cell.is("load", "limited load"))
        };
        let confirmed = |results: &Results| {
            let findings = RED2018.findings(results).into_iter();
            findings.map(|finding| finding.verdict.confirmed()).collect::<Vec<_>>()
        };
        assert_eq!(confirmed(&results("correlation")), [Some(true), Some(true), Some(false)]);
        // MSCM says the same here, so it has no more false positives than RED-CPI.
        assert_eq!(confirmed(&results("roc"))[0], Some(false));
        assert!(confirmed(&Results::default()).is_empty());
    }

    #[test]
    fn a_perfect_detector_has_all_the_area() {
        assert_eq!(area(&[(0.0, 1.0)]), 1.0);
        assert_eq!(area(&[]), 0.5);
    }
}
