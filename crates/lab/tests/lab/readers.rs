//! Applications that read or write at their own pace: the law of the slower one, bursts, and closed windows in captures.

use std::path::Path;

use subflow_lab::capture::CaptureFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{Division, RunOptions, simulate};
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_wire::{Body, Packet};

use crate::from_packets::packets;

/// A flow over two paths of 20 Mbit/s each, of which TCP and QUIC use one.
fn scenario(duration: &str, flow: &str) -> Scenario {
    let text = format!(
        "duration = '{duration}'\n[hosts]\na = ['x', 'y']\nb = ['x', 'y']\n\
         [links.one]\nbetween = ['a.x', 'b.x']\nrate = '20 Mbit/s'\ndelay = '10 ms'\n\
         [links.two]\nbetween = ['a.y', 'b.y']\nrate = '20 Mbit/s'\ndelay = '20 ms'\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\n{flow}\n"
    );
    let document = Document::parse(Path::new("readers.toml"), text).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(scenario: &Scenario) -> RunResult {
    simulate(scenario, 1, &RunOptions::default()).expect("it runs")
}

const PROTOCOLS: [&str; 4] = ["tcp", "mptcp", "sctp", "quic"];

#[test]
fn goodput_is_the_rate_of_a_reader_that_is_slower_than_the_path() {
    for protocol in PROTOCOLS {
        for rate in [1.0, 4.0, 12.0] {
            let flow = format!("protocol = '{protocol}'\nread = {{ rate = '{rate} Mbit/s' }}");
            let goodput = run(&scenario("30 s", &flow)).flows[0].goodput_mbps;
            // The connection is established after 20 to 80 ms, and the last read may be one buffer early or late.
            assert!((0.985..1.005).contains(&(goodput / rate)), "{protocol}: {goodput} of {rate} Mbit/s");
        }
    }
}

#[test]
fn a_reader_that_is_faster_than_the_path_changes_nothing_but_the_end() {
    for protocol in PROTOCOLS {
        let completion = |read: &str| {
            let flow = format!("protocol = '{protocol}'\nsend = '4 MB'\n{read}");
            run(&scenario("30 s", &flow)).flows[0].completion_s.expect("it completes")
        };
        let (slow, fast) = (completion("read = { rate = '1 Gbit/s', buffer = '256 KiB' }"), completion(""));
        assert!((slow - fast).abs() < 0.01, "{protocol}: {slow} s and {fast} s");
    }
}

#[test]
fn a_pause_delays_the_end_of_a_transfer_by_its_length() {
    for protocol in PROTOCOLS {
        let completion = |read: &str| {
            let flow = format!("protocol = '{protocol}'\nsend = '2 MB'\n{read}");
            run(&scenario("60 s", &flow)).flows[0].completion_s.expect("it completes")
        };
        let reads = "read = { rate = '8 Mbit/s', pause = { after = '1 MB', for = '5 s' } }";
        // 2 MB at 8 Mbit/s take 2 s, and the buffer has the rest when the pause ends.
        let paused = completion(reads);
        assert!((7.0..7.2).contains(&paused), "{protocol}: {paused} s");
        let twice = completion("read = { pause = [{ at = '100 ms', for = '2 s' }, { at = '4 s', for = '1 s' }] }");
        assert!((2.1..3.5).contains(&twice), "{protocol}: {twice} s, before the second pause");
    }
}

/// The windows that the receiver advertises, and the sender's packets while it advertises none, from the capture at the
/// sender: times in seconds.
fn closed(protocol: &str, pause: &str) -> (f64, f64, Vec<f64>) {
    let flow = format!("protocol = '{protocol}'\ntcp = {{ receive_buffer = '100 kB' }}\nread = {{ pause = {pause} }}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(1 << 30)));
    let scenario = scenario("20 s", &flow);
    simulate(&scenario, 1, &RunOptions { pcap, ..RunOptions::default() }).expect("it runs");
    let (mut from, mut to, mut probes) = (f64::NAN, f64::NAN, Vec::new());
    for (nanos, Packet { body, ip }) in packets(&folder.path().join(CaptureFolder::file_name(0, "a"))) {
        let (Body::Tcp(segment), time) = (body, nanos as f64 / 1e9) else { continue };
        let is_sender = scenario.hosts[0].interface_with(ip.source).is_some();
        match (is_sender, segment.window) {
            (false, 0) if from.is_nan() => from = time,
            (false, 1..) if !from.is_nan() && to.is_nan() => to = time,
            (true, _) if !from.is_nan() && to.is_nan() => probes.push(time),
            _ => {}
        }
    }
    (from, to, probes)
}

/// RFC 9293, section 3.8.6.1: probes of a closed window are spaced by the retransmission timeout, which doubles.
#[test]
fn a_closed_window_is_probed_less_and_less_often_and_opens_when_the_pause_ends() {
    let (from, to, probes) = closed("tcp", "{ at = '2 s', for = '8 s' }");
    assert!((2.0..2.5).contains(&from), "the window closes {from} s after the start");
    assert!((10.0..10.1).contains(&to), "it opens at {to} s");
    let probes: Vec<f64> = probes.into_iter().filter(|time| *time > from + 0.1).collect();
    assert!((4..=8).contains(&probes.len()), "{probes:?}");
    for pair in probes.windows(3) {
        let ratio = (pair[2] - pair[1]) / (pair[1] - pair[0]);
        assert!((1.8..2.2).contains(&ratio), "{probes:?}");
    }
}

#[test]
fn a_reader_has_the_same_results_on_two_threads() {
    for flow in ["protocol = 'tcp'", "protocol = 'mptcp'\nrequests = { response = '200 kB', every = '50 ms' }"] {
        let scenario =
            scenario("5 s", &format!("{flow}\nread = {{ rate = '5 Mbit/s', pause = {{ at = '1 s', for = '1 s' }} }}"));
        let options = RunOptions { threads: 2, ..RunOptions::default() };
        assert!(Division::of(&scenario, &options).is_ok());
        let [mut one, mut two] = [RunOptions::default(), options].map(|o| simulate(&scenario, 3, &o).expect("it runs"));
        (one.engine.cpu_s, two.engine.cpu_s) = (0.0, 0.0);
        assert_eq!(one, two);
    }
}

#[test]
fn bursts_that_the_path_carries_set_the_goodput_and_the_end() {
    for protocol in PROTOCOLS {
        let keys =
            |write: &str| format!("protocol = '{protocol}'\nsend = '1 MB'\nwrite = {{ burst = '100 kB', {write} }}");
        // The tenth burst comes after 4.5 s.
        let done = run(&scenario("20 s", &keys("every = '500 ms'"))).flows[0].completion_s;
        assert!(done.is_some_and(|done| (4.5..4.9).contains(&done)), "{protocol}: {done:?}");
        // The path is slower than these.
        let steady = run(&scenario("20 s", &format!("protocol = '{protocol}'\nsend = '1 MB'"))).flows[0].completion_s;
        let done = run(&scenario("20 s", &keys("every = '1 ms'"))).flows[0].completion_s;
        assert!(done.zip(steady).is_some_and(|(done, steady)| done < 1.3 * steady), "{protocol}: {done:?}");
    }
}

#[test]
fn a_transfer_without_an_end_goes_on_in_bursts_and_stops_in_time() {
    let keys = "write = { burst = '50 kB', every = { exponential = '100 ms' } }\nstop = '15 s'";
    let flow = run(&scenario("20 s", keys)).flows.remove(0);
    assert!((5_000_000..10_000_000).contains(&flow.bytes_delivered), "about 150 bursts: {}", flow.bytes_delivered);
}
