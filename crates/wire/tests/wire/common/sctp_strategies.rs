//! Arbitrary SCTP packets that can be written.

use proptest::prelude::*;
use subflow_wire::sctp::{
    Chunk, DataChunk, ErrorCause, ForwardTsnChunk, GapBlock, GapBlocks, InitChunk, NrSackChunk, Parameter,
    RawParameter, SackChunk, SctpPacket, SkippedStream,
};
use subflow_wire::{Payload, checksum};

/// A packet, and the user data of all its DATA chunks.
pub(crate) fn sctp_packet_with_payload() -> impl Strategy<Value = (SctpPacket, Vec<u8>)> {
    (any::<(u16, u16, u32)>(), prop::collection::vec(chunk_with_payload(), 0..5)).prop_map(
        |((source_port, destination_port, verification_tag), parts)| {
            let (chunks, payloads): (Vec<Chunk>, Vec<Vec<u8>>) = parts.into_iter().unzip();
            let packet = SctpPacket {
                source_port,
                destination_port,
                verification_tag,
                encapsulation: None,
                may_fragment: false,
                chunks,
            };
            (packet, payloads.concat())
        },
    )
}

fn chunk_with_payload() -> impl Strategy<Value = (Chunk, Vec<u8>)> {
    prop_oneof![2 => data(), 3 => control().prop_map(|chunk| (chunk, Vec::new()))]
}

fn data() -> impl Strategy<Value = (Chunk, Vec<u8>)> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    (any::<([bool; 4], u32, u16, u16, u32)>(), bytes).prop_map(
        |(([immediate, unordered, begin, end], tsn, stream, stream_sequence, protocol_identifier), bytes)| {
            let sum = checksum::ones_complement_sum(&bytes);
            let payload = Payload { stream_offset: 0, length: bytes.len() as u32, sum };
            let chunk = DataChunk {
                immediate,
                unordered,
                begin,
                end,
                tsn,
                stream,
                stream_sequence,
                protocol_identifier,
                payload,
            };
            (Chunk::Data(chunk), bytes)
        },
    )
}

fn control() -> impl Strategy<Value = Chunk> {
    prop_oneof![
        init().prop_map(|init| Chunk::Init(Box::new(init))),
        init().prop_map(|init| Chunk::InitAck(Box::new(init))),
        sack().prop_map(Chunk::Sack),
        (sack(), gaps()).prop_map(|(sack, non_renegable)| Chunk::NrSack(NrSackChunk { sack, non_renegable })),
        bytes().prop_map(Chunk::Heartbeat),
        bytes().prop_map(Chunk::HeartbeatAck),
        (any::<bool>(), causes()).prop_map(|(reflected, causes)| Chunk::Abort { reflected, causes }),
        causes().prop_map(Chunk::Error),
        any::<u32>().prop_map(|cumulative_tsn| Chunk::Shutdown { cumulative_tsn }),
        bytes().prop_map(Chunk::CookieEcho),
        any::<bool>().prop_map(|reflected| Chunk::ShutdownComplete { reflected }),
        Just(Chunk::ShutdownAck),
        Just(Chunk::CookieAck),
        any::<u32>().prop_map(|lowest_tsn| Chunk::EcnEcho { lowest_tsn }),
        any::<u32>().prop_map(|lowest_tsn| Chunk::CongestionWindowReduced { lowest_tsn }),
        forward_tsn().prop_map(Chunk::ForwardTsn),
    ]
}

fn bytes() -> impl Strategy<Value = Box<[u8]>> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Into::into)
}

fn init() -> impl Strategy<Value = InitChunk> {
    (any::<(u32, u32, u16, u16, u32)>(), prop::collection::vec(parameter(), 0..6)).prop_map(
        |((initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn), parameters)| InitChunk {
            initiate_tag,
            a_rwnd,
            outbound_streams,
            inbound_streams,
            initial_tsn,
            parameters,
        },
    )
}

fn parameter() -> impl Strategy<Value = Parameter> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(|address| Parameter::Ipv4Address(address.into())),
        any::<[u8; 16]>().prop_map(|address| Parameter::Ipv6Address(address.into())),
        bytes().prop_map(Parameter::StateCookie),
        bytes().prop_map(Parameter::Unrecognized),
        any::<u32>().prop_map(|increment_ms| Parameter::CookiePreservative { increment_ms }),
        bytes().prop_map(Parameter::HostName),
        prop::collection::vec(any::<u16>(), 0..4).prop_map(Parameter::SupportedAddressTypes),
        Just(Parameter::EcnCapable),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Parameter::SupportedExtensions),
        Just(Parameter::ForwardTsnSupported),
        any::<u32>().prop_map(Parameter::AdaptationIndication),
        (0x9000..0xa000_u16, bytes()).prop_map(|(kind, value)| Parameter::Unknown(RawParameter { kind, value })),
    ]
}

fn causes() -> impl Strategy<Value = Vec<ErrorCause>> {
    let cause = prop_oneof![
        any::<u16>().prop_map(|stream| ErrorCause::InvalidStreamIdentifier { stream }),
        prop::collection::vec(any::<u16>(), 0..4).prop_map(ErrorCause::MissingMandatoryParameter),
        any::<u32>().prop_map(|staleness_us| ErrorCause::StaleCookie { staleness_us }),
        Just(ErrorCause::OutOfResource),
        bytes().prop_map(ErrorCause::UnresolvableAddress),
        bytes().prop_map(ErrorCause::UnrecognizedChunkType),
        Just(ErrorCause::InvalidMandatoryParameter),
        bytes().prop_map(ErrorCause::UnrecognizedParameters),
        any::<u32>().prop_map(|tsn| ErrorCause::NoUserData { tsn }),
        Just(ErrorCause::CookieReceivedWhileShuttingDown),
        bytes().prop_map(ErrorCause::RestartWithNewAddresses),
        bytes().prop_map(ErrorCause::UserInitiatedAbort),
        bytes().prop_map(ErrorCause::ProtocolViolation),
        (200..300_u16, bytes()).prop_map(|(code, value)| ErrorCause::Unknown { code, value }),
    ];
    prop::collection::vec(cause, 0..5)
}

fn sack() -> impl Strategy<Value = SackChunk> {
    (any::<(u32, u32)>(), 0..4_u8, gaps(), prop::collection::vec(any::<u32>(), 0..4)).prop_map(
        |((cumulative_tsn, a_rwnd), data_packets, gaps, duplicates)| SackChunk {
            cumulative_tsn,
            a_rwnd,
            data_packets,
            gaps,
            duplicates,
        },
    )
}

fn gaps() -> impl Strategy<Value = GapBlocks> {
    let gap = any::<(u16, u16)>().prop_map(|(start, end)| GapBlock { start, end });
    prop::collection::vec(gap, 0..8).prop_map(|gaps| gaps.into_iter().collect())
}

fn forward_tsn() -> impl Strategy<Value = ForwardTsnChunk> {
    (any::<u32>(), prop::collection::vec(any::<(u16, u16)>(), 0..4)).prop_map(|(new_cumulative_tsn, streams)| {
        let skipped = |(stream, stream_sequence)| SkippedStream { stream, stream_sequence };
        ForwardTsnChunk { new_cumulative_tsn, streams: streams.into_iter().map(skipped).collect() }
    })
}
