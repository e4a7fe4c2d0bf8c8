//! Results of transfers over SCTP.

use std::path::Path;

use subflow_lab::results::FlowResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

const SENT: u64 = 2_000_000;

/// A transfer over two different paths.
fn flow(sent: u64, switches: &str) -> FlowResult {
    flow_with(sent, switches, "")
}

/// Like [`flow`], with further tables.
fn flow_with(sent: u64, switches: &str, tables: &str) -> FlowResult {
    let text = format!(
        "duration = '60 s'\n[hosts]\na = ['x', 'y']\nb = ['x', 'y']\n[links.one]\nbetween = ['a.x', 'b.x']\n\
         rate = '10 Mbit/s'\ndelay = '10 ms'\nqueue = '50 packets'\nloss = '2 %'\n\
         [links.two]\nbetween = ['a.y', 'b.y']\n\
         rate = '5 Mbit/s'\ndelay = '40 ms'\nqueue = '50 packets'\nloss = '1 %'\n\
         [flows.f]\nfrom = 'a.x'\nto = 'b.x'\nprotocol = 'sctp'\n\
         send = '{sent} bytes'\nsctp = {{ {switches} }}\n{tables}"
    );
    let document = Document::parse(Path::new("sctp.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a valid scenario");
    simulate(&scenario, 1, &RunOptions::default()).expect("it runs").flows.remove(0)
}

#[test]
fn a_transfer_is_complete_when_the_rest_is_abandoned() {
    for switches in ["max_retransmissions = 0", "lifetime = '100 ms', send_buffer = '64 KiB'"] {
        let flow = flow(SENT, switches);
        let abandoned = flow.abandoned.expect("it may give up");
        assert!(abandoned.messages > 0 && flow.bytes_delivered < SENT, "{switches}: {abandoned:?}");
        assert!(flow.bytes_delivered + abandoned.bytes >= SENT, "{switches}: what was not given up arrives");
        assert!(flow.completion_s.is_some_and(|seconds| seconds < 20.0), "{switches}: {:?}", flow.completion_s);
        assert!(flow.goodput_mbps > 0.8, "{switches}: per second that it took, not of the run: {}", flow.goodput_mbps);
    }
}

#[test]
fn a_reliable_transfer_abandons_nothing() {
    let flow = flow(SENT, "");
    assert_eq!((flow.bytes_delivered, flow.abandoned), (SENT, None));
}

#[test]
fn more_messages_than_there_are_stream_sequence_numbers_all_arrive() {
    let sent = 70_000;
    for reach in ["", ", most_tsns_ahead = 32767", ", most_tsns_ahead = 4096"] {
        let flow = flow(sent, &format!("cmt = true, message_size = '1 byte'{reach}"));
        assert_eq!((flow.bytes_delivered, flow.ended), (sent, Some("gracefully")), "{reach}");
    }
}

#[test]
fn a_sack_ends_the_potentially_failed_state_only_if_enabled() {
    // Both paths lose everything for a while, so that data goes to potentially failed paths.
    let outage: String = ["one", "two"]
        .iter()
        .flat_map(|link| [("1 s", "100 %"), ("4 s", "none")].map(|event| (link, event)))
        .map(|(link, (at, loss))| format!("[[timeline]]\nat = '{at}'\nlink = '{link}'\nloss = '{loss}'\n"))
        .collect();
    let [by_sack, by_probe] = [true, false].map(|by_sack| {
        let switches = format!("cmt = true, sack_ends_potentially_failed = {by_sack}, probe_at_once = false");
        flow_with(4_000_000, &switches, &outage)
    });
    assert_eq!([by_sack.bytes_delivered, by_probe.bytes_delivered], [4_000_000; 2]);
    let [by_sack, by_probe] = [by_sack, by_probe].map(|flow| flow.completion_s.expect("it completes"));
    assert!(by_sack < by_probe, "{by_sack} s and {by_probe} s");
}

#[test]
fn a_path_whose_source_changes_is_named_after_all_interfaces_and_measured_whole() {
    let run = |measured: &str, events: &str| {
        let text = format!(
            "duration = '120 s'\n{measured}\n[hosts]\nphone = ['wifi', 'lte']\nserver = ['eth']\n[routers]\nr = {{}}\n[links]\n\
             wifi = {{ between = ['phone.wifi', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
             lte = {{ between = ['phone.lte', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
             s = {{ between = ['r', 'server'], rate = '100 Mbit/s' }}\n\
             [flows.up]\nfrom = 'phone'\nto = 'server'\nprotocol = 'sctp'\nsend = '20 MB'\n{events}"
        );
        let document = Document::parse(Path::new("source.toml"), text).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        simulate(&scenario, 1, &options).expect("it runs").flows.remove(0)
    };
    let event = |at: u32, what: &str| format!("[[timeline]]\nat = '{at} s'\ninterface = 'phone.wifi'\n{what} = true\n");
    let names = |flow: &FlowResult| flow.subflows.iter().map(|path| path.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&run("", "")), ["phone.wifi-server.eth"]);
    let lost = event(5, "down");
    let returned = format!("{lost}{}", event(10, "up"));
    for events in [&lost, &returned] {
        // What was delivered before measuring began does not count, whatever the source is at the end.
        let flow = run("warm_up = '3 s'", events);
        assert!((flow.subflows[0].goodput_mbps / flow.goodput_mbps - 1.0).abs() < 0.02, "{flow:?}");
        let flow = run("", events);
        assert_eq!(names(&flow), ["phone.wifi+phone.lte-server.eth"]);
        // A delay of each chunk that was sent once, from either source: 1452 bytes of 1500, and few of 20 MB are lost.
        let samples = flow.subflows[0].one_way_delay.as_ref().map_or(0, |delay| delay.samples);
        assert!((13_300..=13_775).contains(&samples), "{samples}");
    }
}
