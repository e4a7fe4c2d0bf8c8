//! A disk that is really full: a small tmpfs, in namespaces that the test makes.

use std::path::Path;
use std::process::Command;

use subflow_prerequisite::Prerequisite;

use crate::desk::{Desk, QUICK};

/// What a user is told to do.
const REMEDY: &str =
    "No space left on device (os error 28); free space on this disk, or choose a folder on another one";

/// Runs `script` where `disk` is a file system of 100 kB that nobody else sees; `$RUN` is the command with the
/// scenario. False where the machine has no such namespaces.
fn with_small_disk(desk: &Desk, script: &str) -> bool {
    std::fs::create_dir(desk.path("disk")).expect("made");
    let namespaces = ["--user", "--map-root-user", "--mount"];
    let mounted = "mount -t tmpfs -o size=100k none disk";
    let run = |script: &str| {
        let command = assert_cmd::cargo::cargo_bin("subflow");
        let mut shell = Command::new("unshare");
        shell.args(namespaces).args(["sh", "-c", script]).current_dir(desk.root());
        shell.env("RUN", format!("{} run quick.toml --jobs 1", command.display())).output()
    };
    if !run(mounted).is_ok_and(|output| output.status.success()) {
        Prerequisite::UserNamespaces.missing("a file system of a test's own cannot be mounted");
        return false;
    }
    let output = run(&format!("{mounted}\n{script}")).expect("unshare starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_sweep_keeps_what_is_done_and_goes_on_when_there_is_room() {
    let desk = Desk::new(&QUICK.replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = \"1 %\""));
    let script = "
        $RUN --repeat 40 --out disk/cut 2> stderr; echo $? > code
        find disk -type f | sort > left
        mount -o remount,size=100m none disk
        $RUN --repeat 40 --out disk/cut --resume > /dev/null || exit 1
        $RUN --repeat 40 --out disk/whole > /dev/null || exit 1
        grep -v cpu_s disk/cut/results.json > cut; grep -v cpu_s disk/whole/results.json | cmp - cut";
    if !with_small_disk(&desk, script) {
        return;
    }
    assert_eq!(text(&desk.path("code")), "1\n");
    let stderr = text(&desk.path("stderr"));
    let left = text(&desk.path("left"));
    let runs = left.lines().filter(|file| file.ends_with(".run") && !file.contains("/.")).count();
    assert!(stderr.contains(REMEDY) && stderr.contains("with --resume continues"), "{stderr}");
    assert!((1..40).contains(&runs) && stderr.contains(&format!("{runs} of 40 runs are kept")), "{stderr}{left}");
    // Each run is complete, as the comparison shows, and but for the journal's own files nothing else is there: no part
    // of a file, and no results.
    let others: Vec<&str> = left.lines().filter(|file| !file.ends_with(".run") || file.contains("/.")).collect();
    let [plan, own @ ..] = &others[..] else { panic!("nothing is left") };
    assert!(
        plan.starts_with("disk/cut.runs/subflow-plan-") && plan.ends_with(".json"),
        "the scenario of the runs: {left}"
    );
    assert_eq!(own, ["disk/cut.runs/subflow-store.json", "disk/cut.runs/subflow-store.lock"]);
}

#[test]
fn a_disk_that_is_full_before_or_after_the_runs_leaves_them_and_says_where() {
    let desk = Desk::new(QUICK);
    // The store is on a disk of its own, so that runs can be kept while results cannot be written.
    let script = "
        $RUN --repeat 3 --store kept --out disk/results > /dev/null 2> after; echo $? > code-after
        mount -o remount,size=10m none disk
        mkdir disk/again.runs && cp -r kept/. disk/again.runs && rm disk/again.runs/subflow-store.lock
        sed -i 's/}$/,\"journal\":true}/' disk/again.runs/subflow-store.json
        used=$(df --output=used disk | tail -n 1)
        mount -o remount,size=${used}k none disk
        cat /dev/zero > disk/fill 2> /dev/null
        $RUN --repeat 3 --out disk/again --resume > /dev/null 2> before; echo $? > code-before
        find disk/again.runs -name '*.run' | wc -l > left";
    if !with_small_disk(&desk, script) {
        return;
    }
    let said = |of| text(&desk.path(of)).split_whitespace().collect::<Vec<_>>().join(" ");
    let (after, before) = (said("after"), said("before"));
    assert_eq!(said("code-after"), "1", "{after}");
    assert!(after.contains("the runs are kept in kept: the same command with --resume writes their"), "{after}");
    assert_eq!(said("code-before"), "1", "{before}");
    assert!(before.contains("3 runs are kept in disk/again.runs"), "{before}");
    assert!(before.contains("free space on this disk") && said("left") == "3", "{before}");
}

#[test]
fn results_for_which_there_is_no_room_leave_the_old_ones() {
    let desk = Desk::new(QUICK);
    let script = "
        mount -o remount,size=10m none disk
        $RUN --out disk/results > /dev/null || exit 1
        (cd disk; find . -type f | sort | xargs sha256sum) > before
        used=$(df --output=used disk | tail -n 1)
        mount -o remount,size=$((used + 8))k none disk
        $RUN --out disk/results --seed 2 2> stderr; echo $? > code
        $RUN --out disk/others 2> stderr-others; echo $? > code-others
        (cd disk; find . -type f | sort | xargs sha256sum) > after";
    if !with_small_disk(&desk, script) {
        return;
    }
    for (code, stderr) in [("code", "stderr"), ("code-others", "stderr-others")] {
        let said = text(&desk.path(stderr));
        assert!(text(&desk.path(code)) == "1\n" && said.contains(REMEDY), "{said}");
    }
    assert_eq!(text(&desk.path("after")), text(&desk.path("before")));
    assert!(text(&desk.path("before")).contains("./results/results.json"));
}

#[test]
fn a_file_of_a_run_for_which_there_is_no_room_ends_the_run() {
    let desk = Desk::new(&QUICK.replace("100 kB", "1 MB"));
    let script = "
        $RUN --events disk/logs --out results 2> events; echo $? > code-events
        rm -r disk/logs
        $RUN --pcap disk/captures --out results 2> captures; echo $? > code-captures
        ls -A results > left 2> /dev/null || true";
    if !with_small_disk(&desk, script) {
        return;
    }
    let said = |of| text(&desk.path(of)).split_whitespace().collect::<Vec<_>>().join(" ");
    for (of, what) in [("events", "the event log disk/logs/0.jsonl"), ("captures", "a capture to disk/captures")] {
        let said = said(of);
        assert_eq!(text(&desk.path(&format!("code-{of}"))), "1\n", "{said}");
        assert!(said.contains(&format!("cannot write {what}: {REMEDY}")), "{said}");
    }
    assert_eq!(text(&desk.path("left")), "", "there are no results");
}
