//! The experiments with Open vSwitch in place of the routers, and the kernel's MPTCP on the hosts.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_quantity::Duration;
use subflow_report::{Finding, Measured as Figure};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::measurement::{after_cut, published, transferred};
use super::modes::{MODES, Mode, REROUTING};
use super::testbed::{Experiment, OF_THE_KERNEL, Topology, text};
use crate::{Emulation, Measured, Quantity, Routers};

/// The largest deviation of a mean from the simulator's, as a share, with which both agree.
const BOUND: f64 = 0.15;

/// Mbit/s between what one path of the diamond and what two can carry.
const ONE_PATH: f64 = 70.0;

/// The cells that run on Linux. Open vSwitch has no ECMP by packet.
pub(super) fn emulations(quick: bool) -> Vec<Emulation> {
    let modes: &[Mode] =
        if quick { &[MODES[1], MODES[2], MODES[3]] } else { &[MODES[1], MODES[2], MODES[3], MODES[7]] };
    // The size of the file, the number of runs, and how long one takes.
    let files: &[(u32, u64, u64)] = if quick { &[(10, 1, 25)] } else { &[(1, 10, 12), (10, 10, 25), (100, 3, 180)] };
    let mut emulations = Vec::new();
    for topology in [Topology::FatTree, Topology::Ring] {
        for &(megabytes, runs, seconds) in files {
            let cells = modes.iter().map(|&mode| Experiment::Transfer { topology, megabytes, mode });
            emulations.extend(cells.map(|cell| emulation(cell, runs, Some(seconds))));
        }
    }
    let cut: &[Mode] =
        if quick { &[MODES[1], MODES[2], MODES[7]] } else { &[MODES[1], MODES[2], MODES[7], REROUTING[2]] };
    let runs = if quick { 1 } else { 10 };
    emulations.extend(cut.iter().map(|&mode| emulation(Experiment::Cut { mode }, runs, None)));
    let load = [MODES[1], MODES[2], MODES[5], MODES[7]];
    emulations.extend(load.map(|mode| emulation(Experiment::Load { pairs: 8, mode }, runs, None)));
    let runs = if quick { 4 } else { 20 };
    emulations.extend([MODES[1], MODES[3], MODES[7]].map(|mode| emulation(Experiment::Diamond { mode }, runs, None)));
    emulations
}

fn emulation(cell: Experiment, runs: u64, seconds: Option<u64>) -> Emulation {
    let goodput = Quantity { name: "goodput", unit: "Mbit/s", published: published(cell), bound: Some(BOUND), of: all };
    let other = |name, unit, of| Quantity { name, unit, published: None, bound: None, of };
    let quantities = match cell {
        Experiment::Cut { .. } => vec![
            Quantity { name: "goodput before the cut", of: |result| after_cut(result).goodput, ..goodput },
            other("goodput after it", "Mbit/s", |result| after_cut(result).after),
            other("longest stall", "s", |result| after_cut(result).stall),
            other("survived", "%", |result| 100.0 * after_cut(result).survived),
        ],
        // Which path the hash of a switch takes is random: the shares of both kinds of runs are compared apart.
        Experiment::Diamond { mode } => vec![
            Quantity { bound: (!mode.routing.contains("ecmp")).then_some(BOUND), ..goodput },
            other("runs over both paths", "%", |result| if all(result) > ONE_PATH { 100.0 } else { 0.0 }),
        ],
        Experiment::Load { .. } => vec![goodput],
        Experiment::Transfer { .. } | Experiment::InterDomain { .. } => {
            vec![Quantity { of: transferred, ..goodput }]
        }
    };
    Emulation {
        item: cell.item(),
        case: format!("{}, {}", cell.case(), cell.mode().name),
        routers: Routers::OpenVSwitch,
        runs,
        series: matches!(cell, Experiment::Cut { .. }),
        scenario: Box::new(move |seed| scenario(cell, seed, seconds)),
        quantities,
    }
}

/// All flows together, in Mbit/s.
fn all(result: &RunResult) -> f64 {
    result.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

/// The scenario of a cell with the kernel's scheduler, which nothing replaces.
fn scenario(cell: Experiment, seed: u64, seconds: Option<u64>) -> Scenario {
    let text = text(cell, OF_THE_KERNEL, seed);
    let mut document = Document::parse(Path::new("multiflow2016.toml"), text).expect("we write TOML");
    let flows = Scenario::read(&document).expect("a good scenario").flows.into_iter();
    for flow in flows.filter(|flow| flow.protocol.mptcp().is_some()) {
        let scheduler = format!("flows.{}.scheduler=linux-default", flow.name);
        document.set("scheduler", &scheduler).expect("a key of MPTCP");
    }
    let mut scenario = Scenario::read(&document).expect("a good scenario; a test reads one of each kind");
    if let Some(seconds) = seconds {
        scenario.duration = Duration::from_secs(seconds);
    }
    scenario
}

/// What real switches tell about the paper's claims.
pub(super) fn findings(measured: &[Measured]) -> Vec<Finding> {
    let at = |item: &str, case: &str| {
        let found = |m: &&Measured| m.emulation.item == item && m.emulation.case == case;
        measured.iter().find(found)
    };
    let ahead = |statement: &str, item: &str, case: &str, [first, second]: [&str; 2]| {
        let pair = [first, second].map(|mode| at(item, &format!("{case}, {mode}")));
        let [Some(a), Some(b)] = pair else { return None };
        let [of_a, of_b] = [a, b].map(|m| m.emulated(0));
        let evidence = format!("{first} {}, {second} {} Mbit/s", values(&of_a), values(&of_b));
        // The runs of both lie apart, or it is undecided.
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let verdict = match () {
            () if of_a.is_empty() || of_b.is_empty() => None,
            () if least(&of_a) > most(&of_b) => Some(true),
            () if most(&of_a) < least(&of_b) => Some(false),
            () => None,
        };
        Some(Finding::new(statement, verdict, evidence))
    };
    let of_paper = [
        (
            "On switches, fat tree, 10 MB: ECMP by flow (9.29 Mbit/s) is ahead of MultiFlow (8.54).",
            "fat-tree",
            ["ecmp-flow", "multiflow"],
        ),
        ("On switches, ring, 10 MB: MultiFlow is ahead of ECMP by flow.", "ring", ["multiflow", "ecmp-flow"]),
    ];
    let mut findings: Vec<Finding> =
        of_paper.into_iter().filter_map(|(statement, item, modes)| ahead(statement, item, "10 MB", modes)).collect();
    let statement = "On switches, 8 pairs at once: MultiFlow, whose ties are the same for every connection, is behind \
                     ECMP by flow.";
    findings.extend(ahead(statement, "load", "8 pairs", ["ecmp-flow", "multiflow"]).map(Finding::beyond));
    findings.extend(at("diamond", "2 x 50 Mbit/s, disjoint").map(both_paths));
    findings.extend(at("diamond", "2 x 50 Mbit/s, ecmp-flow").map(by_hash));
    findings
}

/// Whether disjoint paths carry what two links of 50 Mbit/s can.
fn both_paths(measured: &Measured) -> Finding {
    const ENOUGH: f64 = 90.0;
    let goodputs = measured.emulated(0);
    let mean = subflow_lab::statistics::mean(&goodputs);
    let statement = "On switches, diamond: with disjoint paths the mean of one connection is at least 90 Mbit/s.";
    Finding::new(statement, mean.map(|mean| mean >= ENOUGH), format!("{} Mbit/s", values(&goodputs)))
        .beyond()
        .measured(mean.map(|mean| Figure::new(mean, None, "Mbit/s")))
}

/// ECMP by flow gives either one path or both, by its hash; each kind is as fast as in the simulator.
fn by_hash(measured: &Measured) -> Finding {
    let mean_where = |of: &[f64], both: bool| {
        let these: Vec<f64> = of.iter().copied().filter(|goodput| (*goodput > ONE_PATH) == both).collect();
        (these.len(), subflow_lab::statistics::mean(&these))
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

/// All values, in ascending order.
fn values(of: &[f64]) -> String {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => "no valid run".to_owned(),
        sorted => sorted.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_for_linux_can_be_read_and_is_that_of_its_cell() {
        for quick in [true, false] {
            for emulation in emulations(quick) {
                let scenario = (emulation.scenario)(1);
                assert!(!scenario.routers.is_empty() && !scenario.flows.is_empty(), "{}", emulation.case);
            }
        }
    }

    #[test]
    fn a_quick_look_on_linux_takes_minutes() {
        let seconds = |emulation: &Emulation| emulation.runs as f64 * (emulation.scenario)(1).duration.as_secs_f64();
        let all: f64 = emulations(true).iter().map(seconds).sum();
        assert!(all < 8.0 * 60.0, "{all} s without the time to start switches");
    }
}
