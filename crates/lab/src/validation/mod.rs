//! Runs scenarios both in the simulator and on the kernel, and compares the results.

mod cases;
mod report;

use serde::Serialize;
use subflow_scenario::Scenario;

use crate::RunError;
use crate::emulate::{DeviceKind, Machinery, Stop, emulate};
use crate::number;
use crate::results::{FlowResult, RunResult};
use crate::simulate::{RunOptions, simulate};
use crate::statistics::mean;
pub use cases::{CASES, Case};
pub use report::to_text;

/// Number of seeds whose mean is compared with the kernel.
const SIMULATED_RUNS: u64 = 10;

/// Maximum deviation of goodput, as a share of the kernel's.
pub const BOUND: f64 = 0.1;

/// The comparison of simulator and kernel for one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the case.
    pub case: &'static str,
    /// Short description of the case.
    pub title: &'static str,
    /// The sum of all flows' goodput.
    pub total: Pair,
    /// The deviation of the simulator's total from the kernel's, as a share of the kernel's.
    #[serde(serialize_with = "number::serialize")]
    pub deviation: f64,
    /// Whether the deviation is within [`BOUND`].
    pub within_bound: bool,
    /// Number of runs on the kernel, and of valid ones. If there are valid ones, only these count.
    pub kernel_runs: [usize; 2],
    /// The reasons why the other runs are not valid.
    pub objections: Vec<String>,
    /// Known causes of the remaining differences.
    pub notes: &'static [&'static str],
    /// The kernel's release.
    pub kernel: String,
    /// By flow.
    pub flows: Vec<FlowComparison>,
}

impl Comparison {
    /// The reason why the case does not show that simulator and kernel agree, if it does not.
    pub fn objection(&self) -> Option<String> {
        let [runs, valid] = self.kernel_runs;
        match (valid, self.within_bound) {
            (0, _) => Some(format!("{}: none of {runs} runs was valid", self.case)),
            (_, true) => None,
            (_, false) => {
                let (deviation, bound) = (self.deviation * 100.0, BOUND * 100.0);
                Some(format!("{}: goodput deviates by {deviation:+.1} %, expected at most {bound:.0} %", self.case))
            }
        }
    }
}

/// A figure of the simulator and the kernel, each the mean of its runs; null if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pair {
    /// In the simulator.
    #[serde(serialize_with = "number::optional")]
    pub simulated: Option<f64>,
    /// On the kernel.
    #[serde(serialize_with = "number::optional")]
    pub kernel: Option<f64>,
}

/// The comparison of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowComparison {
    /// Its name.
    pub name: String,
    /// Goodput in Mbit/s.
    pub goodput_mbps: Pair,
    /// Seconds until the last byte arrived.
    pub completion_s: Pair,
    /// Retransmitted segments.
    pub retransmissions: Pair,
    /// The share of the data that each subflow carried, by its name.
    pub split: Vec<(String, Pair)>,
}

/// Runs `case` in the simulator with ten seeds and on the kernel `repeat` times (by default [`Case::runs`]).
pub fn compare(
    case: &'static Case,
    repeat: Option<u32>,
    device: Option<DeviceKind>,
    stop: &Stop,
) -> Result<Comparison, RunError> {
    let scenario = case.scenario();
    let machinery = Machinery { device, switches: None };
    let simulated: Vec<RunResult> = (0..SIMULATED_RUNS)
        .map(|run| simulate(&scenario, scenario.seed + run, &RunOptions::default()))
        .collect::<Result<_, _>>()?;
    let kernel: Vec<RunResult> = (0..u64::from(repeat.unwrap_or(case.runs)))
        .map(|run| emulate(&scenario, scenario.seed + run, &machinery, &RunOptions::default(), stop))
        .collect::<Result<_, _>>()?;
    Ok(comparison(case, &scenario, &simulated, &kernel))
}

fn comparison(case: &'static Case, scenario: &Scenario, simulated: &[RunResult], kernel: &[RunResult]) -> Comparison {
    let is_valid = |run: &&RunResult| run.real_time.as_ref().is_some_and(|real_time| real_time.valid);
    let valid: Vec<&RunResult> = kernel.iter().filter(is_valid).collect();
    let counted: Vec<&RunResult> = if valid.is_empty() { kernel.iter().collect() } else { valid.clone() };
    let simulated: Vec<&RunResult> = simulated.iter().collect();
    let total = |run: &RunResult| Some(run.flows.iter().map(|flow| flow.goodput_mbps).sum());
    let both = |of: &dyn Fn(&RunResult) -> Option<f64>| pair(&simulated, &counted, of);
    let total = both(&total);
    let deviation = match (total.simulated, total.kernel) {
        (Some(simulated), Some(kernel)) if kernel > 0.0 => simulated / kernel - 1.0,
        _ => f64::INFINITY,
    };
    let flows = (0..scenario.flows.len()).map(|index| {
        let flow = |of: &dyn Fn(&FlowResult) -> Option<f64>| both(&|run| of(&run.flows[index]));
        FlowComparison {
            name: scenario.flows[index].name.clone(),
            goodput_mbps: flow(&|flow| Some(flow.goodput_mbps)),
            completion_s: flow(&|flow| flow.completion_s),
            retransmissions: flow(&|flow| Some(flow.retransmissions as f64)),
            split: subflow_names(&simulated, &counted, index)
                .into_iter()
                .map(|name| (name.clone(), flow(&|flow| share(flow, &name))))
                .collect(),
        }
    });
    let real_time = |run: &RunResult| run.real_time.clone().unwrap_or_default();
    let mut objections: Vec<String> = kernel.iter().flat_map(|run| real_time(run).objections).collect();
    objections.dedup();
    Comparison {
        case: case.name,
        title: case.title,
        total,
        deviation,
        within_bound: deviation.abs() <= BOUND,
        kernel_runs: [kernel.len(), valid.len()],
        objections,
        notes: case.notes,
        kernel: kernel.first().map(|run| real_time(run).kernel).unwrap_or_default(),
        flows: flows.collect(),
    }
}

fn pair(simulated: &[&RunResult], kernel: &[&RunResult], of: &dyn Fn(&RunResult) -> Option<f64>) -> Pair {
    let average = |runs: &[&RunResult]| mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>());
    Pair { simulated: average(simulated), kernel: average(kernel) }
}

/// The subflows of a flow, if there are several.
fn subflow_names(simulated: &[&RunResult], kernel: &[&RunResult], flow: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in simulated.iter().chain(kernel) {
        for subflow in &run.flows[flow].subflows {
            if !names.contains(&subflow.name) {
                names.push(subflow.name.clone());
            }
        }
    }
    if names.len() > 1 { names } else { Vec::new() }
}

fn share(flow: &FlowResult, name: &str) -> Option<f64> {
    let all: f64 = flow.subflows.iter().map(|subflow| subflow.goodput_mbps).sum();
    let one = flow.subflows.iter().filter(|subflow| subflow.name == name).map(|subflow| subflow.goodput_mbps);
    (all > 0.0).then(|| one.sum::<f64>() / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_valid_scenario_below_100_mbit_with_the_kernels_algorithms() {
        for case in CASES {
            let scenario = case.scenario();
            for flow in &scenario.flows {
                if let Some(mptcp) = flow.protocol.mptcp() {
                    assert_eq!(mptcp.ends.from.scheduler.name(), "linux-default", "{}", case.name);
                }
            }
        }
    }

    #[test]
    fn a_case_that_deviates_or_has_no_valid_run_has_an_objection() {
        let case = &CASES[0];
        let scenario = case.scenario();
        let run = simulate(&scenario, 1, &RunOptions::default()).expect("runs");
        let objection = |[runs, valid]: [usize; 2], within_bound| {
            let same = comparison(case, &scenario, std::slice::from_ref(&run), std::slice::from_ref(&run));
            Comparison { kernel_runs: [runs, valid], within_bound, deviation: 0.25, ..same }.objection()
        };
        assert_eq!(objection([3, 1], true), None);
        assert!(objection([3, 0], true).is_some_and(|words| words.contains("none of 3 runs was valid")));
        assert!(objection([3, 1], false).is_some_and(|words| words.contains("+25.0 %, expected at most 10 %")));
    }

    #[test]
    fn the_deviation_is_the_share_that_the_simulator_has_more() {
        let case = &CASES[0];
        let scenario = case.scenario();
        let run = simulate(&scenario, 1, &RunOptions::default()).expect("runs");
        let mut half = run.clone();
        half.flows[0].goodput_mbps /= 2.0;
        let same = comparison(case, &scenario, std::slice::from_ref(&run), std::slice::from_ref(&run));
        assert_eq!((same.deviation, same.within_bound), (0.0, true));
        let more = comparison(case, &scenario, &[run], &[half]);
        assert_eq!((more.deviation, more.within_bound, more.kernel_runs), (1.0, false, [1, 0]));
        let goodput = to_text(&[more]).lines().filter(|line| line.ends_with("+100.0 %")).count();
        assert_eq!(goodput, 1, "the flow's; the total says whether it is within bounds");
    }
}
