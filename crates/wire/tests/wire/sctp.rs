//! SCTP: golden bytes, written and parsed, and malformed packets and chunks.

use subflow_wire::sctp::{Chunk, RawChunk, SctpPacket, UdpEncapsulation};
use subflow_wire::{Body, EmitError, Header, Packet, ParseError, Payload, PayloadBytes, checksum};

use crate::common::sctp_specimens::{data, forward_tsn, init, nr_sack, sack, sctp, sctp_packets_of_every_kind};
use crate::common::{hex, ipv4_header, to_hex};

/// `payload` is the user data of all DATA chunks.
#[track_caller]
fn both_ways(packet: &SctpPacket, payload: &[u8], golden: &str) {
    let golden = hex(golden);
    let mut bytes = Vec::new();
    packet.emit(PayloadBytes::Bytes(payload), &mut bytes).unwrap();
    assert_eq!(to_hex(&bytes), to_hex(&golden));
    assert_eq!(packet.length() as usize, golden.len());
    assert_eq!(SctpPacket::parse(&golden).as_ref(), Ok(packet));
    let attached: Vec<u8> = packet.payload_ranges().flat_map(|range| golden[range].to_vec()).collect();
    assert_eq!(attached, payload);
}

/// Sets the correct CRC32c.
fn repair(bytes: &mut [u8]) {
    bytes[8..12].fill(0);
    let crc = crc32c::crc32c(bytes);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
}

const HEADER: &str = "7530 9c41 a1b2c3d4";

#[test]
fn data_chunks_carry_their_bytes_and_padding() {
    let mut first = data(0x65, 3);
    first.payload.sum = checksum::ones_complement_sum(b"abc");
    let mut second = data(0x66, 4);
    second.payload.sum = checksum::ones_complement_sum(b"defg");
    (second.begin, second.unordered, second.immediate) = (false, true, true);
    let packet = sctp(30_000, None, vec![Chunk::Data(first), Chunk::Data(second)]);
    both_ways(
        &packet,
        b"abcdefg",
        &format!(
            "{HEADER} d8c90e52
             00 03 0013 00000065 0003 0009 0a0b0c0d 616263 00
             00 0d 0014 00000066 0003 0009 0a0b0c0d 64656667"
        ),
    );
}

#[test]
fn init_lists_addresses_and_extensions() {
    both_ways(
        &sctp(30_000, None, vec![Chunk::Init(Box::new(init()))]),
        b"",
        "7530 9c41 00000000 bd27e36c
         01 00 005b 01020304 00020000 000a ffff 00000064
         0005 0008 c0000201
         0006 0014 20010db8000000000000000000000007
         0009 0008 000001f4
         000c 000a 0005 0006 0005 0000
         8000 0004
         c000 0004
         c006 0008 00000007
         8008 0007 c0 10 82 00",
    );
}

#[test]
fn sack_counts_packets_in_its_flags() {
    both_ways(
        &sctp(30_000, None, vec![Chunk::Sack(sack())]),
        b"",
        &format!("{HEADER} 907bbda1 03 80 001c 00000063 0000fde8 0002 0001 0002 0003 0005 0005 00000062"),
    );
}

#[test]
fn nr_sack_lists_non_renegable_blocks() {
    both_ways(
        &sctp(30_000, None, vec![Chunk::NrSack(nr_sack())]),
        b"",
        &format!(
            "{HEADER} 0efe7fb1 10 80 0024 00000063 0000fde8 0002 0001 0001 0000
             0002 0003 0005 0005 0007 0009 00000062"
        ),
    );
}

#[test]
fn forward_tsn_names_the_streams_it_skips() {
    both_ways(
        &sctp(30_000, None, vec![Chunk::ForwardTsn(forward_tsn())]),
        b"",
        &format!("{HEADER} 0fbe9490 c0 00 0010 00000078 0001 0005 0002 0006"),
    );
}

#[test]
fn small_chunks_share_a_packet() {
    let chunks = vec![
        Chunk::Heartbeat([1, 2, 3, 4, 5][..].into()),
        Chunk::Shutdown { cumulative_tsn: 7 },
        Chunk::ShutdownComplete { reflected: true },
        Chunk::CookieEcho([9, 8, 7][..].into()),
        Chunk::CookieAck,
    ];
    both_ways(
        &sctp(30_000, None, chunks),
        b"",
        &format!(
            "{HEADER} 06dedebf 04 00 000d 0001 0009 0102030405 000000
             07 00 0008 00000007 0e 01 0004 0a 00 0007 090807 00 0b 00 0004"
        ),
    );
}

#[test]
fn every_kind_of_chunk_parses_to_what_was_written() {
    for (name, packet) in sctp_packets_of_every_kind() {
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Zero, 0, &mut bytes).unwrap();
        assert_eq!(packet.wire_length() as usize, bytes.len(), "{name}");
        let (parsed, _) = Packet::parse(&bytes).unwrap();
        assert_eq!(parsed, packet, "{name}");
    }
}

#[test]
fn udp_carries_sctp_on_its_port_and_only_with_a_good_crc() {
    let ports = UdpEncapsulation { source_port: 50_000, destination_port: 9899 };
    let packet =
        Packet { ip: ipv4_header(), body: Body::Sctp(sctp(30_000, Some(ports), vec![Chunk::Data(data(1, 5))])) };
    let mut bytes = Vec::new();
    packet.emit(PayloadBytes::Bytes(&[0; 5]), 0, &mut bytes).unwrap();
    assert_eq!(bytes[9], 17, "the protocol field is UDP");
    assert_eq!(Packet::parse(&bytes), Ok((packet, 28..bytes.len())));

    // Another port, or bytes that are not SCTP. The UDP checksum is set to zero, which means none.
    for (at, what) in [(23, "port"), (bytes.len() - 4, "user data")] {
        let mut other = bytes.clone();
        other[at] ^= 1;
        other[26..28].fill(0);
        assert!(matches!(Packet::parse(&other).unwrap().0.body, Body::Udp(_)), "{what}");
    }
}

#[test]
fn a_wrong_crc_is_refused() {
    let mut bytes = Vec::new();
    sctp(30_000, None, vec![Chunk::Sack(sack())]).emit(PayloadBytes::Zero, &mut bytes).unwrap();
    bytes[20] ^= 1;
    assert_eq!(SctpPacket::parse(&bytes), Err(ParseError::Checksum(Header::Sctp)));
}

#[test]
fn a_chunk_that_reaches_beyond_the_packet_is_refused() {
    let refused = |bytes: &str| {
        let mut bytes = hex(&format!("{HEADER} 00000000 {bytes}"));
        repair(&mut bytes);
        SctpPacket::parse(&bytes).unwrap_err()
    };
    let truncated = |needed, available| ParseError::Truncated { header: Header::SctpChunk, needed, available };
    assert_eq!(refused("0b 00 0008"), truncated(8, 4));
    assert_eq!(refused("0b 00 0004 0b 00"), truncated(4, 2));
    let too_short = ParseError::LengthField { header: Header::SctpChunk, stated: 3, minimum: 4 };
    assert_eq!(refused("0b 00 0003"), too_short);
    assert_eq!(
        SctpPacket::parse(&[0; 11]),
        Err(ParseError::Truncated { header: Header::Sctp, needed: 12, available: 11 })
    );
}

#[test]
fn unknown_and_malformed_chunks_are_kept_for_the_association() {
    let parsed = |chunk: &str| {
        let mut bytes = hex(&format!("{HEADER} 00000000 {chunk}"));
        repair(&mut bytes);
        SctpPacket::parse(&bytes).unwrap().chunks.remove(0)
    };
    let raw = |kind, flags, value: &[u8]| RawChunk { kind, flags, value: value.into() };
    let unknown = raw(0xc1, 0x22, &[1, 2]);
    assert!(unknown.is_skippable() && unknown.is_reportable());
    assert_eq!(parsed("c1 22 0006 0102 0000"), Chunk::Unknown(unknown));

    for (what, chunk) in [
        ("SACK with more gaps than bytes", "03 00 0010 00000001 00000002 ffff 0000"),
        ("SACK cut short", "03 00 0008 00000001"),
        ("NR-SACK whose counts are too small", "10 00 0018 00000001 00000002 0000 0000 0000 0000 0001 0001"),
        ("INIT without its fixed part", "01 00 0008 00000001"),
        (
            "INIT with an address of five bytes",
            "01 00 001d 00000001 00000002 0001 0001 00000003 0005 0009 0102030405 000000",
        ),
        ("INIT with a parameter of no length", "01 00 0018 00000001 00000002 0001 0001 00000003 0005 0000"),
        ("HEARTBEAT without information", "04 00 0004"),
        ("DATA without its fixed part", "00 03 0008 00000001"),
        ("SHUTDOWN without a TSN", "07 00 0004"),
        ("COOKIE ACK with a value", "0b 00 0008 00000000"),
        ("FORWARD-TSN with half a stream", "c0 00 000a 00000001 0001 0000"),
        ("ERROR with a cause beyond its end", "09 00 0008 000c 0009"),
    ] {
        assert!(matches!(parsed(chunk), Chunk::Malformed(_)), "{what}: {:?}", parsed(chunk));
    }
}

#[test]
fn a_packet_that_cannot_be_written_is_an_error() {
    let mut out = vec![1];
    let two = sctp(30_000, None, vec![Chunk::Data(data(1, 5)), Chunk::Data(data(2, 5))]);
    assert_eq!(
        two.emit(PayloadBytes::Bytes(&[0; 9]), &mut out),
        Err(EmitError::PayloadLength { expected: 10, given: 9 })
    );
    let long = sctp(30_000, None, vec![Chunk::CookieEcho(vec![0; 65_532].into())]);
    assert_eq!(long.emit(PayloadBytes::Zero, &mut out), Err(EmitError::ChunkTooLong { needed: 65_536 }));
    let mut large = data(1, 0);
    large.payload = Payload { length: 65_530, ..Payload::default() };
    let packet = Packet { ip: ipv4_header(), body: Body::Sctp(sctp(30_000, None, vec![Chunk::Data(large)])) };
    assert!(packet.emit(PayloadBytes::Zero, 0, &mut out).is_err());
    assert_eq!(out, [1], "nothing was written");
}
