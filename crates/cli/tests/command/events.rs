//! Event logs: one file for each run, beside results that are the same without.

use crate::desk::{Desk, QUICK, without_cpu_time};

#[test]
fn each_run_has_an_event_log_and_the_results_are_those_without() {
    let desk = Desk::new(QUICK);
    let run = |more: &[&str]| {
        let arguments = [&["run", "quick.toml", "--format", "json", "--repeat", "2"], more].concat();
        let (code, stdout, stderr) = desk.subflow(&arguments);
        assert_eq!(code, Some(0), "{stderr}");
        without_cpu_time(&stdout)
    };
    assert_eq!(run(&["--events", "logs"]), run(&[]));
    assert_eq!(desk.files_in("logs"), [".subflow-events", "0.jsonl", "1.jsonl"]);
    let log = std::fs::read_to_string(desk.path("logs/1.jsonl")).expect("a log");
    let completed = log.lines().find(|line| line.contains("application:completed")).expect("the transfer is complete");
    assert!(
        completed.contains("\"group_id\":\"short\",\"data\":{\"host\":\"server\",\"bytes\":100000}"),
        "{completed}"
    );
    let before = std::fs::read(desk.path("logs/0.jsonl")).expect("a log");
    run(&["--events", "logs", "--jobs", "1"]);
    assert_eq!(std::fs::read(desk.path("logs/0.jsonl")).expect("a log"), before, "the same bytes each time");
}

#[test]
fn event_logs_of_more_runs_and_files_of_others_are_not_replaced() {
    let desk = Desk::new(QUICK);
    assert_eq!(
        desk.subflow(&["run", "quick.toml", "--format", "json", "--events", "logs", "--repeat", "2"]).0,
        Some(0)
    );
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--format", "json", "--events", "logs"]);
    assert!(code == Some(2) && stderr.contains("--force"), "{stderr}");
    std::fs::create_dir(desk.path("mine")).expect("made");
    std::fs::write(desk.path("mine/0.jsonl"), "mine").expect("written");
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--events", "mine"]);
    assert!(code == Some(2) && stderr.contains("mine/0.jsonl"), "{stderr}");
    assert_eq!(std::fs::read(desk.path("mine/0.jsonl")).expect("a file"), b"mine");
}

#[test]
fn kernels_have_no_event_log() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--on", "linux", "--events", "logs"]);
    assert!(code == Some(2) && stderr.contains("--events: found with --on linux"), "{stderr}");
    assert_eq!(desk.files(), ["quick.toml"]);
}
