//! A sweep that is interrupted loses nothing that was done, and its results are those of one that was not.

use std::collections::BTreeMap;
use std::process::Command;

use crate::desk::{Desk, QUICK};
use crate::interrupted::{assert_equal, start, start_and_kill, stored, wait_for};

const RUNS: usize = 80;

/// Two points with forty runs each.
fn study() -> Desk {
    let longer = QUICK.replace("100 kB", "2 MB").replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = \"0.5 %\"");
    Desk::new(&format!("{longer}[sweep]\n\"flows.short.congestion\" = [\"reno\", \"cubic\"]\n"))
}

const WHOLE: [&str; 8] = ["run", "quick.toml", "--repeat", "40", "--out", "whole", "--jobs", "1"];
const CUT: [&str; 9] = ["run", "quick.toml", "--repeat", "40", "--out", "cut", "--jobs", "3", "--resume"];

#[test]
fn a_sweep_that_is_killed_loses_only_the_runs_under_way() {
    let desk = study();
    let store = desk.path("cut.runs");
    let mut before = BTreeMap::new();
    for count in [1, 5, 17, 30, 31, 62] {
        before = start_and_kill(&desk, &CUT, count, &before);
    }
    assert!(before.len() < RUNS, "it was never cut");
    let (code, _, stderr) = desk.subflow(&CUT);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(!store.exists(), "the runs are in the results");
    assert_eq!(desk.subflow(&WHOLE).0, Some(0));
    assert_equal(&desk, ["cut", "whole"], RUNS);
}

/// Sends a signal. The shell has a `kill` of its own; a program of that name is not everywhere.
#[cfg(unix)]
fn send(signal: &str, child: &std::process::Child) {
    let kill = format!("kill {signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
}

#[test]
#[cfg(unix)]
fn a_signal_keeps_what_is_done_and_says_so() {
    let desk = study();
    let store = desk.path("cut.runs");
    let arguments = &CUT[..CUT.len() - 1];
    for (signal, count) in [("-INT", 3), ("-TERM", 30)] {
        let mut child = start(&desk, &CUT);
        wait_for(count, &store, &mut child);
        send(signal, &child);
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        let kept = format!("stopped: {} of {RUNS} runs are kept in cut.runs", stored(&store).len());
        assert!(output.status.code() == Some(1) && stderr.contains(&kept) && stderr.contains("--resume"), "{stderr}");
    }
    let (code, stdout, stderr) = desk.subflow(arguments);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("--resume") && stderr.contains("--force"), "{stderr}");
    assert!(stored(&store).len() >= 30);
    assert_eq!(desk.subflow(&CUT).0, Some(0));
    assert!(!store.exists());
}

#[test]
fn a_file_in_the_store_ends_the_process_that_it_names_and_no_other() {
    let desk = study();
    let store = desk.path("cut.runs");
    let mut child = start(&desk, &CUT);
    wait_for(3, &store, &mut child);
    std::fs::write(store.join("subflow-stop-1"), "").expect("written");
    std::fs::write(store.join(format!("subflow-stop-{}", child.id())), "").expect("written");
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    let (count, told) = (stored(&store).len(), "stopped, as another process asked for in the folder of the runs");
    assert!(output.status.code() == Some(1) && count < RUNS, "{count} {stderr}");
    assert!(stderr.contains(&format!("{told}: {count} of {RUNS} runs are kept in cut.runs")), "{count} {stderr}");
    let (code, _, stderr) = desk.subflow(&CUT);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "the request was not for this one");
    assert!(!store.exists(), "a request keeps no store");
}

#[test]
#[cfg(unix)]
fn a_signal_ends_a_single_run_and_says_what_is_kept() {
    let desk = Desk::new(&QUICK.replace("\"2 s\"", "\"100000 s\"").replace("send = \"100 kB\"\n", ""));
    let log = desk.path("log/0.jsonl");
    let mut child = start(&desk, &["run", "quick.toml", "--out", "one", "--events", "log"]);
    while !log.exists() {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it had begun");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    send("-INT", &child);
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("stopped: a single run is not kept"), "{stderr}");
    assert!(stderr.contains("log has what was written until then"), "{stderr}");
    let events = std::fs::read_to_string(log).expect("a log");
    for line in events.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("whole lines of JSON");
    }
    assert!(!desk.path("one/results.json").exists());
}

#[test]
fn a_command_removes_only_its_own_runs_and_only_from_its_own_journal() {
    let desk = study();
    let run = |repeat: &str, rest: &[&str]| {
        let (code, _, stderr) = desk.subflow(&[&["run", "quick.toml", "--repeat", repeat], rest].concat());
        (code, stderr)
    };
    let journal = desk.path("cut.runs");
    let mut child = start(&desk, &CUT);
    wait_for(3, &journal, &mut child);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let before = stored(&journal);
    assert_eq!(run("1", &["--seed", "1000", "--out", "cut", "--resume"]).0, Some(0));
    assert_eq!(stored(&journal), before, "the runs of other seeds stay");
    assert_eq!(run("1", &["--out", "cut", "--force"]).0, Some(0));
    assert!(!journal.exists(), "nothing is left");

    let named = desk.path("own.runs");
    assert_eq!(run("1", &["--store", "own.runs", "--out", "first"]).0, Some(0));
    let before = stored(&named);
    assert_eq!(before.len(), 2);
    let (code, stderr) = run("2", &["--out", "own", "--force"]);
    assert!(code == Some(2) && stderr.contains("created with --store") && stderr.contains("--out"), "{stderr}");
    assert_eq!(run("2", &["--out", "own", "--resume"]).0, Some(0));
    assert!(before.keys().all(|run| stored(&named).contains_key(run)), "what was named stays");
}

#[test]
fn a_journal_is_beside_its_folder_however_that_is_written() {
    let desk = study();
    std::fs::create_dir(desk.path("deep")).expect("made");
    for (out, journal) in [("cut/", "cut.runs"), ("deep/../other/", "other.runs"), ("./deep/.", "deep.runs")] {
        let command = ["run", "quick.toml", "--repeat", "8", "--jobs", "1", "--series", "none", "--out", out];
        let mut child = start(&desk, &command);
        wait_for(1, &desk.path(journal), &mut child);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let (code, _, stderr) = desk.subflow(&[&command[..], &["--resume"]].concat());
        assert_eq!((code, desk.path(journal).exists()), (Some(0), false), "{out}: {stderr}");
    }
}

#[test]
fn a_second_command_with_the_same_folder_is_refused_while_the_first_one_runs() {
    let desk = study();
    let journal = desk.path("cut.runs");
    let mut child = start(&desk, &CUT);
    wait_for(1, &journal, &mut child);
    for rest in ["--resume", "--force"] {
        let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--repeat", "2", "--out", "cut", rest]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(&format!("another command (process {})", child.id())), "{stderr}");
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(desk.subflow(&CUT).0, Some(0), "a command that was killed leaves no lock");
    assert!(!journal.exists());
}

#[test]
fn shards_are_merged_to_the_results_of_one_command() {
    let desk = study();
    let run = ["run", "quick.toml", "--repeat", "40"];
    let merge = ["merge", "quick.toml", "--repeat", "40", "--out", "merged", "--store", "a", "--store", "b"];
    for (shard, store) in [("3/3", "b"), ("1/3", "a")] {
        let (code, stdout, stderr) = desk.subflow(&[&run[..], &["--shard", shard, "--store", store]].concat());
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        assert!(stdout.contains(&format!("runs of shard {shard} are in {store}")), "{stdout}");
    }
    let (code, _, stderr) = desk.subflow(&merge);
    assert!(code == Some(2) && stderr.contains("27 of 80 runs are missing: 1, 4, 7, 10, 13, …"), "{stderr}");
    assert!(stderr.contains("runs on Linux are not merged"), "{stderr}");
    assert!(!desk.path("merged").exists());
    assert_eq!(desk.subflow(&[&run[..], &["--shard", "2/3", "--store", "b"]].concat()).0, Some(0));
    assert_eq!((stored(&desk.path("a")).len(), stored(&desk.path("b")).len()), (27, 53));
    let (code, _, stderr) = desk.subflow(&merge);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(desk.subflow(&WHOLE).0, Some(0));
    assert_equal(&desk, ["merged", "whole"], RUNS);
}

#[test]
fn a_merge_with_other_series_than_the_shards_names_the_option() {
    let desk = study();
    let of = |command: &str, series: &[&str], rest: &[&str]| {
        let (code, _, stderr) = desk.subflow(&[&[command, "quick.toml", "--repeat", "2"], series, rest].concat());
        (code, stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for (shards, named) in [("none", "--series none"), ("first", "--series first")] {
        let shard = ["--shard", "1/1", "--store", shards];
        assert_eq!(of("run", &["--series", shards], &shard).0, Some(0));
        let (code, stderr) = of("merge", &[], &["--store", shards, "--out", "merged"]);
        assert!(code == Some(2) && stderr.contains("are there without metrics over time"), "{stderr}");
        assert!(stderr.contains(&format!("merge with {named}, or")), "{stderr}");
        let merged = of("merge", &["--series", shards], &["--store", shards, "--out", "merged", "--force"]);
        assert_eq!(merged.0, Some(0), "{}", merged.1);
    }
}

#[test]
fn runs_of_another_build_are_not_gone_on_with() {
    let desk = study();
    let marker = desk.path("cut.runs/subflow-store.json");
    let mut child = start(&desk, &CUT);
    wait_for(3, &desk.path("cut.runs"), &mut child);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let mut written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&marker).expect("a file")).expect("JSON");
    written["build"] = "commit 0123".into();
    std::fs::write(&marker, written.to_string()).expect("written");
    let before = stored(&desk.path("cut.runs"));
    let (code, _, stderr) = desk.subflow(&CUT);
    let said = stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == Some(2) && said.contains("another build of subflow (commit 0123; this is"), "{said}");
    assert!(said.contains("--force") && stored(&desk.path("cut.runs")) == before, "{said}");
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--out", "cut", "--force"]);
    assert_eq!((code, desk.path("cut.runs").exists()), (Some(0), false), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_full_is_an_error_that_keeps_what_is_done() {
    if !crate::desk::has_bash() {
        return;
    }
    let desk = study();
    let command = assert_cmd::cargo::cargo_bin("subflow");
    // No file may have more than 2 KiB. Writing more fails, as on a full disk.
    let line = format!("trap '' XFSZ; ulimit -f 2; {} {}", command.display(), CUT.join(" "));
    let output = Command::new("bash").args(["-c", &line]).current_dir(desk.root()).output().expect("there is a bash");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cut.runs/") && stderr.contains("0 of 80 runs are kept"), "{stderr}");
    assert!(stored(&desk.path("cut.runs")).is_empty() && !desk.path("cut/results.json").exists());
    assert_eq!(desk.subflow(&CUT).0, Some(0), "it continues once there is space");
}

#[test]
fn errors_of_stores_say_what_to_do() {
    let desk = study();
    std::fs::create_dir(desk.path("thesis")).expect("made");
    std::fs::write(desk.path("thesis/chapter.tex"), "x").expect("written");
    std::fs::create_dir(desk.path("old")).expect("made");
    std::fs::write(desk.path("old/subflow-store.json"), r#"{"format":1,"version":"0.0.1"}"#).expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["run", "quick.toml", "--store", "thesis"], "not a store of subflow"),
        (&["run", "quick.toml", "--store", "old"], "written by subflow 0.0.1"),
        (&["run", "quick.toml", "--resume", "--format", "json"], "--store DIR"),
        (&["run", "quick.toml", "--shard", "4/3", "--store", "s"], "K from 1 to N"),
        (&["run", "quick.toml", "--shard", "1/3"], "--store"),
        (&["run", "quick.toml", "--store", "s", "--pcap", "p"], "cannot be used with"),
        (&["run", "quick.toml", "--shard", "1/2", "--store", "s", "--events", "e"], "cannot be used with"),
        (&["merge", "quick.toml", "--store", "nowhere"], "nowhere: there is no store"),
    ];
    for (arguments, expected) in cases {
        let (code, stdout, stderr) = desk.subflow(arguments);
        let message = stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}\n{stderr}");
        assert!(message.contains(expected), "{arguments:?}\n{stderr}");
    }
    let files = desk.files();
    assert_eq!(files, ["old", "quick.toml", "thesis"]);
}
