//! The experiments with Open vSwitch in place of the routers, and the kernel's MPTCP on the hosts.

use subflow_lab::results::RunResult;
use subflow_lab::statistics::mean;
use subflow_report::Finding;

use super::{AFTER, GOODPUT, MULTIFLOW2016, STALL, SURVIVED, after_cut};
use crate::emulation::{Measured, Quantity};
use crate::study::Cell;

/// The largest deviation of a mean from the simulator's, as a share, with which both agree.
const BOUND: f64 = 0.15;

/// Mbit/s between what one path of the diamond and what two can carry.
const ONE_PATH: f64 = 70.0;

/// What a cell's runs are compared by.
pub(super) fn quantities(cell: &Cell) -> Vec<Quantity> {
    let published = MULTIFLOW2016.published(cell, &[]);
    let goodput = Quantity { name: "goodput", unit: "Mbit/s", published, bound: Some(BOUND), of: all };
    let other = |name, unit, of| Quantity { name, unit, published: None, bound: None, of };
    match cell.item.as_str() {
        "resilience" => vec![
            Quantity { name: "goodput before the cut", of: |result| after_cut(result)[GOODPUT], ..goodput },
            other("goodput after it", "Mbit/s", |result| after_cut(result)[AFTER]),
            other("longest stall", "s", |result| after_cut(result)[STALL]),
            other("survived", "%", |result| after_cut(result)[SURVIVED]),
        ],
        // Which path the hash of a switch takes is random: the shares of both kinds of runs are compared apart.
        "diamond" => vec![
            Quantity { bound: (!cell.text("mode").contains("ecmp")).then_some(BOUND), ..goodput },
            other("runs over both paths", "%", |result| if all(result) > ONE_PATH { 100.0 } else { 0.0 }),
        ],
        "load" => vec![goodput],
        _ => vec![Quantity { of: |result| result.flows[0].goodput_mbps, ..goodput }],
    }
}

/// All flows together, in Mbit/s.
fn all(result: &RunResult) -> f64 {
    result.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

/// What no check of a claim says: how the kinds of runs of ECMP by flow compare with the simulator's.
pub(super) fn findings(measured: &[Measured]) -> Vec<Finding> {
    let is_hashed = |cell: &Cell| cell.item == "diamond" && cell.is("mode", "ecmp-flow");
    measured.iter().find(|measured| is_hashed(&measured.emulation.cell)).map(by_hash).into_iter().collect()
}

/// ECMP by flow gives either one path or both, by its hash; each kind is as fast as in the simulator.
fn by_hash(measured: &Measured) -> Finding {
    let mean_where = |of: &[f64], both: bool| {
        let these: Vec<f64> = of.iter().copied().filter(|goodput| (*goodput > ONE_PATH) == both).collect();
        (these.len(), mean(&these))
    };
    let (simulated, emulated) = (measured.simulated(0), measured.emulated(0));
    let mut evidence = Vec::new();
    let mut verdicts = Vec::new();
    for (both, name) in [(true, "both paths"), (false, "one path")] {
        let (in_simulator, of_simulator) = mean_where(&simulated, both);
        let (on_linux, of_linux) = mean_where(&emulated, both);
        let shown = |mean: Option<f64>| mean.map_or_else(|| "none".to_owned(), |mean| format!("{mean:.1}"));
        evidence.push(format!(
            "{name}: {on_linux} of {} runs on Linux, mean {}; {in_simulator} of {} simulated, mean {}",
            emulated.len(),
            shown(of_linux),
            simulated.len(),
            shown(of_simulator)
        ));
        verdicts.push(of_linux.zip(of_simulator).map(|(linux, simulator)| (linux / simulator - 1.0).abs() <= BOUND));
    }
    let verdict =
        if verdicts.contains(&Some(false)) { Some(false) } else { (!verdicts.contains(&None)).then_some(true) };
    let statement = "On switches, diamond: ECMP by flow takes one path or both by its hash, each as fast as in the \
                     simulator within 15 %.";
    Finding::new(statement, verdict, evidence.join("; ") + " Mbit/s").beyond()
}
