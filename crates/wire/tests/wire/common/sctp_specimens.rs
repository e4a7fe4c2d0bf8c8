//! SCTP packets with chunks of every kind.

use subflow_wire::sctp::{
    Chunk, DataChunk, ErrorCause, ForwardTsnChunk, GapBlock, InitChunk, NrSackChunk, Parameter, RawChunk, RawParameter,
    SackChunk, SctpPacket, SkippedStream, UdpEncapsulation, chunk_type,
};
use subflow_wire::{Body, Packet, Payload};

use crate::common::{ipv4_header, ipv6_header};

pub(crate) const TAG: u32 = 0xa1b2_c3d4;

/// Chunks of every kind that this crate writes, with a name. Each entry is the content of one packet.
pub(crate) fn chunks_of_every_kind() -> Vec<(&'static str, Vec<Chunk>)> {
    let bytes = |length: u8| (0..length).collect::<Box<[u8]>>();
    let init_ack = InitChunk {
        initiate_tag: 0x0506_0708,
        parameters: vec![
            Parameter::StateCookie(bytes(65)),
            Parameter::Unrecognized(Parameter::Unknown(RawParameter { kind: 0xc123, value: bytes(5) }).to_bytes()),
            Parameter::SupportedExtensions(vec![chunk_type::NR_SACK, chunk_type::FORWARD_TSN]),
        ],
        ..init()
    };
    let causes = vec![
        ErrorCause::InvalidStreamIdentifier { stream: 7 },
        ErrorCause::MissingMandatoryParameter(vec![7, 8, 9]),
        ErrorCause::StaleCookie { staleness_us: 1_000_000 },
        ErrorCause::OutOfResource,
        ErrorCause::InvalidMandatoryParameter,
        ErrorCause::NoUserData { tsn: 77 },
        ErrorCause::CookieReceivedWhileShuttingDown,
        ErrorCause::UserInitiatedAbort(b"enough"[..].into()),
        ErrorCause::ProtocolViolation(b"no"[..].into()),
    ];
    let unknown = RawChunk { kind: 0xfe, flags: 0x5a, value: bytes(5) };
    let reported = vec![ErrorCause::UnrecognizedChunkType(unknown.to_bytes())];
    vec![
        ("INIT", vec![Chunk::Init(Box::new(init()))]),
        ("INIT ACK", vec![Chunk::InitAck(Box::new(init_ack))]),
        ("COOKIE ECHO, DATA", vec![Chunk::CookieEcho(bytes(65)), Chunk::Data(data(100, 101))]),
        ("COOKIE ACK, SACK", vec![Chunk::CookieAck, Chunk::Sack(sack())]),
        ("DATA, DATA", vec![Chunk::Data(data(101, 3)), Chunk::Data(fragment(102, 4))]),
        ("NR-SACK", vec![Chunk::NrSack(nr_sack())]),
        ("HEARTBEAT", vec![Chunk::Heartbeat(bytes(10))]),
        ("HEARTBEAT ACK", vec![Chunk::HeartbeatAck(bytes(10))]),
        ("ABORT", vec![Chunk::Abort { reflected: true, causes: vec![causes[7].clone()] }]),
        ("ERROR", vec![Chunk::Error(causes)]),
        ("ERROR, unknown chunk", vec![Chunk::Error(reported)]),
        ("SHUTDOWN", vec![Chunk::Shutdown { cumulative_tsn: 99 }]),
        ("SHUTDOWN ACK", vec![Chunk::ShutdownAck]),
        ("SHUTDOWN COMPLETE", vec![Chunk::ShutdownComplete { reflected: false }]),
        ("ECNE, CWR", vec![Chunk::EcnEcho { lowest_tsn: 90 }, Chunk::CongestionWindowReduced { lowest_tsn: 91 }]),
        ("FORWARD-TSN", vec![Chunk::ForwardTsn(forward_tsn())]),
    ]
}

/// A packet for each of them, over IPv4, over IPv6, and over IPv4 in UDP.
pub(crate) fn sctp_packets_of_every_kind() -> Vec<(&'static str, Packet)> {
    let in_udp = UdpEncapsulation { source_port: 9899, destination_port: 9899 };
    let mut packets = Vec::new();
    for (name, chunks) in chunks_of_every_kind() {
        for (ip, encapsulation) in [(ipv4_header(), None), (ipv6_header(), None), (ipv4_header(), Some(in_udp))] {
            // One association per packet, so that tshark does not interpret a packet by those before it.
            let port = 30_000 + packets.len() as u16;
            packets.push((name, Packet { ip, body: Body::Sctp(sctp(port, encapsulation, chunks.clone())) }));
        }
    }
    packets
}

pub(crate) fn sctp(source_port: u16, encapsulation: Option<UdpEncapsulation>, chunks: Vec<Chunk>) -> SctpPacket {
    let verification_tag = if matches!(chunks[..], [Chunk::Init(_)]) { 0 } else { TAG };
    SctpPacket { source_port, destination_port: 40_001, verification_tag, encapsulation, may_fragment: false, chunks }
}

/// An INIT with parameters of every kind that it may contain.
pub(crate) fn init() -> InitChunk {
    InitChunk {
        initiate_tag: 0x0102_0304,
        a_rwnd: 131_072,
        outbound_streams: 10,
        inbound_streams: 65_535,
        initial_tsn: 100,
        parameters: vec![
            Parameter::Ipv4Address("192.0.2.1".parse().unwrap()),
            Parameter::Ipv6Address("2001:db8::7".parse().unwrap()),
            Parameter::CookiePreservative { increment_ms: 500 },
            Parameter::SupportedAddressTypes(vec![5, 6, 5]),
            Parameter::EcnCapable,
            Parameter::ForwardTsnSupported,
            Parameter::AdaptationIndication(7),
            Parameter::SupportedExtensions(vec![chunk_type::FORWARD_TSN, chunk_type::NR_SACK, 130]),
        ],
    }
}

/// A whole message of `length` zero bytes.
pub(crate) fn data(tsn: u32, length: u32) -> DataChunk {
    DataChunk {
        begin: true,
        end: true,
        tsn,
        stream: 3,
        stream_sequence: 9,
        protocol_identifier: 0x0a0b_0c0d,
        payload: Payload { length, ..Payload::default() },
        ..DataChunk::default()
    }
}

fn fragment(tsn: u32, length: u32) -> DataChunk {
    DataChunk { immediate: true, unordered: true, begin: true, end: false, ..data(tsn, length) }
}

pub(crate) fn sack() -> SackChunk {
    SackChunk {
        cumulative_tsn: 99,
        a_rwnd: 65_000,
        data_packets: 2,
        gaps: [GapBlock { start: 2, end: 3 }, GapBlock { start: 5, end: 5 }].into_iter().collect(),
        duplicates: vec![98],
    }
}

pub(crate) fn nr_sack() -> NrSackChunk {
    NrSackChunk { sack: sack(), non_renegable: [GapBlock { start: 7, end: 9 }].into_iter().collect() }
}

pub(crate) fn forward_tsn() -> ForwardTsnChunk {
    let skipped = |stream, stream_sequence| SkippedStream { stream, stream_sequence };
    ForwardTsnChunk { new_cumulative_tsn: 120, streams: vec![skipped(1, 5), skipped(2, 6)] }
}
