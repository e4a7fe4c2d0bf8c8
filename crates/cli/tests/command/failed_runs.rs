//! Results of commands some of whose runs have failed.

use std::fs::read_to_string;

use crate::desk::{Desk, QUICK, command};

/// At the second rate there are more packets than a run may have.
fn flood() -> Desk {
    let flood = "protocol = \"udp\"\non_off = { rate = \"1 Mbit/s\", packet = \"1000 bytes\" }\n";
    let scenario = QUICK.replace("delay = \"5 ms\"", "queue = \"unlimited\"");
    Desk::new(&scenario.replace("protocol = \"tcp\"\nsend = \"100 kB\"\n", flood))
}

/// What the command says on standard error, in one line, when it exits with 1.
fn said(desk: &Desk, arguments: &[&str]) -> String {
    let output = command().current_dir(desk.root()).args(arguments).assert().code(1);
    let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

const BOTH: [&str; 7] =
    ["run", "quick.toml", "--sweep", "flows.short.on_off.rate=1 Mbit/s,100 Gbit/s", "--keep-going", "--jobs", "1"];

#[test]
fn results_say_which_runs_failed_and_why() {
    let desk = flood();
    let said = said(&desk, &[&BOTH[..], &["--out", "o"]].concat());
    assert!(said.contains("1 of 2 runs failed"), "{said}");
    let results = read_to_string(desk.path("o/results.json")).expect("results");
    let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    let failed = &results["failed"];
    assert_eq!((&failed[0]["run"], &failed[0]["point"], &failed[0]["seed"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!((failed.as_array().map(Vec::len), results["runs"].as_array().map(Vec::len)), (Some(1), Some(1)));
    for file in ["o/results.json", "o/summary.txt", "o/report.html"] {
        let text = read_to_string(desk.path(file)).expect("it was written");
        assert!(text.contains("more than 2000000 packets are in the network at once"), "{file}: {text}");
    }
    let summary = read_to_string(desk.path("o/summary.txt")).expect("a summary");
    assert!(summary.contains("1 of 2 runs failed and are missing here: run 1 (seed 1, "), "{summary}");
}

#[test]
fn results_of_fewer_runs_because_some_failed_do_not_replace_those_of_more() {
    let desk = flood();
    let whole = ["run", "quick.toml", "--sweep", "flows.short.on_off.rate=1 Mbit/s,2 Mbit/s", "--out", "o"];
    command().current_dir(desk.root()).args(whole).assert().success();
    let before = read_to_string(desk.path("o/results.json")).expect("results");
    let said = said(&desk, &[&BOTH[..], &["--out", "o"]].concat());
    for words in ["contains 2 runs of quick", "would contain only 1 run of quick", "the runs are kept in"] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(read_to_string(desk.path("o/results.json")).expect("results"), before);
    command().current_dir(desk.root()).args(BOTH).args(["--out", "o", "--force"]).assert().code(1);
    assert_ne!(read_to_string(desk.path("o/results.json")).expect("results"), before);
}
