//! Comparisons of groups of flows, some of which do not complete.

use subflow_lab::comparison::{Asked, Bound, Comparison, Precision, Side, compare, differences_to_text};
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Difference, Engine, Experiment, FlowResult, GroupMember, Pairing, Run, RunResult};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Parameters, Plan};

/// A run of a group with 200 flows, the first of which completed: flow N in N ms.
fn run(seed: u64, completed: usize) -> Run {
    let flow = |number: usize| FlowResult {
        name: format!("web.{number}"),
        group: Some(GroupMember { name: "web".into(), ..GroupMember::default() }),
        completion_s: (number <= completed).then_some(number as f64 / 1000.0),
        ..FlowResult::default()
    };
    let result = RunResult {
        seed,
        duration_s: 1.0,
        flows: (1..=200).map(flow).collect(),
        links: Vec::new(),
        engine: Engine::default(),
        real_time: None,
        series: Vec::new(),
        paths: Vec::new(),
        sequences: Vec::new(),
        exchanges: Vec::new(),
        connections: Vec::new(),
        interfaces: Vec::new(),
    };
    Run { run: seed as usize - 1, point: 0, parameters: Parameters::new(), result }
}

/// Runs with seeds from `first` on, and so many completed flows.
fn runs(first: u64, completed: &[usize]) -> Vec<Run> {
    (first..).zip(completed).map(|(seed, completed)| run(seed, *completed)).collect()
}

fn metrics() -> Vec<ComparedMetric> {
    ["completion", "completion-p99"].map(|name| name.parse().expect("a metric")).to_vec()
}

fn differences(before: &[Run], after: &[Run]) -> Vec<Difference> {
    compare(before, after, &metrics()).expect("a point").differences
}

fn bounds() -> Vec<Bound> {
    metrics().into_iter().map(|metric| Bound { metric, percent: 10.0 }).collect()
}

#[test]
fn flows_of_a_group_that_no_longer_complete_are_beyond_every_bound() {
    let (before, after) = (runs(1, &[199, 198, 199]), runs(1, &[30, 198, 31]));
    let found = differences(&before, &after);
    // The slow ones are those that are missing: what is left looks better.
    assert!(found.iter().all(|row| row.lacking == 2 && row.change_percent < Some(-30.0)), "{found:?}");
    assert_eq!(Bound::exceeded(&bounds(), &found).len(), 2);
    assert!(Bound::exceeded(&bounds(), &differences(&before, &before)).is_empty(), "the same are unfinished");
    assert!(Bound::exceeded(&bounds(), &differences(&runs(1, &[9, 8]), &runs(1, &[10, 8]))).is_empty(), "one more");
}

#[test]
fn a_single_flow_less_in_one_pair_is_lacking_although_another_pair_has_more() {
    let found = differences(&runs(1, &[199, 150]), &runs(1, &[198, 200]));
    assert_eq!(found.iter().map(|row| row.lacking).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn without_pairs_the_mean_number_of_unfinished_flows_decides() {
    let before = runs(1, &[200, 190, 195]);
    let fewer = differences(&before, &runs(11, &[200, 180, 189]));
    assert_eq!((fewer[0].pairing, fewer[0].lacking), (Pairing::Unpaired, 2), "two are below the mean of 195");
    assert_eq!(differences(&before, &runs(11, &[200, 185, 200]))[0].lacking, 0, "the mean is the same");
    // Runs in which no flow completed lack the metric itself.
    assert_eq!(differences(&before, &runs(11, &[0, 200, 200]))[0].lacking, 1);
    assert_eq!(differences(&runs(1, &[0, 0]), &runs(11, &[0, 200]))[0].lacking, 0);
}

#[test]
fn table_and_bound_say_that_flows_are_lacking() {
    let side = || Side { results: "r".into(), scenario: "s".into(), sha256: None, subflow: None, runs: 2 };
    let (before, after) = (runs(1, &[199, 200]), runs(1, &[30, 29]));
    let (metrics, bounds) = (metrics(), bounds());
    let asked = Asked::new(&metrics, &bounds);
    let text = Comparison::new((side(), &before), (side(), &after), &asked).expect("a point").to_text();
    assert!(text.contains("2 pairs, 2 lack flows"), "{text}");
    assert!(text.contains("Flows are lacking in 2 of 2 rows: more flows of a group did not complete"), "{text}");
    let worse = "WORSE: completion_s of web lacks flows in 2 runs: 170.50 did not complete on average, of the baseline \
                 0.50; the bound is 10 %";
    assert!(text.contains(worse), "{text}");
    let same = differences_to_text(&differences(&before, &before), &[]);
    assert!(!same.contains("lack"), "{same}");
}

#[test]
fn runs_with_unfinished_flows_are_counted_for_a_precision() {
    let text = "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
                [flows.web]\nfrom = \"a\"\nto = \"b\"\ncount = 200\nsend = \"1 kB\"\n";
    let plan = Plan::read(Document::parse("t.toml".as_ref(), text.to_owned()).expect("TOML")).expect("a scenario");
    let precision: Precision = "completion ± 50 %".parse().expect("a precision");
    let of = |completed: &[usize]| {
        let experiment = Experiment::new(&plan, runs(1, completed));
        (precision.lacking(&experiment), precision.unfinished(&experiment))
    };
    assert_eq!(of(&[200, 200, 200]), (0, 0));
    assert_eq!(of(&[200, 150, 0]), (1, 1), "in one some completed, in one none");
    let goodput: Precision = "goodput ± 50 %".parse().expect("a precision");
    assert_eq!(goodput.unfinished(&Experiment::new(&plan, runs(1, &[150]))), 0, "goodput is that of all flows");
}
