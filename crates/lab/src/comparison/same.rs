//! Points of a sweep whose runs came out the same: what was swept had no influence between them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::why_same;
use crate::results::parameters::word;
use crate::results::{Experiment, RunResult};

/// More points of a group are counted, not listed.
const MOST_LISTED: usize = 10;

/// Sentences about what cannot be told apart. Names of algorithms and CPU time do not count as results, nor do
/// percentiles of delays, which are not recorded in all runs.
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

/// Why these points are the same, for each path that differs between them: it has no effect at any of them, or their
/// results prove why it made no difference. Of other paths, what follows from equal results.
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
    let (mut reasons, mut others): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for path in paths {
        match of_path(path).cloned().or_else(|| why_same::reason(experiment, points[0], path)) {
            Some(reason) => reasons.push(reason),
            None => others.push(path),
        }
    }
    let rest = match others[..] {
        [] => None,
        [path] => Some(format!("{path} was read by no run, or what it changes never occurred: no figure differs")),
        _ => Some(format!(
            "{} were read by no run, or what they change never occurred: no figure differs",
            others.join(" and ")
        )),
    };
    format!("{}.", reasons.into_iter().chain(rest).collect::<Vec<_>>().join("; "))
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
    use crate::results::{FlowResult, LinkResult, Run};
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
            assert_eq!(*said, points + "flows.f.scheduler made no difference: the flow had one subflow.");
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
        let one = "flows.f.scheduler made no difference: the flow had one subflow.";
        assert!(said[1].ends_with(&format!("mptcp, rr; mptcp, ll. {one}")), "{said:?}");
        // Without a loss in two packets, window and queue do not matter either.
        let small = "protocol = \"tcp\"\nsend = \"2 kB\"\n";
        let both = "flows.f.scheduler = [\"rr\", \"ll\"]\nflows.f.congestion = [\"reno\", \"cubic\"]\n";
        let said = of_points(&experiment("", small, both));
        let lossless = "protocol is tcp; flows.f.congestion made no difference: the flow sent no segment again, so it \
                        knew of no loss.";
        assert!(said.len() == 1 && said[0].ends_with(lossless), "{said:?}");
    }

    #[test]
    fn reasons_are_those_that_results_prove() {
        let why = |flow: &str, sweep: &str| {
            let said = of_points(&experiment("", flow, sweep));
            assert_eq!(said.len(), 1, "{said:?}");
            said[0].split_once(". ").map_or_else(String::new, |(_, why)| why.to_owned())
        };
        let queue = "links.l.queue = [\"50 packets\", \"60 packets\"]\n";
        let dropped_nothing = "links.l.queue made no difference: the link's queues dropped no packet.";
        assert_eq!(why("send = \"2 kB\"\n", queue), dropped_nothing);
        // Both hold the two packets of the file, and no figure says so.
        let window = "flows.f.tcp.receive_buffer = [\"1 MB\", \"2 MB\"]\n";
        let unread =
            "flows.f.tcp.receive_buffer was read by no run, or what it changes never occurred: no figure differs.";
        assert_eq!(why("send = \"2 kB\"\n", window), unread);
        let both = format!("{window}flows.f.tcp.max_retries = [5, 6]\n");
        let text = why("send = \"2 kB\"\n", &both);
        assert!(text.contains("receive_buffer") && text.contains(" and ") && text.contains(" were read by"), "{text}");
    }

    #[test]
    fn a_queue_that_dropped_packets_is_no_reason() {
        let sweep = "flows.f.tcp.max_retries = [14, 15]\nlinks.l.queue = [\"5 packets\"]\n";
        let said = of_points(&experiment("", "send = \"2 MB\"\n", sweep));
        assert!(said.len() == 1 && said[0].contains("flows.f.tcp.max_retries was read by no run, or"), "{said:?}");
        // Of made-up figures.
        let said = |sweep: &str, change: fn(&mut RunResult)| {
            let mut experiment = experiment("", "send = \"2 kB\"\n", sweep);
            experiment.runs.iter_mut().for_each(|run| change(&mut run.result));
            of_points(&experiment).concat()
        };
        let queue = "links.l.queue = [\"50 packets\", \"60 packets\"]\n";
        let dropped = said(queue, |run| run.links[0].drops = 1);
        assert!(dropped.contains("links.l.queue was read by no run, or"), "{dropped}");
        let unused = said(queue, |run| run.links[0] = LinkResult { name: "l".to_owned(), ..LinkResult::default() });
        assert!(unused.contains("links.l.queue made no difference: no packet passed the link."), "{unused}");
        let congestion = "flows.f.congestion = [\"reno\", \"cubic\"]\n";
        let lost = said(congestion, |run| run.flows[0].retransmissions = 1);
        assert!(lost.contains("flows.f.congestion was read by no run, or"), "{lost}");
        let silent = said(congestion, |run| {
            run.flows[0] = FlowResult { name: "f".to_owned(), ..FlowResult::default() };
        });
        assert!(silent.contains("flows.f.congestion made no difference: the flow sent nothing."), "{silent}");
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
