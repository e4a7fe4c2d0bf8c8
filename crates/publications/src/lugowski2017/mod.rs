//! Lugowski 2017: CMT/RPv2 against LIA, OLIA and wVegas in MPTCP, on a testbed of four computers. The experiments and the
//! thesis's tables A.1 to A.17 are in `papers/lugowski2017/`.

use std::sync::LazyLock;

use subflow_lab::statistics::{mean, median};
use subflow_report::{Axis, Bars, Figure, Measured, Table};

use crate::Routers;
use crate::emulation::Quantity;
use crate::study::{Cell, Claim, Code, Linux, Outcome, Own, Results, Row, Study};

pub(crate) static LUGOWSKI2017: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        checks: &[("deviation", deviation_is_small)],
        own: Some(|all| Own {
            readable: vec![("Mean absolute deviation from the thesis, in % of capacity".to_owned(), deviations(all))],
            first_figures: vec![deviations_by_table(all)],
            ..Own::default()
        }),
        linux: Some(Linux {
            routers: Routers::Simulated,
            case: |cell| format!("{} Mbit/s, {}", cell.text("capacity_mbps"), cell.text("case")),
            quantities,
            sample: |goodput| goodput[..2].to_vec(),
            further_findings: |_| Vec::new(),
        }),
        ..Code::default()
    };
    Study::in_program("lugowski2017", code)
});

/// The largest deviation of MPTCP's mean share on Linux from the simulator's, as a part of it, with which both agree.
const BOUND: f64 = 0.10;

/// What runs on Linux are compared by.
fn quantities(cell: &Cell) -> Vec<Quantity> {
    let [mptcp, reno] = [0, 1].map(|flow| {
        let congestion = cell.text(&format!("congestion{flow}"));
        LUGOWSKI2017.published.of(cell, &[("flow", &flow.to_string()), ("congestion", &congestion)])
    });
    let share = mptcp.zip(reno).map(|(mptcp, reno)| 100.0 * mptcp / (mptcp + reno));
    let quantity = |name, unit, published, of| Quantity { name, unit, published, bound: None, of };
    let share = quantity("share of MPTCP", "%", share, |result| {
        let [mptcp, reno] = [0, 1].map(|flow| result.flows[flow].goodput_mbps);
        100.0 * mptcp / (mptcp + reno)
    });
    vec![
        quantity("MPTCP", "Mbit/s", mptcp, |result| result.flows[0].goodput_mbps),
        quantity("Reno", "Mbit/s", reno, |result| result.flows[1].goodput_mbps),
        Quantity { bound: Some(BOUND), ..share },
    ]
}

/// The absolute deviations of the flows' medians from the published ones, in percent of the cell's capacity, on average.
fn deviation<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<f64> {
    let of_flow = |row: Row| {
        let deviation = median(&row.samples(0))? - LUGOWSKI2017.published.of(&row.cell, &[])?;
        Some(deviation.abs() / row.cell.number("capacity_mbps") * 100.0)
    };
    mean(&rows.flat_map(Row::by_flow).filter_map(of_flow).collect::<Vec<_>>())
}

fn by_table(all: &Results) -> impl Iterator<Item = (&str, f64)> {
    all.items().into_iter().filter_map(|table| Some((table, deviation(all.of(table))?)))
}

/// The deviation of all tables of the bottleneck, or of the half-bottleneck in both its forms.
fn deviation_of_topology(all: &Results, bottleneck: bool) -> Option<f64> {
    deviation(all.rows.iter().filter(|row| row.cell.is("topology", "bottleneck") == bottleneck))
}

/// The mean absolute deviations, to read.
fn deviations(all: &Results) -> Table {
    let topologies = [("bottleneck, all", true), ("half-bottleneck, all", false)].into_iter();
    let by_topology = topologies.filter_map(|(name, is_it)| Some((name, deviation_of_topology(all, is_it)?)));
    let mut table = Table::new(["of", "deviation"]);
    by_table(all).chain(by_topology).for_each(|(name, deviation)| table.row([name.into(), deviation.into()]));
    table
}

fn deviations_by_table(all: &Results) -> Figure {
    let mut bars = Bars::new(Axis::new("mean absolute deviation", "% of capacity"));
    for (table, deviation) in by_table(all) {
        bars.add(table, "deviation", deviation, None);
    }
    Figure::bars("Deviation from the thesis, by table", bars)
}

/// Whether the deviation from the tables of one of the topologies is small enough.
fn deviation_is_small(all: &Results, claim: &Claim) -> Option<Outcome> {
    let deviation = deviation_of_topology(all, claim.arguments["bottleneck"] == true)?;
    let (most, measured) = (claim.percent?, Measured::new(deviation, None, "% of capacity"));
    let evidence = format!(
        "criterion: mean absolute deviation of the flows' medians from the published ones at most {most} % of capacity; \
         ours: {deviation:.2} %"
    );
    Some(Outcome::new(Some(deviation <= most), measured, evidence))
}

#[cfg(test)]
mod tests {
    use subflow_report::Chart;

    use super::*;
    use crate::Request;
    use crate::study::Effort;

    /// Results of `table` at 100 Mbit/s in which every run of `case` gave `goodput`, and other cases half of it.
    pub(super) fn made(table: &str, case: &str, goodput: [f64; 2]) -> Results {
        let mut all = LUGOWSKI2017.invented(Effort::Full, |cell| {
            let scale = if cell.is("case", case) { 1.0 } else { 0.5 };
            vec![goodput.map(|mbps| mbps * scale).to_vec(); 2]
        });
        all.rows.retain(|row| row.cell.item == table && row.cell.is("capacity_mbps", 100));
        all
    }

    #[test]
    fn deviations_are_in_percent_of_capacity() {
        // A.1 prints 50 and 45 for LIA and Reno at 100 Mbit/s.
        let all = made("A.1", "lia", [52.0, 44.0]);
        let lia = all.find("A.1", [("case", "lia".into())]).expect("it was made");
        assert_eq!((deviation([lia].into_iter()), lia.runs.len()), (Some(1.5), 2));
    }

    #[test]
    fn a_finding_is_confirmed_refuted_or_left_open() {
        let confirmed = |goodput| {
            let findings = LUGOWSKI2017.findings(&made("A.1", "lia", goodput));
            // The first two are those of the deviations.
            [2, 3].map(|finding: usize| findings[finding].verdict.confirmed())
        };
        assert_eq!(confirmed([48.0, 47.0]), [Some(true), Some(false)]);
        assert_eq!(confirmed([30.0, 60.0]), [Some(false), Some(true)]);
        let halves = LUGOWSKI2017.findings(&made("A.11", "cmt-rpv2", [48.0, 47.0]));
        let most = halves.iter().find(|finding| finding.statement.contains("CMT/RPv2 takes the most"));
        assert_eq!(most.expect("it is checked").verdict.confirmed(), None, "A.12 was not run");
    }

    #[test]
    fn tables_and_figures_have_ours_and_the_thesis_s() {
        let Own { rows, readable, figures, .. } = LUGOWSKI2017.shown(&made("A.1", "lia", [52.0, 44.0]));
        let csv = rows.expect("rows are declared").to_csv();
        let lia = csv.lines().nth(1).expect("a row");
        assert_eq!(lia, "A.1,bottleneck,droptail,0,vs-reno,100,lia,0,lia,52.0,0.0,52.0,52.0,2,50.0");
        let text = readable[0].1.to_text();
        assert!(text.contains("lia : reno") && text.contains("52.0 : 44.0 (50 : 45)"), "{text}");
        assert_eq!(readable.len(), 2, "the table and the deviations");
        assert_eq!(figures.len(), 1 + 4, "the deviations, and a figure for each algorithm");
        let Chart::Curves(curves) = &figures[1].chart else { panic!("curves") };
        let names: Vec<&str> = curves.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["lia", "lia, thesis", "reno", "reno, thesis"]);
        assert_eq!(curves.curves[0].colour, curves.curves[1].colour);
        // A.1 prints 50 for LIA at 100 Mbit/s.
        assert_eq!((curves.curves[0].points[0].y, curves.curves[1].points[0].y), (52.0, 50.0));
    }

    #[test]
    fn cells_on_linux_that_the_thesis_prints_stand_beside_its_figures() {
        for emulation in LUGOWSKI2017.emulations(false) {
            let printed = ["20 ", "40 "].iter().any(|capacity| emulation.case.starts_with(capacity));
            let has_figures = emulation.quantities.iter().all(|quantity| quantity.published.is_some());
            assert_eq!(printed, has_figures, "{}", emulation.case);
            let scenario = emulation.cell.scenario(&LUGOWSKI2017.folder, 1).expect("a good scenario");
            assert_eq!(scenario.flows.len(), 2);
        }
    }

    #[test]
    fn a_quick_look_at_the_first_table_is_near_the_thesis() {
        let request = Request { items: vec!["A.1".to_owned()], quick: true, ..Request::default() };
        let reproduction = LUGOWSKI2017.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        // Four cases of two flows at two capacities.
        assert_eq!(reproduction.table.rows().len(), 16);
        let deviation = reproduction.findings[0].measured.as_ref().expect("it was run").value;
        assert!(deviation < 7.0, "{deviation} % of capacity");
    }
}
