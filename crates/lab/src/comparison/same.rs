//! Points of a sweep whose runs came out the same: what was swept had no influence between them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::word;
use crate::results::{Experiment, RunResult};

/// More points of a group are counted, not listed.
const MOST_LISTED: usize = 4;

/// A sentence for each group of points that gave the very same results in every run, seed by seed. It names them by
/// their swept values, in the order of paths. Names of algorithms and CPU time do not count as results, nor do
/// percentiles of delays, which are not recorded in all runs.
pub fn same_results(experiment: &Experiment) -> Vec<String> {
    let mut of_points: Vec<Vec<(u64, u64)>> = vec![Vec::new(); experiment.statistics.len()];
    for run in &experiment.runs {
        if let Some(runs) = of_points.get_mut(run.point) {
            runs.push((run.result.seed, fingerprint(&run.result)));
        }
    }
    let mut groups: BTreeMap<&[(u64, u64)], Vec<usize>> = BTreeMap::new();
    for (point, runs) in of_points.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        groups.entry(runs).or_default().push(point);
    }
    let mut groups: Vec<(usize, Vec<usize>)> = groups.into_iter().map(|(runs, points)| (runs.len(), points)).collect();
    groups.retain(|(_, points)| points.len() > 1);
    groups.sort_by_key(|(_, points)| points[0]);
    groups.into_iter().map(|(runs, points)| sentence(experiment, runs, &points)).collect()
}

fn sentence(experiment: &Experiment, runs: usize, points: &[usize]) -> String {
    let values = |point: &usize| experiment.statistics[*point].parameters.values().map(word).collect::<Vec<_>>();
    let named: Vec<String> = points.iter().take(MOST_LISTED).map(|point| values(point).join(", ")).collect();
    let more = match points.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let runs = if runs == 1 { "the run".to_owned() } else { format!("all {runs} runs") };
    format!("The same results in {runs}: {}{more}.", named.join("; "))
}

/// A number that is the same for equal results.
fn fingerprint(result: &RunResult) -> u64 {
    let mut value = serde_json::to_value(result).unwrap_or_default();
    if let Some(engine) = value.get_mut("engine").and_then(Value::as_object_mut) {
        engine.remove("cpu_s");
    }
    for flow in value.get_mut("flows").and_then(Value::as_array_mut).into_iter().flatten() {
        remove(flow, &["congestion", "scheduler", "path_manager", "delay", "reassembly_delay"]);
        for subflow in flow.get_mut("subflows").and_then(Value::as_array_mut).into_iter().flatten() {
            remove(subflow, &["one_way_delay", "rtt"]);
        }
    }
    // Its keys are fixed: the same in every process.
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

fn remove(object: &mut Value, names: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        object.retain(|name, _| !names.contains(&name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;
    use crate::results::Run;
    use crate::simulate::{RunOptions, simulate};

    #[test]
    fn points_that_differ_in_names_only_are_told() {
        let text = "duration = \"2 s\"\nrepeat = 2\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
                    [links.l]\nbetween = [\"a\", \"b\"]\n\
                    rate = \"10 Mbit/s\"\nloss = \"0.5 %\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n\
                    [sweep]\nflows.f.scheduler = [\"rr\", \"ll\"]\nflows.f.congestion = [\"lia\", \"cubic\"]\n";
        let plan = Plan::read(Document::parse(Path::new("same.toml"), text.to_owned()).expect("TOML")).expect("good");
        let run = |job: subflow_scenario::sweep::Job| {
            let point = &plan.points[job.point];
            let result = simulate(&point.scenario, job.seed, &RunOptions::default()).expect("it runs");
            Run { run: job.run, point: job.point, parameters: point.parameters.clone(), result }
        };
        let experiment = Experiment::new(&plan, plan.jobs().into_iter().map(run).collect());
        let said = same_results(&experiment);
        assert_eq!(said.len(), 2, "{said:?}");
        for (said, congestion) in said.iter().zip(["lia", "cubic"]) {
            assert_eq!(*said, format!("The same results in all 2 runs: rr, {congestion}; ll, {congestion}."));
        }
    }
}
