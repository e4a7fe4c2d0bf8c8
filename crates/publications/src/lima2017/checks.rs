//! Findings that take more than a criterion: the long transfer, and our scheduler against the best of the others.

use subflow_lab::statistics::{Interval, mean};
use subflow_report::Measured;

use super::schedulers::{self, FAR_PCT, NEAR_PCT};
use super::{CONGESTION, SECONDS, TRANSFER, full};
use crate::study::{Check, Claim, Outcome, Results, Row};

pub(super) const CHECKS: [(&str, Check); 2] = [("long transfer", long_transfer), ("near the best", near_the_best)];

/// The thesis does not say which congestion control its figure 9 shows: one that loses nothing and takes about as long.
fn long_transfer(measured: &Results, _: &Claim) -> Option<Outcome> {
    let times = CONGESTION.map(|cc| Some((cc, transfer_time(full(measured, TRANSFER, 0, cc, "ll")?)?)));
    let times: Vec<(&str, _)> = times.into_iter().collect::<Option<_>>()?;
    let figures = times.iter().map(|(cc, (seconds, _))| format!("{cc} {seconds:.1}"));
    let evidence = format!(
        "criterion: at least 1.5 times what all links need, under the control nearest to {FIGURE_9_S} s; ours: seconds \
         without loss, {}",
        figures.collect::<Vec<_>>().join(", ")
    );
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
    let contests = schedulers::contests(measured);
    let near = contests.iter().filter(|contest| contest.gap_pct() <= NEAR_PCT).count();
    let below = contests.iter().filter(|contest| contest.gap_pct() > FAR_PCT).count();
    let worst = contests.iter().max_by(|a, b| a.gap_pct().total_cmp(&b.gap_pct()))?;
    let evidence = format!(
        "criterion: within {NEAR_PCT} % of the best in most cells, and nowhere more than {FAR_PCT} % below; ours: within in \
         {near} of {} cells, further below in {below}; furthest below by {:.1} % ({})",
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
    use super::super::{ADAPTIVE, CONGESTED, DESIGN, LIMA2017};
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
