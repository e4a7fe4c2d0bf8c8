//! `subflow import`.

use crate::desk::{Desk, QUICK};

const RING: &str = "graph [ node [ id 0 label \"Bern\" ] node [ id 1 label \"Basel\" ] node [ id 2 label \"Z&#252;rich\" ]\n\
    edge [ source 0 target 1 LinkSpeedRaw 1e7 ] edge [ source 1 target 2 ] edge [ source 2 target 0 ] ]";

fn desk() -> Desk {
    let desk = Desk::new(QUICK);
    std::fs::write(desk.path("ring.gml"), RING).expect("written");
    desk
}

#[test]
fn an_imported_network_can_be_checked_and_run() {
    let desk = desk();
    let written = ["import", "ring.gml", "--out", "ring.toml", "--rate", "20 Mbit/s", "--between", "Bern", "Zurich"];
    let (code, stdout, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("subflow check ring.toml"), "{stdout}");
    assert!(stderr.contains("ring.gml: 2 of 3 links without a rate: 20 Mbit/s"), "{stderr}");
    let (code, stdout, stderr) = desk.subflow(&["run", "ring.toml", "--set", "duration=2 s"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("GML: ring") && stdout.contains("bulk"), "{stdout}");
    let (code, _, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("ring.toml: the file exists"), "{stderr}");
}

#[test]
fn without_out_the_scenario_goes_to_standard_output() {
    let desk = desk();
    let (code, stdout, stderr) = desk.subflow(&["import", "ring.gml"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("# Written by `subflow import`.\n# - 2 of 3 links without a rate"), "{stdout}");
    assert!(!desk.files().contains(&"ring.toml".to_owned()));
}

const PAGE: &str = r#"{"log": {"version": "1.2", "entries": [
 {"startedDateTime": "2024-05-01T10:00:00.000Z", "time": 100,
  "request": {"method": "GET", "url": "https://www.example.org/", "httpVersion": "h2", "headersSize": 300, "bodySize": 0},
  "response": {"status": 200, "httpVersion": "h2", "headersSize": 200, "bodySize": 20000},
  "timings": {"blocked": 0, "dns": 5, "connect": 20, "ssl": 10, "wait": 40}},
 {"startedDateTime": "2024-05-01T10:00:00.110Z", "time": 60,
  "request": {"method": "GET", "url": "https://www.example.org/a.js", "httpVersion": "h2", "headersSize": 100, "bodySize": 0},
  "response": {"status": 200, "httpVersion": "h2", "headersSize": 100, "bodySize": 50000},
  "timings": {"wait": 20}}]}}"#;

const MASTER: &str = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nlow/index.m3u8\n";
const VARIANT: &str = "#EXTM3U\n#EXTINF:2,\n#EXT-X-BYTERANGE:200000@0\nall.ts\n\
    #EXTINF:2,\n#EXT-X-BYTERANGE:150000\nall.ts\n#EXT-X-ENDLIST\n";

#[test]
fn a_page_and_a_video_are_scenarios_that_run() {
    let desk = desk();
    std::fs::create_dir(desk.path("low")).expect("a folder");
    for (name, text) in [("page.har", PAGE), ("master.m3u8", MASTER), ("low/index.m3u8", VARIANT)] {
        std::fs::write(desk.path(name), text).expect("written");
    }
    for (file, expected) in [("page.har", "2 requests over 1 connection"), ("master.m3u8", "2 chunks with the sizes")] {
        let (code, _, stderr) = desk.subflow(&["import", file, "--rate", "10 Mbit/s", "--out", "imported.toml"]);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
        let (code, stdout, stderr) = desk.subflow(&["run", "imported.toml", "--format", "csv"]);
        assert_eq!(code, Some(0), "{stderr}");
        // Two exchanges of the whole size: 20,200 and 50,100 bytes, or 200,000 and 150,000.
        assert!(stdout.contains(",70300") || stdout.contains(",350000"), "{stdout}");
        std::fs::remove_file(desk.path("imported.toml")).expect("removed");
    }
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is_with_the_command_that_reads_it() {
    let desk = desk();
    std::fs::write(desk.path("page.har"), PAGE).expect("written");
    std::fs::write(desk.path("master.m3u8"), MASTER).expect("written");
    for (file, what) in
        [("page.har", "an HTTP archive (HAR)"), ("master.m3u8", "a playlist (HLS)"), ("ring.gml", "GML")]
    {
        let (code, _, stderr) = desk.subflow(&["run", file]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(what) && stderr.contains("subflow import"), "{stderr}");
    }
}

#[cfg(feature = "analyze")]
#[test]
fn captures_become_a_scenario_and_a_trace() {
    let desk = desk();
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--pcap", "captures"]);
    assert_eq!(code, Some(0), "{stderr}");
    let captures = std::fs::read_dir(desk.path("captures")).expect("captures");
    let paths = captures.filter_map(Result::ok).map(|entry| entry.path());
    let file = paths.filter(|path| path.extension().is_some_and(|it| it == "pcapng")).min().expect("one");
    let file = file.to_str().expect("a path");
    let (code, _, stderr) = desk.subflow(&["analyze", file, "--scenario", "replay.toml", "--trace", "rates.csv"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("not told"), "{stderr}");
    let (code, stdout, stderr) = desk.subflow(&["run", "replay.toml"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("flow1"), "{stdout}");
    let trace = std::fs::read_to_string(desk.path("rates.csv")).expect("a trace");
    assert!(trace.contains("time_s,rate_mbit_s\n0.0,"), "{trace}");
    let (code, _, stderr) = desk.subflow(&["run", file]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("a capture (pcapng)") && stderr.contains("subflow analyze"), "{stderr}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let desk = desk();
    for (arguments, expected) in [
        (vec!["import", "quick.toml"], "`subflow run FILE` runs it"),
        (vec!["import", "absent.gml"], "absent.gml: No such file"),
        (vec!["import", "ring.gml", "--between", "Bern", "Genf"], "no node \"Genf\""),
        (vec!["import", "ring.gml", "--scale", "0"], "expected a number from"),
        (vec!["import", "."], "Is a directory"),
    ] {
        let (code, stdout, stderr) = desk.subflow(&arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn what_cannot_be_imported_is_named_with_the_way_out() {
    let desk = desk();
    let fast = RING.replace("LinkSpeedRaw 1e7", "LinkSpeedRaw 3e13");
    let files = [
        ("flow.txt", "2\n0 1 3 100 5000 2.0\n1 2 3 100 5000 2.001\n", "a list of flows of HPCC", "`pairs = \"FILE\"`"),
        ("web.txt", "0 0\n10000 15\n20000 20\n30000 100\n", "a distribution of sizes", "empirical"),
        ("fast.gml", &fast, "the link between Bern and Basel has 30000 Gbit/s", "--scale 0.3"),
    ];
    for (name, text, what, remedy) in files {
        std::fs::write(desk.path(name), text).expect("written");
        let (code, _, stderr) = desk.subflow(&["import", name]);
        let said = stderr.split_whitespace().filter(|word| *word != "\u{2502}").collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(2), "{stderr}");
        assert!(said.contains(what) && said.contains(remedy), "{stderr}");
    }
    let (code, stdout, stderr) = desk.subflow(&["import", "fast.gml", "--scale", "0.3"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("rate = \"9000 Gbit/s\""), "{stdout}");
}

#[test]
fn a_playlist_may_have_comments_before_its_tag() {
    let desk = desk();
    std::fs::write(desk.path("master.m3u8"), format!("# from my server\n\n{MASTER}")).expect("written");
    let (code, stdout, stderr) = desk.subflow(&["import", "master.m3u8"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("800 kbit/s"), "{stdout}");
}
