//! The thesis's findings: each with its source, what the thesis prints of it, and our verdict.

use subflow_report::Finding;

use super::checks::{
    Outcome, above_ll, alike_under_loss, best, long_transfer, meshes, near_the_best, order_under_loss,
    slower_without_loss, wvegas_stays_level,
};
use super::grid::CONGESTION;
use super::measurement::Measurements;
use super::verdict::Ratio;

/// A finding, and how it is checked.
struct Claim {
    statement: &'static str,
    source: &'static str,
    /// What the thesis prints; its figures are curves and bars.
    published: Option<&'static str>,
    /// Nothing where the cells were not run.
    check: fn(&Measurements) -> Option<Outcome>,
}

const fn claim(
    statement: &'static str,
    source: &'static str,
    published: Option<&'static str>,
    check: fn(&Measurements) -> Option<Outcome>,
) -> Claim {
    Claim { statement, source, published, check }
}

const LOSS_DRIVEN: [&str; 3] = ["lia", "olia", "wvegas"];

const CLAIMS: [Claim; 17] = [
    claim("Full-mesh with LIA, OLIA or BALIA is slower at 0 % loss than at 1 %", "fig. 10", None, slower_without_loss),
    claim("Full-mesh with wVegas stays level from 0 to 3 % loss", "fig. 10", None, wvegas_stays_level),
    claim(
        "LWS is above LL under LIA, OLIA and wVegas at 4 to 12 % loss",
        "fig. 11, section 6",
        Some("about 7 %"),
        |m| above_ll(m, "lws", &LOSS_DRIVEN, 3.5..=10.5, Ratio::is_in),
    ),
    claim("LWS is hardly above LL under BALIA at 4 to 12 % loss", "fig. 11", Some("about 1 %"), |m| {
        above_ll(m, "lws", &["balia"], 0.0..=2.5, Ratio::is_in)
    }),
    claim("LTS is above LL under LIA, OLIA and wVegas at 4 to 12 % loss", "fig. 12", Some("about 4 %"), |m| {
        above_ll(m, "lts", &LOSS_DRIVEN, 2.0..=6.0, Ratio::is_in)
    }),
    claim("HSR is about equal to LL at 4 to 12 % loss", "fig. 13", None, |m| {
        above_ll(m, "hsr", &CONGESTION, -2.0..=2.0, Ratio::is_about)
    }),
    claim("BALIA has the lowest goodput at 4 to 12 % loss, wVegas the highest", "figs 14, 15", None, order_under_loss),
    claim("HSR is clearly the best in Exp 4 under OLIA", "fig. 19", None, |m| best(m, 4, "hsr", &["olia"], 1.05)),
    claim("LWS is the best in Exp 3 under OLIA and BALIA", "figs 19, 20", None, |m| {
        best(m, 3, "lws", &["olia", "balia"], 1.0)
    }),
    claim("LTS is the best in Exp 4 under BALIA and wVegas", "figs 20, 21", None, |m| {
        best(m, 4, "lts", &["balia", "wvegas"], 1.0)
    }),
    claim("In Exps 5 to 8 all schedulers are alike", "figs 18 to 21", None, alike_under_loss),
    claim(
        "Single-mesh at least doubles full-mesh in Exps 3 and 4 under OLIA and BALIA",
        "figs 23, 24",
        Some("2 and more"),
        |m| meshes(m, &[3, 4], &["olia", "balia"], 2.0..=f64::INFINITY),
    ),
    claim("Single-mesh is above full-mesh in Exps 1 and 2 under OLIA and BALIA", "figs 23, 24", None, |m| {
        meshes(m, &[1, 2], &["olia", "balia"], 1.0..=f64::INFINITY)
    }),
    claim("Single-mesh is below full-mesh in all Exps under LIA and wVegas", "figs 22, 25", None, |m| {
        meshes(m, &[1, 2, 3, 4, 5, 6, 7, 8], &["lia", "wvegas"], 0.0..=1.0)
    }),
    claim("Single-mesh is below full-mesh in Exps 5 to 8 under all", "figs 22 to 25", None, |m| {
        meshes(m, &[5, 6, 7, 8], &CONGESTION, 0.0..=1.0)
    }),
    claim(
        "A transfer of 1.5 GB leaves more than a third of the 260 Mbit/s unused although nothing is lost",
        "fig. 9",
        Some("72.4 s, no loss in the 13 s shown"),
        long_transfer,
    ),
    claim(
        "Ours: adaptive is within 2 % of the best of LL, LWS, LTS and HSR in most cells, and nowhere more than 5 % \
         below",
        "",
        None,
        near_the_best,
    ),
];

/// All findings. One is undecided where some of its cells were not run, or where intervals overlap.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    CLAIMS.iter().map(|claim| claim.judged(measurements)).collect()
}

/// Those whose cells were run, with `context` before each.
pub(super) fn of_what_was_run(context: &str, measurements: &Measurements) -> Vec<Finding> {
    CLAIMS.iter().filter_map(|claim| claim.judged_if_run(context, measurements)).collect()
}

impl Claim {
    fn judged(&self, measurements: &Measurements) -> Finding {
        let not_run = || self.described(Finding::new(self.statement, None, "its cells were not run"));
        self.judged_if_run("", measurements).unwrap_or_else(not_run)
    }

    fn judged_if_run(&self, context: &str, measurements: &Measurements) -> Option<Finding> {
        let Outcome { verdict, measured, evidence } = (self.check)(measurements)?;
        let statement = format!("{context}{}", self.statement);
        Some(self.described(Finding::new(statement, verdict, evidence).measured(measured)))
    }

    fn described(&self, finding: Finding) -> Finding {
        let finding = finding.source(self.source);
        let finding = if self.statement.starts_with("Ours:") { finding.beyond() } else { finding };
        match self.published {
            Some(figure) => finding.published(figure),
            None => finding,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::RngCore;

    use super::super::grid::Study::{Congested, Design, Mesh};
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
        let seven = "LWS is above LL";
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
    fn verdicts_on_the_experiments_rest_on_the_cells_that_are_judged() {
        for seed in 0..20 {
            // As scattered as real figures, so that verdicts of all kinds come out.
            let goodput = |cell: &Cell| {
                let mut random = subflow_network::stream(seed, &format!("{cell:?}"));
                5e3 + f64::from(random.next_u32() % 1000)
            };
            let all: Vec<_> = [Congested, Design, Mesh].into_iter().flat_map(|study| made(study, goodput).0).collect();
            let judged = all.iter().filter(|measurement| measurement.cell.is_judged()).cloned().collect();
            let thesis = |all| findings(&Measurements(all)).into_iter().filter(|it| !it.statement.starts_with("Ours"));
            assert!(thesis(judged).eq(thesis(all)), "seed {seed}");
        }
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
