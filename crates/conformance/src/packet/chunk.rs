//! SCTP chunks.

use subflow_wire::Payload;
use subflow_wire::sctp::{
    Chunk, DataChunk, ForwardTsnChunk, GapBlock, GapBlocks, InitChunk, Parameter, RawChunk, RawParameter, SackChunk,
    SkippedStream,
};

use super::cause::{build_causes, describe_causes};
use super::fields::Fields;
use crate::value::{Field, Value};

pub(super) fn describe(chunk: &Chunk) -> Field {
    match chunk {
        Chunk::Data(data) => Field::group("DATA", describe_data(data)),
        Chunk::Init(init) => Field::group("INIT", describe_init(init)),
        Chunk::InitAck(init) => Field::group("INIT_ACK", describe_init(init)),
        Chunk::Sack(sack) => Field::group("SACK", describe_sack(sack)),
        Chunk::NrSack(nr_sack) => Field::group(
            "CHUNK",
            vec![Field::number("kind", chunk.kind()), Field::number("cum", nr_sack.sack.cumulative_tsn)],
        ),
        Chunk::Heartbeat(info) => Field::group("HEARTBEAT", vec![Field::bytes("info", info)]),
        Chunk::HeartbeatAck(info) => Field::group("HEARTBEAT_ACK", vec![Field::bytes("info", info)]),
        Chunk::Abort { reflected, causes } => Field::group("ABORT", describe_causes(*reflected, causes)),
        Chunk::Shutdown { cumulative_tsn } => Field::group("SHUTDOWN", vec![Field::number("cum", *cumulative_tsn)]),
        Chunk::ShutdownAck => Field::flag("SHUTDOWN_ACK"),
        Chunk::Error(causes) => Field::group("ERROR", describe_causes(false, causes)),
        Chunk::CookieEcho(cookie) => Field::group("COOKIE_ECHO", vec![Field::bytes("cookie", cookie)]),
        Chunk::CookieAck => Field::flag("COOKIE_ACK"),
        Chunk::EcnEcho { lowest_tsn } => Field::group("ECNE", vec![Field::number("tsn", *lowest_tsn)]),
        Chunk::CongestionWindowReduced { lowest_tsn } => Field::group("CWR", vec![Field::number("tsn", *lowest_tsn)]),
        Chunk::ShutdownComplete { reflected } => Field::group("SHUTDOWN_COMPLETE", describe_causes(*reflected, &[])),
        Chunk::ForwardTsn(forward) => Field::group("FORWARD_TSN", describe_forward(forward)),
        Chunk::Unknown(raw) | Chunk::Malformed(raw) => Field::group(
            "CHUNK",
            vec![Field::number("kind", raw.kind), Field::number("flags", raw.flags), Field::bytes("value", &raw.value)],
        ),
    }
}

fn describe_data(data: &DataChunk) -> Vec<Field> {
    let place = match (data.begin, data.end) {
        (true, true) => "whole",
        (true, false) => "begin",
        (false, false) => "middle",
        (false, true) => "end",
    };
    let mut parts = vec![
        Field::number("tsn", data.tsn),
        Field::number("stream", data.stream),
        Field::number("ssn", data.stream_sequence),
        Field::number("ppid", data.protocol_identifier),
        Field::number("len", data.payload.length),
        Field::flag(place),
    ];
    parts.extend(data.unordered.then(|| Field::flag("unordered")));
    parts.extend(data.immediate.then(|| Field::flag("immediate")));
    parts
}

fn describe_init(init: &InitChunk) -> Vec<Field> {
    let mut parts = vec![
        Field::number("tag", init.initiate_tag),
        Field::number("rwnd", init.a_rwnd),
        Field::number("out", init.outbound_streams),
        Field::number("in", init.inbound_streams),
        Field::number("tsn", init.initial_tsn),
    ];
    parts.extend(init.parameters.iter().map(describe_parameter));
    parts
}

fn describe_sack(sack: &SackChunk) -> Vec<Field> {
    let mut parts = vec![Field::number("cum", sack.cumulative_tsn), Field::number("rwnd", sack.a_rwnd)];
    let range = |gap: &GapBlock| Value::Range(gap.start.into(), gap.end.into());
    parts.extend(sack.gaps.iter().map(|gap| Field::values("gap", vec![range(gap)])));
    parts.extend(sack.duplicates.iter().map(|tsn| Field::number("dup", *tsn)));
    parts
}

fn describe_forward(forward: &ForwardTsnChunk) -> Vec<Field> {
    let mut parts = vec![Field::number("cum", forward.new_cumulative_tsn)];
    parts.extend(forward.streams.iter().map(|skipped| {
        let values = [skipped.stream, skipped.stream_sequence].map(|value| Value::Number(value.into()));
        Field::values("skip", values.to_vec())
    }));
    parts
}

/// The chunk that `field` is, if it is one.
pub(super) fn build(field: &Field) -> Result<Option<Chunk>, String> {
    let parts = Fields(&field.parts);
    let number = |name| parts.number(name).unwrap_or(0) as u32;
    let bytes = |name| parts.bytes(name).unwrap_or_default().into_boxed_slice();
    Ok(Some(match field.name {
        "DATA" => Chunk::Data(build_data(parts)),
        "INIT" => Chunk::Init(Box::new(build_init(parts)?)),
        "INIT_ACK" => Chunk::InitAck(Box::new(build_init(parts)?)),
        "SACK" => Chunk::Sack(build_sack(parts)),
        "HEARTBEAT" => Chunk::Heartbeat(bytes("info")),
        "HEARTBEAT_ACK" => Chunk::HeartbeatAck(bytes("info")),
        "ABORT" => Chunk::Abort { reflected: parts.has("reflected"), causes: build_causes(parts)? },
        "SHUTDOWN" => Chunk::Shutdown { cumulative_tsn: number("cum") },
        "SHUTDOWN_ACK" => Chunk::ShutdownAck,
        "ERROR" => Chunk::Error(build_causes(parts)?),
        "COOKIE_ECHO" => Chunk::CookieEcho(bytes("cookie")),
        "COOKIE_ACK" => Chunk::CookieAck,
        "ECNE" => Chunk::EcnEcho { lowest_tsn: number("tsn") },
        "CWR" => Chunk::CongestionWindowReduced { lowest_tsn: number("tsn") },
        "SHUTDOWN_COMPLETE" => Chunk::ShutdownComplete { reflected: parts.has("reflected") },
        "FORWARD_TSN" => Chunk::ForwardTsn(build_forward(parts)),
        "CHUNK" => {
            Chunk::Unknown(RawChunk { kind: number("kind") as u8, flags: number("flags") as u8, value: bytes("value") })
        }
        _ => return Ok(None),
    }))
}

fn build_data(parts: Fields<'_>) -> DataChunk {
    let number = |name| parts.number(name).unwrap_or(0) as u32;
    DataChunk {
        immediate: parts.has("immediate"),
        unordered: parts.has("unordered"),
        begin: !parts.has("middle") && !parts.has("end"),
        end: !parts.has("middle") && !parts.has("begin"),
        tsn: number("tsn"),
        stream: number("stream") as u16,
        stream_sequence: number("ssn") as u16,
        protocol_identifier: number("ppid"),
        payload: Payload { length: number("len"), ..Payload::default() },
    }
}

fn build_init(parts: Fields<'_>) -> Result<InitChunk, String> {
    let number = |name, default| parts.number(name).unwrap_or(default) as u32;
    Ok(InitChunk {
        initiate_tag: number("tag", 0),
        a_rwnd: number("rwnd", 65_536),
        outbound_streams: number("out", 10) as u16,
        inbound_streams: number("in", 10) as u16,
        initial_tsn: number("tsn", 0),
        parameters: build_parameters(parts)?,
    })
}

fn build_sack(parts: Fields<'_>) -> SackChunk {
    let named = |name: &'static str| parts.0.iter().filter(move |field| field.name == name);
    let gap = |(start, end): (u64, u64)| GapBlock { start: start as u16, end: end as u16 };
    SackChunk {
        cumulative_tsn: parts.number("cum").unwrap_or(0) as u32,
        a_rwnd: parts.number("rwnd").unwrap_or(65_536) as u32,
        data_packets: 0,
        gaps: named("gap").flat_map(Field::ranges).map(gap).collect::<GapBlocks>(),
        duplicates: named("dup").map(|field| field.number_at(0) as u32).collect(),
    }
}

fn build_forward(parts: Fields<'_>) -> ForwardTsnChunk {
    let skipped =
        |field: &Field| SkippedStream { stream: field.number_at(0) as u16, stream_sequence: field.number_at(1) as u16 };
    ForwardTsnChunk {
        new_cumulative_tsn: parts.number("cum").unwrap_or(0) as u32,
        streams: parts.0.iter().filter(|field| field.name == "skip").map(skipped).collect(),
    }
}

pub(super) fn describe_parameter(parameter: &Parameter) -> Field {
    match parameter {
        Parameter::Ipv4Address(address) => Field::address("address", (*address).into()),
        Parameter::Ipv6Address(address) => Field::address("address", (*address).into()),
        Parameter::StateCookie(cookie) => Field::bytes("cookie", cookie),
        Parameter::Unrecognized(whole) => Field::bytes("unrecognized", whole),
        Parameter::CookiePreservative { increment_ms } => Field::number("preservative", *increment_ms),
        Parameter::HostName(name) => Field::bytes("host_name", name),
        Parameter::SupportedAddressTypes(types) => {
            Field::values("address_types", types.iter().map(|kind| Value::Number((*kind).into())).collect())
        }
        Parameter::EcnCapable => Field::flag("ecn"),
        Parameter::SupportedExtensions(types) => {
            Field::values("extensions", types.iter().map(|kind| Value::Number((*kind).into())).collect())
        }
        Parameter::ForwardTsnSupported => Field::flag("forward_tsn"),
        Parameter::AdaptationIndication(indication) => Field::number("adaptation", *indication),
        Parameter::Unknown(raw) => {
            Field::values("param", vec![Value::Number(raw.kind.into()), Value::Bytes(raw.value.to_vec())])
        }
    }
}

pub(super) fn build_parameters(parts: Fields<'_>) -> Result<Vec<Parameter>, String> {
    parts.0.iter().map(build_parameter).filter_map(Result::transpose).collect()
}

fn build_parameter(field: &Field) -> Result<Option<Parameter>, String> {
    let bytes = |index| field.bytes_at(index).into_boxed_slice();
    Ok(Some(match field.name {
        "address" => Parameter::of_address(field.address_value().ok_or("address has no address")?),
        "cookie" => Parameter::StateCookie(bytes(0)),
        "unrecognized" => Parameter::Unrecognized(bytes(0)),
        "preservative" => Parameter::CookiePreservative { increment_ms: field.number_at(0) as u32 },
        "host_name" => Parameter::HostName(bytes(0)),
        "address_types" => Parameter::SupportedAddressTypes(field.numbers().map(|kind| kind as u16).collect()),
        "ecn" => Parameter::EcnCapable,
        "extensions" => Parameter::SupportedExtensions(field.numbers().map(|kind| kind as u8).collect()),
        "forward_tsn" => Parameter::ForwardTsnSupported,
        "adaptation" => Parameter::AdaptationIndication(field.number_at(0) as u32),
        "param" => Parameter::Unknown(RawParameter { kind: field.number_at(0) as u16, value: bytes(1) }),
        _ => return Ok(None),
    }))
}
