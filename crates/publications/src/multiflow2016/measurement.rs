//! Cells that have been run.

use std::ops::ControlFlow;

use subflow_lab::RunError;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate, simulate_flows};
use subflow_lab::statistics::{Interval, jain_index, mean, mean_interval};
use subflow_quantity::Duration;
use subflow_scenario::Scenario;

use super::testbed::{CUT_S, Choices, END_S, Experiment, SAMPLE_S, scenario};

/// What one run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Mbit/s: of the file, of all pairs together, or before the cut.
    pub(super) goodput: f64,
    /// Mbit/s from the cut to the end of the run.
    pub(super) after: f64,
    /// The longest time without delivery after the cut, in seconds.
    pub(super) stall: f64,
    /// 1 where something was delivered in the last five seconds, else 0.
    pub(super) survived: f64,
    /// Jain's index over pairs.
    pub(super) fairness: f64,
}

/// Runs a cell once.
pub(super) fn run(cell: Experiment, choices: Choices, seed: u64) -> Result<Outcome, RunError> {
    let scenario = scenario(cell, choices, seed);
    let simulated = |series| simulate(&scenario, seed, &RunOptions { series, ..RunOptions::default() });
    Ok(match cell {
        Experiment::Transfer { .. } => Outcome { goodput: goodput_of_file(&scenario, seed)?, ..Outcome::default() },
        Experiment::InterDomain { .. } | Experiment::Diamond { .. } => {
            Outcome { goodput: transferred(&simulated(false)?), ..Outcome::default() }
        }
        Experiment::Load { .. } => {
            let goodputs: Vec<f64> = simulated(false)?.flows.iter().map(|flow| flow.goodput_mbps).collect();
            Outcome {
                goodput: goodputs.iter().sum(),
                fairness: jain_index(&goodputs).unwrap_or(1.0),
                ..Outcome::default()
            }
        }
        Experiment::Cut { .. } => after_cut(&simulated(true)?),
    })
}

/// Goodput of the transfer, the first flow, in Mbit/s.
pub(super) fn transferred(result: &RunResult) -> f64 {
    result.flows[0].goodput_mbps
}

/// The same of a file, which is looked for once a second: the datagrams that go on after its arrival need not be
/// simulated.
fn goodput_of_file(scenario: &Scenario, seed: u64) -> Result<f64, RunError> {
    let seconds = (1..=scenario.duration.as_nanos() / 1_000_000_000).map(Duration::from_secs);
    let mut goodput = 0.0;
    simulate_flows(scenario, seed, seconds, |flows| {
        goodput = flows[0].goodput_mbps;
        if flows[0].completion_s.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(goodput)
}

/// What a run showed whose link was cut. It takes metrics over time.
pub(super) fn after_cut(result: &RunResult) -> Outcome {
    let series =
        result.series.iter().find(|series| series.metric == "goodput").expect("the flow's goodput was sampled");
    let points: Vec<(f64, f64)> = series.points().iter().map(|point| (point.time_s, point.value)).collect();
    let between = |from: f64, to: f64| {
        let values: Vec<f64> = points.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, v)| *v).collect();
        mean(&values).unwrap_or(0.0)
    };
    // A sample tells of the time before it; the first after the cut may tell of packets that were past it.
    let (mut stall, mut last): (f64, f64) = (0.0, CUT_S);
    for &(at, _) in points.iter().filter(|(at, value)| *at > CUT_S && *value > 0.0) {
        stall = stall.max(at - last - SAMPLE_S);
        last = at;
    }
    Outcome {
        goodput: between(CUT_S / 2.0, CUT_S),
        after: between(CUT_S, END_S),
        stall: stall.max(END_S - last - SAMPLE_S).max(0.0),
        survived: f64::from(u8::from(between(END_S - 5.0, END_S) > 0.0)),
        fairness: 0.0,
    }
}

/// A cell with its runs.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) cell: Experiment,
    pub(super) runs: Vec<Outcome>,
}

impl Measurement {
    fn samples(&self, metric: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        self.runs.iter().map(metric).collect()
    }

    pub(super) fn mean(&self, metric: impl Fn(&Outcome) -> f64) -> f64 {
        mean(&self.samples(metric)).unwrap_or(0.0)
    }

    pub(super) fn interval(&self, metric: impl Fn(&Outcome) -> f64) -> Interval {
        let mean = self.mean(&metric);
        mean_interval(&self.samples(metric), 0.95).unwrap_or(Interval { low: mean, high: mean, confidence: 0.0 })
    }

    /// Mean goodput with half its interval, to read.
    pub(super) fn shown(&self) -> String {
        let Interval { low, high, .. } = self.interval(|run| run.goodput);
        format!("{:.2} ± {:.2}", self.mean(|run| run.goodput), (high - low) / 2.0)
    }

    /// Goodput published for it, in Mbit/s.
    pub(super) fn published(&self) -> Option<f64> {
        published(self.cell)
    }
}

/// Goodput published for a cell, in Mbit/s.
pub(super) fn published(cell: Experiment) -> Option<f64> {
    match (cell.item(), &*cell.case(), cell.mode().name) {
        ("fat-tree", "10 MB", "ecmp-flow") => Some(9.29),
        ("fat-tree", "10 MB", "multiflow") => Some(8.54),
        ("fat-tree", "100 MB", "ecmp-packet") => Some(7.29),
        ("fat-tree", "100 MB", "ecmp-flow") => Some(9.39),
        // 9.26 beside ECMP by packet, 9.24 beside ECMP by flow.
        ("fat-tree", "100 MB", "multiflow") => Some(9.25),
        _ => None,
    }
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub(super) struct Measurements(pub(super) Vec<Measurement>);

impl Measurements {
    pub(super) fn of<'a>(&'a self, item: &'a str) -> impl Iterator<Item = &'a Measurement> {
        self.0.iter().filter(move |measurement| measurement.cell.item() == item)
    }

    pub(super) fn at(&self, item: &str, case: &str, mode: &str) -> Option<&Measurement> {
        self.0.iter().find(|measurement| {
            let cell = &measurement.cell;
            cell.item() == item && cell.case() == case && cell.mode().name == mode
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbed::{PAPER, cells};
    use super::*;

    #[test]
    fn a_file_has_the_goodput_of_a_whole_run() {
        // The last mode of the smallest file over the fat tree.
        let cell = cells(true).into_iter().rfind(|cell| (cell.item(), &*cell.case()) == ("fat-tree", "1 MB"));
        let scenario = scenario(cell.expect("there is one"), PAPER, 2);
        let whole = simulate(&scenario, 2, &RunOptions::default()).expect("it runs");
        assert!(whole.flows[0].completion_s.is_some_and(|seconds| seconds < 20.0), "most of the run follows it");
        assert_eq!(goodput_of_file(&scenario, 2), Ok(transferred(&whole)));
    }
}
