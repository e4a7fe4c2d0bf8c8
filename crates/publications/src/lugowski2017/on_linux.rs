//! Tables A.1 and A.3 with the kernel's MPTCP and coupled congestion control as eBPF programs.

use subflow_lab::results::RunResult;
use subflow_report::Finding;

use super::findings;
use super::grid::{Cell, KERNEL, TABLES, cells};
use super::measurement::{Measurement, Measurements};
use super::published::Published;
use super::testbed::scenario;
use crate::{Emulation, Measured, Quantity, Routers};

/// What runs on Linux: tail drop below 1 ms and at 20 ms.
const ON_LINUX: [&str; 2] = ["A.1", "A.3"];
/// Rates that runs in real time hold; the thesis prints those of 20 and 40 Mbit/s.
const CAPACITIES: [u32; 5] = [10, 20, 30, 40, 50];
const QUICK_CAPACITIES: [u32; 2] = [20, 40];
/// Runs of each cell, and how many seconds one takes.
const FULL: (u64, u32) = (3, 30);
const QUICK: (u64, u32) = (1, 15);

/// The largest deviation of MPTCP's mean share from the simulator's, as a part of it, with which both agree.
const BOUND: f64 = 0.10;

fn cells_on_linux(quick: bool) -> Vec<Cell> {
    let capacities: &[u32] = if quick { &QUICK_CAPACITIES } else { &CAPACITIES };
    let tables = TABLES.into_iter().filter(|table| ON_LINUX.contains(&table.name));
    tables.flat_map(|table| cells(table, capacities, KERNEL)).collect()
}

pub(super) fn emulations(quick: bool) -> Vec<Emulation> {
    let published = Published::read();
    let (runs, seconds) = if quick { QUICK } else { FULL };
    cells_on_linux(quick).into_iter().map(|cell| emulation(cell, runs, seconds, &published)).collect()
}

fn emulation(cell: Cell, runs: u64, seconds: u32, published: &Published) -> Emulation {
    let [mptcp, reno] = [0, 1].map(|flow| published.goodput(&cell, flow));
    let share = mptcp.zip(reno).map(|(mptcp, reno)| 100.0 * mptcp / (mptcp + reno));
    let figure = |name, unit, published, of| Quantity { name, unit, published, bound: None, of };
    Emulation {
        item: cell.table.name,
        case: case(&cell),
        routers: Routers::Simulated,
        runs,
        series: false,
        quantities: vec![
            figure("MPTCP", "Mbit/s", mptcp, |result| goodput(result, 0)),
            figure("Reno", "Mbit/s", reno, |result| goodput(result, 1)),
            Quantity {
                bound: Some(BOUND),
                ..figure("share of MPTCP", "%", share, |result| {
                    let [mptcp, reno] = [0, 1].map(|flow| goodput(result, flow));
                    100.0 * mptcp / (mptcp + reno)
                })
            },
        ],
        scenario: Box::new(move |seed| scenario(&cell, seconds, seed)),
    }
}

fn case(cell: &Cell) -> String {
    format!("{} Mbit/s, {}", cell.capacity_mbps, cell.case)
}

fn goodput(result: &RunResult, flow: usize) -> f64 {
    result.flows[flow].goodput_mbps
}

/// The thesis's findings on these tables, by the kernel's figures.
pub(super) fn findings(measured: &[Measured]) -> Vec<Finding> {
    let published = Published::read();
    let measurement = |cell: Cell| {
        let of_cell = |m: &&Measured| m.emulation.item == cell.table.name && m.emulation.case == case(&cell);
        let found = measured.iter().find(of_cell)?;
        let (mptcp, reno) = (found.emulated(0), found.emulated(1));
        let runs: Vec<Vec<f64>> = mptcp.into_iter().zip(reno).map(|(mptcp, reno)| vec![mptcp, reno]).collect();
        (!runs.is_empty()).then(|| Measurement::of(cell, &runs, &published))
    };
    let measurements = cells_on_linux(false).into_iter().filter_map(measurement).collect();
    findings::of_what_was_run("On Linux: ", &Measurements(measurements))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_the_thesis_prints_stand_beside_its_figures() {
        for emulation in emulations(false) {
            let printed = ["20 ", "40 "].iter().any(|capacity| emulation.case.starts_with(capacity));
            let has_figures = emulation.quantities.iter().all(|quantity| quantity.published.is_some());
            assert_eq!(printed, has_figures, "{}", emulation.case);
            assert_eq!((emulation.scenario)(1).flows.len(), 2);
        }
    }

    #[test]
    fn a_quick_look_on_linux_takes_minutes() {
        let (runs, seconds) = QUICK;
        assert!(emulations(true).len() as u64 * runs * u64::from(seconds) < 5 * 60);
    }
}
