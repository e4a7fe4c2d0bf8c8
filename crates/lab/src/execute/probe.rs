//! Parts of a few runs, from which the cost of all is estimated.

use std::sync::Arc;

use subflow_quantity::Duration;
use subflow_scenario::Scenario;
use subflow_scenario::sweep::{Job, Plan, Point};

use super::run_job;
use crate::results::{Experiment, Run};
use crate::simulate::RunOptions;
use crate::{CpuTimer, RunError};

/// The maximum number of points that are simulated.
const MOST_POINTS: usize = 5;
/// Parts of the duration that are tried, one after the other, until one takes long enough.
const PARTS: [u64; 4] = [64, 16, 4, 1];
/// CPU time in seconds from which on a part represents the whole run.
const ENOUGH_S: f64 = 0.25;

/// What a probe has simulated.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The points that were simulated, evenly spread over those of the sweep; each has one run, which may be shorter
    /// than in the file and has as many samples.
    pub plan: Plan,
    /// The results of these runs.
    pub experiment: Experiment,
    /// The smallest part of a run's duration that was simulated, at most 1.
    pub part: f64,
    /// The mean CPU time of a whole run in seconds, if the rest of each run is as busy as its simulated part.
    pub run_cpu_s: f64,
}

/// Simulates parts of up to five points of `plan`, of each until it has taken a quarter of a second of CPU time.
pub fn probe(plan: &Plan) -> Result<Probe, RunError> {
    let count = plan.points.len().min(MOST_POINTS);
    let chosen = (0..count).map(|index| index * (plan.points.len() - 1) / (count - 1).max(1));
    let (mut points, mut runs, mut cpu_s, mut smallest) = (Vec::new(), Vec::new(), 0.0, 1.0f64);
    for (run, index) in chosen.enumerate() {
        let tried = probe_point(plan, &plan.points[index])?;
        cpu_s += tried.cpu_s * tried.divisor as f64;
        smallest = smallest.min(1.0 / tried.divisor as f64);
        runs.push(Run { run, point: run, ..tried.run });
        points.push(tried.point);
    }
    let plan = Plan { points, ..plan.clone() };
    let experiment = Experiment::new(&plan, runs);
    Ok(Probe { plan, experiment, part: smallest, run_cpu_s: cpu_s / count as f64 })
}

/// The part of a run that was long enough.
struct Tried {
    point: Point,
    run: Run,
    divisor: u64,
    cpu_s: f64,
}

fn probe_point(plan: &Plan, point: &Point) -> Result<Tried, RunError> {
    let latest = point.scenario.flows.iter().map(|flow| flow.start).max();
    let has_all_flows = |part: u64| latest.is_none_or(|at| point.scenario.duration / part > at);
    let parts = PARTS.into_iter().filter(|part| *part == 1 || has_all_flows(*part));
    let mut last = None;
    for divisor in parts {
        let point = Point { scenario: Arc::new(shortened(&point.scenario, divisor)), ..point.clone() };
        let one = Plan { points: vec![point.clone()], ..plan.clone() };
        let job = Job { run: 0, point: 0, seed: point.scenario.seed };
        let timer = CpuTimer::start();
        let result = run_job(&one, job, &RunOptions { series: true, ..RunOptions::default() })?;
        let cpu_s = timer.seconds();
        let run = Run { run: 0, point: 0, parameters: point.parameters.clone(), result };
        last = Some(Tried { point, run, divisor, cpu_s });
        if cpu_s >= ENOUGH_S {
            break;
        }
    }
    Ok(last.expect("the whole run is a part"))
}

/// The first part of `scenario`, with as many samples as the whole has.
fn shortened(scenario: &Scenario, divisor: u64) -> Scenario {
    let shorter = |duration: Duration| duration / divisor;
    Scenario {
        duration: shorter(scenario.duration),
        measure_from: shorter(scenario.measure_from),
        sample_interval: shorter(scenario.sample_interval).max(Duration::from_nanos(1)),
        repeat: 1,
        ..scenario.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn plan(duration: &str, more: &str) -> Plan {
        let text = format!(
            "duration = {duration:?}\nrepeat = 7\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\n\
             between = [\"a\", \"b\"]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n[flows.f]\n\
             from = \"a\"\nto = \"b\"\n{more}"
        );
        let document = Document::parse(Path::new("probe.toml"), text).expect("TOML");
        Plan::read(document).expect("a scenario")
    }

    #[test]
    fn a_short_run_is_simulated_as_a_whole() {
        let probe = probe(&plan("50 ms", "")).expect("it runs");
        assert_eq!((probe.part, probe.plan.points.len(), probe.experiment.runs.len()), (1.0, 1, 1));
        assert_eq!(probe.experiment.runs[0].result.duration_s, 0.05);
        assert!(probe.run_cpu_s > 0.0);
    }

    #[test]
    fn of_a_long_run_a_part_is_simulated_and_the_estimate_is_for_the_whole() {
        let probe = probe(&plan("10000 s", "")).expect("it runs");
        assert!(probe.part < 1.0, "{}", probe.part);
        assert!(probe.run_cpu_s * probe.part >= ENOUGH_S, "{}", probe.run_cpu_s);
    }

    #[test]
    fn all_flows_begin_within_the_part() {
        let probe = probe(&plan("2 s", "start = \"1 s\"\n")).expect("it runs");
        assert_eq!(probe.part, 1.0);
    }

    #[test]
    fn points_are_spread_over_the_sweep() {
        let delays: Vec<String> = (1..=21).map(|ms| format!("\"{ms} ms\"")).collect();
        let sweep = format!("[sweep]\n\"links.l.delay\" = [{}]\n", delays.join(", "));
        let probe = probe(&plan("20 ms", &sweep)).expect("it runs");
        let probed: Vec<_> = probe.plan.points.iter().map(|point| &point.parameters["links.l.delay"]).collect();
        assert_eq!(probed, ["1 ms", "6 ms", "11 ms", "16 ms", "21 ms"]);
    }
}
