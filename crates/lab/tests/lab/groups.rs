//! Groups of flows in runs: what they send, when, and what results say of them together.

use std::path::Path;

use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Experiment, GroupResult, Run, RunResult, flows_and_groups};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::mean;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Job, Plan};

fn plan(flow: &str) -> Plan {
    let text = format!(
        "duration = \"20 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"100 Mbit/s\"\ndelay = \"2 ms\"\nqueue = \"1000 packets\"\n\
         [flows.web]\nfrom = \"a\"\nto = \"b\"\n{flow}\n[flows.ping]\nfrom = \"b\"\nto = \"a\"\nsend = \"1 kB\"\n"
    );
    Plan::read(Document::parse(Path::new("groups.toml"), text).expect("TOML")).expect("a valid scenario")
}

fn result(scenario: &Scenario, seed: u64) -> RunResult {
    simulate(scenario, seed, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

const POISSON: &str = "count = 1000\narrivals = { exponential = \"16 ms\" }\nsend = { exponential = \"100 kB\" }";

/// Work conservation: offered are 100 kB every 16 ms, 50 of 100 Mbit/s. Headers of 52 bytes add 3.7 %, and the last
/// flows of the group start after 16 s.
#[test]
fn a_link_carries_the_load_that_poisson_arrivals_offer() {
    let plan = plan(POISSON);
    let used: Vec<f64> = (1..=5).map(|seed| result(&plan.points[0].scenario, seed).links[0].utilisation).collect();
    let expected = 0.5 * 1.037 * 16.0 / 20.0;
    let found = mean(&used).expect("five runs");
    // The load of a run has a standard deviation of 4.5 %: sqrt(2 / 1000).
    assert!((found / expected - 1.0).abs() < 0.06, "{used:?} for {expected}");
}

#[test]
fn every_flow_sends_what_was_drawn_for_it_and_completes_after_its_start() {
    let run = result(&plan(POISSON).points[0].scenario, 3);
    let (web, ping) = run.flows.split_at(1000);
    for flow in web {
        let group = flow.group.as_ref().expect("it is one of the group");
        assert_eq!((group.name.as_str(), group.send_bytes), ("web", Some(flow.bytes_delivered)), "{}", flow.name);
        assert!(flow.completion_s.is_some_and(|time| time > 0.004), "{}: {:?}", flow.name, flow.completion_s);
    }
    assert!(
        web.windows(2)
            .all(|pair| pair[0].group.as_ref().map(|g| g.start_s) <= pair[1].group.as_ref().map(|g| g.start_s))
    );
    assert!(ping[0].group.is_none() && ping[0].completion_s.is_some());
}

#[test]
fn a_group_is_one_line_with_sums_and_percentiles() {
    let plan = plan(POISSON);
    let run = Run { run: 0, point: 0, parameters: Default::default(), result: result(&plan.points[0].scenario, 1) };
    let lines = flows_and_groups(&run.result);
    assert_eq!(lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["web", "ping"]);
    let bytes: u64 = run.result.flows[..1000].iter().map(|flow| flow.bytes_delivered).sum();
    assert_eq!(lines[0].bytes_delivered, bytes);
    assert!((lines[0].goodput_mbps - bytes as f64 * 8e-6 / 20.0).abs() < 1e-9, "over the duration of the run");

    let group = &GroupResult::all(&run.result)[0];
    let mut times: Vec<f64> = run.result.flows[..1000].iter().filter_map(|flow| flow.completion_s).collect();
    times.sort_by(f64::total_cmp);
    assert_eq!((group.flows, group.started, group.completions_s.len()), (1000, 1000, 1000));
    let p99 = times[989] + 0.01 * (times[990] - times[989]);
    assert!(group.quantile_s(0.99).is_some_and(|found| (found - p99).abs() < 1e-12));
    let metric: ComparedMetric = "completion-p99".parse().expect("a metric");
    assert_eq!(metric.values(&run.result).len(), 1, "only groups have it");
    let goodput: Vec<&str> =
        run.result.series.iter().filter(|s| s.metric == "goodput").map(|s| s.of.as_str()).collect();
    assert_eq!(goodput, ["web", "ping"], "the flows of a group are sampled together");
}

#[test]
fn flows_whose_turn_comes_after_the_end_do_not_start() {
    let run = result(&plan("count = 30\narrivals = \"1 s\"\nsend = \"10 kB\"").points[0].scenario, 1);
    let group = &GroupResult::all(&run)[0];
    assert_eq!((group.flows, group.started, group.completions_s.len()), (30, 20, 20));
    assert!(run.flows[20..30].iter().all(|flow| flow.bytes_delivered == 0 && flow.ended.is_none()));
}

#[test]
fn other_seeds_draw_other_flows_and_the_same_seed_the_same() {
    let scenario = &plan(POISSON).points[0].scenario;
    let bytes = |seed| result(scenario, seed).flows.iter().map(|flow| flow.bytes_delivered).collect::<Vec<_>>();
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn a_group_that_goes_on_arriving_has_other_numbers_of_flows_in_other_runs() {
    let open = plan("arrivals = { exponential = \"50 ms\" }\nsend = { exponential = \"50 kB\" }\nuntil = \"15 s\"");
    let run = |seed| {
        let job = Job { run: seed as usize - 1, point: 0, seed };
        Run { run: job.run, point: 0, parameters: Default::default(), result: result(&open.points[0].scenario, seed) }
    };
    let runs: Vec<Run> = (1..=3).map(run).collect();
    let numbers: Vec<usize> = runs.iter().map(|run| GroupResult::all(&run.result)[0].flows).collect();
    assert!(numbers.iter().all(|number| (220..380).contains(number)) && numbers[0] != numbers[1], "{numbers:?}");
    for run in &runs {
        let group = &GroupResult::all(&run.result)[0];
        assert_eq!((group.started, group.completions_s.len()), (group.flows, group.flows));
        assert_eq!(flows_and_groups(&run.result).len(), 2, "the group is one line, and so is the other flow");
    }
    let statistics = &Experiment::new(&open, runs).statistics[0].groups[0];
    assert_eq!(statistics.flows, numbers.iter().copied().max().expect("three"));
    let started = statistics.summaries.get("started").expect("a group has it");
    assert_eq!(started.mean, Some(numbers.iter().sum::<usize>() as f64 / 3.0));
}

#[test]
fn every_response_has_the_size_that_was_drawn_for_it() {
    let flow = "requests = { request = { uniform = [\"100 B\", \"5 kB\"] }, response = { exponential = \"30 kB\" }, \
                count = 50, think = \"10 ms\" }";
    for protocol in ["tcp", "mptcp", "sctp"] {
        let plan = plan(&format!("protocol = \"{protocol}\"\n{flow}"));
        let scenario = &plan.points[0].scenario;
        let web = &result(scenario, 5).flows[0];
        let mut sizes = scenario.flows[0].exchange_sizes(5).expect("exchanges");
        let responses: u64 = (0..50).map(|_| sizes.draw().response).sum();
        assert_eq!(web.exchanges.as_ref().map(|exchanges| exchanges.completed), Some(50), "{protocol}");
        assert_eq!(web.bytes_delivered, responses, "{protocol}");
        assert!(web.completion_s.is_some());
    }
}
