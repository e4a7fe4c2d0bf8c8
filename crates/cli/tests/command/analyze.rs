//! What `analyze` infers from captures of the simulator, of which everything is known.

use serde_json::Value;

use crate::desk::Desk;

/// One connection over one link.
fn single(queue: &str, congestion: &str, duration: &str) -> String {
    format!(
        "title = \"One\"\nduration = \"{duration}\"\n[hosts]\nclient = [\"eth\"]\nserver = [\"eth\"]\n\
         [links.cable]\nbetween = [\"client\", \"server\"]\nrate = \"20 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"{queue}\"\n\
         [flows.file]\nfrom = \"client\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"{congestion}\"\n"
    )
}

/// One connection over two paths.
fn multipath(flow: &str) -> String {
    format!(
        "title = \"Two\"\nduration = \"10 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth\"]\n\
         [routers]\nmiddle = {{}}\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"middle\"]\nrate = \"20 Mbit/s\"\n\
         delay = \"10 ms\"\n\
         [links.lte]\nbetween = [\"phone.lte\", \"middle\"]\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n\
         [links.core]\nbetween = [\"middle\", \"server.eth\"]\nrate = \"1 Gbit/s\"\n\
         [flows.file]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\n{flow}"
    )
}

/// Runs a scenario with captures, and analyses those of these hosts.
fn analysed(desk: &Desk, hosts: &[&str], further: &[&str]) -> [Value; 2] {
    let run = ["run", "quick.toml", "--pcap", "captures", "--out", "out", "--format", "json", "--force"];
    let (code, results, stderr) = desk.subflow(&run);
    assert_eq!(code, Some(0), "{stderr}");
    let files: Vec<String> = hosts.iter().map(|host| format!("captures/0-{host}.pcapng")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let analyze = [&["analyze", "--format", "json"], further, &files].concat();
    let (code, analysis, stderr) = desk.subflow(&analyze);
    assert_eq!(code, Some(0), "{stderr}");
    [results, analysis].map(|json| serde_json::from_str(&json).expect("JSON"))
}

#[test]
fn families_of_congestion_control_are_told_by_their_reactions() {
    for (congestion, queue, family, fewest) in [
        ("reno", "60 packets", "reno", 5),
        ("cubic", "60 packets", "cubic", 5),
        ("cubic", "20 packets", "cubic", 10),
        ("vegas", "300 packets", "delay or rate", 0),
        ("bbr", "300 packets", "delay or rate", 0),
    ] {
        let [results, analysis] = analysed(&Desk::new(&single(queue, congestion, "20 s")), &["client"], &[]);
        let row = &analysis["subflows"][0];
        assert_eq!(row["congestion"], family, "{congestion}, {queue}: {row}");
        let [votes, episodes] = ["congestion_votes", "congestion_episodes"].map(|key| row[key].as_u64());
        assert!(votes >= Some(fewest) && votes.map(|votes| votes * 10) >= episodes.map(|all| all * 9), "{row}");
        let flow = &results["runs"][0]["flows"][0];
        assert_eq!(row["retransmissions"], flow["retransmissions"], "{congestion}, {queue}");
    }
    // A coupled window that halves and grows by less than a segment.
    let desk = Desk::new(&multipath("congestion = \"lia\"\n").replace("10 s", "30 s"));
    let [_, analysis] = analysed(&desk, &["phone"], &[]);
    let rows = analysis["subflows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["congestion"] == "coupled"), "{rows:?}");
}

/// The points of a metric: time and value.
fn points(series: &Value, metric: &str) -> Vec<(f64, f64)> {
    let all = series.as_array().expect("series").iter().find(|series| series["metric"] == metric);
    let points = all.and_then(|series| series["points"].as_array()).expect("points");
    points.iter().filter_map(|point| Some((point["t"].as_f64()?, point["v"].as_f64()?))).collect()
}

#[test]
fn the_estimated_window_is_that_of_the_sender() {
    for congestion in ["reno", "cubic", "vegas"] {
        let desk = Desk::new(&single("60 packets", congestion, "20 s"));
        analysed(&desk, &["client"], &["--out", "analysis"]);
        let read = |path: &str| -> Value {
            serde_json::from_slice(&std::fs::read(desk.path(path)).expect("a file")).expect("JSON")
        };
        let truth = points(&read("out/series.json")[0]["series"], "cwnd");
        let found = points(&read("analysis/series.json"), "window");
        // A point of the analysis is the largest window of 100 ms.
        let mut errors: Vec<f64> = found
            .iter()
            .filter_map(|&(time, kilobytes)| {
                let near = truth.iter().filter(|(at, _)| *at > time - 0.16 && *at < time + 0.06);
                let errors = near.map(|(_, packets)| (kilobytes / (packets * 1.448) - 1.0).abs());
                errors.reduce(f64::min)
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors.len() > 150, "{congestion}: {}", errors.len());
        assert!(errors[errors.len() / 2] < 0.01 && errors[errors.len() * 9 / 10] < 0.1, "{congestion}: {errors:?}");
    }
}

#[test]
fn unused_windows_are_those_of_applications_that_pause() {
    let unused = |scenario: &str, end: usize| {
        let [_, analysis] = analysed(&Desk::new(scenario), &["client", "server"], &[]);
        analysis["subflows"][end]["unused_s"].as_f64().expect("a time")
    };
    let bulk = single("60 packets", "cubic", "10 s");
    assert!(unused(&bulk, 0) < 0.1);
    // 30 pauses of 200 ms, each with the half round trips before and after it.
    let pausing =
        format!("{bulk}requests = {{ request = \"200 B\", response = \"200 kB\", count = 30, think = \"200 ms\" }}\n");
    let of_server = unused(&pausing, 1);
    assert!((29.0 * 0.2..29.0 * 0.3).contains(&of_server), "{of_server}");
}

#[test]
fn schedulers_are_told_by_their_choices() {
    let requests = "requests = { request = \"30 kB\", response = \"20 kB\", count = 100, think = \"40 ms\" }\n";
    for (scheduler, rule) in [("ll", "lowest round-trip time"), ("rr", "in turn"), ("redundant", "redundant")] {
        let desk = Desk::new(&multipath(&format!("congestion = \"cubic\"\nscheduler = \"{scheduler}\"\n{requests}")));
        let [_, analysis] = analysed(&desk, &["phone"], &[]);
        let row = &analysis["connections"][0];
        assert_eq!(row["sender"], "client");
        assert!(row["scheduler"].as_str().is_some_and(|found| found.contains(rule)), "{scheduler}: {row}");
    }
    // A connection that always fills its windows leaves no choice.
    let bulk = Desk::new(&multipath("congestion = \"cubic\"\nscheduler = \"rr\"\n"));
    let [_, analysis] = analysed(&bulk, &["phone"], &[]);
    assert_eq!(analysis["connections"][0]["scheduler"], Value::Null, "{analysis}");
}

#[test]
fn one_way_delays_are_those_of_the_links_also_by_another_clock() {
    let desk = Desk::new(&multipath("send = \"4 MB\"\n"));
    let [results, analysis] = analysed(&desk, &["phone", "server"], &[]);
    let flow = &results["runs"][0]["flows"][0];
    assert_eq!(analysis["connections"][0]["retransmissions"], flow["retransmissions"]);
    let smallest = |analysis: &Value| {
        let rows = analysis["subflows"].as_array().expect("rows").iter();
        rows.filter_map(|row| row["minimum_delay_ms"].as_f64()).collect::<Vec<_>>()
    };
    // And the time that a packet takes at 20 Mbit/s: 0.6 ms with 1500 bytes, less with fewer.
    let delays = smallest(&analysis);
    assert!((10.0..10.7).contains(&delays[0]) && (25.0..25.7).contains(&delays[1]), "{delays:?}");
    assert_eq!(analysis["clocks"], serde_json::json!([]));

    // A clock that is 2.5 s ahead.
    let capture = std::fs::read(desk.path("captures/0-server.pcapng")).expect("a capture");
    std::fs::write(desk.path("captures/0-shifted.pcapng"), shifted(&capture, 2_500_000_000)).expect("written");
    let files = ["analyze", "captures/0-phone.pcapng", "captures/0-shifted.pcapng", "--format", "json"];
    let (_, stdout, _) = desk.subflow(&files);
    let other: Value = serde_json::from_str(&stdout).expect("JSON");
    let offset = other["clocks"][0]["offset_ms"].as_f64().expect("another clock");
    // The smallest delays of both directions differ by the time that the longer packets take.
    assert!((offset - 2500.0).abs() < 0.7, "{}", other["clocks"]);
    let apart: Vec<f64> = smallest(&other).iter().zip(&delays).map(|(a, b)| (a - b).abs()).collect();
    assert!(apart.iter().all(|apart| *apart < 0.7), "{apart:?}");
    let [before, after] = [&analysis, &other].map(|it| it["connections"][0]["goodput_mbps"].as_f64().expect("a rate"));
    assert!((before / after - 1.0).abs() < 0.01, "{before} and {after}");
}

/// A pcapng file of the simulator with all times later by so many nanoseconds.
fn shifted(capture: &[u8], by: u64) -> Vec<u8> {
    const ENHANCED_PACKET: u32 = 6;
    let mut shifted = capture.to_vec();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let mut at = 0;
    while at < capture.len() {
        if word(capture, at) == ENHANCED_PACKET {
            let time = u64::from(word(capture, at + 12)) << 32 | u64::from(word(capture, at + 16));
            let later = time + by;
            shifted[at + 12..at + 16].copy_from_slice(&((later >> 32) as u32).to_le_bytes());
            shifted[at + 16..at + 20].copy_from_slice(&(later as u32).to_le_bytes());
        }
        at += word(capture, at + 4) as usize;
    }
    shifted
}

#[test]
fn a_capture_is_read_from_standard_input_and_anonymised() {
    let desk = Desk::new(&single("60 packets", "reno", "1 s"));
    let [_, analysis] = analysed(&desk, &["client"], &[]);
    let capture = std::fs::read(desk.path("captures/0-client.pcapng")).expect("a capture");
    let mut command = crate::desk::command();
    let output = command.args(["analyze", "-", "--format", "json"]).write_stdin(capture).output().expect("it runs");
    let piped: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(piped["subflows"], analysis["subflows"]);

    let hide = ["analyze", "captures/0-client.pcapng", "--anonymise", "hidden.pcap"];
    let (code, stdout, stderr) = desk.subflow(&hide);
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    let (_, stdout, _) = desk.subflow(&["analyze", "hidden.pcap", "--format", "json"]);
    let hidden: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(hidden["subflows"][0]["goodput_mbps"], analysis["subflows"][0]["goodput_mbps"]);
    let (code, _, stderr) = desk.subflow(&hide);
    assert!(code == Some(2) && stderr.contains("hidden.pcap"), "{stderr}");
}

#[test]
fn a_capture_of_another_link_type_is_refused() {
    let desk = Desk::new(&single("60 packets", "reno", "1 s"));
    // A header of pcap with the link type of IEEE 802.11, and a packet of 8 bytes.
    let words: [u32; 10] = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 105, 0, 0, 8, 8];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain([0; 8]).collect();
    std::fs::write(desk.path("radio.pcap"), bytes).expect("written");
    let (code, stdout, stderr) = desk.subflow(&["analyze", "radio.pcap"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("none of 1 packets could be read: link type 105 is not supported"), "{stderr}");
}
