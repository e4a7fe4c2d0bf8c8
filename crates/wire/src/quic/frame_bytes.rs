//! Frames as bytes, and back (RFC 9000, section 19, and extensions).

use core::ops::Range;

use arrayvec::ArrayVec;

use super::frame::{CloseCause, CloseFrame, NewConnectionIdFrame, STATELESS_RESET_TOKEN_LENGTH, frame_type};
use super::{
    AckFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, Emitter, Frame, StreamFrame, StreamId, varint_length,
};
use crate::PayloadBytes;
use crate::reader::Reader;

/// The fields of a frame that consists of variable-length integers, behind its type.
type Integers = ArrayVec<u64, 4>;

impl Frame {
    /// Length in bytes, with its type and its data.
    #[inline]
    pub fn length(&self) -> u32 {
        match self {
            Self::Stream(stream) => stream.length(),
            Self::Ack(ack) => varint_length(self.kind()) + ack.length(),
            Self::Padding(length) => *length,
            _ => self.length_of_control(),
        }
    }

    fn length_of_control(&self) -> u32 {
        let kind = varint_length(self.kind());
        match self {
            Self::Crypto(crypto) => crypto.length(),
            Self::Datagram(datagram) => datagram.length(),
            Self::NewToken(token) => kind + varint_length(token.len() as u64) + token.len() as u32,
            Self::NewConnectionId(id) => {
                let path = id.path.map_or(0, varint_length);
                let numbers = varint_length(id.sequence) + varint_length(id.retire_prior_to);
                kind + path + numbers + 1 + id.connection_id.length() + STATELESS_RESET_TOKEN_LENGTH as u32
            }
            Self::PathChallenge(data) | Self::PathResponse(data) => kind + data.len() as u32,
            Self::ConnectionClose(close) => {
                let codes: u32 = close.cause.integers().into_iter().map(varint_length).sum();
                kind + codes + varint_length(close.reason.len() as u64) + close.reason.len() as u32
            }
            Self::Invalid(bytes) => bytes.len() as u32,
            _ => kind + self.integers().into_iter().map(varint_length).sum::<u32>(),
        }
    }

    /// The fields of a frame that has no others than integers; none of the other frames.
    fn integers(&self) -> Integers {
        let of = |fields: &[u64]| fields.iter().copied().collect();
        match *self {
            Self::ResetStream { stream, error_code, final_size } => of(&[stream.0, error_code, final_size]),
            Self::StopSending { stream, error_code } => of(&[stream.0, error_code]),
            Self::MaxStreamData { stream, maximum } => of(&[stream.0, maximum]),
            Self::StreamDataBlocked { stream, limit } => of(&[stream.0, limit]),
            Self::MaxStreams { maximum: one, .. }
            | Self::StreamsBlocked { limit: one, .. }
            | Self::MaxData(one)
            | Self::DataBlocked(one)
            | Self::MaxPathId(one)
            | Self::PathsBlocked(one) => of(&[one]),
            Self::RetireConnectionId { path, sequence } => path.into_iter().chain([sequence]).collect(),
            Self::AckFrequency { sequence, eliciting_threshold, max_ack_delay, reordering_threshold } => {
                of(&[sequence, eliciting_threshold, max_ack_delay, reordering_threshold])
            }
            Self::PathAbandon { path, error_code } => of(&[path, error_code]),
            Self::PathStatus { path, sequence, .. } => of(&[path, sequence]),
            Self::PathCidsBlocked { path, next_sequence } => of(&[path, next_sequence]),
            _ => Integers::new(),
        }
    }

    /// Appends the frame. `payload` is the data of a STREAM or DATAGRAM frame, as long as described.
    pub(super) fn emit(&self, payload: PayloadBytes<'_>, out: &mut Emitter<'_>) {
        match self {
            Self::Padding(length) => return out.zeros(*length),
            Self::Invalid(bytes) => return out.bytes(bytes),
            _ => out.varint(self.kind()),
        }
        match self {
            Self::Stream(stream) => stream.emit(payload, out),
            Self::Datagram(datagram) => datagram.emit(payload, out),
            Self::Ack(ack) => ack.emit(out),
            Self::Crypto(crypto) => {
                out.varint(crypto.offset);
                out.counted_bytes(&crypto.data);
            }
            Self::NewToken(token) => out.counted_bytes(token),
            Self::NewConnectionId(id) => {
                id.path.into_iter().chain([id.sequence, id.retire_prior_to]).for_each(|field| out.varint(field));
                id.connection_id.emit_counted(out);
                out.bytes(&id.stateless_reset_token);
            }
            Self::PathChallenge(data) | Self::PathResponse(data) => out.bytes(data),
            Self::ConnectionClose(close) => {
                close.cause.integers().into_iter().for_each(|field| out.varint(field));
                out.counted_bytes(&close.reason);
            }
            _ => self.integers().into_iter().for_each(|field| out.varint(field)),
        }
    }

    /// Reads all frames of a packet's payload, which begins at offset `start` of its datagram. What follows no format is
    /// one [`Frame::Invalid`] at the end. Appends to `ranges` where the application data of each frame lies.
    pub(super) fn parse_all(bytes: &[u8], start: usize, ranges: &mut Vec<Range<usize>>) -> Vec<Self> {
        let mut frames = Vec::new();
        let mut reader = Reader::new(bytes);
        while reader.remaining() > 0 {
            let rest = reader.rest();
            match Self::parse(&mut reader) {
                Some(frame) => {
                    if let Some(payload) = frame.payload() {
                        // Data ends its frame.
                        let end = start + bytes.len() - reader.remaining();
                        ranges.push(end - payload.length as usize..end);
                    }
                    frames.push(frame);
                }
                None => {
                    frames.push(Self::Invalid(rest.into()));
                    break;
                }
            }
        }
        frames
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let before = reader.remaining();
        let kind = reader.varint()?;
        // Section 12.4: a frame type has its shortest form.
        if before - reader.remaining() != varint_length(kind) as usize {
            return None;
        }
        Some(match kind {
            frame_type::PADDING => {
                let zeros = reader.rest().iter().take_while(|&&byte| byte == 0).count();
                reader.bytes(zeros)?;
                Self::Padding(zeros as u32 + 1)
            }
            frame_type::ACK | frame_type::ACK_ECN => {
                Self::Ack(AckFrame::parse(reader, false, kind == frame_type::ACK_ECN)?)
            }
            frame_type::PATH_ACK | frame_type::PATH_ACK_ECN => {
                Self::Ack(AckFrame::parse(reader, true, kind == frame_type::PATH_ACK_ECN)?)
            }
            frame_type::CRYPTO => Self::Crypto(CryptoFrame::parse(reader)?),
            // Section 19.7: a token is not empty.
            frame_type::NEW_TOKEN => Self::NewToken(counted(reader).filter(|token| !token.is_empty())?.into()),
            frame_type::STREAM..=frame_type::STREAM_LAST => {
                Self::Stream(StreamFrame::parse(kind - frame_type::STREAM, reader)?)
            }
            frame_type::NEW_CONNECTION_ID | frame_type::PATH_NEW_CONNECTION_ID => {
                let has_path = kind == frame_type::PATH_NEW_CONNECTION_ID;
                Self::NewConnectionId(Box::new(NewConnectionIdFrame::parse(reader, has_path)?))
            }
            frame_type::PATH_CHALLENGE => Self::PathChallenge(reader.array()?),
            frame_type::PATH_RESPONSE => Self::PathResponse(reader.array()?),
            frame_type::CONNECTION_CLOSE | frame_type::CONNECTION_CLOSE_APPLICATION => {
                let is_of_transport = kind == frame_type::CONNECTION_CLOSE;
                Self::ConnectionClose(Box::new(CloseFrame::parse(reader, is_of_transport)?))
            }
            frame_type::DATAGRAM | frame_type::DATAGRAM_LEN => {
                Self::Datagram(DatagramFrame::parse(kind == frame_type::DATAGRAM_LEN, reader)?)
            }
            _ => return Self::parse_integers(kind, reader),
        })
    }

    /// Reads a frame that has no other fields than integers.
    fn parse_integers(kind: u64, reader: &mut Reader<'_>) -> Option<Self> {
        let mut next = || reader.varint();
        Some(match kind {
            frame_type::PING => Self::Ping,
            frame_type::RESET_STREAM => {
                Self::ResetStream { stream: StreamId(next()?), error_code: next()?, final_size: next()? }
            }
            frame_type::STOP_SENDING => Self::StopSending { stream: StreamId(next()?), error_code: next()? },
            frame_type::MAX_DATA => Self::MaxData(next()?),
            frame_type::MAX_STREAM_DATA => Self::MaxStreamData { stream: StreamId(next()?), maximum: next()? },
            frame_type::MAX_STREAMS_BIDI | frame_type::MAX_STREAMS_UNI => {
                let direction = direction(kind == frame_type::MAX_STREAMS_BIDI);
                Self::MaxStreams { direction, maximum: stream_count(next()?)? }
            }
            frame_type::DATA_BLOCKED => Self::DataBlocked(next()?),
            frame_type::STREAM_DATA_BLOCKED => Self::StreamDataBlocked { stream: StreamId(next()?), limit: next()? },
            frame_type::STREAMS_BLOCKED_BIDI | frame_type::STREAMS_BLOCKED_UNI => {
                let direction = direction(kind == frame_type::STREAMS_BLOCKED_BIDI);
                Self::StreamsBlocked { direction, limit: stream_count(next()?)? }
            }
            frame_type::RETIRE_CONNECTION_ID => Self::RetireConnectionId { path: None, sequence: next()? },
            frame_type::PATH_RETIRE_CONNECTION_ID => {
                Self::RetireConnectionId { path: Some(next()?), sequence: next()? }
            }
            frame_type::HANDSHAKE_DONE => Self::HandshakeDone,
            frame_type::IMMEDIATE_ACK => Self::ImmediateAck,
            frame_type::ACK_FREQUENCY => Self::AckFrequency {
                sequence: next()?,
                eliciting_threshold: next()?,
                max_ack_delay: next()?,
                reordering_threshold: next()?,
            },
            frame_type::PATH_ABANDON => Self::PathAbandon { path: next()?, error_code: next()? },
            frame_type::PATH_STATUS_BACKUP | frame_type::PATH_STATUS_AVAILABLE => Self::PathStatus {
                path: next()?,
                sequence: next()?,
                available: kind == frame_type::PATH_STATUS_AVAILABLE,
            },
            frame_type::MAX_PATH_ID => Self::MaxPathId(next()?),
            frame_type::PATHS_BLOCKED => Self::PathsBlocked(next()?),
            frame_type::PATH_CIDS_BLOCKED => Self::PathCidsBlocked { path: next()?, next_sequence: next()? },
            _ => return None,
        })
    }
}

impl NewConnectionIdFrame {
    fn parse(reader: &mut Reader<'_>, has_path: bool) -> Option<Self> {
        let path = if has_path { Some(reader.varint()?) } else { None };
        let (sequence, retire_prior_to) = (reader.varint()?, reader.varint()?);
        let connection_id = ConnectionId::read_counted(reader)?;
        let stateless_reset_token = reader.array()?;
        // Section 19.15.
        let is_valid = retire_prior_to <= sequence && !connection_id.is_empty();
        is_valid.then_some(Self { path, sequence, retire_prior_to, connection_id, stateless_reset_token })
    }
}

impl CloseFrame {
    fn parse(reader: &mut Reader<'_>, is_of_transport: bool) -> Option<Self> {
        let error_code = reader.varint()?;
        let cause = match is_of_transport {
            true => CloseCause::Transport { error_code, frame_type: reader.varint()? },
            false => CloseCause::Application { error_code },
        };
        Some(Self { cause, reason: counted(reader)?.into() })
    }
}

impl CloseCause {
    fn integers(self) -> ArrayVec<u64, 2> {
        match self {
            Self::Transport { error_code, frame_type } => [error_code, frame_type].into(),
            Self::Application { error_code } => core::iter::once(error_code).collect(),
        }
    }
}

/// Bytes behind their number.
fn counted<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(reader.varint()?).ok()?;
    reader.bytes(length)
}

const fn direction(is_bidirectional: bool) -> Direction {
    if is_bidirectional { Direction::Bidirectional } else { Direction::Unidirectional }
}

/// A number of streams, of which there are at most 2^60 of a kind (section 19.11).
fn stream_count(count: u64) -> Option<u64> {
    (count <= 1 << 60).then_some(count)
}
