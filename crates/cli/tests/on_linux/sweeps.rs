//! Sweeps in real time: what an interruption leaves, and what the next command does with it.

#![allow(clippy::disallowed_types)] // When the files of a store were written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use crate::support::{
    SCENARIO, command, machine_serves, namespaces_of, scenario, send_signal, stop_for_a_moment, text,
};

/// The runs that a store has, with the times at which they were written.
fn stored(store: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let folders = std::fs::read_dir(store).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let runs = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|kind| kind == "run"));
    runs.filter_map(|path| Some((path.clone(), path.metadata().ok()?.modified().ok()?))).collect()
}

/// Whether the file is of a run that is not valid.
fn is_invalid(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".invalid.run")
}

/// Starts the command, and interrupts it as soon as the store has a run.
fn interrupted(run: &mut Command, store: &Path) -> Output {
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    while stored(store).is_empty() {
        // It has three runs of a second each.
        assert!(child.try_wait().expect("it can be asked").is_none(), "the command ended before a run");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id();
    send_signal("-INT", pid);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(namespaces_of(pid), [""; 0]);
    output
}

#[test]
fn a_sweep_that_is_interrupted_keeps_its_runs_and_goes_on() {
    if !machine_serves() {
        return;
    }
    let (folder, path) = scenario(SCENARIO);
    let store = folder.path().join("store");
    let sweep = |rest: &[&str]| {
        let mut run = command();
        run.current_dir(folder.path()).args(["run", &path, "--set", "duration=1 s", "--repeat", "3", "--out", "out"]);
        run.args(["--store", "store"]).args(rest);
        run
    };
    let output = interrupted(&mut sweep(&["--on", "linux"]), &store);
    let (said, kept) = (text(&output.stderr), stored(&store));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("stopped: {} of 3 runs are kept in store", kept.len())), "{said}");
    assert!(kept.len() < 3 && !folder.path().join("out/results.json").exists());

    let output = sweep(&["--on", "linux"]).output().expect("the command starts");
    let said = text(&output.stderr);
    // On a busy machine a run may not be valid.
    assert!(output.status.success() || said.contains("not valid"), "{said}");
    let json = std::fs::read(folder.path().join("out/results.json")).expect("results");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let seeds: Vec<_> = json["runs"].as_array().into_iter().flatten().map(|run| run["seed"].as_u64()).collect();
    assert_eq!(seeds, [Some(1), Some(2), Some(3)]);
    assert!(json["runs"].as_array().is_some_and(|runs| runs.iter().all(|run| run["real_time"]["kernel"].is_string())));
    let all = stored(&store);
    let mut valid = kept.iter().filter(|(file, _)| !is_invalid(file));
    assert!(all.len() == 3 && valid.all(|(file, time)| all.get(file) == Some(time)), "a run was done twice");

    assert!(sweep(&["--force"]).output().expect("the command starts").status.success());
    assert_eq!(stored(&store).len(), 6, "simulated runs of the same scenario are others");
}

#[test]
fn a_run_that_is_not_valid_is_done_again() {
    if !machine_serves() {
        return;
    }
    let (folder, path) = scenario(SCENARIO);
    let journal = folder.path().join("out.runs");
    let sweep = |rest: &[&str]| {
        let mut run = command();
        run.current_dir(folder.path()).args(["run", &path, "--on", "linux", "--set", "flows.file.send=unlimited"]);
        run.args(["--set", "duration=3 s", "--repeat", "2", "--out", "out"]).args(rest);
        run
    };
    let child = sweep(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    std::thread::sleep(Duration::from_secs(1));
    stop_for_a_moment(child.id());
    let output = child.wait_with_output().expect("it ends");
    let (said, first) = (text(&output.stderr), stored(&journal));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("of 2 runs are not valid") && said.contains("with --resume repeats them"), "{said}");
    assert!(first.len() == 2 && first.keys().any(|file| is_invalid(file)), "{first:?}");

    let output = sweep(&["--resume"]).output().expect("the command starts");
    let (said, second) = (text(&output.stderr), stored(&journal));
    // On a busy machine a run may not be valid again. If all are, the journal has served its purpose.
    assert_eq!(output.status.success(), second.is_empty(), "{said}");
    assert!(first.iter().all(|(file, time)| !is_invalid(file) || second.get(file) != Some(time)), "{second:?}");
}
