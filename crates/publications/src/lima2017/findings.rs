//! The thesis's findings, each checked against our figures, and how our scheduler does.

use std::ops::RangeInclusive;

use subflow_lab::statistics::mean;
use subflow_report::Finding;

use super::adaptive::{self, FAR_PCT, NEAR_PCT};
use super::grid::{CONGESTION, SCHEDULERS, Study};
use super::measurement::{Measurement, Measurements};
use super::report::shown;
use super::verdict::{Ratio, all};
use Study::{Congested, Design, Mesh};

/// Whether a finding holds, where the runs can tell, and our figures.
type Verdict = (Option<bool>, String);
/// Checks a finding; nothing where its cells were not run.
type Check = fn(&Measurements) -> Option<Verdict>;

/// All findings. One is undecided where some of its cells were not run, or where intervals overlap.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    let finding = |&(statement, check): &(&str, Check)| {
        let (confirmed, evidence) = match check(measurements) {
            Some(verdict) => verdict,
            None => (None, "its cells were not run".to_owned()),
        };
        Finding::new(statement, confirmed, evidence)
    };
    CHECKS.iter().map(finding).collect()
}

const CHECKS: [(&str, Check); 16] = [
    ("Full-mesh with LIA, OLIA or BALIA is slower at 0 % loss than at 1 % (fig. 10)", slower_without_loss),
    ("Full-mesh with wVegas stays level from 0 to 3 % loss (fig. 10)", wvegas_stays_level),
    ("LWS is about 7 % above LL under LIA, OLIA and wVegas at 4 to 12 % loss (fig. 11)", |m| {
        above_ll(m, "lws", &["lia", "olia", "wvegas"], 3.5..=10.5, Ratio::is_in)
    }),
    ("LWS is about 1 % above LL under BALIA at 4 to 12 % loss (fig. 11)", |m| {
        above_ll(m, "lws", &["balia"], 0.0..=2.5, Ratio::is_in)
    }),
    ("LTS is about 4 % above LL under LIA, OLIA and wVegas at 4 to 12 % loss (fig. 12)", |m| {
        above_ll(m, "lts", &["lia", "olia", "wvegas"], 2.0..=6.0, Ratio::is_in)
    }),
    ("HSR is about equal to LL at 4 to 12 % loss (fig. 13)", |m| {
        above_ll(m, "hsr", &CONGESTION, -2.0..=2.0, Ratio::is_about)
    }),
    ("BALIA has the lowest goodput at 4 to 12 % loss, wVegas the highest (fig. 14)", order_under_loss),
    ("HSR is clearly the best in Exp 4 under OLIA (fig. 19)", |m| best(m, 4, "hsr", &["olia"], 1.05)),
    ("LWS is the best in Exp 3 under OLIA and BALIA (figs 19, 20)", |m| best(m, 3, "lws", &["olia", "balia"], 1.0)),
    ("LTS is the best in Exp 4 under BALIA and wVegas (figs 20, 21)", |m| best(m, 4, "lts", &["balia", "wvegas"], 1.0)),
    ("In Exps 5 to 8 all schedulers are alike (figs 18 to 21)", alike_under_loss),
    ("Single-mesh at least doubles full-mesh in Exps 3 and 4 under OLIA and BALIA (figs 23, 24)", |m| {
        let why = "In Exp 3 full-mesh fills 95 % of the links (deep queues), so there is nothing to double";
        meshes(m, &[3, 4], &["olia", "balia"], 2.0..=f64::INFINITY, why)
    }),
    ("Single-mesh is above full-mesh in Exps 1 and 2 under OLIA and BALIA (figs 23, 24)", |m| {
        let why = "In Exp 2 a window that was cut in slow start leaves the one subflow of its link slow, where a mesh has four more";
        meshes(m, &[1, 2], &["olia", "balia"], 1.0..=f64::INFINITY, why)
    }),
    ("Single-mesh is below full-mesh in all Exps under LIA and wVegas (figs 22, 25)", |m| {
        let why = "In Exps 1 and 3 both fill the links, but for chance. In Exp 4 the peer's window is the limit, and five subflows \
                   wait for each other less than 25";
        meshes(m, &[1, 2, 3, 4, 5, 6, 7, 8], &["lia", "wvegas"], 0.0..=1.0, why)
    }),
    ("Single-mesh is below full-mesh in Exps 5 to 8 under all (figs 22 to 25)", |m| {
        meshes(m, &[5, 6, 7, 8], &CONGESTION, 0.0..=1.0, "")
    }),
    (
        "Ours: adaptive is within 2 % of the best of LL, LWS, LTS and HSR in most cells, and nowhere more than 5 % below",
        near_the_best,
    ),
];

/// Why schedulers rank as they do where they differ at all.
const SLOW_START: &str = "Schedulers differ only while windows grow. The peer's buffer grows from 85 KiB meanwhile; where it is \
    full, windows are cut (penalisation), and stay as slow start has left them. That is a matter of chance (the intervals), and of \
    the buffer: with one of 16 MiB from the start LL is the first in Exp 4 under OLIA and HSR the last";

/// Adds `why` where a finding is not confirmed, and that chance may be all where it is open.
fn with_reason((confirmed, evidence): Verdict, why: &str) -> Verdict {
    let mut told = vec![evidence];
    if confirmed.is_none() {
        told.push("Undecided: cells are missing, or intervals overlap, so that what differs may be chance".to_owned());
    }
    if confirmed != Some(true) && !why.is_empty() {
        told.push(why.to_owned());
    }
    (confirmed, told.join(". "))
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

fn slower_without_loss(measured: &Measurements) -> Option<Verdict> {
    let pair = |cc| Some((cc, full(measured, Congested, 0, cc, "ll")?, full(measured, Congested, 1, cc, "ll")?));
    let pairs: Vec<(&str, &Measurement, &Measurement)> =
        ["lia", "olia", "balia"].into_iter().map(pair).collect::<Option<_>>()?;
    let told = pairs.iter().map(|(cc, at_0, at_1)| format!("{cc} {} and {}", shown(at_0), shown(at_1)));
    let evidence = format!("ll, Mbit/s at 0 and 1 %: {}", told.collect::<Vec<_>>().join(", "));
    let slower = pairs.iter().map(|(_, at_0, at_1)| Ratio::of(at_0, at_1).is_in(&(0.0..=1.0)));
    Some(with_reason(
        (all(slower, true), evidence),
        "Without loss our links are 95 % used: netem's 1000 packets hold the windows of five subflows, and none makes \
         another lose. With queues of 20 packets it is the same; it takes queues of 5 packets for the subflows of a link to \
         cost each other goodput (LIA 202, BALIA 221, wVegas 183 of 260 Mbit/s)",
    ))
}

fn wvegas_stays_level(measured: &Measurements) -> Option<Verdict> {
    let losses: Vec<u32> = measured.cases(Congested).into_iter().filter(|loss| *loss <= 3).collect();
    let cells: Vec<&Measurement> =
        losses.iter().map(|&loss| full(measured, Congested, loss, "wvegas", "ll")).collect::<Option<_>>()?;
    let (first, rest) = cells.split_first()?;
    let level = rest.iter().map(|cell| Ratio::of(cell, first).is_about(&(0.95..=1.05)));
    let told: Vec<String> = cells.iter().map(|cell| shown(cell)).collect();
    Some(with_reason(
        (all(level, losses == [0, 1, 2, 3]), format!("ll, Mbit/s at {losses:?} %: {}", told.join(", "))),
        "Each loss halves a window of wVegas as of the others, and 25 of them grow by a packet in a round trip at most",
    ))
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

/// Whether `scheduler` gains as many percent over LL as `expected`, on average over the lossy cases, as `holds` takes it.
fn above_ll(
    measured: &Measurements,
    scheduler: &str,
    congestion: &[&str],
    expected: RangeInclusive<f64>,
    holds: fn(Ratio, &RangeInclusive<f64>) -> Option<bool>,
) -> Option<Verdict> {
    let gain = |&cc| Some((cc, Ratio::mean_of(&over_ll(measured, scheduler, cc)?)?));
    let gains: Vec<(&str, Ratio)> = congestion.iter().map(gain).collect::<Option<_>>()?;
    let told = gains.iter().map(|(cc, gain)| format!("{cc} {}", gain.as_gain()));
    let evidence = format!("mean gain over ll: {}", told.collect::<Vec<_>>().join(", "));
    let expected = 1.0 + expected.start() / 100.0..=1.0 + expected.end() / 100.0;
    Some(with_reason(
        (all(gains.iter().map(|(_, gain)| holds(*gain, &expected)), true), evidence),
        "Data never runs out and windows are full, so the next segment goes where an acknowledgment has just made room, \
         whatever the scheduler: little is left to choose. Gains of single cells lie within their intervals",
    ))
}

fn order_under_loss(measured: &Measurements) -> Option<Verdict> {
    let goodputs = |cc: &'static str| {
        let cells = lossy(measured).into_iter().flat_map(|loss| SCHEDULERS.map(|scheduler| (loss, scheduler)));
        cells.map(|(loss, scheduler)| measured.at(Congested, loss, cc, scheduler)).collect::<Option<Vec<f64>>>()
    };
    let mut told = Vec::new();
    for cc in CONGESTION {
        told.push(format!("{cc} {:.1}", mean(&goodputs(cc)?)?));
    }
    let evidence = format!("means in Mbit/s: {}", told.join(", "));
    let mut order = Vec::new();
    for (low, high) in [("balia", "lia"), ("balia", "olia"), ("lia", "wvegas"), ("olia", "wvegas")] {
        let ratios: Vec<f64> = goodputs(low)?.iter().zip(goodputs(high)?).map(|(low, high)| low / high).collect();
        order.push(Ratio::mean_of(&ratios)?.is_in(&(0.0..=1.0)));
    }
    Some(with_reason(
        (all(order, true), evidence),
        "On n equal subflows LIA grows a window w by 1/(n w) an acknowledgment, OLIA and BALIA by 1/(n² w): with 25 of them \
         both hardly grow between losses, and which of the two is lower is a matter of their small terms. The thesis has OLIA \
         near LIA",
    ))
}

/// Whether `scheduler` is at least `margin` times every other one in an experiment of the design.
fn best(measured: &Measurements, case: u32, scheduler: &str, congestion: &[&str], margin: f64) -> Option<Verdict> {
    let (mut ahead, mut evidence) = (Vec::new(), Vec::new());
    for cc in congestion {
        let own = full(measured, Design, case, cc, scheduler)?;
        let mut told = Vec::new();
        for name in SCHEDULERS {
            let cell = full(measured, Design, case, cc, name)?;
            told.push(format!("{name} {}", shown(cell)));
            if name != scheduler {
                ahead.push(Ratio::of(own, cell).is_in(&(margin..=f64::INFINITY)));
            }
        }
        evidence.push(format!("{cc}: {}", told.join(", ")));
    }
    Some(with_reason((all(ahead, true), format!("Mbit/s under {}", evidence.join("; "))), SLOW_START))
}

fn alike_under_loss(measured: &Measurements) -> Option<Verdict> {
    let cases: Vec<u32> = measured.cases(Design).into_iter().filter(|case| *case >= 5).collect();
    let complete = cases == [5, 6, 7, 8];
    let (mut alike, mut widest) = (Vec::new(), None::<(f64, u32, &str)>);
    for (case, cc) in cases.into_iter().flat_map(|case| CONGESTION.map(|cc| (case, cc))) {
        let cells: Vec<&Measurement> =
            SCHEDULERS.into_iter().map(|name| full(measured, Design, case, cc, name)).collect::<Option<_>>()?;
        let worst = cells.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let most = cells.iter().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let apart = Ratio::of(most, worst);
        alike.push(apart.is_about(&(0.0..=1.05)));
        if widest.is_none_or(|(most, ..)| apart.value > most) {
            widest = Some((apart.value, case, cc));
        }
    }
    let (apart, case, cc) = widest?;
    let apart = (apart - 1.0) * 100.0;
    let evidence = format!("at most {apart:.1} % between the best and the worst (Exp {case}, {cc})");
    Some(with_reason((all(alike, complete), evidence), ""))
}

/// Single-mesh over full-mesh in those of `cases` that were run.
fn meshes(
    measured: &Measurements,
    cases: &[u32],
    congestion: &[&'static str],
    expected: RangeInclusive<f64>,
    why: &str,
) -> Option<Verdict> {
    let run: Vec<u32> = measured.cases(Mesh).into_iter().filter(|case| cases.contains(case)).collect();
    let mut ratios = Vec::new();
    for (&case, &cc) in run.iter().flat_map(|case| congestion.iter().map(move |cc| (case, cc))) {
        let single = measured.cell(Mesh, case, cc, "ll", "single-mesh")?;
        ratios.push((case, cc, Ratio::of(single, full(measured, Mesh, case, cc, "ll")?)));
    }
    if ratios.is_empty() {
        return None;
    }
    let told: Vec<String> =
        ratios.iter().map(|(case, cc, ratio)| format!("Exp {case} {cc} {:.2}", ratio.value)).collect();
    let evidence = format!("single over full: {}", told.join(", "));
    let verdict = all(ratios.iter().map(|(.., ratio)| ratio.is_in(&expected)), run == cases);
    Some(with_reason((verdict, evidence), why))
}

fn near_the_best(measured: &Measurements) -> Option<Verdict> {
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
    Some(with_reason(
        (Some(2 * near > contests.len() && below == 0), evidence),
        "What ranks the schedulers is decided in the first tenths of a second, before subflows are established over all paths \
         and anything can be sensed; see the tables for each cell",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::grid::{ADAPTIVE, Cell};
    use super::super::measurement::tests::made;
    use super::*;

    fn confirmed(all: &Measurements, statement: &str) -> Option<bool> {
        let found = findings(all).into_iter().find(|finding| finding.statement.starts_with(statement));
        found.expect("it is checked").verdict.confirmed()
    }

    #[test]
    fn gains_over_ll_are_confirmed_refuted_or_left_open() {
        let with_gain =
            |gain: f64| made(Congested, move |cell| if cell.setup.scheduler == "lws" { 1e4 * gain } else { 1e4 });
        let seven = "LWS is about 7 % above LL";
        assert_eq!(confirmed(&with_gain(1.07), seven), Some(true));
        assert_eq!(confirmed(&with_gain(1.00), seven), Some(false));
        assert_eq!(confirmed(&made(Design, |_| 1.0), seven), None);
    }

    #[test]
    fn the_shape_over_loss_is_checked() {
        let all = |at_zero: f64| made(Congested, move |cell| if cell.case == 0 { at_zero } else { 1e4 });
        assert_eq!(confirmed(&all(9e3), "Full-mesh with LIA, OLIA or BALIA is slower"), Some(true));
        assert_eq!(confirmed(&all(1.1e4), "Full-mesh with LIA, OLIA or BALIA is slower"), Some(false));
        assert_eq!(confirmed(&all(9e3), "Full-mesh with wVegas stays level"), Some(false));
        assert_eq!(confirmed(&all(1e4), "Full-mesh with wVegas stays level"), Some(true));
    }

    #[test]
    fn meshes_are_compared_where_they_were_run() {
        let single = |factor: f64| {
            made(Mesh, move |cell: &Cell| if cell.setup.path_manager == "single-mesh" { 5e3 * factor } else { 5e3 })
        };
        assert_eq!(confirmed(&single(2.2), "Single-mesh at least doubles"), Some(true));
        assert_eq!(confirmed(&single(1.5), "Single-mesh at least doubles"), Some(false));
        assert_eq!(confirmed(&single(0.9), "Single-mesh is below full-mesh in Exps 5 to 8"), Some(true));
        assert_eq!(confirmed(&single(1.001), "Single-mesh is above full-mesh"), None, "within what runs scatter");
    }

    #[test]
    fn the_best_scheduler_is_one_whose_interval_lies_above_all_others() {
        let with_lts =
            |factor: f64| made(Design, move |cell| if cell.setup.scheduler == "lts" { 1e4 * factor } else { 1e4 });
        let lts = "LTS is the best in Exp 4";
        assert_eq!(confirmed(&with_lts(1.1), lts), Some(true));
        assert_eq!(confirmed(&with_lts(0.9), lts), Some(false));
        assert_eq!(confirmed(&with_lts(1.001), lts), None);
        assert_eq!(confirmed(&with_lts(1.01), "In Exps 5 to 8 all schedulers are alike"), Some(true));
        assert_eq!(confirmed(&with_lts(1.1), "In Exps 5 to 8 all schedulers are alike"), Some(false));
    }

    #[test]
    fn adaptive_is_held_to_the_best_of_each_cell() {
        let all = |own: f64| {
            made(Design, move |cell| match cell.setup.scheduler {
                ADAPTIVE => own,
                "hsr" => 100.0,
                _ => 90.0,
            })
        };
        assert_eq!(confirmed(&all(99.0), "Ours: adaptive"), Some(true));
        assert_eq!(confirmed(&all(93.0), "Ours: adaptive"), Some(false));
    }
}
