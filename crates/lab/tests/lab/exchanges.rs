//! Requests and responses: the single exchanges of a run, fixed periods, and deadlines.

use std::path::Path;

use subflow_lab::event_log::EventFolder;
use subflow_lab::results::{RunResult, flows_and_groups};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// Requests over a link of 10 Mbit/s with an RTT of 40 ms.
fn scenario(duration: &str, requests: &str, more: &str) -> Scenario {
    let text = format!(
        "duration = '{duration}'\n[hosts]\na = ['x']\nb = ['x']\n\
         [links.l]\nbetween = ['a', 'b']\nrate = '10 Mbit/s'\ndelay = '20 ms'\nqueue = 'unlimited'\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\nrequests = {{ {requests} }}\n{more}\n"
    );
    let document = Document::parse(Path::new("exchanges.toml"), text).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(duration: &str, requests: &str, more: &str) -> RunResult {
    simulate(&scenario(duration, requests, more), 1, &RunOptions::default()).expect("it runs")
}

#[test]
fn the_first_exchange_is_computed_by_hand() {
    let run = run("1 s", "request = '100 B', response = '1000 B', think = '100 ms'", "");
    let [first, second, ..] = &run.exchanges[..] else { panic!("{:?}", run.exchanges) };
    // SYN (74 bytes without the Ethernet header are 60) and SYN-ACK: 2 (20 ms + 48 µs).
    assert!((first.start_s - 0.040096).abs() < 1e-9, "{first:?}");
    // The request is a packet of 152 bytes, the response one of 1052; 121.6 µs and 841.6 µs. Before each of them goes an
    // acknowledgment of 52 bytes: of the SYN-ACK, and of the request.
    let arrived = first.start_s + 0.020 + 41.6e-6 + 121.6e-6 + 0.020 + 41.6e-6 + 841.6e-6;
    assert!(first.end_s.is_some_and(|end| (end - arrived).abs() < 1e-9), "{first:?}, expected {arrived}");
    assert_eq!(first.first_byte_s, first.end_s, "one packet has all of it");
    assert_eq!((first.number, first.request_bytes, first.bytes, first.in_time), (1, 100, 1000, None));
    assert!((second.start_s - arrived - 0.1).abs() < 1e-9, "{second:?}");
}

#[test]
fn requests_of_a_fixed_period_wait_for_no_response() {
    // 100 kB take 80 ms and more: at every 50 ms the path falls behind, and each exchange takes longer than the last.
    let run = run("2 s", "response = '100 kB', every = '50 ms', deadline = '500 ms'", "");
    let exchanges = &run.exchanges;
    assert_eq!(exchanges.len(), 40, "one every 50 ms from the establishment on");
    for (number, exchange) in exchanges.iter().enumerate() {
        assert!((exchange.start_s - exchanges[0].start_s - 0.05 * number as f64).abs() < 1e-9, "{exchange:?}");
    }
    let of = run.flows[0].exchanges.as_ref().expect("it has exchanges");
    let complete: Vec<f64> = exchanges.iter().filter_map(|exchange| exchange.duration_ms()).collect();
    assert_eq!(of.completed, complete.len() as u64);
    assert!((20..=24).contains(&complete.len()), "10 Mbit/s carry 12 responses a second: {}", complete.len());
    assert!(complete.windows(2).skip(2).all(|pair| pair[1] > pair[0]), "{complete:?}");
    // Those within 500 ms are in time, those under way for longer are late, the last 10 are not judged.
    let in_time = complete.iter().filter(|ms| **ms <= 500.0).count();
    let judged = exchanges.iter().filter(|exchange| exchange.in_time.is_some()).count();
    assert_eq!(exchanges.iter().filter(|exchange| exchange.in_time == Some(true)).count(), in_time);
    assert_eq!(of.in_time, Some(in_time as f64 / judged as f64));
    assert!((1..30).contains(&in_time) && judged >= 30, "{in_time} of {judged}");
}

#[test]
fn a_number_of_requests_at_random_times_is_met() {
    let run = run("20 s", "response = '10 kB', every = { exponential = '100 ms' }, count = 100", "");
    assert_eq!(run.exchanges.len(), 100);
    let last = run.exchanges[99].end_s.expect("all are answered");
    assert!(run.flows[0].completion_s.is_some_and(|completion| (completion - last).abs() < 1e-9));
    let mean = (run.exchanges[99].start_s - run.exchanges[0].start_s) / 99.0;
    assert!((0.07..0.13).contains(&mean), "the mean gap is {mean} s");
}

#[test]
fn percentiles_of_a_group_are_those_of_all_its_exchanges() {
    let run = run("5 s", "response = { exponential = '40 kB' }, think = '10 ms'", "count = 3");
    let flows = flows_and_groups(&run);
    let of = flows[0].exchanges.as_ref().expect("it has exchanges");
    let mut all: Vec<f64> = run.exchanges.iter().filter_map(|exchange| exchange.duration_ms()).collect();
    all.sort_by(f64::total_cmp);
    assert_eq!(of.completed as usize, all.len());
    let at = |p: f64| {
        let rank = p * (all.len() - 1) as f64;
        let (below, above) = (all[rank.floor() as usize], all[rank.ceil() as usize]);
        below + (above - below) * rank.fract()
    };
    for (found, p) in [(of.median_ms, 0.5), (of.p95_ms, 0.95), (of.p99_ms, 0.99)] {
        assert!(found.is_some_and(|found| (found - at(p)).abs() < 1e-6), "{p}: {found:?} {}", at(p));
    }
    let flow = run.flows[0].exchanges.as_ref().expect("it has exchanges");
    assert_ne!(flow.p99_ms, of.p99_ms);
}

#[test]
fn a_log_has_what_the_application_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { events: Some(EventFolder::new(folder.path())), ..RunOptions::default() };
    let more = "read = { rate = '2 Mbit/s', pause = { at = '500 ms', for = '100 ms' } }";
    let run = simulate(&scenario("2 s", "response = '30 kB'", more), 1, &options).expect("it runs");
    let text = std::fs::read_to_string(folder.path().join("0.jsonl")).expect("a log");
    let count = |name: &str| text.lines().filter(|line| line.contains(&format!("\"application:{name}\""))).count();
    assert_eq!(count("request_sent"), run.exchanges.len());
    assert_eq!(count("first_byte"), run.exchanges.iter().filter(|exchange| exchange.first_byte_s.is_some()).count());
    assert_eq!(count("exchange_completed"), run.exchanges.iter().filter(|exchange| exchange.end_s.is_some()).count());
    assert_eq!(count("reading_paused"), 1);
    assert!(text.contains("\"until\":600}"), "{text}");
}
