//! Captures of a host's interfaces, directions and hours: read together, they are what one capture of the host is.

use std::path::PathBuf;

use subflow_analyze::{Analysis, Clocks, analyze, analyze_hosts};

use super::support::{Captured, Packet};

/// A phone with two interfaces that sends to a server over two paths, of which one loses packets.
const TWO_PATHS: &str = "duration = \"20 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth0\", \"eth1\"]\n\
    [links.wifi]\nbetween = [\"phone.wifi\", \"server.eth0\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"1 %\"\n\
    [links.lte]\nbetween = [\"phone.lte\", \"server.eth1\"]\nrate = \"5 Mbit/s\"\ndelay = \"30 ms\"\n\
    [flows.file]\nfrom = \"phone\"\nto = \"server\"\nsend = \"5 MB\"\n";

/// The addresses of each host's interfaces.
const PHONE: [[u8; 4]; 2] = [[10, 0, 1, 1], [10, 0, 1, 2]];
const SERVER: [[u8; 4]; 2] = [[10, 0, 2, 1], [10, 0, 2, 2]];

/// The captures of each interface of both hosts.
fn by_interface(captured: &Captured) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (host, addresses) in [("phone", PHONE), ("server", SERVER)] {
        let packets = captured.packets(host);
        for address in addresses {
            let ours = packets.iter().filter(|packet| packet.has(address));
            files.push(captured.write(&format!("{host}{}.pcap", address[3]), ours));
        }
    }
    files
}

fn assert_same(one: &Analysis, other: &Analysis) {
    assert_eq!(one.connections, other.connections);
    assert_eq!(one.subflows, other.subflows);
    assert_eq!(one.bottlenecks, other.bottlenecks);
    assert_eq!(one.sequences, other.sequences);
}

fn hosts(analysis: &Analysis) -> Vec<u16> {
    analysis.files.iter().map(|file| file.host).collect()
}

fn analysed(files: &[PathBuf]) -> Analysis {
    analyze(files, Clocks::Auto).expect("captures")
}

#[test]
fn captures_of_two_interfaces_are_one_of_their_host() {
    for protocol in ["mptcp", "sctp"] {
        let captured = Captured::of(&format!("{TWO_PATHS}protocol = \"{protocol}\"\n"));
        let files = by_interface(&captured);
        let [phone0, phone1, server0, server1] = &files[..] else { panic!("four files") };
        let whole = ["phone", "server"].map(|host| captured.write(host, captured.packets(host).iter()));
        let split = analysed(&[phone1.clone(), phone0.clone(), whole[1].clone()]);
        assert_eq!(hosts(&split), [0, 0, 1], "{protocol}");
        assert_same(&split, &analysed(&whole));
        // Whatever the order is, and though the first two have nothing in common.
        let mixed = analysed(&[phone0.clone(), server1.clone(), phone1.clone(), server0.clone()]);
        assert_eq!(hosts(&mixed), [0, 1, 0, 1], "{protocol}");
        assert_same(&mixed, &analysed(&whole));
        assert!(mixed.notes().iter().any(|note| note.contains("are of one host")), "{:?}", mixed.notes());
        let alone = analysed(&files[..2]);
        assert_eq!(hosts(&alone), [0, 0], "{protocol}");
        assert_same(&alone, &analysed(&whole[..1]));
    }
}

#[test]
fn interfaces_read_together_have_the_figures_of_the_run() {
    let captured = Captured::of(&format!("{TWO_PATHS}protocol = \"mptcp\"\n"));
    let analysis = analysed(&by_interface(&captured));
    let (flow, row) = (&captured.run.flows[0], &analysis.connections[0]);
    assert_eq!((analysis.connections.len(), row.subflows), (1, flow.subflows.len()));
    let [client, _] = &row.directions;
    assert_eq!(client.bytes, 5_000_000);
    let expected = flow.completion_s.expect("it ends");
    assert!((client.done_s.expect("it ends") - expected).abs() <= 0.01 * expected);
    let retransmissions: u64 = flow.subflows.iter().map(|subflow| subflow.retransmissions).sum();
    assert!(retransmissions > 10, "{retransmissions}");
    assert_eq!(client.retransmissions, retransmissions);
}

#[test]
fn parts_of_a_capture_and_its_directions_are_one() {
    let captured = Captured::of(
        "duration = \"20 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nloss = \"1 %\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n\
         protocol = \"tcp\"\nsend = \"5 MB\"\n",
    );
    let packets = captured.packets("a");
    let [whole_a, whole_b] = ["a", "b"].map(|host| captured.write(host, captured.packets(host).iter()));
    let whole = analysed(std::slice::from_ref(&whole_a));
    let sender: [u8; 4] = packets[0].bytes[12..16].try_into().expect("an address");
    let [sent, received] = [true, false].map(|is_sent| {
        captured.write(&format!("{is_sent}.pcap"), packets.iter().filter(|packet| packet.is_from(sender) == is_sent))
    });
    assert_same(&analysed(&[received, sent]), &whole);
    let third = packets.len() / 3;
    let parts: Vec<PathBuf> = packets
        .chunks(third)
        .enumerate()
        .map(|(at, part)| captured.write(&format!("part{at}.pcap"), part.iter()))
        .collect();
    assert_same(&analysed(&parts), &whole);
    let both = analysed(&[parts, vec![whole_b.clone()]].concat());
    assert_same(&both, &analysed(&[whole_a, whole_b]));
}

#[test]
fn both_ends_are_two_points_and_hosts_can_be_named() {
    let captured = Captured::of(&format!("{TWO_PATHS}protocol = \"mptcp\"\n"));
    let [phone, server] = ["phone", "server"].map(|host| captured.write(host, captured.packets(host).iter()));
    let both = analysed(&[phone.clone(), server.clone()]);
    assert_eq!(hosts(&both), [0, 1]);
    let files = by_interface(&captured);
    let named = analyze_hosts(&[files[..2].to_vec(), vec![server]], Clocks::Auto).expect("captures");
    assert_same(&named, &both);
    // Two interfaces whose clocks are those of their hosts: the second host's is 3 s ahead.
    let ahead = |name: &str, address: [u8; 4]| {
        let packets = captured.packets("server").into_iter().filter(|packet| packet.has(address));
        let packets: Vec<Packet> =
            packets.map(|Packet { time, bytes }| Packet { time: time + 3_000_000_000, bytes }).collect();
        captured.write(name, packets.iter())
    };
    let [eth0, eth1] = [ahead("eth0.pcap", SERVER[0]), ahead("eth1.pcap", SERVER[1])];
    let shifted = analysed(&[phone, eth1, eth0]);
    assert_eq!(hosts(&shifted), [0, 1, 1]);
    assert!((shifted.clocks[0].offset_ms - 3_000.0).abs() < 15.0, "{:?}", shifted.clocks);
    assert_eq!((shifted.clocks.len(), shifted.clocks[0].file), (1, 2));
}
