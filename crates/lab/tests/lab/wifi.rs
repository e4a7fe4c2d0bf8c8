//! WiFi links in whole scenarios: what they carry follows from the times of IEEE 802.11.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{Division, RunOptions, Undivided, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// Stations `sta0`, `sta1`, … with links to an access point, behind which is a server.
fn scenario(stations: &[&str], flows: &str) -> Scenario {
    let mut text = "duration = \"20 s\"\n[hosts]\nserver = [\"eth\"]\n".to_owned();
    (0..stations.len()).for_each(|number| text += &format!("sta{number} = [\"wifi\"]\n"));
    text += "[routers.ap]\n[links.wire]\nbetween = [\"server\", \"ap\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
    for (number, rate) in stations.iter().enumerate() {
        text += &format!("[links.air{number}]\nbetween = [\"sta{number}\", \"ap\"]\nrate = {{ {rate} }}\n");
    }
    let document = Document::parse(Path::new("wifi.toml"), text + flows).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn run(stations: &[&str], flows: &str) -> RunResult {
    simulate(&scenario(stations, flows), 1, &RunOptions::default()).expect("it runs")
}

/// A flow of UDP from each station, in IP packets of 1500 bytes, that is faster than the channel.
fn full(stations: usize) -> String {
    let flow = |number| {
        format!(
            "[flows.f{number}]\nfrom = \"sta{number}\"\nto = \"server\"\nprotocol = \"udp\"\non_off = {{ rate = \"100 Mbit/s\", packet = \"1472 B\" }}\n"
        )
    };
    (0..stations).map(flow).collect()
}

/// The IP packets of each station over the air, in Mbit/s.
fn mbit_s(result: &RunResult) -> Vec<f64> {
    let air = result.links.iter().filter(|link| link.name.starts_with("air"));
    air.map(|link| link.up.bytes as f64 * 8e-6 / 20.0).collect()
}

const N65: &str = "standard = \"802.11n\", channel = \"home\", rate = \"65 Mbit/s\"";

#[test]
fn aggregation_saves_what_each_frame_would_cost() {
    // AIFS of 43 µs, a backoff of 7.5 slots of 9 µs on average, and SIFS of 16 µs before the acknowledgment.
    let cycle = 43.0 + 7.5 * 9.0 + 16.0;
    for (more, frames, air_us, acknowledgment_us) in [
        // 1538 bytes are 48 symbols of 4 µs and 260 bits.
        (", ampdu_frames = 1", 1.0, 36.0 + 48.0 * 4.0, 28.0),
        // Frames of 1544 bytes; 5.484 ms have room for 28, of 1331 symbols.
        ("", 28.0, 36.0 + 1331.0 * 4.0, 32.0),
        (", ampdu_frames = 8", 8.0, 36.0 + 381.0 * 4.0, 32.0),
        // 72.2 Mbit/s: symbols of 3.6 µs, of which 31 frames have 1473: 5302.8 µs, in steps of 4 µs.
        (", guard_interval = \"400 ns\"", 31.0, 36.0 + 5304.0, 32.0),
    ] {
        let rate = if more.contains("400 ns") { N65.replace("65 Mbit/s", "72.2 Mbit/s") } else { N65.to_owned() };
        let found = mbit_s(&run(&[&format!("{rate}{more}")], &full(1)))[0];
        let expected = frames * 12_000.0 / (cycle + air_us + acknowledgment_us);
        assert!((found / expected - 1.0).abs() < 0.005, "{found} Mbit/s, not {expected}, with{more}");
    }
}

#[test]
fn a_link_that_fails_leaves_the_channel_to_the_others() {
    let alone = mbit_s(&run(&[N65], &full(1)))[0];
    let both = mbit_s(&run(&[N65, N65], &full(2)))[1];
    let event = |number: u32| {
        let (ms, state) = (50 * number, ["up", "down"][number as usize % 2]);
        format!("[[timeline]]\nat = \"{ms} ms\"\nlink = \"air0\"\n{state} = true\n")
    };
    let events: String = (1..400).map(event).collect();
    let found = mbit_s(&run(&[N65, N65], &(full(2) + &events)))[1];
    let expected = (alone + both) / 2.0;
    assert!((found / expected - 1.0).abs() < 0.03, "{found} of {alone} and {both}: half of the time each");
}

#[test]
fn stations_share_frames_without_aggregation_and_time_with_it() {
    let stations = |more: &str| {
        let fast = format!("{N65}{more}");
        let slow = fast.replace("65 Mbit/s", "6.5 Mbit/s");
        let result = mbit_s(&run(&[&fast, &slow], &full(2)));
        result[0] / result[1]
    };
    // The anomaly of 802.11b (Heusse et al., INFOCOM 2003): the same throughput for both.
    let frames = stations(", ampdu_frames = 1");
    assert!((frames - 1.0).abs() < 0.06, "{frames}");
    // Aggregates of 5.484 ms have 28 frames, or two at a tenth of the rate.
    let times = stations("");
    assert!((times / 14.0 - 1.0).abs() < 0.1, "{times}");
}

#[test]
fn acknowledgments_of_tcp_take_their_part_of_the_channel() {
    let tcp = "[flows.f]\nfrom = \"server\"\nto = \"sta0\"\nprotocol = \"tcp\"\n";
    let result = run(&[&format!("{N65}, ampdu_frames = 1")], tcp);
    let link = &result.links[1];
    // Without contention a packet takes AIFS, its frame, SIFS and an acknowledgment; one of 52 bytes has 3 symbols.
    let (data_us, ack_us) = (43.0 + 228.0 + 44.0, 43.0 + (36.0 + 12.0) + 44.0);
    let least = link.down.packets as f64 * data_us + link.up.packets as f64 * ack_us;
    assert!(link.up.packets > link.down.packets / 3 && least < 20e6, "{least} µs in 20 s");
    // The rest are backoffs, of 7.5 slots at most for each frame, and collisions of the two.
    let most = least + (link.down.packets + link.up.packets) as f64 * 7.5 * 9.0;
    assert!(most > 0.93 * 20e6, "{most} µs in 20 s");
    let goodput = result.flows[0].goodput_mbps;
    assert!(goodput > 20.0 && goodput < 28.0, "{goodput} Mbit/s, of 31.4 without acknowledgments");
}

#[test]
fn links_with_channels_of_their_own_do_not_contend() {
    let other = N65.replace("home", "neighbour");
    let alone = mbit_s(&run(&[N65], &full(1)))[0];
    let apart = mbit_s(&run(&[N65, &other], &full(2)));
    assert!(apart.iter().all(|one| (one / alone - 1.0).abs() < 0.005), "{apart:?}, {alone} alone");
    let together = mbit_s(&run(&[N65, N65], &full(2)));
    assert!(together.iter().sum::<f64>() < alone, "{together:?}, {alone} alone");
}

#[test]
fn a_channel_is_simulated_on_one_thread() {
    let scenario = scenario(&[N65, N65], &full(2));
    let options = RunOptions { threads: 2, ..RunOptions::default() };
    assert_eq!(Division::of(&scenario, &options), Err(Undivided::Channels));
}
