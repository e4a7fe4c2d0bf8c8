//! A whole run and its log.

use std::path::Path;

use serde_json::Value;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::EventFolder;
use crate::results::{Engine, RunResult};
use crate::simulate::{RunOptions, simulate};

/// Two lossy paths, of which the first fails for a while.
fn scenario(protocol: &str) -> Scenario {
    let text = format!(
        "duration = \"8 s\"\n[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n\
         [links.one]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"0.5 %\"\n\
         [links.two]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\nloss = \"0.5 %\"\n\
         [flows.file]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"{protocol}\"\nsend = \"4 MB\"\n\
         [[timeline]]\nat = \"400 ms\"\nlink = \"one\"\ndown = true\n\
         [[timeline]]\nat = \"2 s\"\nlink = \"one\"\nup = true\n"
    );
    let document = Document::parse(Path::new("log.toml"), text).expect("TOML");
    Scenario::read(&document).expect("a valid scenario")
}

/// The result of a run with its event log.
fn logged(scenario: &Scenario) -> (RunResult, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { events: Some(EventFolder::new(folder.path())), run: 3, ..RunOptions::default() };
    let result = simulate(scenario, 7, &options).expect("it runs");
    let text = std::fs::read_to_string(folder.path().join("3.jsonl")).expect("a log");
    (result, text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn a_log_has_its_name_when_it_is_whole_and_its_number_can_change() {
    let (scenario, folder) = (scenario("mptcp"), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| folder.path().join(name);
    let log = |events: EventFolder, run: usize| {
        simulate(&scenario, 7, &RunOptions { events: Some(events), run, ..RunOptions::default() }).expect("it runs");
        std::fs::read(path(&format!("{run}.jsonl"))).expect("a log")
    };
    let whole = EventFolder::of_whole_logs(folder.path());
    let third = log(whole.clone(), 3);
    assert!(!path("3.jsonl.part").exists());
    assert!(third == log(EventFolder::new(folder.path()), 3), "the same bytes");
    let eleventh = log(whole.clone(), 11);
    whole.renumber(&path("3.jsonl"), 11).expect("it can be written");
    assert!(std::fs::read(path("11.jsonl")).expect("a log") == eleventh && eleventh != third);
    std::fs::create_dir(path("4.jsonl")).expect("made");
    let options = RunOptions { events: Some(whole), run: 4, ..RunOptions::default() };
    let error = simulate(&scenario, 7, &options).expect_err("a folder has its name").to_string();
    assert!(error.contains("cannot write the event log") && path("4.jsonl.part").exists(), "{error}");
}

fn named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["name"] == name)
}

fn range(event: &Value) -> (u64, u64) {
    let of = |member: &str| event["data"][member].as_u64().unwrap_or_else(|| panic!("{member} of {event}"));
    (of("offset"), of("offset") + of("length"))
}

/// The ends of the data that could be read, over time.
fn readable(events: &[Value]) -> Vec<u64> {
    named(events, "transport:packet_received").filter_map(|event| event["data"]["readable_to"].as_u64()).collect()
}

/// Checks that the ranges of `events` follow each other from 0 to `end`.
fn assert_whole<'a>(events: impl Iterator<Item = &'a Value>, end: u64) {
    let reached = events.map(range).fold(0, |reached, (start, end)| {
        assert_eq!(start, reached);
        end
    });
    assert_eq!(reached, end);
}

#[test]
fn a_log_has_all_that_happened_to_the_data_in_the_order_of_time() {
    let (result, events) = logged(&scenario("mptcp"));
    assert_eq!(events[0]["trace"]["seed"], 7);
    let times: Vec<f64> = events[1..].iter().map(|event| event["time"].as_f64().expect("a time")).collect();
    assert!(times.is_sorted());
    assert_whole(named(&events, "multipath:data_assigned").filter(|event| event["data"]["kind"] == "new"), 4_000_000);
    assert_whole(named(&events, "transport:packet_sent").filter(|event| event["data"]["kind"] == "new"), 4_000_000);
    assert!(readable(&events).is_sorted() && readable(&events).last() == Some(&4_000_000));
    let completed: Vec<&Value> = named(&events, "application:completed").collect();
    let completion_ms = completed[0]["time"].as_f64().expect("a time");
    assert!(completed.len() == 1 && (completion_ms / 1e3 - result.flows[0].completion_s.expect("all")).abs() < 1e-9);
    let changes: Vec<&Value> = named(&events, "network:changed").map(|event| &event["data"]["change"]).collect();
    assert_eq!(changes, ["one fails", "one works again"]);
    let names = result.flows[0].subflows.iter().map(|subflow| subflow.name.as_str()).collect::<Vec<_>>();
    assert!(events.iter().filter_map(|event| event["data"]["subflow"].as_str()).all(|name| names.contains(&name)));
}

#[test]
fn a_log_has_what_loss_recovery_did() {
    let (result, events) = logged(&scenario("mptcp"));
    let flow = &result.flows[0];
    let timeouts = named(&events, "recovery:loss_timer_updated").filter(|event| event["data"]["host"] == "a").count();
    assert!(timeouts > 0 && timeouts as u64 == flow.timeouts, "{timeouts} of {}", flow.timeouts);
    let copies = named(&events, "multipath:data_assigned").filter(|event| event["data"]["kind"] != "new");
    assert_eq!(copies.map(range).map(|(start, end)| end - start).sum::<u64>(), flow.reinjected_bytes);
    // Each state is left before the next one is entered, and what is lost was sent there before.
    for subflow in flow.subflows.iter().map(|subflow| subflow.name.as_str()) {
        let ours = events.iter().filter(|event| event["data"]["subflow"] == subflow && event["data"]["host"] == "a");
        let (mut state, mut lost) = ("open".to_owned(), 0);
        let mut sent = std::collections::BTreeSet::new();
        for event in ours {
            match event["name"].as_str().expect("a name") {
                "recovery:congestion_state_updated" => {
                    assert_eq!(event["data"]["old"], state.as_str());
                    state = event["data"]["new"].as_str().expect("a state").to_owned();
                }
                "transport:packet_sent" => _ = sent.insert(range(event).0),
                "recovery:packet_lost" => {
                    assert!(sent.contains(&range(event).0) || range(event).0 == 4_000_000, "{event}");
                    lost += 1;
                }
                _ => {}
            }
        }
        assert!(lost > 0, "{subflow}");
    }
}

#[test]
fn a_decision_has_the_views_that_the_scheduler_saw() {
    let (_, events) = logged(&scenario("mptcp"));
    let mut both = 0;
    for event in named(&events, "multipath:data_assigned") {
        let data = &event["data"];
        let views = data["subflows"].as_array().expect("views");
        let chosen = views.iter().find(|view| view["subflow"] == data["subflow"]).expect("the chosen one");
        let free = chosen["in_flight"].as_u64() < chosen["cwnd"].as_u64();
        assert!(data["kind"] != "new" || chosen["can_send"] == true && free, "{event}");
        both += usize::from(views.len() > 1);
    }
    assert!(both > 1000, "decisions between several subflows");
}

#[test]
fn a_log_changes_nothing_about_the_results() {
    for protocol in ["tcp", "mptcp", "sctp", "quic"] {
        let scenario = scenario(protocol);
        let plain = simulate(&scenario, 7, &RunOptions::default()).expect("it runs");
        let (result, events) = logged(&scenario);
        let engine = Engine { cpu_s: 0.0, ..plain.engine };
        assert_eq!(RunResult { engine, ..plain }, RunResult { engine, ..result.clone() }, "{protocol}");
        assert_eq!(result.engine.events, engine.events);
        assert!(named(&events, "recovery:packet_lost").count() > 0, "{protocol}");
        assert_eq!(readable(&events).last(), Some(&result.flows[0].bytes_delivered), "{protocol}");
    }
}
