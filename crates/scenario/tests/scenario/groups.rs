//! `count`, `arrivals` and distributions of sizes: what the reader makes of them, and what is drawn for a run.

use std::path::Path;

use subflow_quantity::Duration;
use subflow_scenario::file::Document;
use subflow_scenario::{Scenario, Traffic};

fn scenario(flow: &str) -> Scenario {
    let text = format!(
        "duration = \"10 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mbit/s\"\n[flows.before]\nfrom = \"a\"\nto = \"b\"\n[flows.web]\nfrom = \"a\"\nto = \"b\"\n{flow}\n\
         [flows.after]\nfrom = \"b\"\nto = \"a\"\n"
    );
    let document = Document::parse(Path::new("groups.toml"), text).expect("it is TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn starts(scenario: &Scenario) -> Vec<Duration> {
    scenario.flows[1..scenario.flows.len() - 1].iter().map(|flow| flow.start).collect()
}

fn sizes(scenario: &Scenario) -> Vec<Option<u64>> {
    let web = &scenario.flows[1..scenario.flows.len() - 1];
    let bytes = web.iter().map(|flow| match flow.traffic {
        Traffic::Bulk { bytes } => bytes,
        _ => panic!("web sends"),
    });
    bytes.collect()
}

#[test]
fn a_group_is_many_flows_with_names_and_ports_of_their_own() {
    let scenario = scenario("count = 3\nsend = \"1 kB\"");
    let named: Vec<(&str, u16)> = scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.port)).collect();
    assert_eq!(named, [("before", 5001), ("web.1", 5002), ("web.2", 5003), ("web.3", 5004), ("after", 5005)]);
    let keys: Vec<&str> = scenario.flows.iter().map(|flow| flow.key()).collect();
    assert_eq!(keys, ["before", "web", "web", "web", "after"]);
    let drawn = |seed| format!("{:?}", scenario.drawn(seed).flows);
    assert_eq!(drawn(7), drawn(8), "nothing is random about it");
}

#[test]
fn constant_arrivals_are_equally_spaced_and_each_flow_sends_for_its_duration() {
    let scenario = scenario("count = 3\nstart = \"1 s\"\nduration = \"500 ms\"\narrivals = \"200 ms\"");
    let times = |ms: [u64; 3]| ms.map(Duration::from_millis);
    for scenario in [&scenario, scenario.drawn(3).as_ref()] {
        assert_eq!(starts(scenario), times([1000, 1200, 1400]));
        let stops: Vec<_> = scenario.flows[1..4].iter().filter_map(|flow| flow.stop).collect();
        assert_eq!(stops, times([1500, 1700, 1900]));
    }
}

#[test]
fn poisson_arrivals_and_sizes_are_drawn_from_the_seed_of_the_run() {
    let flow = "count = 2000\narrivals = { exponential = \"2 ms\" }\nsend = { exponential = \"10 kB\" }";
    let scenario = scenario(flow);
    let (one, again, other) = (scenario.drawn(1), scenario.drawn(1), scenario.drawn(2));
    assert_eq!((starts(&one), sizes(&one)), (starts(&again), sizes(&again)));
    assert!(starts(&one) != starts(&other) && sizes(&one) != sizes(&other));
    assert_eq!(starts(&one), starts(&one.drawn(1)), "a second draw changes nothing");

    let gaps: Vec<f64> = starts(&one).windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((mean / 0.002 - 1.0).abs() < 0.1, "the mean gap is {mean} s");
    assert!((deviation / mean - 1.0).abs() < 0.1, "mean and deviation of an exponential distribution are equal");
}

#[test]
fn arrivals_do_not_depend_on_sizes_nor_on_other_flows() {
    let gaps = "count = 50\narrivals = { exponential = \"2 ms\" }\n";
    let constant = scenario(&format!("{gaps}send = \"1 kB\""));
    let drawn = scenario(&format!("{gaps}send = {{ pareto = \"10 kB\", shape = 1.2, most = \"1 MB\" }}"));
    assert_eq!(starts(&constant.drawn(5)), starts(&drawn.drawn(5)));
}

#[test]
fn one_flow_may_have_a_random_size() {
    let scenario = scenario("send = { uniform = [\"10 kB\", \"20 kB\"] }");
    assert_eq!((scenario.flows[1].name.as_str(), sizes(&scenario)), ("web", vec![Some(15_000)]));
    let drawn: Vec<_> = (0..20).filter_map(|seed| sizes(&scenario.drawn(seed))[0]).collect();
    assert!(drawn.iter().all(|bytes| (10_000..=20_000).contains(bytes)), "{drawn:?}");
    assert!(drawn.windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn arrivals_without_a_count_go_on_until_their_end() {
    let open = scenario("arrivals = { exponential = \"10 ms\" }\nuntil = \"8 s\"\nsend = \"1 kB\"");
    assert_eq!(open.flows.len(), 3, "before it is drawn, the group has its first flow");
    let counts: Vec<usize> = (1..=40).map(|seed| open.drawn(seed).flows.len() - 2).collect();
    // A Poisson process: mean and variance of the number are 800, and of 40 numbers the mean is within 14.
    let mean = counts.iter().sum::<usize>() as f64 / 40.0;
    let variance = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>() / 39.0;
    assert!((mean - 801.0).abs() < 14.0 && (400.0..1400.0).contains(&variance), "{mean} {variance}");
    let drawn = open.drawn(5);
    let web = &drawn.flows[1..drawn.flows.len() - 1];
    assert!(web.iter().all(|flow| flow.start < Duration::from_secs(8) && flow.key() == "web"));
    assert_eq!(web[web.len() - 1].name, format!("web.{}", web.len()));
    let mut ports: Vec<u16> = drawn.flows.iter().filter(|flow| flow.to.host == 1).map(|flow| flow.port).collect();
    ports.sort_unstable();
    assert!(ports.windows(2).all(|pair| pair[0] != pair[1]), "each has a port of its own");
    let flows = |scenario: &Scenario| format!("{:?}", scenario.flows);
    assert_eq!(flows(&drawn.drawn(5)), flows(&drawn), "a second draw changes nothing");
    assert_eq!(starts(&scenario("arrivals = \"2 s\"").drawn(1)).len(), 5);
}

#[test]
fn both_ends_draw_the_same_sizes_of_requests_and_responses() {
    let flow = "requests = { request = { uniform = [\"1 kB\", \"2 kB\"] }, response = { exponential = \"50 kB\" } }";
    let scenario = scenario(flow);
    let sizes = |seed: u64| {
        let mut sizes = scenario.flows[1].exchange_sizes(seed).expect("it has exchanges");
        (0..2000).map(|_| sizes.draw()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(3), sizes(3));
    assert_ne!(sizes(3), sizes(4));
    assert!(sizes(3).iter().all(|exchange| (1000..=2000).contains(&exchange.request)));
    let mean = sizes(3).iter().map(|exchange| exchange.response as f64).sum::<f64>() / 2000.0;
    assert!((mean / 50_000.0 - 1.0).abs() < 0.1, "{mean}");
    assert!(scenario.flows[0].exchange_sizes(3).is_none());
}
