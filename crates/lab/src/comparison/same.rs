//! Points of a sweep whose runs came out the same: what was swept had no influence between them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::word;
use crate::results::{Experiment, RunResult};

/// More points of a group are counted, not listed.
const MOST_LISTED: usize = 10;

/// Sentences about what cannot be told apart. Names of algorithms and CPU time do not count as results, nor do percentiles
/// of delays, which are not recorded in all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameResults {
    /// One for each group of points that gave the very same results in every run, seed by seed.
    pub points: Vec<String>,
    /// One about the points at which seeds do not matter, if there are any.
    pub seeds: Option<String>,
}

impl SameResults {
    /// Those of an experiment.
    pub fn of(experiment: &Experiment) -> Self {
        let of_points = fingerprints(experiment);
        Self { points: same_points(experiment, &of_points), seeds: same_runs(&of_points) }
    }
}

/// For each point, the seeds of its runs, and a number that is the same for equal results.
type Fingerprints = [Vec<(u64, u64)>];

/// A sentence for each group of points with the same results. It names them by their swept values, in the order of
/// paths, and says why they are the same as far as that is known.
fn same_points(experiment: &Experiment, of_points: &Fingerprints) -> Vec<String> {
    let mut groups: BTreeMap<&[(u64, u64)], Vec<usize>> = BTreeMap::new();
    for (point, runs) in of_points.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        groups.entry(runs).or_default().push(point);
    }
    let mut groups: Vec<(usize, Vec<usize>)> = groups.into_iter().map(|(runs, points)| (runs.len(), points)).collect();
    groups.retain(|(_, points)| points.len() > 1);
    groups.sort_by_key(|(_, points)| points[0]);
    groups.into_iter().map(|(runs, points)| sentence(experiment, runs, &points)).collect()
}

/// A sentence about the points whose runs are all the same, whatever their seeds are: more of them add nothing. `None`
/// if there is no such point.
fn same_runs(of_points: &Fingerprints) -> Option<String> {
    let repeated: Vec<_> = of_points.iter().filter(|runs| runs.len() > 1).collect();
    let is_same = |runs: &&&Vec<(u64, u64)>| runs.iter().all(|(_, result)| *result == runs[0].1);
    let (points, same) = (repeated.len(), repeated.iter().filter(is_same).count());
    let so = match (same, points) {
        (0, _) => return None,
        (1, 1) => format!("All {} runs are the same", repeated[0].len()),
        _ if same == points => "All runs of each point are the same".to_owned(),
        _ => format!("All runs of a point are the same at {same} of {points} points"),
    };
    Some(format!("{so}: the seeds do not matter there, and intervals without a width say nothing."))
}

fn fingerprints(experiment: &Experiment) -> Vec<Vec<(u64, u64)>> {
    let mut of_points = vec![Vec::new(); experiment.statistics.len()];
    for run in &experiment.runs {
        if let Some(runs) = of_points.get_mut(run.point) {
            runs.push((run.result.seed, fingerprint(&run.result)));
        }
    }
    of_points
}

fn sentence(experiment: &Experiment, runs: usize, points: &[usize]) -> String {
    let values = |point: &usize| experiment.statistics[*point].parameters.values().map(word).collect::<Vec<_>>();
    let named: Vec<String> = points.iter().take(MOST_LISTED).map(|point| values(point).join(", ")).collect();
    let more = match points.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let runs = if runs == 1 { "the run".to_owned() } else { format!("all {runs} runs") };
    format!("The same results in {runs}: {}{more}. {}", named.join("; "), reason(experiment, points))
}

/// Why these points are the same: what differs between them has no effect at any of them; or else the algorithms have
/// decided alike.
fn reason(experiment: &Experiment, points: &[usize]) -> String {
    let of = |point: usize| &experiment.statistics[point];
    let differs = |path: &&String| {
        points.iter().any(|point| of(*point).parameters.get(*path) != of(points[0]).parameters.get(*path))
    };
    let everywhere =
        |message: &String| points.iter().all(|point| of(*point).without_effect.iter().any(|known| known == message));
    let of_path = |path: &String| {
        let start = format!("{path} has no effect");
        of(points[0]).without_effect.iter().find(|message| message.starts_with(&start) && everywhere(message))
    };
    let paths: Vec<&String> = of(points[0]).parameters.keys().filter(differs).collect();
    let known: Vec<&str> = paths.iter().filter_map(|path| of_path(path)).map(String::as_str).collect();
    match (known.len(), paths.len()) {
        (0, _) => "Their runs do not differ in any figure.".to_owned(),
        (some, all) if some < all => {
            format!("{}; otherwise their runs do not differ in any figure.", known.join("; "))
        }
        _ => format!("{}.", known.join("; ")),
    }
}

/// A number that is the same for equal results, whatever the seed is.
fn fingerprint(result: &RunResult) -> u64 {
    let mut value = serde_json::to_value(result).unwrap_or_default();
    remove(&mut value, &["seed"]);
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

    /// The experiment of a flow over one link.
    fn experiment(link: &str, flow: &str, sweep: &str) -> Experiment {
        let text = format!(
            "duration = \"2 s\"\nrepeat = 2\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\n\
             between = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n{link}[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\
             [sweep]\n{sweep}"
        );
        let plan = Plan::read(Document::parse(Path::new("same.toml"), text).expect("TOML")).expect("good");
        let run = |job: subflow_scenario::sweep::Job| {
            let point = &plan.points[job.point];
            let result = simulate(&point.scenario, job.seed, &RunOptions::default()).expect("it runs");
            Run { run: job.run, point: job.point, parameters: point.parameters.clone(), result }
        };
        Experiment::new(&plan, plan.jobs().into_iter().map(run).collect())
    }

    fn of_points(experiment: &Experiment) -> Vec<String> {
        same_points(experiment, &fingerprints(experiment))
    }

    fn of_runs(experiment: &Experiment) -> Option<String> {
        same_runs(&fingerprints(experiment))
    }

    const LOSSY: &str = "loss = \"0.5 %\"\n";
    const MPTCP: &str = "protocol = \"mptcp\"\n";

    #[test]
    fn points_that_differ_in_names_only_are_told() {
        let sweep = "flows.f.scheduler = [\"rr\", \"ll\"]\nflows.f.congestion = [\"lia\", \"cubic\"]\n";
        let experiment = experiment(LOSSY, MPTCP, sweep);
        let said = of_points(&experiment);
        assert_eq!(said.len(), 2, "{said:?}");
        for (said, congestion) in said.iter().zip(["lia", "cubic"]) {
            let points = format!("The same results in all 2 runs: rr, {congestion}; ll, {congestion}. ");
            assert_eq!(*said, points + "Their runs do not differ in any figure.");
        }
        assert_eq!(of_runs(&experiment), None, "losses make seeds differ");
    }

    #[test]
    fn each_group_has_its_own_reason() {
        // A scheduler has no effect on TCP, and hardly anything to decide over one path. Congestion control has both.
        let sweep = "flows.f.protocol = [\"tcp\", \"mptcp\"]\nflows.f.scheduler = [\"rr\", \"ll\"]\n";
        let said = of_points(&experiment(LOSSY, "", sweep));
        let idle = "flows.f.scheduler has no effect: the flow's protocol is tcp.";
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[0], format!("The same results in all 2 runs: tcp, rr; tcp, ll. {idle}"));
        assert!(said[1].ends_with("mptcp, rr; mptcp, ll. Their runs do not differ in any figure."), "{said:?}");
        // Without a loss in two packets, window and queue do not matter either.
        let small = "protocol = \"tcp\"\nsend = \"2 kB\"\n";
        let both = "flows.f.scheduler = [\"rr\", \"ll\"]\nflows.f.congestion = [\"reno\", \"cubic\"]\n";
        let said = of_points(&experiment("", small, both));
        let otherwise = "protocol is tcp; otherwise their runs do not differ in any figure.";
        assert!(said.len() == 1 && said[0].ends_with(otherwise), "{said:?}");
    }

    #[test]
    fn ten_points_are_named_and_the_others_counted() {
        let said = |values: u32| {
            let values: Vec<String> = (1..=values).map(|n| format!("\"{} packets\"", 1000 + n)).collect();
            let small = "protocol = \"tcp\"\nsend = \"2 kB\"\n";
            of_points(&experiment("", small, &format!("links.l.queue = [{}]\n", values.join(", ")))).concat()
        };
        assert!(said(10).contains("1009 packets; 1010 packets. "), "{}", said(10));
        assert!(said(12).contains("1010 packets; and 2 more. "), "{}", said(12));
    }

    #[test]
    fn points_at_which_seeds_do_not_matter_are_counted() {
        let said = |link: &str, sweep: &str| of_runs(&experiment(link, MPTCP, sweep)).unwrap_or_default();
        let all = said("", "links.l.delay = [\"5 ms\", \"6 ms\"]\n");
        assert!(all.starts_with("All runs of each point are the same: the seeds do not matter"), "{all}");
        let one = said("", "links.l.delay = [\"5 ms\"]\n");
        assert!(one.starts_with("All 2 runs are the same: "), "{one}");
        let both = SameResults::of(&experiment("", MPTCP, "links.l.delay = [\"5 ms\", \"6 ms\"]\n"));
        let expected = SameResults { points: Vec::new(), seeds: Some(all) };
        assert_eq!(both, expected, "points that differ, with runs that do not");
        let some = said("", "links.l.loss = [\"none\", \"1 %\"]\n");
        assert!(some.starts_with("All runs of a point are the same at 1 of 2 points: "), "{some}");
    }
}
