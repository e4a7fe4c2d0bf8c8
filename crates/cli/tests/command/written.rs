//! A command that is killed while it writes its results: no part of a file is taken for a whole one, the runs stay until
//! all results are there, and then these are those of a command that was not killed, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::desk::{Desk, QUICK};
use crate::interrupted::{start, stored};

const RUNS: usize = 12;
/// The signal to a process that makes a file larger than it may be.
#[cfg(target_os = "linux")]
const SIGXFSZ: i32 = 25;
const RUN: [&str; 6] = ["run", "quick.toml", "--figures", "svg", "--jobs", "1"];
const CUT: [&str; 5] = ["--repeat", "6", "--out", "cut", "--resume"];

/// All files of a folder and below.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&below)).expect("a folder").flatten() {
            let name = below.join(entry.file_name());
            match entry.path().is_dir() {
                true => folders.push(name),
                false => drop(files.insert(name, std::fs::read(entry.path()).expect("a file"))),
            }
        }
    }
    files
}

fn is_staged(name: &Path) -> bool {
    name.to_string_lossy().starts_with(".subflow-staging-")
}

/// The study, whose runs are in the store `kept` and whose results are in `whole`; `old` has those of fewer runs.
fn study() -> Desk {
    let lossy = QUICK.replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = \"1 %\"");
    let desk = Desk::new(&format!("{lossy}[sweep]\n\"flows.short.congestion\" = [\"reno\", \"cubic\"]\n"));
    for arguments in
        [["--repeat", "6", "--out", "whole", "--store", "kept"], ["--repeat", "2", "--out", "old", "--store", "kept"]]
    {
        let (code, _, stderr) = desk.subflow(&[&RUN[..], &arguments].concat());
        assert_eq!(code, Some(0), "{stderr}");
    }
    desk
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let path = to.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }
}

/// Puts a journal with all runs beside `cut`, which has older results.
fn prepare(desk: &Desk) {
    for folder in ["cut", "cut.runs"] {
        let _ = std::fs::remove_dir_all(desk.path(folder));
    }
    copy(&desk.path("old"), &desk.path("cut"));
    copy(&desk.path("kept"), &desk.path("cut.runs"));
    let marker = desk.path("cut.runs/subflow-store.json");
    let text = std::fs::read_to_string(&marker).expect("a file");
    std::fs::write(marker, text.trim_end().trim_end_matches('}').to_owned() + ",\"journal\":true}").expect("written");
}

/// Checks what a command that was killed has left in `cut`, and that the next one makes the results whole.
fn check(desk: &Desk, [old, whole]: [&Files; 2]) {
    let left = files(&desk.path("cut"));
    let kept = stored(&desk.path("cut.runs")).len();
    // The marker of a folder of results, and what becomes it: a path's own `starts_with` compares whole components.
    let is_marker = |name: &Path| name.to_string_lossy().starts_with(".subflow-results");
    let in_place = || left.iter().filter(|(name, _)| !is_staged(name) && !is_marker(name));
    for (name, bytes) in in_place() {
        let is_whole = [old, whole].into_iter().any(|results| results.get(name) == Some(bytes));
        assert!(is_whole, "{} is not whole", name.display());
    }
    let is_complete = whole.iter().all(|(name, bytes)| left.get(name) == Some(bytes));
    assert!(kept == RUNS || is_complete, "runs were removed before the results were complete");
    let (code, _, stderr) = desk.subflow(&[&RUN[..], &CUT].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let results = files(&desk.path("cut"));
    assert_eq!(results.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
    // Runs that the first command had removed already were done again, in another CPU time.
    let timeless = |name: &Path, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let is_json = kept < RUNS && name == Path::new("results.json");
        text.lines().filter(|line| !is_json || !line.contains("\"cpu_s\"")).collect::<Vec<_>>().join("\n")
    };
    for (name, bytes) in &results {
        assert!(timeless(name, bytes) == timeless(name, &whole[name]), "{} differs", name.display());
    }
    assert!(!desk.path("cut.runs").exists(), "the runs are in the results");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_is_killed_within_a_file_of_its_results_leaves_the_old_ones() {
    if !crate::desk::has_bash() {
        return;
    }
    let desk = study();
    let (old, whole) = (files(&desk.path("old")), files(&desk.path("whole")));
    // A file that is to be larger than the limit kills the process in the midst of it. Each of these limits is that of
    // the largest file that is written before.
    let written = ["results.json", "report.html", "tables/series.parquet", "tables/series.csv", "series.json"];
    let mut limit = 1;
    let mut kills = 0;
    for name in written {
        let size = whole[Path::new(name)].len() / 1024;
        if size <= limit {
            continue;
        }
        prepare(&desk);
        let command = assert_cmd::cargo::cargo_bin("subflow");
        let line =
            format!("ulimit -c 0 -f {limit}; exec {} {}", command.display(), [&RUN[..], &CUT].concat().join(" "));
        let output =
            Command::new("bash").args(["-c", &line]).current_dir(desk.root()).output().expect("there is a bash");
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(SIGXFSZ), "{limit} KiB: {}", String::from_utf8_lossy(&output.stderr));
        let left = files(&desk.path("cut"));
        let in_place: Files = left.into_iter().filter(|(name, _)| !is_staged(name)).collect();
        assert!(in_place == old, "the old results are not as they were");
        check(&desk, [&old, &whole]);
        (limit, kills) = (limit.max(size + 1), kills + 1);
    }
    assert!(kills >= 3, "{kills} kills");
}

/// A moment at which a command is killed, by what the folder for the results and the journal have then.
type Moment = fn(&Desk) -> bool;

/// How many files are staged.
fn staged(desk: &Desk) -> usize {
    let folders = std::fs::read_dir(desk.path("cut")).into_iter().flatten().flatten();
    let staging = folders.filter(|entry| is_staged(Path::new(&entry.file_name())));
    staging.flat_map(|entry| std::fs::read_dir(entry.path().join("new")).into_iter().flatten()).count()
}

/// Whether the summary is in its place.
fn has_new_summary(desk: &Desk) -> bool {
    let summary = |folder: &str| std::fs::read(desk.path(folder).join("summary.txt")).ok();
    summary("cut") == summary("whole")
}

#[test]
fn a_command_that_is_killed_while_it_writes_results_or_removes_runs_goes_on() {
    const MOMENTS: [Moment; 7] = [
        |desk| staged(desk) > 0,
        |desk| staged(desk) > 3,
        |desk| staged(desk) > 5,
        // Files are moved: the old ones out, the new ones in.
        |desk| !desk.path("cut/results.json").exists(),
        has_new_summary,
        |desk| has_new_summary(desk) && staged(desk) == 0,
        |desk| stored(&desk.path("cut.runs")).len() < RUNS,
    ];
    let desk = study();
    let (old, whole) = (files(&desk.path("old")), files(&desk.path("whole")));
    for is_reached in MOMENTS {
        prepare(&desk);
        let mut child = start(&desk, &[&RUN[..], &CUT].concat());
        while !is_reached(&desk) && child.try_wait().expect("it can be asked").is_none() {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().expect("it ends");
        check(&desk, [&old, &whole]);
    }
}
