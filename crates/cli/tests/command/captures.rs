//! The folder of captures: their size is estimated and limited, and only captures of an earlier run are replaced.

use crate::desk::{Desk, QUICK};

/// A connection without end over a link without a rate: nothing tells the size of its captures.
fn without_rate() -> String {
    QUICK.replace("\"10 Mbit/s\"", "\"unlimited\"").replace("send = \"100 kB\"\n", "")
}

#[test]
fn captures_of_an_earlier_run_are_replaced_and_others_stay() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--pcap", "captures", "--repeat", "2"]);
    assert_eq!(code, Some(0));
    assert!(stderr.starts_with("captures: 4 files, about 4") && stderr.contains("(limit 10 GB)"), "{stderr}");
    std::fs::write(desk.path("captures/9-client.pcapng"), "mine").expect("written");
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--pcap", "captures", "--format", "json"]);
    assert!(code == Some(2) && stderr.contains("--force"), "{stderr}");
    let again = ["run", "quick.toml", "--pcap", "captures", "--format", "json", "--force"];
    assert_eq!(desk.subflow(&again).0, Some(0));
    let files = [".subflow-captures", "0-client.pcapng", "0-server.pcapng", "9-client.pcapng"];
    assert_eq!(desk.files_in("captures"), files);
    let capture = std::fs::metadata(desk.path("captures/0-server.pcapng")).expect("a capture");
    assert!(capture.len() > 100_000);
}

#[test]
fn metrics_over_time_are_no_matter_to_which_captures_may_be_replaced() {
    let desk = Desk::new(QUICK);
    for series in ["all", "none"] {
        let run = ["run", "quick.toml", "--pcap", "captures", "--format", "json", "--series", series];
        let (code, _, stderr) = desk.subflow(&run);
        assert_eq!(code, Some(0), "{series}: {stderr}");
    }
}

#[test]
fn a_capture_that_others_wrote_is_not_overwritten() {
    let desk = Desk::new(QUICK);
    std::fs::create_dir(desk.path("captures")).expect("made");
    std::fs::write(desk.path("captures/0-server.pcapng"), "mine").expect("written");
    let (code, stdout, stderr) = desk.subflow(&["run", "quick.toml", "--pcap", "captures"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("captures/0-server.pcapng"), "{stderr}");
    assert_eq!(std::fs::read(desk.path("captures/0-server.pcapng")).expect("a file"), b"mine");
    assert_eq!(desk.files(), ["captures", "quick.toml"]);
}

#[test]
fn captures_that_would_exceed_the_limit_are_refused() {
    let endless = QUICK.replace("send = \"100 kB\"\n", "").replace("10 Mbit/s", "10 Gbit/s");
    let desk = Desk::new(&endless);
    let sweep = ["run", "quick.toml", "--pcap", "captures", "--repeat", "20"];
    let (code, stdout, stderr) = desk.subflow(&sweep);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    let message = stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains("40 captures would take about 106 GB, expected at most 10 GB"), "{stderr}");
    assert!(message.contains("--pcap-limit"), "{stderr}");
    assert_eq!(desk.files(), ["quick.toml"]);
}

#[test]
fn a_run_ends_when_its_captures_reach_the_limit() {
    let desk = Desk::new(&without_rate());
    let run = ["run", "quick.toml", "--pcap", "captures", "--pcap-limit", "2 MB", "--set", "duration=100 s"];
    let (code, stdout, stderr) = desk.subflow(&run);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("of unknown size") && stderr.contains("have reached their limit of 2 MB"), "{stderr}");
    let size = |name: &str| std::fs::metadata(desk.path(name)).expect("a capture").len();
    let total = size("captures/0-client.pcapng") + size("captures/0-server.pcapng");
    assert!((1_900_000..2_001_000).contains(&total), "{total}");
    assert_eq!(desk.files(), ["captures", "quick.toml"], "no results, and no folder for them");
}
