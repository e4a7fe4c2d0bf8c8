//! Lima 2017: packet schedulers and a path manager for MPTCP, on two hosts with five links. The experiments are in
//! `papers/lima2017/`.

mod measure;
mod schedulers;

use std::sync::LazyLock;

use subflow_report::Measured;

use crate::Routers;
use crate::emulation::Quantity;
use crate::study::{Claim, Code, Linux, Outcome, Own, Results, Row, Study};
use measure::{GOODPUT, SECONDS};

pub(crate) static LIMA2017: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure::measure),
        checks: &[("long transfer", long_transfer), ("near the best", schedulers::near_the_best)],
        slices: Some(measure::slices),
        own: Some(|results| Own {
            readable: schedulers::readable(results),
            figures: schedulers::gaps(results).into_iter().collect(),
            ..Own::default()
        }),
        linux: Some(Linux {
            routers: Routers::Simulated,
            case: |cell| ["case_name", "congestion", "scheduler"].map(|name| cell.text(name)).join(", "),
            // Curves and bars without numbers are published.
            quantities: |_| {
                vec![Quantity {
                    name: "goodput",
                    unit: "Mbit/s",
                    published: None,
                    bound: None,
                    of: |result| result.flows[0].goodput_mbps,
                }]
            },
            sample: |goodput| vec![goodput[0], f64::NAN, f64::NAN],
            further_findings: |_| Vec::new(),
        }),
        ..Code::default()
    };
    Study::in_program("lima2017", code)
});

const CONGESTED: &str = "congested";
const DESIGN: &str = "design";
const TRANSFER: &str = "transfer";
const SECONDS_ITEM: &str = "seconds";

/// The congestion controls, in the thesis's order.
const CONGESTION: [&str; 4] = ["lia", "olia", "balia", "wvegas"];
/// The thesis's schedulers; ours comes after them.
const SCHEDULERS: [&str; 4] = ["ll", "lws", "lts", "hsr"];
/// Our scheduler that switches among those.
const ADAPTIVE: &str = "adaptive";

/// A cell with full-mesh.
fn full<'a>(all: &'a Results, item: &str, case: i64, congestion: &str, scheduler: &str) -> Option<&'a Row> {
    let algorithms = [("congestion", congestion), ("scheduler", scheduler), ("path_manager", "full-mesh")];
    let is_it = |row: &&Row| row.cell.is("case", case) && algorithms.iter().all(|(name, of)| row.cell.is(name, *of));
    all.of(item).find(is_it)
}

/// How long the transfer of figure 9 took, in seconds.
const FIGURE_9_S: f64 = 72.4;

/// The thesis does not say which congestion control its figure 9 shows: one that loses nothing and takes about as long.
fn long_transfer(measured: &Results, _: &Claim) -> Option<Outcome> {
    let row = |cc| full(measured, TRANSFER, 0, cc, "ll").filter(|row| row.has(SECONDS));
    let rows: Vec<(&str, &Row)> = CONGESTION.into_iter().map(|cc| Some((cc, row(cc)?))).collect::<Option<_>>()?;
    let figures = rows.iter().map(|(cc, row)| format!("{cc} {:.1}", row.mean(SECONDS)));
    let evidence = format!(
        "criterion: at least 1.5 times what all links need, under the control nearest to {FIGURE_9_S} s; ours: seconds \
         without loss, {}",
        figures.collect::<Vec<_>>().join(", ")
    );
    let off = |row: &Row| (row.mean(SECONDS) - FIGURE_9_S).abs();
    let (_, nearest) = rows.iter().min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
    let seconds = nearest.mean(SECONDS);
    // Two thirds of the rate of all links.
    let verdict = Some(seconds >= 1.5e9 * 8.0 / 260e6 * 1.5);
    Some(Outcome::new(verdict, Measured::new(seconds, nearest.interval(SECONDS), "s"), evidence))
}

#[cfg(test)]
mod tests {
    use rand_core::RngCore;
    use serde_json::Value;
    use subflow_report::Chart;
    use subflow_scenario::HostStack;

    use super::*;
    use crate::Request;
    use crate::study::{Cell, Effort};

    pub(super) const MESH: &str = "mesh";

    /// Results of `item` in which a run's goodput is what `goodput` says of its cell.
    pub(super) fn made(item: &str, goodput: impl Fn(&Cell) -> f64) -> Results {
        made_of(&[item], goodput)
    }

    fn made_of(items: &[&str], goodput: impl Fn(&Cell) -> f64) -> Results {
        let mut all = LIMA2017.invented(Effort::Full, |_| Vec::new());
        all.rows.retain(|row| items.contains(&row.cell.item.as_str()));
        for row in &mut all.rows {
            let mptcp = goodput(&row.cell);
            row.runs = vec![vec![mptcp, 1.0, f64::NAN], vec![mptcp + 2.0, 3.0, f64::NAN]];
        }
        all
    }

    #[test]
    fn the_grid_is_the_thesis_s_and_ours() {
        let published = |item| made(item, |_| 1.0).of(item).filter(|row| !row.cell.is("scheduler", ADAPTIVE)).count();
        assert_eq!([CONGESTED, DESIGN, MESH].map(published), [208, 128, 64]);
    }

    #[test]
    fn the_design_counts_in_binary_loss_rate_latency() {
        let all = made(DESIGN, |_| 1.0);
        let of = |case| {
            let row = all.find(DESIGN, [("case", Value::from(case))]).expect("it is there");
            ["loss5", "rate5", "latency5"].map(|name| row.cell.integer(name))
        };
        assert_eq!([1, 2, 3, 5, 8].map(of), [[0, 10, 5], [0, 10, 80], [0, 100, 5], [12, 10, 5], [12, 100, 80]]);
    }

    #[test]
    fn a_row_names_the_cell_and_its_figures() {
        let rows =
            LIMA2017.shown(&made(MESH, |cell| cell.integer("case") as f64 * 10.0)).rows.expect("they are declared");
        let csv = rows.to_csv();
        let first = csv.lines().nth(1).expect("a row");
        assert!(first.starts_with("mesh,Exp 1,lia,ll,full-mesh,11.0,1.414214,"), "{first}");
        assert_eq!(csv.lines().count(), 65);
    }

    #[test]
    fn tables_fit_and_have_a_line_for_each_case() {
        for item in [CONGESTED, DESIGN, MESH, "background", TRANSFER] {
            let tables = LIMA2017.shown(&made(item, |_| 123.4)).readable;
            assert!(tables.len() >= CONGESTION.len());
            for (title, table) in tables {
                let text = table.to_text();
                assert!(text.lines().all(|line| line.chars().count() <= 110), "{title}\n{text}");
            }
        }
    }

    #[test]
    fn curves_run_over_loss_and_have_an_interval_at_each_point() {
        let figures = LIMA2017.shown(&made(CONGESTED, |cell| (100 - cell.integer("case")) as f64)).figures;
        assert_eq!(figures.len(), 4 + 1 + 1 + 1, "one for each congestion control, boxes, means, and adaptive");
        let Chart::Curves(curves) = &figures[0].chart else { panic!("curves") };
        assert_eq!(curves.curves.len(), 5);
        let point = curves.curves[0].points[6];
        let (low, high) = point.interval.expect("two runs");
        assert_eq!((point.x, point.y), (6.0, 95.0));
        assert!(low < 95.0 && high > 95.0);
    }

    #[test]
    fn meshes_stand_side_by_side_in_each_experiment() {
        let figures = LIMA2017.shown(&made(MESH, |_| 50.0)).figures;
        assert_eq!(figures.len(), 4);
        let Chart::Bars(bars) = &figures[0].chart else { panic!("bars") };
        let first: Vec<_> = bars.bars[..3].iter().map(|bar| (bar.group.as_str(), bar.series.as_str())).collect();
        assert_eq!(first, [("Exp 1", "full-mesh"), ("Exp 1", "single-mesh"), ("Exp 2", "full-mesh")]);
    }

    #[test]
    fn on_linux_our_stack_sends_and_the_kernel_receives() {
        for emulation in LIMA2017.emulations(false) {
            let hosts = emulation.cell.scenario(&LIMA2017.folder, 1).expect("a good scenario").hosts;
            assert_eq!([hosts[0].stack, hosts[1].stack], [HostStack::Subflow, HostStack::Kernel], "{}", emulation.case);
        }
    }

    #[test]
    fn a_quick_look_at_the_meshes_has_a_row_for_each_cell_and_checks_its_findings() {
        let request = Request { items: vec!["mesh".to_owned()], quick: true, ..Request::default() };
        let reproduction = LIMA2017.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        assert_eq!(reproduction.table.rows().len(), 4 * 4 * 2);
        let checked = reproduction.findings.iter().filter(|finding| finding.evidence.contains("single over full, "));
        assert_eq!(checked.count(), 4, "those of the meshes");
        let confirmed = reproduction.findings.iter().find(|finding| finding.verdict.confirmed() == Some(true));
        assert_eq!(confirmed, None, "some of the cells of a finding confirm nothing");
    }

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
            let all = made_of(&[CONGESTED, DESIGN, MESH], goodput).rows;
            let judged = all.iter().filter(|row| LIMA2017.description.is_judged(&row.cell)).cloned().collect();
            let thesis =
                |rows| LIMA2017.findings(&Results { rows, ..Results::default() }).into_iter().filter(|it| !it.beyond);
            assert!(thesis(judged).eq(thesis(all)), "seed {seed}");
        }
    }
}
