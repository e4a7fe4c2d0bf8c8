//! Frames of QUIC.

use subflow_wire::Payload;
use subflow_wire::quic::{
    AckFrame, CloseCause, CloseFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, EcnCounts, Frame,
    NewConnectionIdFrame, StreamFrame, StreamId,
};

use super::message;
use crate::packet::fields::Fields;
use crate::value::{Field, Value};

pub(super) fn describe(frame: &Frame) -> Field {
    let of = |name, parts: &[(&'static str, u64)]| {
        Field::group(name, parts.iter().map(|&(name, value)| Field::number(name, value)).collect())
    };
    match frame {
        Frame::Padding(length) => Field::number("PADDING", *length),
        Frame::Ping => Field::flag("PING"),
        Frame::Ack(ack) => describe_ack(ack),
        Frame::ResetStream { stream, error_code, final_size } => {
            of("RESET_STREAM", &[("stream", stream.0), ("error", *error_code), ("size", *final_size)])
        }
        Frame::StopSending { stream, error_code } => {
            of("STOP_SENDING", &[("stream", stream.0), ("error", *error_code)])
        }
        Frame::Crypto(crypto) => Field::group("CRYPTO", message::describe(crypto)),
        Frame::NewToken(token) => Field::bytes("NEW_TOKEN", token),
        Frame::Stream(stream) => describe_stream(stream),
        Frame::MaxData(maximum) => Field::number("MAX_DATA", *maximum),
        Frame::MaxStreamData { stream, maximum } => of("MAX_STREAM_DATA", &[("stream", stream.0), ("limit", *maximum)]),
        Frame::MaxStreams { direction, maximum } => {
            Field::number(by_direction(*direction, ["MAX_STREAMS", "MAX_STREAMS_UNI"]), *maximum)
        }
        Frame::DataBlocked(limit) => Field::number("DATA_BLOCKED", *limit),
        Frame::StreamDataBlocked { stream, limit } => {
            of("STREAM_DATA_BLOCKED", &[("stream", stream.0), ("limit", *limit)])
        }
        Frame::StreamsBlocked { direction, limit } => {
            Field::number(by_direction(*direction, ["STREAMS_BLOCKED", "STREAMS_BLOCKED_UNI"]), *limit)
        }
        Frame::NewConnectionId(new) => describe_new_id(new),
        Frame::RetireConnectionId { path: None, sequence } => Field::number("RETIRE_CONNECTION_ID", *sequence),
        Frame::RetireConnectionId { path: Some(path), sequence } => {
            of("PATH_RETIRE_CONNECTION_ID", &[("path", *path), ("sequence", *sequence)])
        }
        Frame::PathChallenge(data) => Field::bytes("PATH_CHALLENGE", data),
        Frame::PathResponse(data) => Field::bytes("PATH_RESPONSE", data),
        Frame::ConnectionClose(close) => describe_close(close),
        Frame::HandshakeDone => Field::flag("HANDSHAKE_DONE"),
        Frame::Datagram(datagram) => of("DATAGRAM", &[("len", datagram.payload.length.into())]),
        Frame::ImmediateAck => Field::flag("IMMEDIATE_ACK"),
        // No host sends it.
        Frame::AckFrequency { .. } => Field::bytes("FRAME", &[]),
        Frame::PathAbandon { path, error_code } => of("PATH_ABANDON", &[("path", *path), ("error", *error_code)]),
        Frame::PathStatus { path, sequence, available } => {
            let name = if *available { "PATH_STATUS_AVAILABLE" } else { "PATH_STATUS_BACKUP" };
            of(name, &[("path", *path), ("sequence", *sequence)])
        }
        Frame::MaxPathId(maximum) => Field::number("MAX_PATH_ID", *maximum),
        Frame::PathsBlocked(maximum) => Field::number("PATHS_BLOCKED", *maximum),
        Frame::PathCidsBlocked { path, next_sequence } => {
            of("PATH_CIDS_BLOCKED", &[("path", *path), ("sequence", *next_sequence)])
        }
        Frame::Invalid(bytes) => Field::bytes("FRAME", bytes),
    }
}

const fn by_direction(direction: Direction, [both, one]: [&'static str; 2]) -> &'static str {
    match direction {
        Direction::Bidirectional => both,
        Direction::Unidirectional => one,
    }
}

fn describe_ack(ack: &AckFrame) -> Field {
    let ranges = ack.acknowledged().map(|(first, last)| Value::Range(first, last)).collect();
    let mut parts = vec![Field::values("range", ranges), Field::number("delay", ack.delay)];
    parts.extend(
        ack.ecn.map(|EcnCounts { ect0, ect1, ce }| Field::values("ecn", [ect0, ect1, ce].map(Value::Number).to_vec())),
    );
    match ack.path {
        None => Field::group("ACK", parts),
        Some(path) => {
            parts.push(Field::number("path", path));
            Field::group("PATH_ACK", parts)
        }
    }
}

fn describe_stream(stream: &StreamFrame) -> Field {
    let mut parts = vec![
        Field::number("stream", stream.stream.0),
        Field::number("offset", stream.offset),
        Field::number("len", stream.payload.length),
    ];
    parts.extend(stream.fin.then(|| Field::flag("fin")));
    Field::group("STREAM", parts)
}

fn describe_new_id(new: &NewConnectionIdFrame) -> Field {
    let mut parts: Vec<Field> = new.path.map(|path| Field::number("path", path)).into_iter().collect();
    parts.extend([
        Field::number("sequence", new.sequence),
        Field::number("retire", new.retire_prior_to),
        Field::bytes("id", new.connection_id.as_bytes()),
        Field::bytes("token", &new.stateless_reset_token),
    ]);
    Field::group(if new.path.is_some() { "PATH_NEW_CONNECTION_ID" } else { "NEW_CONNECTION_ID" }, parts)
}

fn describe_close(close: &CloseFrame) -> Field {
    let reason = Field::bytes("reason", &close.reason);
    match close.cause {
        CloseCause::Transport { error_code, frame_type } => Field::group(
            "CONNECTION_CLOSE",
            vec![Field::number("error", error_code), Field::number("frame", frame_type), reason],
        ),
        CloseCause::Application { error_code } => {
            Field::group("APPLICATION_CLOSE", vec![Field::number("error", error_code), reason])
        }
    }
}

/// The frame that `field` is, if it is one.
pub(super) fn build(field: &Field) -> Result<Option<Frame>, String> {
    let parts = Fields(&field.parts);
    let number = |name| parts.number(name).unwrap_or(0);
    let (stream, path) = (StreamId(number("stream")), number("path"));
    let (both, one) = (Direction::Bidirectional, Direction::Unidirectional);
    let (error_code, sequence) = (number("error"), number("sequence"));
    Ok(Some(match field.name {
        "PADDING" => Frame::Padding(if field.values.is_empty() { 1 } else { field.number_at(0) as u32 }),
        "PING" => Frame::Ping,
        "ACK" => Frame::Ack(build_ack(parts, None)?),
        "PATH_ACK" => Frame::Ack(build_ack(parts, Some(path))?),
        "RESET_STREAM" => Frame::ResetStream { stream, error_code, final_size: number("size") },
        "STOP_SENDING" => Frame::StopSending { stream, error_code },
        "CRYPTO" => Frame::Crypto(CryptoFrame { offset: number("offset"), data: message::build(parts)?.into() }),
        "NEW_TOKEN" => Frame::NewToken(field.bytes_at(0).into()),
        "STREAM" => {
            let payload = Payload { length: number("len") as u32, ..Payload::default() };
            let (offset, fin) = (number("offset"), parts.has("fin"));
            Frame::Stream(StreamFrame { stream, offset, fin, has_length: true, payload })
        }
        "MAX_DATA" => Frame::MaxData(field.number_at(0)),
        "MAX_STREAM_DATA" => Frame::MaxStreamData { stream, maximum: number("limit") },
        "MAX_STREAMS" => Frame::MaxStreams { direction: both, maximum: field.number_at(0) },
        "MAX_STREAMS_UNI" => Frame::MaxStreams { direction: one, maximum: field.number_at(0) },
        "DATA_BLOCKED" => Frame::DataBlocked(field.number_at(0)),
        "STREAM_DATA_BLOCKED" => Frame::StreamDataBlocked { stream, limit: number("limit") },
        "STREAMS_BLOCKED" => Frame::StreamsBlocked { direction: both, limit: field.number_at(0) },
        "STREAMS_BLOCKED_UNI" => Frame::StreamsBlocked { direction: one, limit: field.number_at(0) },
        "NEW_CONNECTION_ID" => Frame::NewConnectionId(Box::new(build_new_id(parts, None)?)),
        "PATH_NEW_CONNECTION_ID" => Frame::NewConnectionId(Box::new(build_new_id(parts, Some(path))?)),
        "RETIRE_CONNECTION_ID" => Frame::RetireConnectionId { path: None, sequence: field.number_at(0) },
        "PATH_RETIRE_CONNECTION_ID" => Frame::RetireConnectionId { path: Some(path), sequence },
        "PATH_CHALLENGE" => Frame::PathChallenge(challenge(field)?),
        "PATH_RESPONSE" => Frame::PathResponse(challenge(field)?),
        "CONNECTION_CLOSE" => {
            let cause = CloseCause::Transport { error_code, frame_type: number("frame") };
            Frame::ConnectionClose(Box::new(CloseFrame { cause, reason: reason(parts) }))
        }
        "APPLICATION_CLOSE" => {
            let cause = CloseCause::Application { error_code };
            Frame::ConnectionClose(Box::new(CloseFrame { cause, reason: reason(parts) }))
        }
        "HANDSHAKE_DONE" => Frame::HandshakeDone,
        "DATAGRAM" => {
            let payload = Payload { length: number("len") as u32, ..Payload::default() };
            Frame::Datagram(DatagramFrame { has_length: true, payload })
        }
        "IMMEDIATE_ACK" => Frame::ImmediateAck,
        "PATH_ABANDON" => Frame::PathAbandon { path, error_code },
        "PATH_STATUS_AVAILABLE" => Frame::PathStatus { path, sequence, available: true },
        "PATH_STATUS_BACKUP" => Frame::PathStatus { path, sequence, available: false },
        "MAX_PATH_ID" => Frame::MaxPathId(field.number_at(0)),
        "PATHS_BLOCKED" => Frame::PathsBlocked(field.number_at(0)),
        "PATH_CIDS_BLOCKED" => Frame::PathCidsBlocked { path, next_sequence: sequence },
        "FRAME" => Frame::Invalid(field.bytes_at(0).into()),
        _ => return Ok(None),
    }))
}

fn build_ack(parts: Fields<'_>, path: Option<u64>) -> Result<AckFrame, String> {
    let ranges: Vec<_> = parts.find("range").into_iter().flat_map(Field::ranges).collect();
    let descends = ranges.windows(2).all(|pair| pair[1].1.saturating_add(1) < pair[0].0);
    if !descends || ranges.iter().any(|(first, last)| first > last) {
        return Err("ranges of an ACK go downwards, with a gap between them".to_owned());
    }
    let frame = AckFrame::of_ranges(ranges.into_iter()).ok_or("an ACK has a range")?;
    let ecn =
        parts.find("ecn").map(|ecn| EcnCounts { ect0: ecn.number_at(0), ect1: ecn.number_at(1), ce: ecn.number_at(2) });
    Ok(AckFrame { path, delay: parts.number("delay").unwrap_or(0), ecn, ..frame })
}

fn build_new_id(parts: Fields<'_>, path: Option<u64>) -> Result<NewConnectionIdFrame, String> {
    let id = ConnectionId::new(&parts.bytes("id").unwrap_or_default()).ok_or("id has more than 20 bytes")?;
    let token = parts.bytes("token").unwrap_or_else(|| vec![0; 16]);
    Ok(NewConnectionIdFrame {
        path,
        sequence: parts.number("sequence").unwrap_or(0),
        retire_prior_to: parts.number("retire").unwrap_or(0),
        connection_id: id,
        stateless_reset_token: token.try_into().map_err(|_| "a token has 16 bytes")?,
    })
}

fn challenge(field: &Field) -> Result<[u8; 8], String> {
    field.bytes_at(0).try_into().map_err(|_| format!("{} has 8 bytes", field.name))
}

fn reason(parts: Fields<'_>) -> Box<[u8]> {
    parts.bytes("reason").unwrap_or_default().into()
}
