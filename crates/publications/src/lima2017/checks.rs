//! How each finding of the thesis is checked against our figures.

use std::ops::RangeInclusive;

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean};
use subflow_report::Measured;

use super::adaptive::{self, FAR_PCT, NEAR_PCT};
use super::{CONGESTED, CONGESTION, DESIGN, GOODPUT, SCHEDULERS, SECONDS, TRANSFER, cases, full};
use crate::study::{Check, Claim, Outcome, Ratio, Results, Row};

pub(super) const CHECKS: [(&str, Check); 9] = [
    ("slower without loss", slower_without_loss),
    ("wVegas stays level", wvegas_stays_level),
    ("gains over LL", |all, claim| above_ll(all, claim, Ratio::is_in)),
    ("is about LL", |all, claim| above_ll(all, claim, Ratio::is_about)),
    ("order under loss", order_under_loss),
    ("best", best),
    ("alike under loss", alike_under_loss),
    ("long transfer", long_transfer),
    ("near the best", near_the_best),
];

/// The mean goodput of a cell, and half its interval.
fn shown(row: &Row) -> String {
    row.shown(GOODPUT, 1, " ±")
}

fn slower_without_loss(measured: &Results, _: &Claim) -> Option<Outcome> {
    let pair = |cc| Some((cc, full(measured, CONGESTED, 0, cc, "ll")?, full(measured, CONGESTED, 1, cc, "ll")?));
    let pairs: Vec<(&str, &Row, &Row)> = ["lia", "olia", "balia"].into_iter().map(pair).collect::<Option<_>>()?;
    let figures = pairs.iter().map(|(cc, at_0, at_1)| format!("{cc} {} and {}", shown(at_0), shown(at_1)));
    let evidence = format!("ll, Mbit/s at 0 and 1 %: {}", figures.collect::<Vec<_>>().join(", "));
    let ratios: Vec<Ratio> = pairs.iter().map(|(_, at_0, at_1)| Ratio::of(at_0, at_1, GOODPUT)).collect();
    Some(Ratio::judge(&ratios, &(0.0..=1.0), Ratio::is_in, true, evidence))
}

fn wvegas_stays_level(measured: &Results, _: &Claim) -> Option<Outcome> {
    let losses: Vec<i64> = cases(measured, CONGESTED).into_iter().filter(|loss| *loss <= 3).collect();
    let cells: Vec<&Row> =
        losses.iter().map(|&loss| full(measured, CONGESTED, loss, "wvegas", "ll")).collect::<Option<_>>()?;
    let (first, rest) = cells.split_first()?;
    let ratios: Vec<Ratio> = rest.iter().rev().map(|cell| Ratio::of(cell, first, GOODPUT)).collect();
    let figures: Vec<String> = cells.iter().map(|cell| shown(cell)).collect();
    let evidence = format!("ll, Mbit/s at {losses:?} %: {}", figures.join(", "));
    Some(Ratio::judge(&ratios, &(0.95..=1.05), Ratio::is_about, losses == [0, 1, 2, 3], evidence))
}

/// The cases of the first experiment with 4 % loss and more.
fn lossy(measured: &Results) -> Vec<i64> {
    cases(measured, CONGESTED).into_iter().filter(|loss| *loss >= 4).collect()
}

/// The lossy cells of a scheduler.
fn lossy_cells<'a>(measured: &'a Results, congestion: &str, scheduler: &str) -> Option<Vec<&'a Row>> {
    lossy(measured).iter().map(|&loss| full(measured, CONGESTED, loss, congestion, scheduler)).collect()
}

/// Whether a scheduler gains as many percent over LL as expected, as `holds` takes it: by the mean over the lossy cases, as
/// figure 14 has it.
fn above_ll(
    measured: &Results,
    claim: &Claim,
    holds: fn(Ratio, &RangeInclusive<f64>) -> Option<bool>,
) -> Option<Outcome> {
    let (scheduler, congestion) = (claim.text("scheduler"), claim.texts("congestion"));
    let expected: Vec<f64> =
        claim.arguments["gains"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let gain = |&cc| {
        let (own, ll) = (lossy_cells(measured, cc, scheduler)?, lossy_cells(measured, cc, "ll")?);
        (!own.is_empty()).then(|| (cc, Ratio::of_cells(&own, &ll, GOODPUT)))
    };
    let gains: Vec<(&str, Ratio)> = congestion.iter().map(gain).collect::<Option<_>>()?;
    let figures = gains.iter().map(|(cc, gain)| format!("{cc} {}", gain.as_gain()));
    let evidence = format!("gain of the mean over ll: {}", figures.collect::<Vec<_>>().join(", "));
    let expected = 1.0 + expected[0] / 100.0..=1.0 + expected[1] / 100.0;
    let ratios: Vec<Ratio> = gains.iter().map(|(_, gain)| *gain).collect();
    Some(Ratio::judge(&ratios, &expected, holds, true, evidence))
}

fn order_under_loss(measured: &Results, _: &Claim) -> Option<Outcome> {
    let cells = |cc: &'static str| {
        let of_all = SCHEDULERS.map(|scheduler| lossy_cells(measured, cc, scheduler));
        let cells = of_all.into_iter().collect::<Option<Vec<_>>>()?.concat();
        (!cells.is_empty()).then_some(cells)
    };
    let mut figures = Vec::new();
    for cc in CONGESTION {
        let goodputs: Vec<f64> = cells(cc)?.iter().map(|row| row.mean(GOODPUT)).collect();
        figures.push(format!("{cc} {:.1}", mean(&goodputs)?));
    }
    let evidence = format!("means in Mbit/s: {}", figures.join(", "));
    let mut ratios = Vec::new();
    for (low, high) in [("balia", "lia"), ("balia", "olia"), ("lia", "wvegas"), ("olia", "wvegas")] {
        ratios.push(Ratio::of_cells(&cells(low)?, &cells(high)?, GOODPUT));
    }
    Some(Ratio::judge(&ratios, &(0.0..=1.0), Ratio::is_in, true, evidence))
}

/// Means that differ by no more than this share are those of equals, of which none is the best.
const EQUAL: f64 = 0.01;

/// Whether a scheduler is at least so many times every other one in an experiment of the design. Where all are surely
/// equal, none is the best.
fn best(measured: &Results, claim: &Claim) -> Option<Outcome> {
    let (scheduler, congestion) = (claim.text("scheduler"), claim.texts("congestion"));
    let (case, margin) = (claim.number("case") as i64, claim.number("margin"));
    let (mut ratios, mut evidence, mut equal) = (Vec::new(), Vec::new(), Vec::new());
    for cc in congestion {
        let own = full(measured, DESIGN, case, cc, scheduler)?;
        let (mut figures, mut to_others) = (Vec::new(), Vec::new());
        for name in SCHEDULERS {
            let cell = full(measured, DESIGN, case, cc, name)?;
            figures.push(format!("{name} {}", shown(cell)));
            if name != scheduler {
                to_others.push(Ratio::of(own, cell, GOODPUT));
            }
        }
        if to_others.iter().all(|ratio| ratio.is_in(&(1.0 - EQUAL..=1.0 + EQUAL)) == Some(true)) {
            equal.push(cc);
        }
        ratios.extend(to_others);
        evidence.push(format!("{cc}: {}", figures.join(", ")));
    }
    let mut evidence = format!("Mbit/s under {}", evidence.join("; "));
    if !equal.is_empty() {
        evidence += &format!(". Under {} all schedulers are within 1 %: none is the best", equal.join(" and "));
    }
    let range = margin..=f64::INFINITY;
    Some(match equal.is_empty() {
        true => Ratio::judge(&ratios, &range, Ratio::is_in, true, evidence),
        false => Outcome::new(Some(false), ratios.first().map(|ratio| ratio.measured()), evidence),
    })
}

fn alike_under_loss(measured: &Results, _: &Claim) -> Option<Outcome> {
    let cases: Vec<i64> = cases(measured, DESIGN).into_iter().filter(|case| *case >= 5).collect();
    let complete = cases == [5, 6, 7, 8];
    let mut apart = Vec::new();
    for (case, cc) in cases.into_iter().flat_map(|case| CONGESTION.map(|cc| (case, cc))) {
        let cells: Vec<&Row> =
            SCHEDULERS.into_iter().map(|name| full(measured, DESIGN, case, cc, name)).collect::<Option<_>>()?;
        let worst = cells.iter().min_by(|a, b| a.mean(GOODPUT).total_cmp(&b.mean(GOODPUT)))?;
        let most = cells.iter().max_by(|a, b| a.mean(GOODPUT).total_cmp(&b.mean(GOODPUT)))?;
        apart.push((Ratio::of(most, worst, GOODPUT), case, cc));
    }
    apart.sort_by(|a, b| b.0.value.total_cmp(&a.0.value));
    let (widest, case, cc) = apart.first()?;
    let percent = (widest.value - 1.0) * 100.0;
    let evidence = format!("at most {percent:.1} % between the best and the worst (Exp {case}, {cc})");
    let ratios: Vec<Ratio> = apart.iter().map(|(ratio, ..)| *ratio).collect();
    Some(Ratio::judge(&ratios, &(0.0..=1.05), Ratio::is_about, complete, evidence))
}

/// The thesis does not say which congestion control its figure 9 shows: one that loses nothing and takes about as long.
fn long_transfer(measured: &Results, _: &Claim) -> Option<Outcome> {
    let times = CONGESTION.map(|cc| Some((cc, transfer_time(full(measured, TRANSFER, 0, cc, "ll")?)?)));
    let times: Vec<(&str, _)> = times.into_iter().collect::<Option<_>>()?;
    let figures = times.iter().map(|(cc, (seconds, _))| format!("{cc} {seconds:.1}"));
    let evidence = format!("seconds without loss: {}", figures.collect::<Vec<_>>().join(", "));
    let &(_, (seconds, interval)) = times.iter().min_by(|a, b| {
        let off = |seconds: f64| (seconds - FIGURE_9_S).abs();
        off(a.1.0).total_cmp(&off(b.1.0))
    })?;
    // Two thirds of the rate of all links.
    let verdict = Some(seconds >= 1.5e9 * 8.0 / 260e6 * 1.5);
    Some(Outcome::new(verdict, Measured::new(seconds, interval, "s"), evidence))
}

/// The mean time of a transfer in seconds, with its interval.
fn transfer_time(row: &Row) -> Option<(f64, Option<Interval>)> {
    Some((mean(&row.samples(SECONDS))?, row.interval(SECONDS)))
}

/// How long the transfer of figure 9 took, in seconds.
const FIGURE_9_S: f64 = 72.4;

fn near_the_best(measured: &Results, _: &Claim) -> Option<Outcome> {
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
    let holds = 2 * near > contests.len() && below == 0;
    Some(Outcome::new(Some(holds), Measured::new(worst.gap_pct(), None, "% below"), evidence))
}

#[cfg(test)]
mod tests {
    use rand_core::RngCore;

    use super::super::tests::{MESH, made};
    use super::super::{ADAPTIVE, LIMA2017};
    use super::*;
    use crate::study::Cell;

    fn confirmed(all: &Results, statement: &str) -> Option<bool> {
        let found = LIMA2017.findings(all).into_iter().find(|finding| finding.statement.starts_with(statement));
        found.expect("it is checked").verdict.confirmed()
    }

    #[test]
    fn gains_over_ll_are_confirmed_refuted_or_left_open() {
        let with_gain =
            |gain: f64| made(CONGESTED, move |cell| if cell.is("scheduler", "lws") { 1e4 * gain } else { 1e4 });
        let seven = "LWS is above LL";
        assert_eq!(confirmed(&with_gain(1.07), seven), Some(true));
        assert_eq!(confirmed(&with_gain(1.00), seven), Some(false));
        assert_eq!(confirmed(&made(DESIGN, |_| 1.0), seven), None);
    }

    #[test]
    fn the_shape_over_loss_is_checked() {
        let all = |at_zero: f64| made(CONGESTED, move |cell| if cell.is("case", 0) { at_zero } else { 1e4 });
        assert_eq!(confirmed(&all(9e3), "Full-mesh with LIA, OLIA or BALIA is slower"), Some(true));
        assert_eq!(confirmed(&all(1.1e4), "Full-mesh with LIA, OLIA or BALIA is slower"), Some(false));
        assert_eq!(confirmed(&all(9e3), "Full-mesh with wVegas stays level"), Some(false));
        assert_eq!(confirmed(&all(1e4), "Full-mesh with wVegas stays level"), Some(true));
    }

    #[test]
    fn meshes_are_compared_where_they_were_run() {
        let single = |factor: f64| {
            made(MESH, move |cell: &Cell| if cell.is("path_manager", "single-mesh") { 5e3 * factor } else { 5e3 })
        };
        assert_eq!(confirmed(&single(2.2), "Single-mesh at least doubles"), Some(true));
        assert_eq!(confirmed(&single(1.5), "Single-mesh at least doubles"), Some(false));
        assert_eq!(confirmed(&single(0.9), "Single-mesh is below full-mesh in Exps 5 to 8"), Some(true));
        assert_eq!(confirmed(&single(1.001), "Single-mesh is above full-mesh"), None, "within what runs scatter");
    }

    #[test]
    fn the_best_scheduler_is_one_whose_interval_lies_above_all_others() {
        let with_lts =
            |factor: f64| made(DESIGN, move |cell| if cell.is("scheduler", "lts") { 1e4 * factor } else { 1e4 });
        let lts = "LTS is the best in Exp 4";
        assert_eq!(confirmed(&with_lts(1.1), lts), Some(true));
        assert_eq!(confirmed(&with_lts(0.9), lts), Some(false));
        assert_eq!(confirmed(&with_lts(1.001), lts), Some(false), "none is the best of equals");
        let scattered = made(DESIGN, |cell| if cell.is("scheduler", "lts") { 105.0 } else { 100.0 });
        assert_eq!(confirmed(&scattered, lts), None);
        assert_eq!(confirmed(&with_lts(1.01), "In Exps 5 to 8 all schedulers are alike"), Some(true));
        assert_eq!(confirmed(&with_lts(1.1), "In Exps 5 to 8 all schedulers are alike"), Some(false));
    }

    #[test]
    fn verdicts_on_the_experiments_rest_on_the_cells_that_are_judged() {
        for seed in 0..20 {
            // As scattered as real figures, so that verdicts of all kinds come out.
            let goodput = |cell: &Cell| {
                let mut random = subflow_network::stream(seed, &format!("{}{:?}", cell.item, cell.variables));
                5e3 + f64::from(random.next_u32() % 1000)
            };
            let all: Vec<_> = [CONGESTED, DESIGN, MESH].into_iter().flat_map(|item| made(item, goodput).rows).collect();
            let judged = all.iter().filter(|row| LIMA2017.description.is_judged(&row.cell)).cloned().collect();
            let thesis =
                |rows| LIMA2017.findings(&Results { rows, ..Results::default() }).into_iter().filter(|it| !it.beyond);
            assert!(thesis(judged).eq(thesis(all)), "seed {seed}");
        }
    }

    #[test]
    fn adaptive_is_held_to_the_best_of_each_cell() {
        let all = |own: f64| {
            made(DESIGN, move |cell| match cell.text("scheduler").as_str() {
                ADAPTIVE => own,
                "hsr" => 100.0,
                _ => 90.0,
            })
        };
        assert_eq!(confirmed(&all(99.0), "Ours: adaptive"), Some(true));
        assert_eq!(confirmed(&all(93.0), "Ours: adaptive"), Some(false));
    }
}
