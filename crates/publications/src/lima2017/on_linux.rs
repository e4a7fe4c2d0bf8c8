//! The second experiment with our stack as the sender, whose schedulers Linux does not have, and the kernel's MPTCP as
//! the receiver.

use subflow_report::Finding;

use super::findings;
use super::grid::{Cell, KERNEL, Study, cells};
use super::measurement::{Goodput, Measurement, Measurements};
use super::testbed::scenario;
use crate::{Emulation, Measured, Quantity, Routers};

/// Runs of each cell, and how many seconds one takes.
const FULL: (u64, u32) = (3, 20);
const QUICK: (u64, u32) = (2, 10);
/// For a quick look: the experiments without loss whose rates differ, with one algorithm that fills queues and one that
/// does not.
const QUICK_CASES: [u32; 2] = [3, 4];
const QUICK_CONGESTION: [&str; 2] = ["olia", "wvegas"];

fn cells_on_linux(quick: bool) -> Vec<Cell> {
    let mut cells = cells(Study::Design, false, KERNEL);
    if quick {
        cells.retain(|cell| QUICK_CASES.contains(&cell.case) && QUICK_CONGESTION.contains(&cell.setup.congestion));
    }
    cells
}

pub(super) fn emulations(quick: bool) -> Vec<Emulation> {
    let (runs, seconds) = if quick { QUICK } else { FULL };
    let emulation = |cell: Cell| Emulation {
        item: cell.study.name(),
        case: case(&cell),
        routers: Routers::Simulated,
        runs,
        series: false,
        // Curves and bars without numbers are published.
        quantities: vec![Quantity {
            name: "goodput",
            unit: "Mbit/s",
            published: None,
            bound: None,
            of: |result| result.flows[0].goodput_mbps,
        }],
        scenario: Box::new(move |seed| scenario(&cell.setup, seconds, seed)),
    };
    cells_on_linux(quick).into_iter().map(emulation).collect()
}

fn case(cell: &Cell) -> String {
    format!("{}, {}, {}", cell.case_name(), cell.setup.congestion, cell.setup.scheduler)
}

/// The thesis's findings on this experiment, by what arrived at the kernel.
pub(super) fn findings(measured: &[Measured]) -> Vec<Finding> {
    let measurement = |cell: Cell| {
        let found = measured.iter().find(|m| m.emulation.case == case(&cell))?;
        let runs: Vec<Goodput> =
            found.emulated(0).into_iter().map(|mptcp| Goodput { mptcp, ..Goodput::default() }).collect();
        (!runs.is_empty()).then(|| Measurement::of(cell, &runs))
    };
    let measurements = cells_on_linux(false).into_iter().filter_map(measurement).collect();
    findings::of_what_was_run("On Linux: ", &Measurements(measurements))
}

#[cfg(test)]
mod tests {
    use subflow_scenario::HostStack;

    use super::*;

    #[test]
    fn our_stack_sends_and_the_kernel_receives() {
        for emulation in emulations(false) {
            let hosts = (emulation.scenario)(1).hosts;
            assert_eq!([hosts[0].stack, hosts[1].stack], [HostStack::Subflow, HostStack::Kernel], "{}", emulation.case);
        }
    }

    #[test]
    fn a_quick_look_on_linux_takes_minutes() {
        let (runs, seconds) = QUICK;
        assert!(emulations(true).len() as u64 * runs * u64::from(seconds) < 8 * 60);
    }
}
