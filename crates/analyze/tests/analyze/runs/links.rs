//! The same packets behind other headers: tunnels and link layers leave the figures as they are.

use subflow_analyze::{Capture, Clocks, analyze_captures};

use super::support::{Captured, pcap};

const ETHERNET: u32 = 1;
const RAW: u32 = 101;

/// An Ethernet header, and the EtherType of what follows.
fn ethernet(kind: u16) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind.to_be_bytes()].concat()
}

/// An IPv4 packet from 192.0.2.1 to 192.0.2.2.
fn in_ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + body.len() as u16).to_be_bytes();
    [&[0x45, 0, high, low, 0, 1, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2][..], body].concat()
}

/// VXLAN (RFC 7348) in UDP.
fn in_vxlan(frame: &[u8]) -> Vec<u8> {
    let [high, low] = (16 + frame.len() as u16).to_be_bytes();
    let ports = [0xc0, 0, 0x12, 0xb5, high, low, 0, 0];
    in_ipv4(17, &[&ports[..], &[8, 0, 0, 0, 0, 0, 7, 0], frame].concat())
}

/// Geneve (RFC 8926) with an option in UDP.
fn in_geneve(frame: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + frame.len() as u16).to_be_bytes();
    let header = [0xc0, 0, 0x17, 0xc1, high, low, 0, 0, 1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 0];
    in_ipv4(17, &[&header[..], frame].concat())
}

/// A packet that netfilter has logged: with an attribute before it, which is padded.
fn nflog(packet: &[u8], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let attribute = |kind: u16, length: usize| [bytes(length as u16 + 4), bytes(kind)].concat();
    [&[2, 0, 0, 7][..], &attribute(10, 2), b"a\0\0\0", &attribute(9, packet.len()), packet].concat()
}

/// What is in front of an IPv4 packet, by the name of the encapsulation and its link type (tcpdump.org/linktypes.html).
fn encapsulated(packet: &[u8]) -> Vec<(&'static str, u32, Vec<u8>)> {
    let behind = |header: &[u8]| [header, packet].concat();
    let padded = |header: &[u8]| [header, packet, &[0; 6]].concat();
    vec![
        ("raw", RAW, packet.to_vec()),
        ("IPv4", 228, packet.to_vec()),
        ("Ethernet", ETHERNET, behind(&ethernet(0x0800))),
        ("Ethernet with padding", ETHERNET, padded(&ethernet(0x0800))),
        ("VLAN", ETHERNET, behind(&[&ethernet(0x8100)[..], &[0, 5, 8, 0]].concat())),
        ("VLAN in VLAN", ETHERNET, behind(&[&ethernet(0x88a8)[..], &[0, 9, 0x81, 0, 0, 5, 8, 0]].concat())),
        ("cooked", 113, behind(&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0])),
        ("cooked v2", 276, behind(&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0])),
        ("cooked with VLAN", 113, behind(&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0, 0, 5, 8, 0])),
        ("loopback, little-endian", 0, behind(&[2, 0, 0, 0])),
        ("loopback, big-endian", 0, behind(&[0, 0, 0, 2])),
        ("OpenBSD's loopback", 108, behind(&[0, 0, 0, 2])),
        ("GRE", RAW, in_ipv4(47, &behind(&[0, 0, 8, 0]))),
        ("GRE with a key and a checksum", RAW, in_ipv4(47, &behind(&[0xa0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7]))),
        ("Ethernet in GRE", RAW, in_ipv4(47, &behind(&[&[0, 0, 0x65, 0x58][..], &ethernet(0x0800)].concat()))),
        ("IPv4 in IPv4", RAW, in_ipv4(4, packet)),
        ("VXLAN", ETHERNET, [ethernet(0x0800), in_vxlan(&behind(&ethernet(0x0800)))].concat()),
        ("PPP", 9, behind(&[0xff, 3, 0, 0x21])),
        ("PPP without address", 50, behind(&[0, 0x21])),
        ("PPPoE", ETHERNET, behind(&[&ethernet(0x8864)[..], &[0x11, 0, 0, 7, 0, 0, 0, 0x21]].concat())),
        ("NFLOG", 239, nflog(packet, u16::to_le_bytes)),
        ("NFLOG, big-endian", 239, nflog(packet, u16::to_be_bytes)),
        ("Geneve", ETHERNET, [ethernet(0x0800), in_geneve(&behind(&ethernet(0x0800)))].concat()),
        ("VXLAN with VLAN", RAW, in_vxlan(&behind(&[&ethernet(0x8100)[..], &[0, 5, 8, 0]].concat()))),
    ]
}

#[test]
fn links_and_tunnels_leave_all_figures_as_they_are() {
    let captured = Captured::of(
        "duration = \"10 s\"\n[hosts]\na = [\"eth0\", \"eth1\"]\nb = [\"eth0\", \"eth1\"]\n\
         [links.l]\nbetween = [\"a.eth0\", \"b.eth0\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nloss = \"2 %\"\n\
         [links.m]\nbetween = [\"a.eth1\", \"b.eth1\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nsend = \"2 MB\"\n\
         [flows.g]\nfrom = \"b\"\nto = \"a\"\nprotocol = \"sctp\"\nsend = \"200 kB\"\n",
    );
    let packets = captured.packets("a");
    let analysed = |file: Vec<u8>| {
        let capture = Capture::read("encapsulated".as_ref(), std::io::Cursor::new(file)).expect("a capture");
        analyze_captures(vec![capture], Clocks::Auto)
    };
    let plain = analysed(pcap(RAW, packets.iter().map(|packet| (packet.time, packet.bytes.clone()))));
    assert!(plain.connections.len() == 2 && plain.subflows.iter().any(|row| row.retransmissions > 5));
    let all: Vec<(u64, Vec<_>)> = packets.iter().map(|packet| (packet.time, encapsulated(&packet.bytes))).collect();
    for at in 0..all[0].1.len() {
        let (name, link_type, _) = all[0].1[at];
        let other = analysed(pcap(link_type, all.iter().map(|(time, forms)| (*time, forms[at].2.clone()))));
        assert_eq!(other.unread, [], "{name}");
        assert_eq!((&other.connections, &other.subflows), (&plain.connections, &plain.subflows), "{name}");
    }
}
