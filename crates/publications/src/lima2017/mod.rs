//! Lima 2017: packet schedulers and a path manager for MPTCP, on two hosts with five links. The experiments are in
//! `papers/lima2017/`.

mod checks;
mod measure;
mod schedulers;

use std::sync::LazyLock;

use serde_json::Value;

use crate::Routers;
use crate::emulation::Quantity;
use crate::study::{Code, Linux, Own, Results, Row, Slices, Study};
use measure::{GOODPUT, SECONDS};

/// The thesis.
pub(crate) static LIMA2017: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure::measure),
        checks: &checks::CHECKS,
        slices: Some(Slices::Beside(measure::slices)),
        own: Some(|results| Own {
            readable: schedulers::readable(results),
            figures: schedulers::figures(results),
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

/// The items.
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

/// The cases of an item that were run.
fn cases(all: &Results, item: &str) -> Vec<i64> {
    all.values(item, "case").iter().filter_map(Value::as_i64).collect()
}

/// A cell with full-mesh.
fn full<'a>(all: &'a Results, item: &str, case: i64, congestion: &str, scheduler: &str) -> Option<&'a Row> {
    let algorithms = [("congestion", congestion), ("scheduler", scheduler), ("path_manager", "full-mesh")];
    let is_it = |row: &&Row| row.cell.is("case", case) && algorithms.iter().all(|(name, of)| row.cell.is(name, *of));
    all.of(item).find(is_it)
}

/// Its goodput.
fn at(all: &Results, item: &str, case: i64, congestion: &str, scheduler: &str) -> Option<f64> {
    full(all, item, case, congestion, scheduler).map(|row| row.mean(GOODPUT))
}

#[cfg(test)]
mod tests {
    use subflow_report::Chart;
    use subflow_scenario::HostStack;

    use super::*;
    use crate::Request;
    use crate::study::{Cell, Effort};

    pub(super) const MESH: &str = "mesh";

    /// Results of `item` in which a run's goodput is what `goodput` says of its cell.
    pub(super) fn made(item: &str, goodput: impl Fn(&Cell) -> f64) -> Results {
        let runs = |cell: &Cell| {
            let mptcp = goodput(cell);
            vec![vec![mptcp, 1.0, f64::NAN], vec![mptcp + 2.0, 3.0, f64::NAN]]
        };
        let mut all = LIMA2017.invented(Effort::Full, runs);
        all.rows.retain(|row| row.cell.item == item);
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
}
