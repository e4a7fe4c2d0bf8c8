//! Video over whole networks: figures that follow from the path, and logs.

use std::path::Path;

use proptest::prelude::*;
use subflow_lab::event_log::EventFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{Division, RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A player behind a link with an RTT of 20 ms.
fn scenario(duration: &str, rate: &str, protocol: &str, video: &str, more: &str) -> Scenario {
    let text = format!(
        "duration = '{duration}'\n[hosts]\na = ['x']\nb = ['x']\n\
         [links.l]\nbetween = ['a', 'b']\nrate = '{rate}'\ndelay = '10 ms'\nqueue = '100 packets'\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = '{protocol}'\nvideo = {{ {video} }}\n{more}\n"
    );
    let document = Document::parse(Path::new("video.toml"), text).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(scenario: &Scenario) -> RunResult {
    simulate(scenario, 1, &RunOptions::default()).expect("it runs")
}

const LADDER: &str = "ladder = ['500 kbit/s', '1 Mbit/s', '2 Mbit/s', '4 Mbit/s'], chunk = '2 s', buffer = '20 s'";

#[test]
fn a_path_that_carries_the_highest_quality_gives_it_and_does_not_stall() {
    for protocol in ["tcp", "mptcp", "sctp", "quic"] {
        for abr in ["buffer", "rate", "bola"] {
            let run = run(&scenario("120 s", "20 Mbit/s", protocol, &format!("{LADDER}, abr = '{abr}'"), ""));
            let video = run.flows[0].video.as_ref().expect("it streams");
            assert_eq!((video.stalls, video.stalled_s), (0, 0.0), "{protocol} {abr}");
            assert!(video.quality_mbps.is_some_and(|quality| quality > 3.3), "{protocol} {abr}: {video:?}");
            let startup = video.startup_s.expect("it begins");
            // The lowest quality has 125 kB; of 20 Mbit/s that is 50 ms, and slow start takes three round trips more.
            assert!((0.07..0.3).contains(&startup), "{protocol} {abr}: {startup}");
            let expected = 120.0 - startup - run.exchanges[0].start_s;
            assert!((video.played_s - expected).abs() < 1e-6, "{protocol} {abr}: {video:?}");
            // The last chunk may be under way at the end.
            let completed = run.flows[0].exchanges.as_ref().map_or(0, |of| of.completed as usize);
            assert!((completed..=completed + 1).contains(&run.exchanges.len()), "{protocol} {abr}: {completed}");
        }
    }
}

#[test]
fn the_quality_settles_at_the_rung_that_the_path_carries() {
    for abr in ["rate", "bola", "buffer"] {
        let run = run(&scenario("300 s", "3 Mbit/s", "tcp", &format!("{LADDER}, abr = '{abr}'"), ""));
        let video = run.flows[0].video.as_ref().expect("it streams");
        let quality = video.quality_mbps.expect("chunks arrived");
        // Of 3 Mbit/s the rate algorithm takes the rung of 2; those of the buffer alternate between 2 and 4.
        let expected = if abr == "rate" { 1.9..=2.0 } else { 1.9..=2.9 };
        assert!(expected.contains(&quality), "{abr}: {video:?}");
        assert!(video.stalls <= 1, "{abr}: {video:?}");
    }
}

#[test]
fn a_path_that_carries_no_quality_stalls_for_what_is_missing() {
    let run = run(&scenario("200 s", "400 kbit/s", "tcp", &format!("{LADDER}, abr = 'rate', length = '40 s'"), ""));
    let video = run.flows[0].video.as_ref().expect("it streams");
    // 20 chunks of 500 kbit/s for 2 s each; the path carries 400 kbit/s · 1448/1500 = 386 kbit/s: 2.59 s for each chunk.
    assert_eq!((video.played_s, video.quality_mbps, video.switches), (40.0, Some(0.5), 0));
    assert_eq!(video.stalls, 19, "one before each chunk but the first");
    assert!((video.stalled_s - 19.0 * 0.6).abs() < 1.5, "{video:?}");
    assert!(run.flows[0].completion_s.is_some_and(|completion| (51.0..54.0).contains(&completion)));
}

#[test]
fn a_log_has_begin_and_stalls_of_playback() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { events: Some(EventFolder::new(folder.path())), ..RunOptions::default() };
    let scenario = scenario("30 s", "400 kbit/s", "tcp", &format!("{LADDER}, abr = 'rate'"), "");
    let run = simulate(&scenario, 1, &options).expect("it runs");
    let text = std::fs::read_to_string(folder.path().join("0.jsonl")).expect("a log");
    let count = |name: &str| text.lines().filter(|line| line.contains(&format!("\"application:{name}\""))).count();
    let stalls = run.flows[0].video.as_ref().map_or(0, |video| video.stalls);
    assert_eq!(count("playback_begun"), 1);
    assert!(stalls > 3 && (stalls - 1..=stalls).contains(&(count("playback_resumed") as u64)), "{stalls}");
    // Its ends choose together what is sent: they stay on one thread.
    assert!(Division::of(&scenario, &RunOptions { threads: 2, ..RunOptions::default() }).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Over any path: the session's time is startup, playback and stalls.
    #[test]
    fn every_second_of_a_session_is_startup_playback_or_stall(
        kbit in 200_u64..6000,
        loss in 0_u64..3,
        abr in prop_oneof![Just("buffer"), Just("rate"), Just("bola")],
        buffer_s in 4_u64..20,
    ) {
        let video = format!("ladder = ['300 kbit/s', '1 Mbit/s', '3 Mbit/s'], chunk = '1 s', buffer = '{buffer_s} s', abr = '{abr}'");
        let text = format!("[links.l.loss]\ndown = '{loss} %'\nup = '0 %'\n");
        let run = run(&scenario("40 s", &format!("{kbit} kbit/s"), "tcp", &video, &text));
        let video = run.flows[0].video.as_ref().expect("it streams");
        let begin = run.exchanges[0].start_s;
        if let Some(startup) = video.startup_s {
            let sum = startup + video.played_s + video.stalled_s;
            prop_assert!((sum - (40.0 - begin)).abs() < 1e-6, "{} of {}", sum, 40.0 - begin);
        }
        let arrived = run.exchanges.iter().filter(|chunk| chunk.end_s.is_some()).count() as f64;
        prop_assert!(video.played_s <= arrived && arrived <= video.played_s + buffer_s as f64 + 1e-6);
    }
}
