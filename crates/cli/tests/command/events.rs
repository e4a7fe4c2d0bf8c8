//! Event logs: one file for each run, beside results that are the same without.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::desk::{Desk, QUICK, without_cpu_time};
use crate::interrupted::{assert_equal, start, wait_for};

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

/// Two points with lossy runs.
fn study() -> Desk {
    let lossy = QUICK.replace("100 kB", "300 kB").replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = \"1 %\"");
    Desk::new(&format!("{lossy}[sweep]\n\"flows.short.congestion\" = [\"reno\", \"cubic\"]\n"))
}

/// Event logs with the times at which they were written.
type Logs = BTreeMap<String, (Vec<u8>, SystemTime)>;

/// How many logs were written again, or are gone. A command that is killed may have completed the logs of runs that it
/// could not keep any more, at most one for each of its threads.
fn rewritten(before: &Logs, after: &Logs) -> usize {
    before.iter().filter(|(name, log)| after.get(*name) != Some(*log)).count()
}

/// The event logs that are whole, with the times at which they were written.
fn logs(desk: &Desk, folder: &str) -> Logs {
    let names = desk.files_in(folder).into_iter().filter(|name| name.ends_with(".jsonl") && !name.starts_with('.'));
    let read = |name: String| {
        let path = desk.path(folder).join(&name);
        let time = path.metadata().and_then(|metadata| metadata.modified()).expect("a time");
        (name, (std::fs::read(path).expect("a log"), time))
    };
    names.map(read).collect()
}

/// Fails unless two folders have the same logs.
fn assert_equal_logs(desk: &Desk, [one, other]: [&str; 2], runs: usize) {
    assert_eq!(desk.files_in(one), desk.files_in(other));
    let (one, other) = (logs(desk, one), logs(desk, other));
    assert_eq!(one.len(), runs);
    for (name, (log, _)) in &one {
        assert!(*log == other[name].0, "{name} differs");
    }
}

const CUT: [&str; 10] = ["run", "quick.toml", "--repeat", "20", "--out", "cut", "--events", "cut-logs", "--jobs", "2"];
/// The threads of that.
const JOBS: usize = 2;
const WHOLE: [&str; 8] = ["run", "quick.toml", "--repeat", "20", "--out", "whole", "--events", "whole-logs"];

#[test]
fn event_logs_of_a_sweep_that_is_killed_are_whole_or_absent_and_stay() {
    let desk = study();
    assert_eq!(desk.subflow(&WHOLE).0, Some(0));
    let whole = logs(&desk, "whole-logs");
    let resumed = [&CUT[..], &["--resume"]].concat();
    let mut before = BTreeMap::new();
    for count in [3, 11, 27] {
        let mut child = start(&desk, &resumed);
        wait_for(count, &desk.path("cut.runs"), &mut child);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let after = logs(&desk, "cut-logs");
        assert!(after.len() >= count, "each run that is kept has its log");
        assert!(after.iter().all(|(name, (log, _))| *log == whole[name].0), "a log is not whole");
        assert!(rewritten(&before, &after) <= JOBS, "a log of a run that was kept was written again");
        before = after;
    }
    assert!(before.len() < 40, "it was never cut");
    std::fs::remove_file(desk.path("cut-logs/1.jsonl")).expect("it is there");
    let (code, _, stderr) = desk.subflow(&resumed);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    before.remove("1.jsonl");
    let after = logs(&desk, "cut-logs");
    assert!(rewritten(&before, &after) <= JOBS, "a log of a run that was kept was written again");
    assert_equal_logs(&desk, ["cut-logs", "whole-logs"], 40);
    assert_equal(&desk, ["cut", "whole"], 40);
}

#[test]
fn event_logs_of_other_runs_are_not_taken_for_those_of_these() {
    let desk = study();
    assert_eq!(desk.subflow(&[&CUT[..], &["--store", "kept"]].concat()).0, Some(0));
    let other = ["--set", "links.cable.loss=2 %"];
    assert_eq!(desk.subflow(&[&CUT[..], &["--resume", "--store", "kept"], &other].concat()).0, Some(0));
    assert_eq!(desk.subflow(&[&WHOLE[..], &other].concat()).0, Some(0));
    assert_equal_logs(&desk, ["cut-logs", "whole-logs"], 40);
}

#[test]
fn event_logs_get_the_numbers_that_their_runs_have_when_there_are_more_of_them() {
    let desk = study();
    let store = ["--store", "kept", "--events", "logs", "--out", "results"];
    let run = |arguments: &[&str]| {
        let (code, _, stderr) = desk.subflow(&[&["run", "quick.toml"], &store[..], arguments].concat());
        assert_eq!(code, Some(0), "{stderr}");
    };
    run(&["--repeat", "3"]);
    let before = logs(&desk, "logs");
    run(&["--repeat", "20"]);
    let after = logs(&desk, "logs");
    assert_eq!(after["2.jsonl"], before["2.jsonl"], "it is not written again");
    assert_eq!(desk.subflow(&WHOLE).0, Some(0));
    assert_equal_logs(&desk, ["logs", "whole-logs"], 40);
    let until = ["run", "quick.toml", "--out", "until", "--events", "until-logs", "--until", "goodput ± 0.1 %"];
    let (code, _, stderr) = desk.subflow(&[&until[..], &["--max-repeat", "20"]].concat());
    assert!(code == Some(1) && stderr.contains("after 20 runs"), "{stderr}");
    assert_equal_logs(&desk, ["until-logs", "whole-logs"], 40);
}

#[test]
fn kernels_have_no_event_log() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--on", "linux", "--events", "logs"]);
    assert!(code == Some(2) && stderr.contains("--events cannot be used with --on linux"), "{stderr}");
    assert_eq!(desk.files(), ["quick.toml"]);
}
