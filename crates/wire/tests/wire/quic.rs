//! QUIC: golden bytes, written and parsed, and malformed packets and frames.

use subflow_wire::quic::{
    AckFrame, AckRange, CloseCause, CloseFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, EcnCounts, Frame,
    NewConnectionIdFrame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, StreamFrame, StreamId,
    TransportParameters,
};
use subflow_wire::{Body, EmitError, Header, Packet, ParseError, Payload, PayloadBytes, checksum};

use crate::common::{emit, hex, ipv4_header, to_hex};

/// The payload of the client's Initial packet in appendix A.2 of RFC 9001.
const CLIENT_HELLO: &str = "
    060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868
    04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578
    616d706c652e636f6dff01000100000a00080006001d00170018001000070005
    04616c706e000500050100000000003300260024001d00209370b2c9caa47fba
    baf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b000302030400
    0d0010000e0403050306030203080408050806002d00020101001c0002400100
    3900320408ffffffffffffffff05048000ffff07048000ffff08011001048000
    75300901100f088394c8f03e51570806048000ffff";
/// That of the server in appendix A.3.
const SERVER_HELLO: &str = "
    02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739
    88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94
    0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00
    020304";
const TAG: [u8; 16] = [0; 16];

fn id(text: &str) -> ConnectionId {
    ConnectionId::new(&hex(text)).expect("it is short enough")
}

fn datagram(packets: Vec<QuicPacket>) -> QuicDatagram {
    QuicDatagram { source_port: 50_000, destination_port: 443, packets }
}

fn parsed(bytes: &[u8]) -> Result<QuicDatagram, ParseError> {
    QuicDatagram::parse(50_000, 443, bytes, 0).map(|(datagram, _)| datagram)
}

/// The packet that `bytes` are, which are written from it again. A short header has no connection identifier.
#[track_caller]
fn one_packet(bytes: &[u8], payload: &[u8]) -> QuicPacket {
    let (mut datagram, ranges) = QuicDatagram::parse(50_000, 443, bytes, 0).expect("a good packet");
    assert_eq!(datagram.length() as usize, bytes.len());
    assert_eq!(datagram.payload_ranges().collect::<Vec<_>>(), ranges);
    let attached: Vec<u8> = ranges.into_iter().flat_map(|range| bytes[range].to_vec()).collect();
    assert_eq!(attached, payload);
    let mut out = Vec::new();
    datagram.emit(PayloadBytes::Bytes(payload), &mut out).expect("it can be written");
    assert_eq!(to_hex(&out), to_hex(bytes));
    assert_eq!(datagram.packets.len(), 1);
    datagram.packets.remove(0)
}

fn one_rtt(frames: Vec<Frame>) -> QuicPacket {
    let number = PacketNumber::encode(7, Some(6));
    QuicPacket { header: PacketHeader::OneRtt { destination: id(""), spin: false, key_phase: false, number }, frames }
}

#[test]
fn the_clients_initial_packet_of_rfc_9001() {
    let mut bytes = hex("c300000001088394c8f03e5157080000449e00000002");
    bytes.extend(hex(CLIENT_HELLO));
    bytes.resize(1200, 0);
    let packet = one_packet(&bytes, &[]);
    let PacketHeader::Initial { version: 1, destination, source, token, number } = &packet.header else {
        panic!("{packet:?}")
    };
    assert_eq!((*destination, *source, token.len()), (id("8394c8f03e515708"), id(""), 0));
    assert_eq!((number.length(), number.expand(None)), (4, 2));
    let [Frame::Crypto(CryptoFrame { offset: 0, data }), Frame::Padding(917)] = &packet.frames[..] else {
        panic!("{packet:?}")
    };
    let parameters = TransportParameters::parse(&data[data.len() - 50..]).expect("good parameters");
    let expected = TransportParameters {
        initial_max_data: 0x3fff_ffff_ffff_ffff,
        initial_max_stream_data_bidi_local: 65_535,
        initial_max_stream_data_bidi_remote: 65_535,
        initial_max_stream_data_uni: 65_535,
        initial_max_streams_bidi: 16,
        initial_max_streams_uni: 16,
        max_idle_timeout: 30_000,
        initial_source_connection_id: Some(id("8394c8f03e515708")),
        ..TransportParameters::default()
    };
    assert_eq!(parameters, expected);
}

#[test]
fn the_servers_initial_packet_of_rfc_9001() {
    let mut bytes = hex("c1000000010008f067a5502a4262b50040750001");
    bytes.extend(hex(SERVER_HELLO));
    bytes.extend(TAG);
    let packet = one_packet(&bytes, &[]);
    assert_eq!(packet.header.number().map(|number| (number.length(), number.truncated())), Some((2, 1)));
    let [Frame::Ack(ack), Frame::Crypto(crypto)] = &packet.frames[..] else { panic!("{packet:?}") };
    assert_eq!((ack, crypto.offset, crypto.data.len()), (&AckFrame::default(), 0, 90));
}

#[test]
fn the_retry_packet_of_rfc_9001() {
    let bytes = hex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba");
    let datagram = parsed(&bytes).expect("a good packet");
    let [QuicPacket { header: PacketHeader::Retry { version: 1, destination, source, token, integrity_tag }, frames }] =
        &datagram.packets[..]
    else {
        panic!("{datagram:?}")
    };
    assert_eq!((*destination, *source, &token[..], frames.len()), (id(""), id("f067a5502a4262b5"), &b"token"[..], 0));
    assert_eq!(integrity_tag[..], hex("04a265ba2eff4d829058fb3f0f2496ba"));
    let mut out = Vec::new();
    datagram.emit(PayloadBytes::Zero, &mut out).expect("it can be written");
    assert_eq!((out[0], &out[1..]), (0xf0, &bytes[1..]), "four bits of the first byte are unused");
}

#[test]
fn the_short_header_of_rfc_9001() {
    let mut bytes = hex("4200bff401");
    bytes.extend(TAG);
    let packet = one_packet(&bytes, &[]);
    assert_eq!(packet.frames, [Frame::Ping]);
    assert_eq!(packet.header.number().map(|number| number.expand(Some(654_360_563))), Some(654_360_564));
}

#[test]
fn version_negotiation_lists_versions() {
    let packet = one_packet(&hex("c000000000 02abcd 03010203 00000001 0a1a2a3a"), &[]);
    let header = PacketHeader::VersionNegotiation {
        destination: id("abcd"),
        source: id("010203"),
        versions: vec![1, 0x0a1a_2a3a],
    };
    assert_eq!(packet, QuicPacket { header, frames: Vec::new() });
}

fn golden_frames() -> Vec<(&'static str, Frame)> {
    let ranges = [AckRange { gap: 1, length: 0 }, AckRange { gap: 70, length: 2 }];
    let ack = AckFrame { largest: 300, delay: 25, first_range: 3, ranges: ranges.into(), ..AckFrame::default() };
    let ecn = Some(EcnCounts { ect0: 5, ect1: 0, ce: 64 });
    let token: [u8; 16] = core::array::from_fn(|index| index as u8);
    let new_id = |path| {
        let connection_id = id("aabbccdd");
        let frame =
            NewConnectionIdFrame { path, sequence: 3, retire_prior_to: 1, connection_id, stateless_reset_token: token };
        Frame::NewConnectionId(Box::new(frame))
    };
    let close = |cause, reason: &[u8]| Frame::ConnectionClose(Box::new(CloseFrame { cause, reason: reason.into() }));
    let stream = StreamId::new(1, true, Direction::Unidirectional);
    vec![
        ("01", Frame::Ping),
        ("000000", Frame::Padding(3)),
        ("02 412c 19 02 03 01 00 4046 02", Frame::Ack(ack.clone())),
        ("03 412c 19 02 03 01 00 4046 02 05 00 4040", Frame::Ack(AckFrame { ecn, ..ack.clone() })),
        ("3e 09 412c 19 02 03 01 00 4046 02", Frame::Ack(AckFrame { path: Some(9), ..ack.clone() })),
        ("3f 09 412c 19 02 03 01 00 4046 02 05 00 4040", Frame::Ack(AckFrame { path: Some(9), ecn, ..ack })),
        ("04 07 4100 9d7f3e7d", Frame::ResetStream { stream, error_code: 256, final_size: 494_878_333 }),
        ("05 07 01", Frame::StopSending { stream, error_code: 1 }),
        ("06 05 02 0708", Frame::Crypto(CryptoFrame { offset: 5, data: [7, 8].into() })),
        ("07 02 0102", Frame::NewToken([1, 2].into())),
        ("10 44d2", Frame::MaxData(1234)),
        ("11 07 05", Frame::MaxStreamData { stream, maximum: 5 }),
        ("12 05", Frame::MaxStreams { direction: Direction::Bidirectional, maximum: 5 }),
        ("13 d000000000000000", Frame::MaxStreams { direction: Direction::Unidirectional, maximum: 1 << 60 }),
        ("14 05", Frame::DataBlocked(5)),
        ("15 07 05", Frame::StreamDataBlocked { stream, limit: 5 }),
        ("16 05", Frame::StreamsBlocked { direction: Direction::Bidirectional, limit: 5 }),
        ("17 05", Frame::StreamsBlocked { direction: Direction::Unidirectional, limit: 5 }),
        ("18 03 01 04 aabbccdd 000102030405060708090a0b0c0d0e0f", new_id(None)),
        ("7e78 02 03 01 04 aabbccdd 000102030405060708090a0b0c0d0e0f", new_id(Some(2))),
        ("19 03", Frame::RetireConnectionId { path: None, sequence: 3 }),
        ("7e79 02 03", Frame::RetireConnectionId { path: Some(2), sequence: 3 }),
        ("1a 0001020304050607", Frame::PathChallenge([0, 1, 2, 3, 4, 5, 6, 7])),
        ("1b 0001020304050607", Frame::PathResponse([0, 1, 2, 3, 4, 5, 6, 7])),
        ("1c 07 08 02 6e6f", close(CloseCause::Transport { error_code: 7, frame_type: 8 }, b"no")),
        ("1d 4100 00", close(CloseCause::Application { error_code: 256 }, b"")),
        ("1e", Frame::HandshakeDone),
        ("1f", Frame::ImmediateAck),
        (
            "40af 01 0a 80006590 03",
            Frame::AckFrequency {
                sequence: 1,
                eliciting_threshold: 10,
                max_ack_delay: 26_000,
                reordering_threshold: 3,
            },
        ),
        ("7e75 02 3e", Frame::PathAbandon { path: 2, error_code: 0x3e }),
        ("7e76 02 05", Frame::PathStatus { path: 2, sequence: 5, available: false }),
        ("7e77 02 05", Frame::PathStatus { path: 2, sequence: 5, available: true }),
        ("7e7a 05", Frame::MaxPathId(5)),
        ("7e7b 05", Frame::PathsBlocked(5)),
        ("7e7c 05 01", Frame::PathCidsBlocked { path: 5, next_sequence: 1 }),
    ]
}

#[test]
fn every_frame_without_application_data_goes_both_ways() {
    for (golden, frame) in golden_frames() {
        let mut bytes = hex("40 07");
        bytes.extend(hex(golden));
        assert_eq!(frame.length() as usize, bytes.len() - 2, "{frame:?}");
        bytes.extend(TAG);
        assert_eq!(one_packet(&bytes, &[]), one_rtt(vec![frame]));
    }
}

#[test]
fn frames_with_application_data_carry_their_bytes() {
    let payload = |bytes: &[u8]| Payload {
        length: bytes.len() as u32,
        sum: checksum::ones_complement_sum(bytes),
        ..Payload::default()
    };
    let stream =
        StreamFrame { stream: StreamId(4), has_length: true, payload: payload(b"abc"), ..StreamFrame::default() };
    let last = StreamFrame { offset: 1000, fin: true, has_length: false, payload: payload(b"de"), ..stream };
    let datagram = |has_length, bytes| Frame::Datagram(DatagramFrame { has_length, payload: payload(bytes) });
    for (golden, frames, data) in [
        ("0a 04 03 616263 31 01 78", vec![Frame::Stream(stream), datagram(true, b"x")], &b"abcx"[..]),
        ("01 0d 04 43e8 6465", vec![Frame::Ping, Frame::Stream(last)], b"de"),
        ("0a 04 03 616263 30 787a", vec![Frame::Stream(stream), datagram(false, b"xz")], b"abcxz"),
    ] {
        let mut bytes = hex("40 07");
        bytes.extend(hex(golden));
        bytes.extend(TAG);
        assert_eq!(one_packet(&bytes, data), one_rtt(frames));
    }
}

#[test]
fn packets_share_a_datagram_of_udp() {
    let (source, destination) = (id("0102"), id("030405"));
    let number = PacketNumber::encode(0, None);
    let crypto = |length| Frame::Crypto(CryptoFrame { offset: 0, data: vec![0; length].into() });
    let initial = PacketHeader::Initial { version: 1, destination, source, token: [9].into(), number };
    let handshake = PacketHeader::Handshake { version: 1, destination, source, number };
    let stream = StreamFrame { payload: Payload { length: 3, ..Payload::default() }, ..StreamFrame::default() };
    let mut short = one_rtt(vec![Frame::Stream(stream)]);
    short.header = PacketHeader::OneRtt { destination, spin: true, key_phase: true, number };
    let quic = datagram(vec![
        QuicPacket { header: initial, frames: vec![crypto(90)] },
        QuicPacket { header: handshake, frames: vec![crypto(200)] },
        short,
    ]);
    let packet = Packet { ip: ipv4_header(), body: Body::Quic(quic.clone()) };
    let bytes = emit(&packet, PayloadBytes::Bytes(&[0; 3]));
    assert_eq!(bytes.len(), packet.wire_length() as usize);
    let (as_udp, place) = Packet::parse(&bytes).expect("a good packet");
    let Body::Udp(udp) = as_udp.body else { panic!("{as_udp:?}") };
    assert_eq!((udp.source_port, udp.destination_port, udp.payload.length), (50_000, 443, quic.length()));
    assert_eq!(packet.body.transport_ports(), (17, 50_000, 443));
    let ranges = quic.payload_ranges().collect();
    assert_eq!(QuicDatagram::parse(50_000, 443, &bytes[place], 3), Ok((quic, ranges)));
}

#[test]
fn data_is_found_behind_integers_in_a_longer_form() {
    // The length of the packet in four bytes, the stream in two and the length of its data in eight.
    let mut bytes = hex("e0 00000001 00 00 8000001f 07 0a 4004 c000000000000003 616263");
    bytes.extend(TAG);
    bytes.extend(hex("40 07 08 04 7879"));
    bytes.extend(TAG);
    let (datagram, ranges) = QuicDatagram::parse(50_000, 443, &bytes, 0).expect("good packets");
    let lengths: Vec<u32> = datagram.payloads().map(|payload| payload.length).collect();
    assert_eq!((lengths, &ranges[..]), (vec![3, 2], &[23..26, 46..48][..]));
    assert_ne!(datagram.payload_ranges().collect::<Vec<_>>(), ranges);
}

#[test]
fn a_malformed_first_packet_is_refused() {
    let refused = |bytes: &str| parsed(&hex(bytes)).expect_err(bytes);
    let field = |field| ParseError::Field { header: Header::Quic, field };
    let truncated = |needed, available| ParseError::Truncated { header: Header::Quic, needed, available };
    assert_eq!(refused(""), truncated(1, 0));
    assert_eq!(refused("00 07 01"), field("fixed bit"));
    assert_eq!(refused("48 07 01"), field("reserved bits"));
    assert_eq!(refused("cc 00000001 00 00 00 05 00"), field("reserved bits"));
    assert_eq!(refused("e1 00000001 00 00 01 0007"), field("length"));
    assert_eq!(refused("e0 00000001 15"), truncated(7, 6));
    assert_eq!(refused("e0 00000001 00 00 13 07 01 00000000"), truncated(27, 14));
    assert_eq!(refused("40 07 01 00000000"), truncated(18, 7));
    let not_zero = "40 07 01 00000000000000000000000000000001";
    assert_eq!(refused(not_zero), ParseError::Checksum(Header::Quic));
}

#[test]
fn a_malformed_packet_behind_another_ends_the_datagram() {
    let mut bytes = hex("e0 00000001 00 00 12 07 01");
    bytes.extend(TAG);
    let whole = parsed(&bytes).expect("a good packet");
    bytes.extend(hex("00 01 02"));
    assert_eq!(parsed(&bytes), Ok(whole));
}

#[test]
fn what_is_no_frame_is_kept_for_the_connection() {
    for (what, frame) in [
        ("unknown type", "21 00"),
        ("type in a longer form", "4001"),
        ("STREAM beyond its packet", "0a 04 05 61"),
        ("STREAM that ends beyond 2^62", "0e 04 ffffffffffffffff 01 61"),
        ("CRYPTO beyond its packet", "06 00 02 61"),
        ("ACK below zero", "02 05 00 00 06"),
        ("ACK with more ranges than bytes", "02 05 00 20 00 00 00"),
        ("empty NEW_TOKEN", "07 00"),
        ("NEW_CONNECTION_ID that retires itself", "18 01 02 01 aa 000102030405060708090a0b0c0d0e0f"),
        ("NEW_CONNECTION_ID without an identifier", "18 01 01 00 000102030405060708090a0b0c0d0e0f"),
        (
            "identifier of 21 bytes",
            "18 01 01 15 aabbccddaabbccddaabbccddaabbccddaabbccddaa 000102030405060708090a0b0c0d0e0f",
        ),
        ("MAX_STREAMS beyond 2^60", "12 d000000000000001"),
        ("PATH_CHALLENGE cut short", "1a 00010203040506"),
        ("CONNECTION_CLOSE whose reason is cut short", "1c 07 08 02 6e"),
        ("DATAGRAM beyond its packet", "31 02 61"),
    ] {
        let mut bytes = hex("40 07 01");
        bytes.extend(hex(frame));
        bytes.extend(TAG);
        let packet = one_packet(&bytes, &[]);
        assert_eq!(packet.frames, [Frame::Ping, Frame::Invalid(hex(frame).into())], "{what}");
    }
}

#[test]
fn wrong_transport_parameters_are_refused() {
    let header = Header::QuicTransportParameters;
    let refused = |bytes: &str| TransportParameters::parse(&hex(bytes)).expect_err(bytes);
    assert_eq!(TransportParameters::parse(&hex("1b 02 abcd")), Ok(TransportParameters::default()), "unknown: ignored");
    assert_eq!(refused("01 02 40"), ParseError::Truncated { header, needed: 4, available: 3 });
    assert_eq!(refused("01 01 05 01 01 05"), ParseError::Field { header, field: "identifier that comes twice" });
    for wrong in [
        "01 02 0500",     // more bytes than its integer
        "03 02 44af",     // a UDP payload of 1199 bytes
        "0a 01 15",       // an exponent of 21
        "0b 04 80004000", // a delay of 2^14 ms
        "0c 01 00",       // a flag with a value
        "0e 01 01",       // one connection identifier
        "02 01 00",       // a token of one byte
        "0f 15 aabbccddaabbccddaabbccddaabbccddaabbccddaa",
    ] {
        assert_eq!(refused(wrong), ParseError::Field { header, field: "value" }, "{wrong}");
    }
}

#[test]
fn a_datagram_that_cannot_be_written_is_an_error() {
    let mut out = vec![1];
    let stream = StreamFrame { payload: Payload { length: 5, ..Payload::default() }, ..StreamFrame::default() };
    let two = datagram(vec![one_rtt(vec![Frame::Stream(stream), Frame::Ping])]);
    let lacks_length = EmitError::IncompleteOption { option: "STREAM or DATAGRAM", missing: "length" };
    assert_eq!(two.emit(PayloadBytes::Zero, &mut out), Err(lacks_length));
    let short = datagram(vec![one_rtt(vec![Frame::Stream(stream)])]);
    let given = Err(EmitError::PayloadLength { expected: 5, given: 4 });
    assert_eq!(short.emit(PayloadBytes::Bytes(&[0; 4]), &mut out), given);
    let large = datagram(vec![one_rtt(vec![Frame::Ping, Frame::MaxData(u64::MAX)])]);
    let packet = Packet { ip: ipv4_header(), body: Body::Quic(large) };
    let too_large = Err(EmitError::VarintTooLarge { value: u64::MAX });
    assert_eq!(packet.emit(PayloadBytes::Zero, 0, &mut out), too_large);
    assert_eq!(out, [1], "nothing was written");
}
