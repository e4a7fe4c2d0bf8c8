//! MPTCP of version 0 (RFC 6824), which most public captures have: keys are in the SYN, and hashed in another way.

use subflow_analyze::{Analysis, Clocks, analyze};
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption};
use subflow_wire::tcp::{TcpFlags, TcpOptions, TcpSegment};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes};

use super::support::pcap;

/// A key with its token, and one with its initial data sequence number: the ends of `sha1sum` of their bytes.
const SERVER: (u64, u32) = (0x0123_4567_89ab_cdef, 0x0ca2_eadb);
const CLIENT: (u64, u64) = (0xfedc_ba98_7654_3210, 0x334f_c234_bee4_95ca);

/// A segment between the client's port and the server.
fn segment(port: u16, is_answer: bool, sequence: u32, flags: TcpFlags, options: TcpOptions, length: u32) -> Vec<u8> {
    let addresses = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().expect("an address"));
    let (ports, [source, destination]) = match is_answer {
        false => ([port, 80], addresses),
        true => ([80, port], [addresses[1], addresses[0]]),
    };
    let segment = TcpSegment {
        source_port: ports[0],
        destination_port: ports[1],
        sequence,
        flags,
        options,
        payload: Payload { stream_offset: 0, length, sum: 0 },
        ..TcpSegment::default()
    };
    let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    let mut bytes = Vec::new();
    Packet { ip, body: Body::Tcp(segment) }.emit(PayloadBytes::Zero, sequence as u16, &mut bytes).expect("it fits");
    bytes
}

fn capable(keys: &[u64]) -> TcpOptions {
    let flags = CapableFlags::default();
    let [sender_key, receiver_key] = [0, 1].map(|at| keys.get(at).copied());
    let capable = Capable { version: 0, flags, sender_key, receiver_key, data_length: None, checksum: None };
    TcpOptions { mptcp: vec![MptcpOption::Capable(capable)], ..TcpOptions::default() }
}

/// 100 bytes of data from this one on, as the first ones of a subflow.
fn mapped(data_sequence: u64) -> TcpOptions {
    let mapping = Mapping { data_sequence, wide: true, subflow_sequence: 1, length: 100, checksum: None };
    TcpOptions { dss: Some(Dss { data_ack: None, mapping: Some(mapping), data_fin: false }), ..TcpOptions::default() }
}

fn acknowledged(value: u64) -> TcpOptions {
    let data_ack = Some(DataAck { value, wide: true });
    TcpOptions { dss: Some(Dss { data_ack, mapping: None, data_fin: false }), ..TcpOptions::default() }
}

/// A connection whose second subflow carries 50 bytes that the first one has carried, and 50 others. Its SYN/ACK was not
/// captured, nor the mapping of its last data.
fn analysed() -> Analysis {
    let join = Join::Syn { backup: false, address_id: 1, token: SERVER.1, nonce: 7 };
    let join = TcpOptions { mptcp: vec![MptcpOption::Join(join)], ..TcpOptions::default() };
    let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
    let packets = [
        segment(4000, false, 1000, syn, capable(&[CLIENT.0]), 0),
        segment(4000, true, 9000, syn | ack, capable(&[SERVER.0]), 0),
        segment(4000, false, 1001, ack, capable(&[CLIENT.0, SERVER.0]), 0),
        segment(4000, false, 1001, ack, mapped(CLIENT.1 + 1), 100),
        segment(4001, false, 5000, syn, join, 0),
        segment(4001, false, 5001, ack, mapped(CLIENT.1 + 51), 100),
        segment(4001, false, 5201, ack, TcpOptions::default(), 100),
        segment(4000, false, 1101, ack | TcpFlags::FIN, acknowledged(1), 0),
        segment(4000, true, 9001, ack | TcpFlags::FIN, TcpOptions::default(), 0),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("version-0.pcap");
    let timed = packets.into_iter().enumerate().map(|(at, packet)| (at as u64 * 1_000_000, packet));
    std::fs::write(&file, pcap(101, timed)).expect("written");
    analyze(&[file], Clocks::Auto).expect("a capture")
}

#[test]
fn joins_are_subflows_of_their_connection_and_its_data_is_known() {
    let analysis = analysed();
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    assert_eq!((connection.protocol, connection.subflows, connection.outcome), ("mptcp v0", 2, "closed"));
    assert_eq!(connection.notes, ["version 0 (RFC 6824)"]);
    assert_eq!((connection.directions[0].bytes, connection.directions[0].reinjected_bytes), (150, 50));
}
