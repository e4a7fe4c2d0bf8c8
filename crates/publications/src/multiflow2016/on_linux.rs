//! The experiments with Open vSwitch in place of the routers, and the kernel's MPTCP on the hosts.

use subflow_lab::results::RunResult;
use subflow_report::{Finding, Measured as Figure};

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

/// What real switches tell about the paper's claims.
pub(super) fn findings(measured: &[Measured]) -> Vec<Finding> {
    let at = |item: &str, case: &str| {
        let found = |m: &&Measured| m.emulation.cell.item == item && m.emulation.case == case;
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
