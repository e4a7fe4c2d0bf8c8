//! The folder of results: checked before the run, replaced as a whole, and nothing else in it is touched.

use crate::desk::{Desk, QUICK};

/// The files of a folder of results.
const RESULTS: [&str; 8] = [
    ".subflow-results",
    "report.html",
    "results.csv",
    "results.json",
    "scenario.toml",
    "series.json",
    "summary.txt",
    "tables",
];

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_written_is_found_before_the_run() {
    let desk = Desk::new(QUICK);
    for (option, path) in
        [("--out", "/proc/subflow/out"), ("--out", "/proc"), ("--pcap", "/proc/subflow"), ("--events", "/proc/subflow")]
    {
        let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", option, path, "--format", "json"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        let message = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains(path) && message.contains(option), "{stderr}");
    }
    assert_eq!(desk.files(), ["quick.toml"]);
}

#[test]
fn a_run_that_fails_leaves_no_folder() {
    let desk = Desk::new(QUICK);
    let (code, ..) =
        desk.subflow(&["run", "quick.toml", "--out", "deep/out", "--pcap", "tiny", "--pcap-limit", "1 kB"]);
    assert_eq!(code, Some(2));
    assert_eq!(desk.files(), ["quick.toml"]);
}

#[test]
fn metrics_over_time_are_those_of_all_runs_unless_the_first_are_wanted() {
    let desk = Desk::new(QUICK);
    let runs = |options: &[&str]| -> Vec<u64> {
        let command = [&["run", "quick.toml", "--out", "out", "--force"], options].concat();
        assert_eq!(desk.subflow(&command).0, Some(0));
        let text = std::fs::read(desk.path("out/series.json")).expect("series");
        let series: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        series.as_array().expect("runs").iter().filter_map(|run| run["run"].as_u64()).collect()
    };
    assert_eq!(runs(&["--repeat", "2"]), [0, 1]);
    assert_eq!(runs(&["--repeat", "2", "--series", "first"]), [0]);
    assert_eq!(runs(&["--repeat", "101", "--set", "duration=10 ms"]), [0], "of more than 100 runs only the first");
}

#[test]
fn files_of_other_programs_are_kept() {
    let desk = Desk::new(QUICK);
    let figures = ["run", "quick.toml", "--out", "out", "--figures", "svg"];
    assert_eq!(desk.subflow(&figures).0, Some(0));
    std::fs::write(desk.path("out/notes.txt"), "mine").expect("written");
    std::fs::write(desk.path("out/figures/mine.svg"), "mine").expect("written");
    assert_eq!(desk.subflow(&["run", "quick.toml", "--out", "out"]).0, Some(0));
    let mut expected: Vec<&str> = RESULTS.into_iter().chain(["figures", "notes.txt"]).collect();
    expected.sort_unstable();
    assert_eq!(desk.files_in("out"), expected);
    assert_eq!(desk.files_in("out/figures"), ["mine.svg"], "figures of the first run are removed");
}

#[test]
fn a_file_of_others_is_not_overwritten() {
    let desk = Desk::new(QUICK);
    assert_eq!(desk.subflow(&["run", "quick.toml", "--out", "out", "--pcap", "out"]).0, Some(0));
    std::fs::remove_file(desk.path("out/.subflow-results")).expect("removed");
    let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--out", "out"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    let message = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains("out/results.json: the file was not written by subflow"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn a_symbolic_link_to_a_folder_is_followed() {
    let desk = Desk::new(QUICK);
    std::fs::create_dir(desk.path("disk")).expect("made");
    std::os::unix::fs::symlink("disk", desk.path("out")).expect("made");
    for _ in 0..2 {
        assert_eq!(desk.subflow(&["run", "quick.toml", "--out", "out"]).0, Some(0));
        assert!(desk.path("out").symlink_metadata().expect("it is there").is_symlink());
        assert_eq!(desk.files_in("disk"), RESULTS);
    }
    std::os::unix::fs::symlink("nowhere", desk.path("broken")).expect("made");
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--out", "broken"]);
    assert!(code == Some(2) && stderr.contains("broken symbolic link"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn permissions_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt;

    for (umask, folder_mode, file_mode) in [("077", 0o700, 0o600), ("002", 0o775, 0o664)] {
        let desk = Desk::new(QUICK);
        let command = assert_cmd::cargo::cargo_bin("subflow");
        let line = format!(
            "umask {umask} && {} run quick.toml --out out --pcap captures --figures svg > /dev/null",
            command.display()
        );
        let status = std::process::Command::new("sh").arg("-c").arg(line).current_dir(desk.root()).status();
        assert!(status.expect("a shell").success());
        let mode = |name: &str| desk.path(name).metadata().expect(name).permissions().mode() & 0o777;
        for folder in ["out", "out/figures", "captures"] {
            assert_eq!(mode(folder), folder_mode, "{folder}");
        }
        for file in
            ["out/results.json", "out/.subflow-results", "out/figures/03-goodput.svg", "captures/0-client.pcapng"]
        {
            assert_eq!(mode(file), file_mode, "{file}");
        }
    }
}

#[test]
fn a_smaller_result_does_not_replace_a_larger_one() {
    let desk = Desk::new(QUICK);
    let run = |repeat: &str, more: &[&str]| {
        desk.subflow(&[&["run", "quick.toml", "--out", "out", "--repeat", repeat], more].concat())
    };
    assert_eq!(run("3", &[]).0, Some(0));
    let before = std::fs::read(desk.path("out/results.json")).expect("results");
    let (code, stdout, stderr) = run("2", &[]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    let message = stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains("3 runs of quick") && message.contains("would contain only 2 runs of quick"), "{stderr}");
    assert!(message.contains("--force"), "{stderr}");
    assert_eq!(std::fs::read(desk.path("out/results.json")).expect("results"), before);
    assert_eq!(run("3", &[]).0, Some(0), "as many runs replace them");
    assert_eq!(run("1", &["--force"]).0, Some(0));
    assert_eq!(run("2", &[]).0, Some(0));
}

#[test]
fn a_manifest_with_paths_outside_the_folder_is_refused() {
    let desk = Desk::new(QUICK);
    std::fs::create_dir(desk.path("out")).expect("made");
    let manifest = r#"{"content":{"runs":{"scenario":"quick","count":1}},"files":["../quick.toml"]}"#;
    for text in [manifest, "results of subflow\n"] {
        std::fs::write(desk.path("out/.subflow-results"), text).expect("written");
        let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--out", "out"]);
        assert!(code == Some(2) && stderr.contains(".subflow-results"), "{stderr}");
    }
    assert_eq!(desk.files(), ["out", "quick.toml"]);
}

#[test]
fn traces_are_written_under_one_name_however_the_scenario_spells_it() {
    let desk = Desk::new(&QUICK.replace("rate = \"10 Mbit/s\"", "rate = \"./traces//walk.up\""));
    std::fs::create_dir(desk.path("traces")).expect("a folder");
    std::fs::write(desk.path("traces/walk.up"), "1\n2\n3\n").expect("a trace");
    for _ in 0..2 {
        let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--out", "out"]);
        assert_eq!(code, Some(0), "{stderr}");
    }
    assert_eq!(std::fs::read(desk.path("out/traces/walk.up")).expect("the trace"), b"1\n2\n3\n");
}

#[test]
fn a_trace_that_has_the_name_of_a_result_is_refused() {
    for name in ["results.json", "scenario.toml", "figures", "Tables/walk.up", ".subflow-results"] {
        let desk = Desk::new(&QUICK.replace("rate = \"10 Mbit/s\"", &format!("rate = \"./{name}\"")));
        std::fs::create_dir(desk.path("Tables")).expect("a folder");
        std::fs::write(desk.path(name), "1\n2\n3\n").expect("a trace");
        let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--out", "out"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(&format!("trace {name}")), "{stderr}");
        assert!(!desk.path("out").exists());
    }
}
