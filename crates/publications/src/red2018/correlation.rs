//! Figures 6 and 7: the distribution of the degrees of each pair, false positives against φ, and the receiver operating
//! characteristic.

use subflow_lab::statistics::{mean, mean_interval, quantile};
use subflow_report::{Axis, Boxes, Cell, Curve, Curves, Figure, Measured, Shape, Table};

use super::PAIRS;
use super::part::{Part, Reading, shown};
use super::replay::{Degrees, READINGS, RFC8382, VARIANTS, share_above};

/// What the detectors said in one run with the redundant scheduler.
#[derive(Clone, Debug)]
pub(super) struct Verdicts {
    /// By variant and pair.
    pub(super) degrees: Vec<Vec<Degrees>>,
    /// Of RFC 8382 by threshold c_s (as [`SKEWNESS`]) and pair.
    pub(super) by_skewness: Vec<Vec<Degrees>>,
    /// Of RFC 8382 by the scale of its grouping's bounds (as [`BOUNDS`]) and pair.
    pub(super) by_bounds: Vec<Vec<Degrees>>,
}

/// Thresholds c_s of RFC 8382; 0.1 is its own.
pub(super) const SKEWNESS: [f64; 4] = [0.0, 0.1, 0.3, 1.0];

/// What the bounds p_f, p_mad, p_s and p_d of RFC 8382 are multiplied by along its curve; 1 is its own. At 0 only paths
/// with the same statistics are in one group, without bounds all that queue at a bottleneck.
pub(super) const BOUNDS: [f64; 16] =
    [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, f64::INFINITY];

/// The thresholds of figure 7.
fn thresholds() -> impl Iterator<Item = f64> {
    (0..=20).map(|step| f64::from(step) / 20.0)
}

/// False and true positive rate of a run: of pairs that share nothing, and of those that share the bottleneck.
fn rates(pairs: &[Degrees], threshold: f64) -> Option<(f64, f64)> {
    let of = |shared| pairs.iter().zip(PAIRS).filter(move |(_, pair)| pair.3 == shared).map(|(degrees, _)| degrees);
    Some((share_above(of(false), threshold)?, share_above(of(true), threshold)?))
}

/// The rates of all runs.
fn rates_of(runs: &[Verdicts], variant: usize, threshold: f64) -> (Vec<f64>, Vec<f64>) {
    runs.iter().filter_map(|run| rates(&run.degrees[variant], threshold)).unzip()
}

/// The known degrees of a pair over all runs.
fn pooled(runs: &[Verdicts], variant: usize, pair: usize) -> Vec<f64> {
    let all = runs.iter().flat_map(|run| &run.degrees[variant][pair]);
    all.filter(|degree| !degree.is_nan()).map(|&degree| degree.into()).collect()
}

/// Item `correlation`.
pub(super) fn correlation(runs: &[Verdicts]) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["detector", "pair", "5 %", "25 %", "median", "75 %", "95 %", "known %"]);
    let mut boxes = Boxes::new(Axis::new("c", "").between(-1.0, 1.0));
    for (v, variant) in VARIANTS.iter().enumerate() {
        for (p, (pair, ..)) in PAIRS.iter().enumerate() {
            let degrees = pooled(runs, v, p);
            let by_run = |p_quantile: f64| -> Vec<f64> {
                runs.iter().filter_map(|run| quantile(&pooled(std::slice::from_ref(run), v, p), p_quantile)).collect()
            };
            for (metric, at) in [("c_q05", 0.05), ("c_q25", 0.25), ("c_median", 0.5), ("c_q75", 0.75), ("c_q95", 0.95)]
            {
                part.row("correlation", variant.name, pair, metric, &by_run(at));
            }
            let at = |p_quantile: f64| Cell::from(quantile(&degrees, p_quantile));
            let all: usize = runs.iter().map(|run| run.degrees[v][p].len()).sum();
            let known = (all > 0).then(|| 100.0 * degrees.len() as f64 / all as f64);
            let cells = [at(0.05), at(0.25), at(0.5), at(0.75), at(0.95), known.into()];
            table.row([Cell::from(variant.name), Cell::from(*pair)].into_iter().chain(cells));
            if variant.name != RFC8382 {
                boxes.add(variant.name, *pair, &thinned(&degrees));
            }
        }
    }
    part.readable.push(("Figure 6: c by pair, all runs together (rfc8382: 1 in one group, 0 not)".to_owned(), table));
    part.figures.push(
        Figure::boxes("Degree c of each pair (figure 6)", boxes)
            .section("Correlation")
            .caption("B and C share a bottleneck, A shares none. Asked every 100 ms, all runs together."),
    );
    let medians = |variant| {
        let of = |pair| quantile(&pooled(runs, variant, pair), 0.5);
        Some([of(0)?, of(1)?, of(2)?])
    };
    // The mean of the runs' medians of the pair that decides, with its interval.
    let measured = |variant, pair| {
        let of_run = |run| quantile(&pooled(std::slice::from_ref(run), variant, pair), 0.5);
        let by_run: Vec<f64> = runs.iter().filter_map(of_run).collect();
        Measured::new(mean(&by_run).unwrap_or(f64::NAN), mean_interval(&by_run, 0.95), "")
    };
    let by_reading = |judge: &dyn Fn([f64; 3]) -> (bool, usize), of_mscm: bool| -> Vec<Reading> {
        let reading = |&(choice, red, mscm): &(&'static str, usize, usize)| {
            let variant = if of_mscm { mscm } else { red };
            let Some(medians) = medians(variant) else {
                return (choice, None, None, "c of some pair is never known, as its windows hold one value".to_owned());
            };
            let close = share_above(runs.iter().map(|run| &run.degrees[variant][2]), 0.8).unwrap_or(0.0);
            let (holds, deciding) = judge(medians);
            let [ab, ac, bc] = medians;
            let shown =
                format!("median c A-B {ab:.2}, A-C {ac:.2}, B-C {bc:.2}; c of B-C ≥ 0.8 in {:.0} %", 100.0 * close);
            (choice, Some(holds), Some(measured(variant, deciding)), shown)
        };
        if runs.is_empty() { Vec::new() } else { READINGS.iter().map(reading).collect() }
    };
    part.finding_by_reading(
        ("By RED-CPI c of B-C, which share a bottleneck, lies close to 1", "fig. 6", "close to 1"),
        by_reading(&|[_, _, bc]| (bc >= 0.9, 2), false),
    );
    part.finding_by_reading(
        ("By RED-CPI c of A-B and A-C is centred on 0", "fig. 6", "medians at 0"),
        by_reading(&|[ab, ac, _]| (ab.abs() <= 0.1 && ac.abs() <= 0.1, usize::from(ac.abs() >= ab.abs())), false),
    );
    part.finding_by_reading(
        ("By MSCM c of A-B and A-C tends below 0 and that of B-C above", "fig. 6", "A-B, A-C below 0, B-C above"),
        by_reading(&|[ab, ac, bc]| (ab < 0.0 && ac < 0.0 && bc > 0.0, usize::from(ac >= ab)), true),
    );
    part
}

/// Item `roc`.
pub(super) fn roc(runs: &[Verdicts]) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["detector", "threshold", "false positives %", "true positives %"]);
    let mut against_threshold =
        Curves::new(Axis::new("φ", "").between(0.0, 1.0), Axis::new("false positive rate", "").between(0.0, 1.0));
    let mut characteristics = Vec::new();
    for (v, variant) in VARIANTS.iter().enumerate().filter(|(_, variant)| variant.name != RFC8382) {
        let points = characteristic(runs, v);
        for threshold in thresholds() {
            let (false_rates, true_rates) = rates_of(runs, v, threshold);
            let case = format!("{}, φ = {threshold:.2}", variant.name);
            part.row("roc", &case, "A-B, A-C", "false_positive_rate", &false_rates);
            part.row("roc", &case, "B-C", "true_positive_rate", &true_rates);
            if [0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95].contains(&threshold) {
                table.row(line(variant.name, threshold, &false_rates, &true_rates));
            }
        }
        let shown = points.iter().filter(|point| point.0 >= 0.0).map(|&(threshold, x, _)| (threshold, x));
        against_threshold.add(Curve::new(variant.name).with_points(shown).shape(Shape::Line));
        characteristics.push((variant.name, points.iter().map(|&(_, x, y)| (x, y)).collect::<Vec<_>>()));
        part.row("roc", variant.name, "all pairs", "area_under_curve", &[area(&points)]);
    }
    for (s, skewness) in SKEWNESS.into_iter().enumerate() {
        let (false_rates, true_rates) = verdict_rates(runs, |run| &run.by_skewness[s]);
        let case = format!("{RFC8382}, c_s = {skewness:.2}");
        part.row("roc", &case, "A-B, A-C", "false_positive_rate", &false_rates);
        part.row("roc", &case, "B-C", "true_positive_rate", &true_rates);
        table.row(line("rfc8382, c_s", skewness, &false_rates, &true_rates));
    }
    let mut of_rfc = Vec::new();
    for (b, scale) in BOUNDS.into_iter().enumerate() {
        let (false_rates, true_rates) = verdict_rates(runs, |run| &run.by_bounds[b]);
        let (Some(x), Some(y)) = (mean(&false_rates), mean(&true_rates)) else { continue };
        of_rfc.push((scale, x, y));
        let factor = if scale.is_finite() { format!("{scale:.2}") } else { "∞".to_owned() };
        let case = format!("{RFC8382}, bounds × {factor}");
        part.row("roc", &case, "A-B, A-C", "false_positive_rate", &false_rates);
        part.row("roc", &case, "B-C", "true_positive_rate", &true_rates);
        table.row(line("rfc8382, bounds ×", factor, &false_rates, &true_rates));
    }
    if !of_rfc.is_empty() {
        part.row("roc", RFC8382, "all pairs", "area_under_curve", &[area(&of_rfc)]);
    }
    characteristics.push((RFC8382, of_rfc.iter().map(|&(_, x, y)| (x, y)).collect()));
    part.readable.push((
        "Figure 7: errors and hits by threshold (φ; rfc8382: c_s, and what its grouping's bounds are multiplied by)"
            .to_owned(),
        table,
    ));
    part.figures.push(
        Figure::curves("False positives against φ (figure 7a)", against_threshold)
            .section("Correlation")
            .caption("Of A-B and A-C, which share nothing. Means over runs."),
    );
    part.figures.push(
        Figure::receiver_operating_characteristic("Receiver operating characteristic (figure 7b)", characteristics)
            .section("Correlation")
            .caption(
                "φ from -1 to 1; rfc8382: the bounds within which statistics count as alike (p_f, p_mad, p_s, p_d) \
                 from 0 to infinity, 1 being the RFC's; its skewness threshold says whether there is a queue, not \
                 whose. In the first 10.5 s it knows too little, which counts as no.",
            ),
    );
    part.findings.extend(compared(runs));
    part
}

/// The rates of all runs in what says 1 or 0.
fn verdict_rates<'a>(runs: &'a [Verdicts], of: impl Fn(&'a Verdicts) -> &'a [Degrees]) -> (Vec<f64>, Vec<f64>) {
    runs.iter().filter_map(|run| rates(of(run), 1.0)).unzip()
}

/// A detector's points (threshold, false rate, true rate). φ below 0 only completes the curve.
fn characteristic(runs: &[Verdicts], variant: usize) -> Vec<(f64, f64, f64)> {
    let point = |threshold| {
        let (false_rates, true_rates) = rates_of(runs, variant, threshold);
        Some((threshold, mean(&false_rates)?, mean(&true_rates)?))
    };
    (-20..0).map(|step| f64::from(step) / 20.0).chain(thresholds()).filter_map(point).collect()
}

fn area_of(runs: &[Verdicts], variant: usize) -> f64 {
    area(&characteristic(runs, variant))
}

/// Area under the curve through `points` (threshold, false rate, true rate), by trapezoids from (0, 0) to (1, 1).
fn area(points: &[(f64, f64, f64)]) -> f64 {
    let mut corners: Vec<(f64, f64)> = points.iter().map(|&(_, x, y)| (x, y)).chain([(0.0, 0.0), (1.0, 1.0)]).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    corners.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
}

fn line(name: &str, threshold: impl Into<Cell>, false_rates: &[f64], true_rates: &[f64]) -> [Cell; 4] {
    let percent = |rates: &[f64]| Cell::Text(shown(&rates.iter().map(|rate| rate * 100.0).collect::<Vec<_>>(), 1));
    [name.into(), threshold.into(), percent(false_rates), percent(true_rates)]
}

/// The paper's findings about figure 7.
fn compared(runs: &[Verdicts]) -> Vec<subflow_report::Finding> {
    let mut part = Part::default();
    let rates = |variant| -> Vec<(f64, f64)> {
        let rate = |threshold| {
            let (false_rates, true_rates) = rates_of(runs, variant, threshold);
            Some((mean(&false_rates)?, mean(&true_rates)?))
        };
        thresholds().filter_map(rate).collect()
    };
    // φ = 0.8 is the 17th threshold.
    let (low, at) = (17, 16);
    let known = || READINGS.iter().map(|&(choice, red, mscm)| (choice, (red, rates(red)), (mscm, rates(mscm))));
    let known = || known().filter(|(_, red, mscm)| !red.1.is_empty() && red.1.len() == mscm.1.len());
    let fewer = known().map(|(choice, (red, of_red), (mscm, of_mscm))| {
        let better = of_red.iter().zip(&of_mscm).take(low).filter(|(red, mscm)| red.0 < mscm.0).count();
        let shown = format!(
            "at {better} of {low} values of φ up to 0.8; at 0.8: RED-CPI {:.1} %, MSCM {:.1} %; area under the curve: \
             RED-CPI {:.2}, MSCM {:.2}",
            100.0 * of_red[at].0,
            100.0 * of_mscm[at].0,
            area_of(runs, red),
            area_of(runs, mscm),
        );
        let by_run: Vec<f64> = rates_of(runs, red, 0.8).0.iter().map(|rate| 100.0 * rate).collect();
        let measured = Measured::new(100.0 * of_red[at].0, mean_interval(&by_run, 0.95), "% at 0.8");
        (choice, Some(better == low), Some(measured), shown)
    });
    part.finding_by_reading(
        ("RED-CPI has fewer false positives than MSCM for φ ≤ 0.8", "fig. 7a", "fewer at every φ ≤ 0.8"),
        fewer.collect(),
    );
    let gain = |rates: &(f64, f64)| rates.1 - rates.0;
    let best_of = |rates: &[(f64, f64)]| {
        (0..rates.len()).max_by(|&a, &b| gain(&rates[a]).total_cmp(&gain(&rates[b]))).unwrap_or(0)
    };
    let best = known().map(|(choice, (red, rates), _)| {
        let best = best_of(&rates);
        let of_run = |run: &Verdicts| {
            let at = |threshold| self::rates(&run.degrees[red], threshold);
            best_of(&thresholds().filter_map(at).collect::<Vec<_>>()) as f64 / 20.0
        };
        let by_run: Vec<f64> = runs.iter().map(of_run).collect();
        let threshold = best as f64 / 20.0;
        let shown = format!(
            "hits less errors are most at φ = {threshold:.2}: {:.1} % less {:.1} %; at 0.8 {:.1} % less {:.1} %",
            100.0 * rates[best].1,
            100.0 * rates[best].0,
            100.0 * rates[at].1,
            100.0 * rates[at].0
        );
        let measured = Measured::new(threshold, mean_interval(&by_run, 0.95), "");
        (choice, Some((0.8..=0.9).contains(&threshold)), Some(measured), shown)
    });
    part.finding_by_reading(("The best φ of RED-CPI lies from 0.8 to 0.9", "fig. 7b", "0.8 to 0.9"), best.collect());
    part.findings
}

/// Evenly spaced quantiles instead of all samples: a box plot needs no more.
fn thinned(samples: &[f64]) -> Vec<f64> {
    (0..=200).filter_map(|step| quantile(samples, f64::from(step) / 200.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One run in which every detector gave these degrees to the three pairs.
    fn run(ab: &[f32], ac: &[f32], bc: &[f32]) -> Verdicts {
        let pairs = vec![ab.to_vec(), ac.to_vec(), bc.to_vec()];
        let always = |len: usize| vec![pairs.clone(); len];
        Verdicts {
            degrees: always(VARIANTS.len()),
            by_skewness: always(SKEWNESS.len()),
            by_bounds: always(BOUNDS.len()),
        }
    }

    #[test]
    fn rates_tell_pairs_that_share_from_those_that_do_not() {
        let run = run(&[0.9, 0.0], &[0.0, f32::NAN], &[1.0, 0.5]);
        assert_eq!(rates(&run.degrees[0], 0.8), Some((0.25, 0.5)));
    }

    #[test]
    fn findings_follow_the_figures() {
        let good = [run(&[0.0, 0.05, -0.05], &[0.0, 0.1, -0.1], &[0.95, 0.97, 0.85])];
        let confirmed =
            |part: &Part| part.findings.iter().map(|finding| finding.verdict.confirmed()).collect::<Vec<_>>();
        assert_eq!(confirmed(&correlation(&good)), [Some(true), Some(true), Some(false)]);
        // MSCM says the same here, so it has no more false positives than RED-CPI.
        assert_eq!(roc(&good).findings[0].verdict.confirmed(), Some(false));
        assert!(correlation(&[]).findings.is_empty());
    }

    #[test]
    fn a_perfect_detector_has_all_the_area() {
        assert_eq!(area(&[(0.5, 0.0, 1.0)]), 1.0);
        assert_eq!(area(&[]), 0.5);
    }
}
