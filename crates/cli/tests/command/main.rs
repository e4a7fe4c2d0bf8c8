//! The command as seen by a user: exit codes, output, and files.
// Processes are awaited, and files compared by their time.
#![allow(clippy::disallowed_types)]

#[cfg(feature = "analyze")]
mod analyze;
mod captures;
mod compare;
mod conform;
mod desk;
mod endings;
mod events;
#[cfg(feature = "import")]
mod export;
mod failed_runs;
mod folders;
#[cfg(target_os = "linux")]
mod full_disk;
#[cfg(feature = "import")]
mod import;
mod interrupted;
mod journal;
mod kills;
#[cfg(feature = "publications")]
mod reproduction;
#[cfg(all(feature = "serve", unix))]
mod serve;
mod shell;
mod written;

use std::path::Path;

use desk::{Desk, QUICK, command, without_cpu_time};

#[test]
fn a_run_prints_tables_and_writes_a_folder() {
    let desk = Desk::new(QUICK);
    let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains("One short transfer") && stdout.contains("Results are in results/quick"), "{stdout}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 100));
    for name in ["results.json", "results.csv", "summary.txt", "report.html", "scenario.toml"] {
        assert!(desk.path("results/quick").join(name).exists(), "{name} is missing");
    }
    let (code, ..) = desk.subflow(&["run", "quick.toml"]);
    assert_eq!(code, Some(0), "our own results are replaced");
}

#[test]
fn figures_are_written_if_there_is_a_folder() {
    let desk = Desk::new(QUICK);
    let (code, ..) = desk.subflow(&["run", "quick.toml", "--out", "out", "--figures", "svg", "--format", "json"]);
    assert_eq!(code, Some(0));
    let figure = std::fs::read_to_string(desk.path("out/figures/03-goodput.svg")).expect("a figure");
    assert!(figure.contains("goodput in Mbit/s") && figure.contains("time in s"), "{figure}");
    let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--format", "json", "--figures", "svg"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("--figures requires a folder for the results") && stderr.contains("--out"), "{stderr}");
}

#[test]
fn standard_output_contains_only_the_json() {
    let desk = Desk::new(QUICK);
    let (code, stdout, stderr) =
        desk.subflow(&["run", "quick.toml", "--format", "json", "--seed", "7", "--repeat", "2"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let value: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
    assert_eq!(value["runs"][1]["seed"], 8);
    assert_eq!(value["runs"][0]["flows"][0]["bytes_delivered"], 100_000);
    assert_eq!(desk.files(), ["quick.toml"], "no folder was asked for");
}

#[test]
fn a_scenario_can_come_from_standard_input() {
    let run = |arguments: &[&str], text: &str| {
        let desk = Desk::new("");
        let output = command().current_dir(desk.root()).args(arguments).write_stdin(text).output().expect("it runs");
        assert_eq!(desk.files(), ["quick.toml"]);
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
    };
    let [from_input, problems] = run(&["run", "-", "--format", "json", "--seed", "7"], QUICK);
    let (_, from_file, _) = Desk::new(QUICK).subflow(&["run", "quick.toml", "--format", "json", "--seed", "7"]);
    let from_file = from_file.replace("\"quick\"", "\"stdin\"");
    assert!(without_cpu_time(&from_input) == without_cpu_time(&from_file) && problems.is_empty(), "{problems}");
    // It is read once, also where runs are added until an interval is narrow.
    let until = ["run", "-", "--until", "goodput ± 50 %", "--store", "store", "--format", "json"];
    let desk = Desk::new("");
    let output = command().current_dir(desk.root()).args(until).write_stdin(QUICK).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let [_, problems] = run(&["check", "-"], &QUICK.replace("5 ms", "5 m"));
    assert!(problems.contains("stdin:9:9"), "{problems}");
}

#[test]
fn a_key_without_effect_is_a_warning() {
    let desk = Desk::new(&format!("{QUICK}scheduler = \"rr\"\n"));
    for arguments in [&["run", "quick.toml", "--format", "json"][..], &["check", "quick.toml"]] {
        let (code, stdout, stderr) = desk.subflow(arguments);
        assert_eq!(code, Some(0));
        assert!(stderr.contains("flows.short.scheduler has no effect: the flow's protocol is tcp"), "{stderr}");
        assert!(stderr.contains("quick.toml:15:13") && !stdout.contains("no effect"), "{stderr}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_jobs() {
    let desk = Desk::new(&format!("{QUICK}[sweep]\n\"flows.short.congestion\" = [\"reno\", \"cubic\"]\n"));
    let json = |jobs| {
        let (_, stdout, _) = desk.subflow(&["run", "quick.toml", "--format", "json", "--repeat", "3", "--jobs", jobs]);
        let timeless = without_cpu_time(&stdout);
        assert!(timeless.len() < stdout.len());
        timeless
    };
    assert_eq!(json("1"), json("4"));
}

#[test]
fn threads_give_the_same_bytes_or_say_why_there_is_one() {
    let far = "[routers]\nmiddle = {}\n[links.far]\nbetween = [\"middle\", \"server\"]\nrate = \"10 Mbit/s\"\n\
               delay = \"2 ms\"\n[links.cable]";
    let routed = QUICK.replace("[\"client\", \"server\"]", "[\"client\", \"middle\"]").replace("[links.cable]", far);
    let desk = Desk::new(&routed);
    let run = |more: &[&str]| {
        let (code, stdout, stderr) = desk.subflow(&[&["run", "quick.toml", "--format", "json"], more].concat());
        assert_eq!(code, Some(0), "{stderr}");
        (without_cpu_time(&stdout), stderr)
    };
    let one = run(&[]);
    assert_eq!(run(&["--threads", "2"]), one);
    let (json, said) = run(&["--threads", "2", "--pcap", "captures"]);
    assert!(json == one.0 && said.contains("--threads: one thread, because packets are captured"), "{said}");
    let (json, said) = run(&["--threads", "2", "--events", "events"]);
    assert!(json == one.0 && said.contains("one thread, because what all hosts do is logged"), "{said}");
}

#[test]
fn headers_of_sweeps_over_seeds_and_durations_have_the_values_of_all_runs() {
    let desk = Desk::new(QUICK);
    for (sweep, text, seeds) in [
        ("seed=1,2,3", "3 runs of 2 s, seeds 1–3", "1 to 3"),
        ("repeat=1,2", "3 runs of 2 s, seeds 1–2", "1 to 2"),
        ("duration=1 s,3 s", "2 runs of 1–3 s, seed 1", "1 to 3 s"),
    ] {
        let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--sweep", sweep, "--out", "o", "--force"]);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains(text), "{stdout}");
        assert!(std::fs::read_to_string(desk.path("o/report.html")).expect("a page").contains(seeds), "{sweep}");
    }
}

#[test]
fn bad_input_is_reported_and_leaves_no_files() {
    let desk = Desk::new(&QUICK.replace("\"10 Mbit/s\"", "10"));
    let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--out", "out", "--pcap", "captures"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("quick.toml:8:8") && stderr.contains("has no unit"), "{stderr}");
    assert_eq!(desk.files(), ["quick.toml"]);
}

#[test]
fn every_kind_of_bad_input_exits_with_2() {
    let desk = Desk::new(QUICK);
    std::fs::create_dir(desk.path("precious")).expect("made");
    std::fs::write(desk.path("precious/thesis.tex"), "x").expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["run", "missing.toml"], "missing.toml: cannot read the scenario"),
        (&["run", "quick.toml", "--set", "flows.short.congestion=cubik"], "did you mean \"cubic\"?"),
        (&["run", "quick.toml", "--set", "flows.shor.send=1 MB"], "did you mean \"short\"?"),
        (&["run", "quick.toml", "--seed", "18446744073709551615"], "--seed:1:6"),
        (&["run", "quick.toml", "--sweep", "links.cable.rate"], "expected PATH=V1,V2,…"),
        (&["run", "quick.toml", "--sweep", "links.cable.rate"], "for example --sweep links.wifi.loss="),
        (&["run", "quick.toml", "--seed", "-1"], "invalid value '-1' for '--seed"),
        (&["run", "quick.toml", "--device", "tun"], "--device requires --on linux"),
        (&["run", "quick.toml", "--repeat", "0"], "0 is not in 1.."),
        (&["run", "quick.toml", "--jobs", "many"], "--jobs"),
        (&["run", "quick.toml", "--threads", "0"], "0 is not in 1..=64"),
        (&["run", "quick.toml", "--threads", "2", "--on", "linux"], "--threads cannot be used with --on linux"),
        (&["run", "quick.toml", "--format", "xml"], "json"),
        (&["run", "quick.toml", "--out", "precious"], "was not written by subflow"),
        (&["run", "quick.toml", "--out", "quick.toml"], "is a file"),
        (&["run"], "Usage"),
        (&["fly"], "unrecognized subcommand"),
        (&["check", "missing.toml"], "cannot read"),
        (&["list", "colours"], "congestion"),
        (&["reproduce", "nobody1999"], "expected the name of a publication"),
        (&["reproduce", "all", "--on", "linux"], "--on linux requires one publication: "),
        (&["reproduce", "multiflow2016", "--on", "linux", "--item", "inter-domain"], "does not run on Linux; these do"),
        (&["reproduce", "multiflow2016", "--controller", "x"], "--controller requires --on linux"),
        (&["reproduce", "lugowski2017", "--repeat", "5"], "--repeat requires --on linux"),
        (&["reproduce", "all", "--repeat", "5"], "--repeat cannot be used with all publications"),
        (&["bench", "dumbbell", "--flows", "0"], "0 is not in 1..=1000"),
        (&["bench", "fat-tree", "--k", "5"], "expected an even number from 2 to 32"),
    ];
    for (arguments, expected) in cases {
        let (code, stdout, stderr) = desk.subflow(arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}\n{stderr}");
        assert!(stderr.contains(expected), "{arguments:?}\n{stderr}");
    }
    assert_eq!(desk.files(), ["precious", "quick.toml"]);
}

#[test]
fn check_prints_a_summary_of_the_runs() {
    let desk = Desk::new(QUICK);
    let (code, stdout, _) = desk.subflow(&["check", "quick.toml", "--set", "repeat=5"]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("quick.toml: good\n") && stdout.contains("5 runs in all"), "{stdout}");
    assert!(stdout.contains(", 1 flow; a run lasts 2 s"), "{stdout}");
    let summary = |arrivals: &str| desk.subflow(&["check", "quick.toml", "--set", arrivals]).1;
    assert!(summary("flows.short.arrivals=10 ms").contains(", 200 flows; a run lasts 2 s"));
    let drawn = summary("flows.short.arrivals={ exponential = \"10 ms\" }");
    assert!(drawn.contains(", about ") && drawn.contains(" flows; a run lasts 2 s"), "{drawn}");
}

#[test]
fn a_probe_predicts_time_and_disk_space_and_writes_nothing() {
    let desk = Desk::new(QUICK);
    let (code, stdout, stderr) = desk.subflow(&["check", "quick.toml", "--repeat", "40", "--probe"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("40 runs in all") && stdout.contains("1 of 1 points, as a whole"), "{stdout}");
    let disk = |text: &str| text.split("disk      ").nth(1)?.split(" for the results").next().map(str::to_owned);
    assert!(disk(&stdout).is_some_and(|size| size.ends_with("kB") || size.ends_with("MB")), "{stdout}");
    assert!(stdout.contains(" for the runs until then"), "{stdout}");
    assert_eq!(desk.files(), ["quick.toml"]);
}

#[test]
fn the_command_line_sweeps_as_the_file_does() {
    let in_file = "[sweep]\n\"links.cable.delay\" = [\"1 ms\"]\nflows.short.congestion = [\"lia\"]\n";
    let desk = Desk::new(&format!("{QUICK}{in_file}"));
    let asked = ["--sweep", "links.cable.delay=2 ms,3 ms", "--sweep", "flows.short.congestion=reno,cubic"];
    let (code, stdout, stderr) = desk.subflow(&[&["run", "quick.toml", "--format", "json"], &asked[..]].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let value: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
    let word = |run: &serde_json::Value, path: &str| run["parameters"][path].as_str().map(str::to_owned);
    let runs = value["runs"].as_array().expect("runs").iter();
    let points: std::collections::BTreeSet<_> =
        runs.filter_map(|run| Some((word(run, "links.cable.delay")?, word(run, "flows.short.congestion")?))).collect();
    let all = [("2 ms", "cubic"), ("2 ms", "reno"), ("3 ms", "cubic"), ("3 ms", "reno")];
    assert!(points.iter().map(|(delay, congestion)| (delay.as_str(), congestion.as_str())).eq(all), "{points:?}");
    for (bad, expected) in [("links.cabel.delay=2 ms,3 ms", "cabel"), ("links.cable.delay", "PATH=V1,V2")] {
        let (code, _, stderr) = desk.subflow(&["check", "quick.toml", "--sweep", bad]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(expected) && stderr.contains("--sweep"), "{stderr}");
    }
}

#[test]
fn what_the_command_line_says_twice_is_refused() {
    let desk = Desk::new(QUICK);
    let cases: &[(&[&str], &str)] = &[
        (&["--sweep", "links.cable.loss=1 %, 1.0 %"], "found \"1 %\" and \"1.0 %\", which are the same"),
        (&["--sweep", "links.cable.loss=1 %", "--sweep", "links.cable.loss=2 %"], "links.cable.loss is given twice"),
        (&["--sweep", "links.cable.loss=1 %,2 %", "--set", "links.cable.loss=3 %"], "is also set by --set"),
    ];
    for (arguments, expected) in cases {
        let (code, stdout, stderr) = desk.subflow(&[&["check", "quick.toml"], *arguments].concat());
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(expected) && stderr.contains("--sweep"), "{stderr}");
    }
    let other = ["check", "quick.toml", "--sweep", "links.cable.loss=1 %,2 %", "--set", "links.cable.delay=3 ms"];
    assert_eq!(desk.subflow(&other).0, Some(0));
}

#[test]
fn a_design_draws_from_a_range_that_the_command_line_sweeps() {
    let desk = Desk::new(QUICK);
    let asked = ["--design", "latin-hypercube=4", "--sweep", "links.cable.delay=1.00 ms .. 50.00 ms"];
    let (code, stdout, stderr) = desk.subflow(&[&["run", "quick.toml", "--format", "json"], &asked[..]].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let value: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
    let delay = |run: &serde_json::Value| {
        let text = run["parameters"]["links.cable.delay"].as_str()?;
        text.strip_suffix(" ms")?.parse::<f64>().ok()
    };
    let delays: Vec<f64> = value["runs"].as_array().expect("runs").iter().filter_map(delay).collect();
    let parts: Vec<_> = delays.iter().map(|delay| ((delay - 1.0) / 12.26) as u32).collect();
    assert_eq!(parts, [0, 1, 2, 3], "one in each quarter: {delays:?}");
    let baseline = format!("delay={:.2} ms", delays[0]);
    let compared = ["run", "quick.toml", "--sweep", "seed=1,2,3,4", "--out", "out", "--baseline", &baseline];
    let (code, _, stderr) = desk.subflow(&[&compared[..], &asked[..]].concat());
    assert!(code == Some(2) && stderr.contains("no point differs from one with"), "{stderr}");
    assert_eq!(desk.files(), ["quick.toml"], "refused before the first run");
}

#[test]
fn every_shipped_scenario_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for entry in std::fs::read_dir(folder).expect("scenarios/") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            command().arg("check").arg(path).assert().success();
        }
    }
}

#[test]
fn lists_contain_the_known_names() {
    let desk = Desk::new(QUICK);
    let (code, everything, _) = desk.subflow(&["list"]);
    assert_eq!(code, Some(0));
    let cases = [
        ("congestion", "reno cubic lia olia balia wvegas cmt-rpv1 cmt-rpv2"),
        ("schedulers", "ll rr"),
        ("path-managers", "default full-mesh"),
        ("detectors", "red-cpi rfc8382"),
        ("protocols", "tcp mptcp sctp udp"),
        ("profiles", "linux-6.12 linux-6.12-small-queues mptcp-0.9 mptcp-0.90"),
        ("topologies", "fat-tree leaf-spine ring diamond dumbbell trap"),
        ("routing", "shortest-path ecmp-flow ecmp-packet multiflow disjoint"),
        ("jitter", "uniform normal pareto"),
        ("switches", "ties least-loaded window_growth cuc-v2 stack kernel subflow"),
        ("queues", "drop-tail red"),
        ("losses", "none bernoulli gilbert-elliott trace"),
        ("papers", ""),
    ];
    for (what, names) in cases {
        let (code, stdout, _) = desk.subflow(&["list", what]);
        assert_eq!(code, Some(0));
        let listed: Vec<&str> = stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for name in names.split_whitespace() {
            assert!(listed.contains(&name), "{name} is not in\n{stdout}");
            assert!(everything.contains(name));
        }
        assert!(everything.lines().all(|line| line.chars().count() <= 100), "{everything}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let desk = Desk::new(QUICK);
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("subflow"))
        .current_dir(desk.root())
        .arg("list")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}
