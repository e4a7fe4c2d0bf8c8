//! How each finding of the thesis is checked against our figures.

use std::ops::RangeInclusive;

use subflow_lab::statistics::mean;
use subflow_report::Measured;

use super::adaptive::{self, FAR_PCT, NEAR_PCT};
use super::grid::{CONGESTION, SCHEDULERS, Study};
use super::measurement::{Measurement, Measurements};
use super::report::shown;
use super::verdict::{Ratio, all};
use Study::{Congested, Design, Mesh, Transfer};

/// What our figures say of a finding.
pub(super) struct Outcome {
    /// Whether it holds, where the runs can tell.
    pub(super) verdict: Option<bool>,
    /// The figure that decides: of several, the first that speaks against it.
    pub(super) measured: Option<Measured>,
    /// All figures, in words.
    pub(super) evidence: String,
}

/// Ratios of which each has to lie in `expected`, as `holds` takes it.
fn judged(
    ratios: &[Ratio],
    expected: &RangeInclusive<f64>,
    holds: fn(Ratio, &RangeInclusive<f64>) -> Option<bool>,
    complete: bool,
    evidence: String,
) -> Outcome {
    let parts: Vec<Option<bool>> = ratios.iter().map(|ratio| holds(*ratio, expected)).collect();
    let verdict = all(parts.iter().copied(), complete);
    let deciding = parts.iter().position(|part| *part == verdict).unwrap_or(0);
    let measured = ratios.get(deciding).map(|ratio| ratio.measured());
    Outcome { verdict, measured, evidence: with_doubt(verdict, complete, evidence) }
}

/// Says why a verdict is open: not all cells were run, or the intervals allow both.
fn with_doubt(verdict: Option<bool>, complete: bool, evidence: String) -> String {
    match (verdict, complete) {
        (None, true) => format!("{evidence}. The intervals allow both verdicts"),
        (None, false) => format!("{evidence}. Not all cells of the finding were run"),
        (Some(_), _) => evidence,
    }
}

/// A cell with full-mesh.
fn full<'m>(
    measured: &'m Measurements,
    study: Study,
    case: u32,
    congestion: &str,
    scheduler: &str,
) -> Option<&'m Measurement> {
    measured.cell(study, case, congestion, scheduler, "full-mesh")
}

pub(super) fn slower_without_loss(measured: &Measurements) -> Option<Outcome> {
    let pair = |cc| Some((cc, full(measured, Congested, 0, cc, "ll")?, full(measured, Congested, 1, cc, "ll")?));
    let pairs: Vec<(&str, &Measurement, &Measurement)> =
        ["lia", "olia", "balia"].into_iter().map(pair).collect::<Option<_>>()?;
    let figures = pairs.iter().map(|(cc, at_0, at_1)| format!("{cc} {} and {}", shown(at_0), shown(at_1)));
    let evidence = format!("ll, Mbit/s at 0 and 1 %: {}", figures.collect::<Vec<_>>().join(", "));
    let ratios: Vec<Ratio> = pairs.iter().map(|(_, at_0, at_1)| Ratio::of(at_0, at_1)).collect();
    Some(judged(&ratios, &(0.0..=1.0), Ratio::is_in, true, evidence))
}

pub(super) fn wvegas_stays_level(measured: &Measurements) -> Option<Outcome> {
    let losses: Vec<u32> = measured.cases(Congested).into_iter().filter(|loss| *loss <= 3).collect();
    let cells: Vec<&Measurement> =
        losses.iter().map(|&loss| full(measured, Congested, loss, "wvegas", "ll")).collect::<Option<_>>()?;
    let (first, rest) = cells.split_first()?;
    let ratios: Vec<Ratio> = rest.iter().rev().map(|cell| Ratio::of(cell, first)).collect();
    let figures: Vec<String> = cells.iter().map(|cell| shown(cell)).collect();
    let evidence = format!("ll, Mbit/s at {losses:?} %: {}", figures.join(", "));
    Some(judged(&ratios, &(0.95..=1.05), Ratio::is_about, losses == [0, 1, 2, 3], evidence))
}

/// The cases of the first experiment with 4 % loss and more.
fn lossy(measured: &Measurements) -> Vec<u32> {
    measured.cases(Congested).into_iter().filter(|loss| *loss >= 4).collect()
}

/// How many times the goodput of LL that of `scheduler` is in each of the lossy cases.
fn over_ll(measured: &Measurements, scheduler: &str, congestion: &str) -> Option<Vec<f64>> {
    let ratio = |&loss: &u32| {
        let own = measured.at(Congested, loss, congestion, scheduler)?;
        Some(own / measured.at(Congested, loss, congestion, "ll")?)
    };
    lossy(measured).iter().map(ratio).collect()
}

/// Whether `scheduler` gains as many percent over LL as `expected`, on average over the lossy cases, as `holds` takes
/// it.
pub(super) fn above_ll(
    measured: &Measurements,
    scheduler: &str,
    congestion: &[&str],
    expected: RangeInclusive<f64>,
    holds: fn(Ratio, &RangeInclusive<f64>) -> Option<bool>,
) -> Option<Outcome> {
    let gain = |&cc| Some((cc, Ratio::mean_of(&over_ll(measured, scheduler, cc)?)?));
    let gains: Vec<(&str, Ratio)> = congestion.iter().map(gain).collect::<Option<_>>()?;
    let figures = gains.iter().map(|(cc, gain)| format!("{cc} {}", gain.as_gain()));
    let evidence = format!("mean gain over ll: {}", figures.collect::<Vec<_>>().join(", "));
    let expected = 1.0 + expected.start() / 100.0..=1.0 + expected.end() / 100.0;
    let ratios: Vec<Ratio> = gains.iter().map(|(_, gain)| *gain).collect();
    Some(judged(&ratios, &expected, holds, true, evidence))
}

pub(super) fn order_under_loss(measured: &Measurements) -> Option<Outcome> {
    let goodputs = |cc: &'static str| {
        let cells = lossy(measured).into_iter().flat_map(|loss| SCHEDULERS.map(|scheduler| (loss, scheduler)));
        cells.map(|(loss, scheduler)| measured.at(Congested, loss, cc, scheduler)).collect::<Option<Vec<f64>>>()
    };
    let mut figures = Vec::new();
    for cc in CONGESTION {
        figures.push(format!("{cc} {:.1}", mean(&goodputs(cc)?)?));
    }
    let evidence = format!("means in Mbit/s: {}", figures.join(", "));
    let mut ratios = Vec::new();
    for (low, high) in [("balia", "lia"), ("balia", "olia"), ("lia", "wvegas"), ("olia", "wvegas")] {
        let of_cells: Vec<f64> = goodputs(low)?.iter().zip(goodputs(high)?).map(|(low, high)| low / high).collect();
        ratios.push(Ratio::mean_of(&of_cells)?);
    }
    Some(judged(&ratios, &(0.0..=1.0), Ratio::is_in, true, evidence))
}

/// Whether `scheduler` is at least `margin` times every other one in an experiment of the design.
pub(super) fn best(
    measured: &Measurements,
    case: u32,
    scheduler: &str,
    congestion: &[&str],
    margin: f64,
) -> Option<Outcome> {
    let (mut ratios, mut evidence) = (Vec::new(), Vec::new());
    for cc in congestion {
        let own = full(measured, Design, case, cc, scheduler)?;
        let mut figures = Vec::new();
        for name in SCHEDULERS {
            let cell = full(measured, Design, case, cc, name)?;
            figures.push(format!("{name} {}", shown(cell)));
            if name != scheduler {
                ratios.push(Ratio::of(own, cell));
            }
        }
        evidence.push(format!("{cc}: {}", figures.join(", ")));
    }
    let evidence = format!("Mbit/s under {}", evidence.join("; "));
    Some(judged(&ratios, &(margin..=f64::INFINITY), Ratio::is_in, true, evidence))
}

pub(super) fn alike_under_loss(measured: &Measurements) -> Option<Outcome> {
    let cases: Vec<u32> = measured.cases(Design).into_iter().filter(|case| *case >= 5).collect();
    let complete = cases == [5, 6, 7, 8];
    let mut apart = Vec::new();
    for (case, cc) in cases.into_iter().flat_map(|case| CONGESTION.map(|cc| (case, cc))) {
        let cells: Vec<&Measurement> =
            SCHEDULERS.into_iter().map(|name| full(measured, Design, case, cc, name)).collect::<Option<_>>()?;
        let worst = cells.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let most = cells.iter().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        apart.push((Ratio::of(most, worst), case, cc));
    }
    apart.sort_by(|a, b| b.0.value.total_cmp(&a.0.value));
    let (widest, case, cc) = apart.first()?;
    let percent = (widest.value - 1.0) * 100.0;
    let evidence = format!("at most {percent:.1} % between the best and the worst (Exp {case}, {cc})");
    let ratios: Vec<Ratio> = apart.iter().map(|(ratio, ..)| *ratio).collect();
    Some(judged(&ratios, &(0.0..=1.05), Ratio::is_about, complete, evidence))
}

/// Single-mesh over full-mesh in those of `cases` that were run.
pub(super) fn meshes(
    measured: &Measurements,
    cases: &[u32],
    congestion: &[&'static str],
    expected: RangeInclusive<f64>,
) -> Option<Outcome> {
    let run: Vec<u32> = measured.cases(Mesh).into_iter().filter(|case| cases.contains(case)).collect();
    let mut ratios = Vec::new();
    for (&case, &cc) in run.iter().flat_map(|case| congestion.iter().map(move |cc| (case, cc))) {
        let single = measured.cell(Mesh, case, cc, "ll", "single-mesh")?;
        ratios.push((case, cc, Ratio::of(single, full(measured, Mesh, case, cc, "ll")?)));
    }
    if ratios.is_empty() {
        return None;
    }
    let figures: Vec<String> =
        ratios.iter().map(|(case, cc, ratio)| format!("Exp {case} {cc} {:.2}", ratio.value)).collect();
    let evidence = format!("single over full: {}", figures.join(", "));
    let values: Vec<Ratio> = ratios.iter().map(|(.., ratio)| *ratio).collect();
    Some(judged(&values, &expected, Ratio::is_in, run == cases, evidence))
}

/// The thesis does not say which congestion control its figure 9 shows: one that loses nothing and takes about as long.
pub(super) fn long_transfer(measured: &Measurements) -> Option<Outcome> {
    let times = CONGESTION.map(|cc| Some((cc, full(measured, Transfer, 0, cc, "ll")?.transfer?)));
    let times: Vec<(&str, _)> = times.into_iter().collect::<Option<_>>()?;
    let figures = times.iter().map(|(cc, (seconds, _))| format!("{cc} {seconds:.1}"));
    let evidence = format!("seconds without loss: {}", figures.collect::<Vec<_>>().join(", "));
    let &(_, (seconds, interval)) = times.iter().min_by(|a, b| {
        let off = |seconds: f64| (seconds - FIGURE_9_S).abs();
        off(a.1.0).total_cmp(&off(b.1.0))
    })?;
    // Two thirds of the rate of all links.
    let verdict = Some(seconds >= 1.5e9 * 8.0 / 260e6 * 1.5);
    Some(Outcome { verdict, measured: Some(Measured::new(seconds, interval, "s")), evidence })
}

/// How long the transfer of figure 9 took, in seconds.
const FIGURE_9_S: f64 = 72.4;

pub(super) fn near_the_best(measured: &Measurements) -> Option<Outcome> {
    let contests = adaptive::contests(measured);
    let near = contests.iter().filter(|contest| contest.gap_pct() <= NEAR_PCT).count();
    let below = contests.iter().filter(|contest| contest.gap_pct() > FAR_PCT).count();
    let worst = contests.iter().max_by(|a, b| a.gap_pct().total_cmp(&b.gap_pct()))?;
    let evidence = format!(
        "within 2 % in {near} of {} cells, more than 5 % below in {below}; furthest below by {:.1} % ({})",
        contests.len(),
        worst.gap_pct(),
        worst.place(),
    );
    Some(Outcome {
        verdict: Some(2 * near > contests.len() && below == 0),
        measured: Some(Measured::new(worst.gap_pct(), None, "% below")),
        evidence,
    })
}
