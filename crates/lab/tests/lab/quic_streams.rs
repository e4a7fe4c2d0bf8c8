//! Several streams of a connection of QUIC: each is complete by itself, in the order of priorities.

use std::path::Path;

use subflow_lab::event_log::EventFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A flow over a link of 10 Mbit/s with an RTT of 40 ms.
fn scenario(protocol: &str, loss: &str, traffic: &str) -> Scenario {
    let text = format!(
        "duration = '20 s'\n[hosts]\na = ['x']\nb = ['x']\n\
         [links.l]\nbetween = ['a', 'b']\nrate = '10 Mbit/s'\ndelay = '20 ms'\nqueue = '200 packets'\nloss = '{loss}'\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = '{protocol}'\ncongestion = 'cubic'\n{traffic}\n"
    );
    let document = Document::parse(Path::new("streams.toml"), text).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(protocol: &str, loss: &str, traffic: &str, options: &RunOptions) -> RunResult {
    simulate(&scenario(protocol, loss, traffic), 1, options).expect("it runs")
}

/// The numbers of the exchanges in the order of their ends, and these ends in seconds.
fn ends(run: &RunResult) -> Vec<(u64, f64)> {
    let mut ends: Vec<_> = run.exchanges.iter().filter_map(|it| Some((it.number, it.end_s?))).collect();
    ends.sort_by(|one, other| one.1.total_cmp(&other.1));
    ends
}

#[test]
fn streams_end_in_the_order_of_their_urgency_and_those_that_take_turns_together() {
    let listed = "streams = [{ send = '500 kB', urgency = 5 }, { send = '500 kB', urgency = 1, count = 2 }]";
    let one_by_one = run("quic", "0 %", listed, &RunOptions::default());
    let order: Vec<u64> = ends(&one_by_one).iter().map(|it| it.0).collect();
    assert_eq!(order, [2, 3, 1]);
    // A third of the time each: 500 kB with headers at 10 Mbit/s take 0.42 s.
    let times: Vec<f64> = ends(&one_by_one).iter().map(|it| it.1).collect();
    let apart: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(apart.iter().all(|apart| (0.40..0.44).contains(apart)), "{times:?}");
    let flow = &one_by_one.flows[0];
    assert_eq!((flow.bytes_delivered, flow.ended), (1_500_000, Some("gracefully")));
    assert_eq!(flow.completion_s, times.last().copied());
    let turns = "streams = [{ send = '500 kB', count = 3, incremental = true }]";
    let together: Vec<f64> = ends(&run("quic", "0 %", turns, &RunOptions::default())).iter().map(|it| it.1).collect();
    assert!(together[2] - together[0] < 0.01, "{together:?}");
    assert!((together[2] - times[2]).abs() < 0.01, "the same data: {together:?}, {times:?}");
}

#[test]
fn a_stream_is_written_at_its_time() {
    let listed = "send_after = '1 s'\nstreams = [{ send = '1 kB', at = '500 ms' }, { send = '1 kB' }]";
    let run = run("mpquic", "0 %", listed, &RunOptions::default());
    let starts: Vec<_> = run.exchanges.iter().map(|it| (it.number, it.start_s)).collect();
    assert_eq!(starts, [(1, 1.0), (2, 1.5)], "numbers follow the times");
    // A packet of some 1070 bytes takes 0.9 ms.
    let durations: Vec<f64> = run.exchanges.iter().filter_map(|it| it.duration_ms()).collect();
    assert!(durations.len() == 2 && durations.iter().all(|ms| (20.8..21.0).contains(ms)), "{durations:?}");
}

#[test]
fn on_streams_of_their_own_responses_do_not_wait_for_each_other() {
    let requests = |streams: &str| {
        let traffic = format!(
            "requests = {{ response = '2 kB', every = '8 ms', count = 1000, streams = '{streams}', deadline = '150 ms' }}"
        );
        run("quic", "0.5 %", &traffic, &RunOptions { series: true, ..RunOptions::default() })
    };
    let (one, each) = (requests("one"), requests("each"));
    for run in [&one, &each] {
        assert_eq!((run.exchanges.len(), run.flows[0].ended), (1000, Some("gracefully")));
        assert_eq!(run.flows[0].bytes_delivered, 2_000_000);
    }
    let in_order = |run: &RunResult| ends(run).windows(2).all(|pair| pair[0].0 < pair[1].0);
    assert!(in_order(&one) && !in_order(&each));
    let waited = |run: &RunResult| run.flows[0].reassembly_delay.as_ref().expect("it was recorded").mean_ms;
    // Only the two packets of a response wait for each other.
    assert!(waited(&each) < waited(&one) / 4.0, "{:?} against {:?}", waited(&each), waited(&one));
}

#[test]
fn a_log_names_streams_as_exchanges() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { events: Some(EventFolder::new(folder.path())), ..RunOptions::default() };
    run("quic", "0 %", "streams = [{ send = '10 kB', count = 5 }]", &options);
    let text = std::fs::read_to_string(folder.path().join("0.jsonl")).expect("a log");
    let count = |name: &str| text.lines().filter(|line| line.contains(&format!("\"application:{name}\""))).count();
    assert_eq!(["stream_written", "first_byte", "exchange_completed", "completed"].map(count), [5, 5, 5, 1]);
    // Places of all streams together, not offsets of each: nothing is sent twice.
    let repeats = ["\"kind\":\"copy\"", "\"kind\":\"retransmission\""];
    assert!(!text.lines().any(|line| repeats.iter().any(|kind| line.contains(kind))));
}
