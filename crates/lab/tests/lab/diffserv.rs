//! Codepoints of flows, and queues that tell flows apart by them.

use std::path::Path;

use subflow_lab::capture::CaptureFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_wire::Dscp;

use crate::from_packets::packets;

/// A bulk flow over 20 Mbit/s and 20 ms one way, with `queue` in both directions, and `other` beside it.
fn beside_bulk(queue: &str, other: &str) -> RunResult {
    let text = format!(
        "duration = '10 s'\nwarm_up = '2 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[routers]\nr = {{}}\n\
         [links.access]\nbetween = ['a.eth', 'r']\nrate = '1 Gbit/s'\nqueue = 'unlimited'\n\
         [links.path]\nbetween = ['r', 'b.eth']\nrate = '20 Mbit/s'\ndelay = '20 ms'\nqueue = {queue}\n\
         [flows.bulk]\nfrom = 'a'\nto = 'b'\ncongestion = 'cubic'\n{other}"
    );
    let document = Document::parse(Path::new("diffserv.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

/// The 99th percentile of the delays of answers of 1000 bytes each 20 ms with `dscp`, in milliseconds.
fn delay_of_answers(queue: &str, dscp: &str) -> f64 {
    let answers = format!(
        "[flows.call]\nfrom = 'b'\nto = 'a'\ndscp = {dscp}\n\
         requests = {{ request = '100 B', response = '1000 B', every = '20 ms' }}\n"
    );
    let result = beside_bulk(queue, &answers);
    let call = result.flows.iter().find(|flow| flow.name == "call").expect("the call");
    call.delay.expect("data arrived").p99_ms
}

/// The propagation, a packet of the bulk flow that is being sent, and its own transmission.
const ONE_PACKET_AHEAD_MS: f64 = 20.0 + 0.6 + 0.44;

#[test]
fn a_flow_in_the_first_band_waits_for_one_packet_at_most() {
    for queue in ["{ discipline = 'prio' }", "{ discipline = 'pfifo-fast' }"] {
        // AF12 is interactive in Linux's table, the first band. EF is not.
        let first = delay_of_answers(queue, "'AF12'");
        assert!(first < ONE_PACKET_AHEAD_MS, "{queue}: {first} ms");
        for dscp in ["'EF'", "0"] {
            let second = delay_of_answers(queue, dscp);
            assert!(second > 100.0, "{queue} {dscp}: {second} ms");
        }
    }
    let queue = "{ discipline = 'prio', priomap = [1, 2, 2, 2, 0, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] }";
    let expedited = delay_of_answers(queue, "'EF'");
    assert!(expedited < ONE_PACKET_AHEAD_MS, "{expedited} ms");
}

#[test]
fn a_band_takes_what_it_wants_from_those_behind_it() {
    let goodputs = |dscp: &str| {
        let datagrams = format!(
            "[flows.call]\nfrom = 'a'\nto = 'b'\nprotocol = 'udp'\ndscp = '{dscp}'\n\
             on_off = {{ rate = '15 Mbit/s', packet = '1000 B', on = '1 s', off = '0 s' }}\n"
        );
        let result = beside_bulk("{ discipline = 'prio' }", &datagrams);
        ["bulk", "call"].map(|name| result.flows.iter().find(|flow| flow.name == name).expect("a flow").goodput_mbps)
    };
    let [bulk, call] = goodputs("AF12");
    // 1000 bytes of data are 1028 on the link; what is left carries 1448 of 1500 bytes.
    let left = (20.0 - 15.0 * 1.028) * 1448.0 / 1500.0;
    assert!((call - 15.0).abs() < 0.1 && (bulk - left).abs() < 0.3, "{bulk} {call}");
    let [bulk, call] = goodputs("AF11");
    assert!(bulk > 18.9 && call < 0.5, "bulk data comes last: {bulk} {call}");
}

#[test]
fn all_packets_of_a_flow_have_its_codepoint_in_both_directions_and_others_have_none() {
    for (protocol, keys) in [
        ("tcp", "send = '50 kB'"),
        ("mptcp", "send = '50 kB'"),
        ("sctp", "send = '50 kB'"),
        ("quic", "send = '50 kB'"),
        ("udp", "on_off = { rate = '1 Mbit/s', on = '1 s', off = '0 s' }"),
    ] {
        for [near, far] in [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]] {
            let text = format!(
                "duration = '2 s'\n[hosts]\na = {{ interfaces = [{{ name = 'eth', address = '{near}' }}] }}\n\
                 b = {{ interfaces = [{{ name = 'eth', address = '{far}' }}] }}\n\
                 [links.path]\nbetween = ['a.eth', 'b.eth']\nrate = '10 Mbit/s'\ndelay = '5 ms'\n\
                 [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = '{protocol}'\ndscp = 'AF41'\nport = 7\n{keys}\n\
                 [flows.other]\nfrom = 'b'\nto = 'a'\nport = 9\nsend = '10 kB'\n"
            );
            let document = Document::parse(Path::new("codepoints.toml"), text).expect("TOML");
            let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
            let folder = tempfile::tempdir().expect("a temporary folder");
            let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(1 << 30)));
            simulate(&scenario, 1, &RunOptions { pcap, ..RunOptions::default() }).expect("it runs");
            let captured = packets(&folder.path().join(CaptureFolder::file_name(0, "b")));
            for (_, packet) in &captured {
                let (_, from, to) = packet.body.transport_ports();
                let is_other = [from, to].contains(&9);
                let expected = if is_other { Dscp::DEFAULT } else { "AF41".parse().expect("a codepoint") };
                assert_eq!(packet.ip.dscp, expected, "{protocol}: {packet:?}");
            }
            let with = |dscp: u8| captured.iter().filter(|(_, packet)| packet.ip.dscp.value() == dscp).count();
            assert!(with(34) > 5 && with(0) > 5, "{protocol}: {} and {}", with(34), with(0));
        }
    }
}
