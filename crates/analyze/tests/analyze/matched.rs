//! Captures of both ends of a simulated path: a packet is the same in both.

use std::collections::BTreeMap;
use std::path::Path;

use subflow_analyze::Capture;
use subflow_lab::capture::CaptureFolder;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// Packets over a link that loses some and copies others.
fn scenario(flow: &str) -> Scenario {
    let text = format!(
        "duration = \"2 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"5 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"2 %\"\nduplicate = \"5 %\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}"
    );
    Scenario::read(&Document::parse(Path::new("matched.toml"), text).expect("TOML")).expect("a scenario")
}

/// The packets of both files, as bytes without the fields that routers change: none here.
fn captured(flow: &str) -> [Vec<Vec<u8>>; 2] {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(u64::MAX)));
    simulate(&scenario(flow), 1, &RunOptions { pcap, ..RunOptions::default() }).expect("it runs");
    ["a", "b"].map(|host| {
        let mut capture = Capture::open(&folder.path().join(CaptureFolder::file_name(0, host))).expect("a capture");
        let mut packets = Vec::new();
        while capture.advance() {
            packets.push(capture.record().bytes.to_vec());
        }
        packets
    })
}

/// The packets of a sender, by its address in the header of IPv4.
fn sent_by(packets: &[Vec<u8>], source: &[u8]) -> Vec<Vec<u8>> {
    packets.iter().filter(|packet| &packet[12..16] == source).cloned().collect()
}

fn assert_matched(flow: &str) {
    let [at_a, at_b] = captured(flow);
    let source = at_a[0][12..16].to_vec();
    let (sent, received) = (sent_by(&at_a, &source), sent_by(&at_b, &source));
    assert!(sent.len() > 100 && received.len() > 100, "{} and {}", sent.len(), received.len());
    let mut numbers: BTreeMap<&[u8], &Vec<u8>> = BTreeMap::new();
    for packet in &sent {
        assert!(numbers.insert(&packet[4..6], packet).is_none(), "two packets have one identification");
    }
    let mut arrivals: BTreeMap<&[u8], usize> = BTreeMap::new();
    for packet in &received {
        assert_eq!(numbers.get(&packet[4..6]), Some(&packet), "what arrives was sent, with the same bytes");
        *arrivals.entry(&packet[4..6]).or_default() += 1;
    }
    assert!(arrivals.values().any(|count| *count == 2), "some are copies");
    assert!(arrivals.len() < sent.len(), "some are lost");
}

#[test]
fn segments_and_their_copies_have_the_identification_that_they_were_sent_with() {
    assert_matched("protocol = \"tcp\"\n");
}

#[test]
fn datagrams_begin_with_their_place_in_the_stream() {
    let flow = "protocol = \"udp\"\non_off = { rate = \"2 Mbit/s\", packet = \"1000 bytes\" }\n";
    assert_matched(flow);
    let [at_a, _] = captured(flow);
    let places: Vec<u64> =
        at_a.iter().map(|packet| u64::from_be_bytes(packet[28..36].try_into().expect("eight bytes"))).collect();
    assert_eq!(places[..3], [0, 1000, 2000]);
}
