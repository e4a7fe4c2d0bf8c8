//! A scenario, its captures, the scenario that these show, and its run: how far the figures of both runs are apart.

use std::path::{Path, PathBuf};

use subflow_analyze::{Clocks, Replay, analyze, rate_trace, replay};
use subflow_lab::capture::CaptureFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone with two interfaces and a server; `flow` are the keys of its flow.
fn scenario(wifi: &str, lte: &str, flow: &str) -> Scenario {
    read(&format!(
        "duration = \"60 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth\"]\n[routers.isp]\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"isp\"]\n{wifi}\n[links.lte]\nbetween = [\"phone.lte\", \"isp\"]\n{lte}\n\
         [links.core]\nbetween = [\"isp\", \"server\"]\nrate = \"1 Gbit/s\"\ndelay = \"2 ms\"\n[flows.file]\n{flow}\n"
    ))
}

fn read(text: &str) -> Scenario {
    let document = Document::parse(Path::new("replayed.toml"), text.to_owned()).expect("it is TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The run of a scenario, and the captures of its hosts in a folder.
fn captured(scenario: &Scenario) -> (RunResult, tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(u64::MAX)));
    let run = simulate(scenario, 1, &RunOptions { pcap, ..RunOptions::default() }).expect("it runs");
    let files = scenario.hosts.iter().map(|host| folder.path().join(CaptureFolder::file_name(0, &host.name))).collect();
    (run, folder, files)
}

/// The time that the replay of the first host's capture takes, as a share of the original's.
fn replayed(original: &Scenario, host: usize) -> (f64, Replay) {
    let (run, _folder, files) = captured(original);
    let analysis = analyze(&files[host..=host], Clocks::Auto).expect("a capture");
    let replay = replay(&analysis).expect("there are connections");
    let again = simulate(&read(&replay.text), 1, &RunOptions::default()).expect("it runs");
    let time = |run: &RunResult| run.flows[0].completion_s.expect("complete");
    (time(&again) / time(&run), replay)
}

const WIFI: &str = "rate = \"20 Mbit/s\"\ndelay = \"8 ms\"\nqueue = \"60 packets\"";
const LTE: &str = "rate = \"8 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"100 packets\"";
const UPLOAD: &str = "from = \"phone.wifi\"\nto = \"server\"\nsend = \"25 MB\"\nprotocol = ";

fn assert_near((ratio, replay): &(f64, Replay), most: f64) {
    assert!((ratio - 1.0).abs() <= most, "{ratio} of the time: {}", replay.text);
}

#[test]
fn a_transfer_that_fills_its_link_takes_as_long_again() {
    let replayed = replayed(&scenario(WIFI, LTE, &format!("{UPLOAD}\"tcp\"")), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("send = \"25 MB\""), "{}", replayed.1.text);
}

#[test]
fn a_capture_at_the_receiver_is_enough() {
    assert_near(&replayed(&scenario(WIFI, LTE, &format!("{UPLOAD}\"tcp\"")), 1), 0.1);
}

#[test]
fn two_paths_have_a_link_each() {
    let replayed = replayed(&scenario(WIFI, LTE, &format!("{UPLOAD}\"mptcp\"\npath_manager = \"full-mesh\"")), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("subflows = [{ from = \"client.eth1\""), "{}", replayed.1.text);
}

#[test]
fn the_links_are_those_of_the_end_with_several_addresses() {
    let flow =
        "from = \"server\"\nto = \"phone\"\nsend = \"25 MB\"\nprotocol = \"mptcp\"\npath_manager = \"full-mesh\"";
    let replayed = replayed(&scenario(WIFI, LTE, flow), 1);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("at the server's link"), "{}", replayed.1.text);
}

#[test]
fn an_association_takes_several_paths_again() {
    let original = read(&format!(
        "duration = \"60 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth0\", \"eth1\"]\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"server.eth0\"]\n{WIFI}\n\
         [links.lte]\nbetween = [\"phone.lte\", \"server.eth1\"]\n{LTE}\n\
         [flows.file]\n{UPLOAD}\"sctp\"\nsctp = {{ cmt = true }}\n"
    ));
    let replayed = replayed(&original, 0);
    assert!(replayed.1.text.contains("sctp = { cmt = true }"), "{}", replayed.1.text);
    assert_near(&replayed, 0.15);
}

#[test]
fn random_losses_are_told_on_a_link_whose_queue_was_full_too() {
    let lossy = format!("{WIFI}\nloss = \"0.05 %\"");
    let (ratio, replay) = replayed(&scenario(&lossy, LTE, &format!("{UPLOAD}\"tcp\"")), 0);
    assert!((ratio - 1.0).abs() <= 0.25, "{ratio} of the time: {}", replay.text);
    assert!(replay.text.contains("dropped by its queue") && replay.text.contains("loss ="), "{}", replay.text);
}

#[test]
fn a_download_is_a_request_with_its_response() {
    let flow = "from = \"phone.wifi\"\nto = \"server\"\nprotocol = \"tcp\"\n\
        requests = { request = \"400 B\", response = \"20 MB\", count = 1 }";
    let replayed = replayed(&scenario(WIFI, LTE, flow), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("request = \"400 bytes\", response = \"20 MB\""), "{}", replayed.1.text);
}

#[test]
fn random_losses_are_told_from_those_of_a_full_queue() {
    let lossy = format!("{WIFI}\nloss = \"1 %\"");
    let replayed = replayed(&scenario(&lossy, LTE, &format!("{UPLOAD}\"tcp\"")), 0);
    assert_near(&replayed, 0.25);
    assert!(replayed.1.notes.iter().any(|note| note.contains("random losses")), "{:?}", replayed.1.notes);
}

#[test]
fn a_link_that_was_down_is_down_again() {
    let flow = format!("{UPLOAD}\"mptcp\"\npath_manager = \"full-mesh\"\n{}", events("down = true", "up = true"));
    let replayed = replayed(&scenario(WIFI, LTE, &flow), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("link = \"client-eth0\", down = true"), "{}", replayed.1.text);
    assert!(replayed.1.notes.iter().any(|note| note.contains("taken for down")), "{:?}", replayed.1.notes);
}

#[test]
fn a_link_whose_rate_changed_has_events() {
    let flow = format!("{UPLOAD}\"tcp\"\n{}", events("rate = \"4 Mbit/s\"", "rate = \"20 Mbit/s\""));
    let replayed = replayed(&scenario(WIFI, LTE, &flow), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.notes.iter().any(|note| note.contains("its rate changed")), "{:?}", replayed.1.notes);
}

/// Changes of the first link at 4 s and at 12 s.
fn events(first: &str, second: &str) -> String {
    format!(
        "[[timeline]]\nat = \"4 s\"\nlink = \"wifi\"\n{first}\n[[timeline]]\nat = \"12 s\"\nlink = \"wifi\"\n{second}"
    )
}

#[test]
fn requests_come_in_turn_with_the_pauses_between_them() {
    let flow = "from = \"phone.wifi\"\nto = \"server\"\nprotocol = \"tcp\"\n\
        requests = { request = \"400 B\", response = \"500 kB\", count = 20, think = \"400 ms\" }";
    for host in [0, 1] {
        let replayed = replayed(&scenario(WIFI, LTE, flow), host);
        assert_near(&replayed, 0.1);
        assert_eq!(replayed.1.text.matches("request = \"400 bytes\", response = \"500 kB\"").count(), 20);
        assert!(
            replayed.1.notes.iter().any(|note| note.contains("20 requests and responses in turn, with pauses of 7."))
        );
    }
}

#[test]
fn an_application_that_reads_slowly_does_so_again() {
    let flow = format!("{}\"tcp\"\nread = {{ rate = \"4 Mbit/s\" }}", UPLOAD.replace("25 MB", "10 MB"));
    let replayed = replayed(&scenario(WIFI, LTE, &flow), 0);
    assert_near(&replayed, 0.1);
    assert!(replayed.1.text.contains("read = { rate = "), "{}", replayed.1.text);
}

#[test]
fn the_rate_of_a_filled_link_is_a_trace_of_its_rate() {
    let (_, _folder, files) = captured(&scenario(WIFI, LTE, &format!("{UPLOAD}\"tcp\"")));
    let trace = rate_trace(&files[1..], None).expect("a capture").expect("it has packets");
    let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e5;
    let middle = trace.bytes[trace.bytes.len() / 2];
    assert!((mbit(middle) - 20.0).abs() < 0.5, "{}", mbit(middle));
    assert!(trace.to_csv().contains("time_s,rate_mbit_s\n0.0,"));
}

#[test]
fn captures_without_data_are_refused() {
    assert!(
        replay(&analyze(&[], Clocks::Auto).expect("nothing to read"))
            .expect_err("no data")
            .to_string()
            .contains("no connection")
    );
}
