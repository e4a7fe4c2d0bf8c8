//! Why segments were sent again: `analyze` says of each what the event log of the run says.

use std::collections::BTreeMap;

use serde_json::Value;
use subflow_analyze::{Analysis, Cause, Clocks, Sending, analyze};

use super::support::Captured;

/// A segment that was sent again: when, in microseconds since the run began, where in the stream, and why.
type Again = (i64, u64, Cause);

/// A host that sends to another over a link with these keys; `flow` are further keys of the flow, and of tables behind it.
fn scenario(link: &str, flow: &str) -> String {
    format!(
        "duration = \"60 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n[flows.f]\n{flow}\n"
    )
}

/// The same over two links.
fn two_paths(first: &str, second: &str, flow: &str) -> String {
    format!(
        "duration = \"60 s\"\n[hosts]\na = [\"eth0\", \"eth1\"]\nb = [\"eth0\", \"eth1\"]\n\
         [links.l]\nbetween = [\"a.eth0\", \"b.eth0\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n{first}\n\
         [links.m]\nbetween = [\"a.eth1\", \"b.eth1\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n{second}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n{flow}\n"
    )
}

/// The retransmissions of the host `a` by the event log. The state says whether it repairs losses after a timeout; a
/// segment that is not considered lost is a probe.
fn logged(captured: &Captured) -> BTreeMap<String, Vec<Again>> {
    let mut states: BTreeMap<String, String> = BTreeMap::new();
    let mut lost: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    let mut again: BTreeMap<String, Vec<Again>> = BTreeMap::new();
    for event in captured.events() {
        let data = &event["data"];
        if data["host"] != "a" {
            continue;
        }
        let name = data["subflow"].as_str().unwrap_or_default().to_owned();
        let (offset, length) = (data["offset"].as_u64().unwrap_or(0), data["length"].as_u64().unwrap_or(0));
        match event["name"].as_str().unwrap_or_default() {
            "recovery:congestion_state_updated" => {
                states.insert(name, data["new"].as_str().unwrap_or_default().to_owned());
            }
            "recovery:packet_lost" => lost.entry(name).or_default().push((offset, offset + length)),
            "transport:packet_sent" if data["kind"] == "retransmission" => {
                let lost = lost.entry(name.clone()).or_default();
                let before = lost.len();
                lost.retain(|&(start, end)| end <= offset || start >= offset + length);
                let cause = match states.get(&name).map(String::as_str) {
                    _ if lost.len() == before => Cause::Probe,
                    Some("loss") => Cause::Timeout,
                    _ => Cause::Fast,
                };
                let micros = (event["time"].as_f64().unwrap_or(0.0) * 1e3).round() as i64;
                again.entry(name).or_default().push((micros, offset, cause));
            }
            _ => {}
        }
    }
    again
}

/// The timeouts of the host `a` by the event log.
fn timeouts(captured: &Captured) -> u64 {
    let events = captured.events();
    let is_timeout = |event: &&Value| event["name"] == "recovery:loss_timer_updated" && event["data"]["host"] == "a";
    events.iter().filter(is_timeout).count() as u64
}

/// The retransmissions of `a`, 10.0.1.1 and 10.0.1.2, by the analysis, by subflow; the first packet was captured at `begin`, in
/// nanoseconds since the run began.
fn analysed(analysis: &Analysis, begin: u64) -> BTreeMap<String, Vec<Again>> {
    let mut again: BTreeMap<String, Vec<Again>> = BTreeMap::new();
    for sequence in &analysis.sequences {
        let Sending::Again(cause) = sequence.sending else { continue };
        if !sequence.subflow.starts_with("10.0.1.") {
            continue;
        }
        let micros = |time_s: f64| ((time_s * 1e6) + begin as f64 / 1e3).round() as i64;
        let points = sequence.points().iter().map(|point| (micros(point.time_s), point.offset, cause));
        again.entry(sequence.subflow.clone()).or_default().extend(points);
    }
    again.values_mut().for_each(|all| all.sort_unstable());
    again
}

/// What the analysis of the sender's capture says otherwise than the log, and how many retransmissions there are.
fn compared(name: &str, text: &str) -> (Vec<String>, usize) {
    let captured = Captured::of(text);
    let analysis = analyze(&[captured.file("a")], Clocks::Auto).expect("a capture");
    let (logged, analysed) = (logged(&captured), analysed(&analysis, captured.packets("a")[0].time));
    let mut differences = Vec::new();
    let mut count = 0;
    let by_first = |all: BTreeMap<String, Vec<Again>>| {
        let mut all: Vec<Vec<Again>> = all.into_values().collect();
        all.iter_mut().for_each(|all| all.sort_unstable());
        all.sort_unstable();
        all
    };
    let (logged, analysed) = (by_first(logged), by_first(analysed));
    let ours = || analysis.subflows.iter().filter(|row| row.from.starts_with("10.0.1."));
    let (expired, found) = (timeouts(&captured), ours().map(|row| row.timeouts).sum::<u64>());
    if expired != found {
        differences.push(format!("{name}: {found} timeouts instead of {expired}"));
    }
    for (row, own) in ours().zip(&captured.run.flows[0].subflows) {
        let [expected, found] = [own.rtt.map(|rtt| rtt.mean_ms), row.mean_rtt_ms].map(|rtt| rtt.unwrap_or(0.0));
        if (found - expected).abs() > 0.02 * expected {
            differences.push(format!("{name}: a mean round-trip time of {found} ms instead of {expected} ms"));
        }
    }
    if logged.len() != analysed.len() {
        differences.push(format!("{name}: {} subflows instead of {}", analysed.len(), logged.len()));
    }
    for (logged, analysed) in logged.iter().zip(&analysed) {
        count += logged.len();
        let mut found: BTreeMap<(i64, u64), Cause> =
            analysed.iter().map(|&(time, offset, cause)| ((time, offset), cause)).collect();
        for &(time, offset, cause) in logged {
            match found.remove(&(time, offset)) {
                Some(other) if other == cause => {}
                other => differences.push(format!("{name}: {time} µs, {offset}: {other:?} instead of {cause:?}")),
            }
        }
        differences.extend(found.iter().map(|(place, cause)| format!("{name}: {place:?} {cause:?} is not in the log")));
    }
    (differences, count)
}

#[test]
fn each_retransmission_has_the_cause_that_the_event_log_has() {
    const TCP: &str = "from = \"a\"\nto = \"b\"\nprotocol = \"tcp\"\nsend = \"10 MB\"";
    const REQUESTS: &str = "from = \"b\"\nto = \"a\"\nprotocol = \"tcp\"\n\
        requests = { request = \"1 kB\", response = \"20 kB\", count = 200 }";
    let cases = [
        ("1 %", scenario("loss = \"1 %\"", TCP)),
        ("5 %", scenario("loss = \"5 %\"", TCP)),
        ("10 %", scenario("loss = \"10 %\"", TCP)),
        (
            "bursts",
            scenario(
                "loss = { model = \"gilbert-elliott\", good_to_bad = \"1 %\", bad_to_good = \"20 %\", loss_in_bad = \"60 %\" }",
                TCP,
            ),
        ),
        ("short queue", scenario("queue = \"10 packets\"", TCP)),
        ("no SACK", scenario("loss = \"2 %\"", &format!("{TCP}\n[tcp]\nsack = false"))),
        ("no timestamps", scenario("loss = \"5 %\"", &format!("{TCP}\n[tcp]\ntimestamps = false"))),
        ("acknowledgments", scenario("loss = { up = \"1 %\", down = \"20 %\" }", TCP)),
        ("requests", scenario("loss = \"4 %\"", REQUESTS)),
        ("two paths", two_paths("loss = \"2 %\"", "loss = \"5 %\"", "send = \"10 MB\"")),
    ];
    let results: Vec<(Vec<String>, usize)> = cases.iter().map(|(name, text)| compared(name, text)).collect();
    for ((name, _), (differences, count)) in cases.iter().zip(&results) {
        println!("{name}: {count} retransmissions, {} differ", differences.len());
    }
    let differences: Vec<String> = results.into_iter().flat_map(|(differences, _)| differences).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A full queue of 60 packets takes 72 ms, one of 200 packets 240 ms.
#[test]
fn the_queue_at_losses_is_that_of_the_link_and_other_losses_are_told_from_those_of_it() {
    let reno = "from = \"a\"\nto = \"b\"\ncongestion = \"reno\"";
    for (link, full_ms) in [
        ("queue = \"60 packets\"", 72.0),
        ("queue = \"200 packets\"\nloss = { up = \"0.1 %\", down = \"0 %\" }", 240.0),
    ] {
        let captured = Captured::of(&scenario(link, reno));
        let analysis = analyze(&[captured.file("a")], Clocks::Auto).expect("a capture");
        let row = &analysis.subflows[0];
        let queue_ms = row.queue_at_losses_ms.expect("losses");
        assert!((queue_ms / full_ms - 1.0).abs() < 0.03, "{queue_ms} of {full_ms} ms");
        let (told, losses) = (row.losses_at_short_queue.expect("losses"), captured.run.links[0].up.losses);
        assert!(
            captured.run.links[0].up.drops > 100 && told <= losses && told * 10 >= losses * 9,
            "{told} of {losses}"
        );
    }
}
