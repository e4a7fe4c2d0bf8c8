//! Figures of a flow's data, counted a second time from captures: delays, reassembly, outstanding data, goodput, copies,
//! retransmissions and blocking are what packets alone tell.

mod capture;
mod count;
mod stream;

use std::fmt::Write;
use std::path::Path;

use subflow_lab::capture::CaptureFolder;
use subflow_lab::results::{FlowResult, Latency, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_wire::Packet;

pub(crate) use capture::packets;
use count::{Count, Counted};
use stream::Connection;

/// Runs a scenario with one flow `f`, and counts its data from the captures.
fn counted(text: &str) -> (RunResult, Counted) {
    let document = Document::parse(Path::new("counted.toml"), text.to_owned()).expect("it is TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(1 << 30)));
    let options = RunOptions { series: true, pcap, ..RunOptions::default() };
    let result = simulate(&scenario, scenario.seed, &options).expect("it runs");
    let flow = &scenario.flows[0];
    let sender = flow.data_sender();
    let receiver = if sender == flow.from.host { flow.to.host } else { flow.from.host };
    let read = |host: usize| {
        let path = folder.path().join(CaptureFolder::file_name(0, &scenario.hosts[host].name));
        if flow.protocol.quic().is_some() { capture::packets_of_quic(&path) } else { capture::packets(&path) }
    };
    let is_sent = |packet: &Packet| scenario.hosts[sender].interface_with(packet.ip.source).is_some();
    let sent: Vec<_> = read(sender).into_iter().filter(|(_, packet)| is_sent(packet)).collect();
    let connection = Connection::of(sent.iter().map(|(_, packet)| packet));
    // By time; at the same time, in the order of the files.
    let mut all: Vec<_> = sent.into_iter().map(|(time, packet)| (time, true, packet)).collect();
    all.extend(read(receiver).into_iter().map(|(time, packet)| (time, false, packet)));
    all.sort_by_key(|(time, ..)| *time);
    let mut count = Count::new(&connection);
    for (time, at_sender, packet) in &all {
        match (at_sender, is_sent(packet)) {
            (true, _) => count.on_sent(*time, packet),
            (false, true) => count.on_arrived(*time, packet),
            (false, false) => count.on_answered(*time, packet),
        }
    }
    (result, count.counted)
}

/// Linear between the closest ranks, as R's type 7.
fn quantile(sorted: &[u64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize] as f64, sorted[rank.ceil() as usize] as f64);
    (below + (above - below) * rank.fract()) / 1e6
}

/// Compares a distribution with what was counted.
fn compare(differences: &mut Vec<String>, what: &str, ours: Option<&Latency>, mut counted: Vec<u64>) {
    let samples = ours.map_or(0, |ours| ours.samples);
    if samples != counted.len() as u64 {
        return differences.push(format!("{what}: {samples} samples, counted {}", counted.len()));
    }
    let Some(ours) = ours else { return };
    counted.sort_unstable();
    let mean = counted.iter().map(|&nanos| nanos as f64).sum::<f64>() / 1e6 / counted.len() as f64;
    // Above 4096 samples quantiles are within 0.1 %.
    let tolerance = if samples > 4096 { 1.1e-3 } else { 1e-6 };
    let expected = [mean, quantile(&counted, 0.5), quantile(&counted, 0.95), quantile(&counted, 0.99)];
    let found = [ours.mean_ms, ours.p50_ms, ours.p95_ms, ours.p99_ms];
    if found.iter().zip(expected).any(|(found, expected)| (found - expected).abs() > tolerance * expected.max(1e-3)) {
        differences.push(format!("{what}: mean, median, p95, p99 {found:?}, counted {expected:?}"));
    }
}

/// Compares a value that is a sum.
fn compare_sum(differences: &mut Vec<String>, what: &str, found: f64, counted: f64) {
    if (found - counted).abs() > 1e-6 * counted.abs().max(1.0) {
        differences.push(format!("{what}: {found}, counted {counted}"));
    }
}

/// The points of a series, in nanoseconds.
fn points(result: &RunResult, of: &str, metric: &str) -> Vec<(u64, f64)> {
    let series = result.series.iter().find(|series| (series.of.as_str(), series.metric.as_str()) == (of, metric));
    let points = series.map_or(&[][..], |series| series.points());
    points.iter().map(|point| ((point.time_s * 1e9).round() as u64, point.value)).collect()
}

/// The integral over time of a series of means, up to its last point, and the time of that. Of a path that was opened after
/// the flow, it begins at the first point: that is the mean of a part of an interval.
fn integral(result: &RunResult, of: &str, metric: &str) -> (f64, u64) {
    let points = points(result, of, metric);
    let is_late = points.windows(2).next().is_some_and(|two| two[0].0 > two[1].0 - two[0].0);
    let (mut sum, mut last) = (0.0, if is_late { points[0].0 } else { 0 });
    for (time, value) in points {
        sum += value * (time - last) as f64 / 1e9;
        last = time;
    }
    (sum, last)
}

/// All differences between results and what was counted.
fn differences(text: &str) -> Vec<String> {
    let (result, counted) = counted(text);
    let flow = &result.flows[0];
    let mut found = Vec::new();
    compare(&mut found, "delay", flow.delay.as_ref(), counted.delays.clone());
    compare(&mut found, "reassembly delay", flow.reassembly_delay.as_ref(), counted.reassembly_delays.clone());
    let one_way = flow.subflows.iter().filter_map(|subflow| subflow.one_way_delay.as_ref());
    let (samples, sum) = one_way
        .fold((0, 0.0), |(samples, sum), delay| (samples + delay.samples, sum + delay.mean_ms * delay.samples as f64));
    compare_sum(&mut found, "one-way delays", samples as f64, counted.one_way_delays.len() as f64);
    let expected = counted.one_way_delays.iter().sum::<u64>() as f64 / 1e6;
    compare_sum(&mut found, "sum of one-way delays", sum, expected);
    compare_states(&mut found, &result, &counted);
    compare_subflows(&mut found, &result, flow, &counted);
    found
}

/// Compares series of the flow, at each of their points.
fn compare_states(found: &mut Vec<String>, result: &RunResult, counted: &Counted) {
    let state_at = |time: u64| {
        let index = counted.states.partition_point(|(at, ..)| *at <= time);
        index.checked_sub(1).map_or((0, 0, 0, 0), |index| counted.states[index])
    };
    let read = state_at(u64::MAX).3;
    compare_sum(found, "bytes delivered", result.flows[0].bytes_delivered as f64, read as f64);
    let (mbit, last) = integral(result, "f", "goodput");
    compare_sum(found, "goodput", mbit, state_at(last).3 as f64 * 8e-6);
    let (mbit, _) = integral(result, "f", "reinjected");
    let copied: u64 = counted.subflows.iter().map(|(_, subflow)| subflow.copied_bytes).sum();
    // Copies after the last point are in no point.
    let bound = 8e-6 * copied as f64;
    if !(0.95 * bound - 0.2..=bound + 1e-6).contains(&mbit) {
        found.push(format!("reinjected: {mbit} Mbit, counted {bound}"));
    }
    let reinjected = result.flows[0].reinjected_bytes;
    if reinjected < copied || reinjected > copied && !may_copy_unsent(&result.flows[0]) {
        found.push(format!("reinjected bytes: {reinjected}, counted {copied}"));
    }
    for (metric, of_state) in
        [("outstanding", (|state| state.1) as fn((u64, u64, u64, u64)) -> u64), ("reassembly", |state| state.2)]
    {
        let points = points(result, "f", metric);
        if points.len() < 50 {
            found.push(format!("{metric}: {} points", points.len()));
        }
        let wrong =
            points.iter().find(|(time, kilobytes)| (kilobytes - of_state(state_at(*time)) as f64 / 1e3).abs() > 1e-6);
        if let Some(&(time, kilobytes)) = wrong {
            found.push(format!("{metric} at {time}: {kilobytes} kB, counted {}", of_state(state_at(time))));
        }
    }
}

/// Data that waits in the queue of a subflow and is reinjected elsewhere is a copy of what was never sent.
fn may_copy_unsent(flow: &FlowResult) -> bool {
    flow.protocol == "mptcp" && flow.scheduler.as_deref() == Some("linux-default")
}

fn compare_subflows(found: &mut Vec<String>, result: &RunResult, flow: &FlowResult, counted: &Counted) {
    let retransmissions: u64 = counted.subflows.iter().map(|(_, subflow)| subflow.retransmissions).sum();
    compare_sum(found, "retransmissions", flow.retransmissions as f64, retransmissions as f64);
    if flow.protocol == "sctp" {
        return;
    }
    if flow.subflows.len() != counted.subflows.len() {
        return found.push(format!("{} subflows, counted {}", flow.subflows.len(), counted.subflows.len()));
    }
    let mut blocked = [0.0, 0.0];
    for (number, (listed, (_, subflow))) in flow.subflows.iter().zip(&counted.subflows).enumerate() {
        let has_one_path = matches!(flow.protocol.as_str(), "tcp" | "quic");
        let of = if has_one_path { "f".to_owned() } else { format!("f/{number}") };
        if listed.copies < subflow.copies || listed.copies > subflow.copies && !may_copy_unsent(flow) {
            found.push(format!("{of} copies: {}, counted {}", listed.copies, subflow.copies));
        }
        let what = format!("{of} retransmissions");
        compare_sum(found, &what, listed.retransmissions as f64, subflow.retransmissions as f64);
        blocked[0] += integral(result, &of, "blocking").0 / 100.0;
        blocked[1] += subflow.blocked as f64 / 1e9;
    }
    // What is blocked after the last point is in no point.
    if !(blocked[0] <= blocked[1] + 1e-6 && blocked[0] >= blocked[1] - 0.11) {
        found.push(format!("blocked for {} s, counted {}", blocked[0], blocked[1]));
    }
}

/// A phone with two paths to a server that acknowledges each packet at once.
struct Paths {
    duration: &'static str,
    /// Properties of each path.
    links: [String; 2],
    flow: String,
    events: String,
    seed: u64,
}

impl Paths {
    fn text(&self) -> String {
        let Self { duration, links: [a, b], flow, events, seed } = self;
        format!(
            "duration = \"{duration}\"\nseed = {seed}\n[tcp]\ndelayed_ack = false\nsack_compression = false\n\
             [sctp]\nsack_frequency = 1\n[hosts]\nphone = [\"m1\", \"m2\"]\nserver = [\"m1\", \"m2\"]\n[links]\n\
             a = {{ between = [\"phone.m1\", \"server.m1\"], {a} }}\n\
             b = {{ between = [\"phone.m2\", \"server.m2\"], {b} }}\n\
             [flows.f]\nfrom = \"phone\"\nto = \"server\"\n{flow}\n{events}"
        )
    }
}

const MPTCP: &str = "protocol = \"mptcp\"\npath_manager = \"default\"\n\
                     subflows = [{ from = \"phone.m2\", to = \"server.m2\" }]\n";

fn down_and_up(link: &str, down_ms: u64, up_ms: u64) -> String {
    let mut events = String::new();
    for (at, what) in [(down_ms, "down"), (up_ms, "up")] {
        let _ = write!(events, "[[timeline]]\nat = \"{at} ms\"\nlink = \"{link}\"\n{what} = true\n");
    }
    events
}

#[test]
fn all_schedulers_have_the_figures_that_their_packets_tell() {
    let kinds: [(&str, &str, String); 5] = [
        ("loss = \"1 %\"", "loss = \"1 %\"", String::new()),
        ("queue = \"20 packets\"", "duplicate = \"2 %\", queue = \"10 packets\"", String::new()),
        ("", "", down_and_up("b", 1000, 2000)),
        ("loss = \"0.5 %\"", "", down_and_up("a", 800, 1300) + &down_and_up("b", 1500, 1700)),
        ("duplicate = \"5 %\"", "jitter = \"10 ms\"", String::new()),
    ];
    let congestion = ["cubic", "lia", "reno", "balia", "olia"];
    let mut wrong = Vec::new();
    for (number, scheduler) in Scheduling::NAMES.iter().enumerate() {
        for turn in 0..2 {
            let (a, b, events) = &kinds[(number + 2 * turn) % kinds.len()];
            let link = |delay: &str, more: &str| {
                let more = if more.is_empty() { String::new() } else { format!(", {more}") };
                format!("rate = \"4 Mbit/s\", delay = \"{delay}\"{more}")
            };
            let flow = format!("{MPTCP}scheduler = \"{scheduler}\"\ncongestion = \"{}\"\n", congestion[number % 5]);
            let links = [link("10 ms", a), link("50 ms", b)];
            let paths = Paths { duration: "3 s", links, flow, events: events.clone(), seed: number as u64 + 1 };
            let found = differences(&paths.text());
            if !found.is_empty() {
                wrong.push(format!("{scheduler} with {a} {b} {events:?}:\n  {}", found.join("\n  ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tcp_sctp_and_answers_have_the_figures_that_their_packets_tell() {
    let flows = [
        "protocol = \"tcp\"\n".to_owned(),
        "protocol = \"sctp\"\n".to_owned(),
        "protocol = \"sctp\"\nsctp = { cmt = true }\n".to_owned(),
        "protocol = \"sctp\"\nscheduler = \"rr\"\nsctp = { cmt = true, nr_sack = false }\n".to_owned(),
        format!("{MPTCP}requests = {{ response = \"300 kB\" }}\n"),
        format!("{MPTCP}send = \"400 kB\"\n"),
    ];
    let mut wrong = Vec::new();
    for (number, flow) in flows.into_iter().enumerate() {
        for (loss, events) in [("2 %", String::new()), ("0 %", down_and_up("a", 900, 1500))] {
            let link = |delay: u32| format!("rate = \"4 Mbit/s\", delay = \"{delay} ms\", loss = \"{loss}\"");
            let links = [link(10), link(40)];
            let paths = Paths { duration: "4 s", links, flow: flow.clone(), events, seed: number as u64 };
            let found = differences(&paths.text());
            if !found.is_empty() {
                wrong.push(format!("{flow} with {loss} {:?}:\n  {}", paths.events, found.join("\n  ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A segment is what the sender has sent, however it arrives.
#[test]
fn delays_behind_middleboxes_are_those_of_the_packets() {
    let middleboxes = [
        "{ kind = \"split\", size = 536 }",
        "{ kind = \"merge\" }",
        "{ kind = \"reorder\" }",
        "{ kind = \"strip-option\", option = \"sack\" }",
        "{ kind = \"mtu\", mtu = 1000 }",
    ];
    let mut wrong = Vec::new();
    for (number, middlebox) in middleboxes.iter().enumerate() {
        for loss in ["0 %", "1 %"] {
            let other = "rate = \"1 Mbit/s\"".to_owned();
            let link = format!("rate = \"4 Mbit/s\", delay = \"20 ms\", loss = \"{loss}\", middlebox = {middlebox}");
            let (flow, events) = ("protocol = \"tcp\"\n".to_owned(), String::new());
            let paths = Paths { duration: "3 s", links: [link, other], flow, events, seed: number as u64 };
            let (result, counted) = counted(&paths.text());
            let of = |what: &str| format!("{what} behind {middlebox} with {loss}");
            let flow = &result.flows[0];
            compare(&mut wrong, &of("delay"), flow.delay.as_ref(), counted.delays);
            compare(&mut wrong, &of("reassembly"), flow.reassembly_delay.as_ref(), counted.reassembly_delays);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn quic_over_one_path_and_over_several_has_the_figures_that_its_packets_tell() {
    let kinds: [(&str, &str, String); 4] = [
        ("loss = \"1 %\"", "loss = \"1 %\"", String::new()),
        ("queue = \"15 packets\"", "duplicate = \"2 %\"", String::new()),
        ("", "jitter = \"10 ms\"", down_and_up("b", 1000, 2000)),
        ("loss = \"0.5 %\"", "", down_and_up("a", 800, 1300) + &down_and_up("b", 1500, 1700)),
    ];
    let mpquic = "protocol = \"mpquic\"\npath_manager = \"default\"\n\
                  subflows = [{ from = \"phone.m2\", to = \"server.m2\" }]\n";
    // QUIC sends no copies.
    let schedulers = Scheduling::NAMES.iter().filter(|scheduler| !scheduler.starts_with("red"));
    let multipath = schedulers.map(|scheduler| format!("{mpquic}scheduler = \"{scheduler}\"\n"));
    let one = ["protocol = \"quic\"\n".to_owned(), "protocol = \"quic\"\ncongestion = \"cubic\"\n".to_owned()];
    let mut wrong = Vec::new();
    for (number, flow) in one.into_iter().chain(multipath).enumerate() {
        for turn in 0..2 {
            let (a, b, events) = &kinds[(number + 3 * turn) % kinds.len()];
            let link = |delay: &str, more: &str| {
                let more = if more.is_empty() { String::new() } else { format!(", {more}") };
                format!("rate = \"4 Mbit/s\", delay = \"{delay}\"{more}")
            };
            let links = [link("10 ms", a), link("50 ms", b)];
            let flow = flow.clone();
            let paths = Paths { duration: "3 s", links, flow, events: events.clone(), seed: number as u64 + 1 };
            let found = differences(&paths.text());
            if !found.is_empty() {
                wrong.push(format!("{} with {a} {b} {events:?}:\n  {}", paths.flow, found.join("\n  ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Data that is queued on a slow path is a hole for what the fast one has delivered. A count from the captures with other
/// tools found a mean of 809 ms, and 4151 and 4969 ms as 95th and 99th percentile.
#[test]
fn data_waits_also_for_data_that_was_not_sent_yet() {
    let link = |delay: u32| format!("rate = \"10 Mbit/s\", delay = \"{delay} ms\", loss = \"1 %\"");
    let flow = format!("{MPTCP}scheduler = \"linux-default\"\n");
    let paths = Paths { duration: "20 s", links: [link(20), link(60)], flow, events: String::new(), seed: 1 };
    let text = paths.text().replace("[tcp]\ndelayed_ack = false\nsack_compression = false\n", "");
    let (result, counted) = counted(&text);
    let delay = result.flows[0].delay.as_ref().expect("samples");
    assert_eq!((counted.delays.len(), delay.samples), (4978, 4978));
    for (found, expected) in [(delay.mean_ms, 809.0), (delay.p95_ms, 4151.0), (delay.p99_ms, 4969.0)] {
        // Acknowledgments may be delayed by up to 40 ms.
        assert!((found - expected).abs() < 0.01 * expected, "{delay:?}");
    }
    assert_eq!(differences(&paths.text()), Vec::<String>::new());
}
