//! Frames with data: STREAM and CRYPTO (RFC 9000, sections 19.6 and 19.8), and DATAGRAM (RFC 9221, section 4).

use super::{Emitter, varint_length};
use crate::reader::Reader;
use crate::{Payload, PayloadBytes, checksum};

/// The bits of a STREAM frame's type, and of a DATAGRAM frame's type (LEN).
pub(super) const BIT_FIN: u64 = 0x01;
pub(super) const BIT_LENGTH: u64 = 0x02;
pub(super) const BIT_OFFSET: u64 = 0x04;

/// Whether a stream carries data both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Both ends send.
    Bidirectional,
    /// Only the end that has opened it sends.
    Unidirectional,
}

impl Direction {
    /// 1 of streams in one direction: what frame types and identifiers of streams add for them.
    pub(super) const fn bit(self) -> u64 {
        matches!(self, Self::Unidirectional) as u64
    }
}

/// The identifier of a stream (RFC 9000, section 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

impl StreamId {
    /// Stream number `index`, counted from 0, of those that one end opens in one direction.
    pub const fn new(index: u64, by_server: bool, direction: Direction) -> Self {
        Self(index << 2 | direction.bit() << 1 | by_server as u64)
    }

    /// Whether the server has opened it.
    pub const fn is_by_server(self) -> bool {
        self.0 & 1 != 0
    }

    /// Its direction.
    pub const fn direction(self) -> Direction {
        if self.0 & 2 == 0 { Direction::Bidirectional } else { Direction::Unidirectional }
    }

    /// Its number, counted from 0, among those of the same kind.
    pub const fn index(self) -> u64 {
        self.0 >> 2
    }
}

/// Data of a stream, without the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFrame {
    /// The stream.
    pub stream: StreamId,
    /// Offset of the first byte in the stream.
    pub offset: u64,
    /// FIN: the stream ends with this data.
    pub fin: bool,
    /// Whether the frame states its length. If not, it reaches to the end of its packet.
    pub has_length: bool,
    /// The data.
    pub payload: Payload,
}

impl StreamFrame {
    /// Bytes that a frame takes beside its data, of which it has `length` bytes.
    pub const fn header_length(stream: StreamId, offset: u64, has_length: bool, length: u32) -> u32 {
        let offset = if offset > 0 { varint_length(offset) } else { 0 };
        1 + varint_length(stream.0) + offset + if has_length { varint_length(length as u64) } else { 0 }
    }

    /// The low bits of the frame type.
    pub(super) const fn type_bits(&self) -> u64 {
        (self.fin as u64) * BIT_FIN + (self.has_length as u64) * BIT_LENGTH + ((self.offset > 0) as u64) * BIT_OFFSET
    }

    pub(super) const fn length(&self) -> u32 {
        let length = self.payload.length;
        Self::header_length(self.stream, self.offset, self.has_length, length) + length
    }

    /// Appends what stands behind the frame type.
    pub(super) fn emit(&self, payload: PayloadBytes<'_>, out: &mut Emitter<'_>) {
        out.varint(self.stream.0);
        if self.offset > 0 {
            out.varint(self.offset);
        }
        if self.has_length {
            out.varint(self.payload.length.into());
        }
        out.payload(payload, self.payload.length);
    }

    pub(super) fn parse(type_bits: u64, reader: &mut Reader<'_>) -> Option<Self> {
        let stream = StreamId(reader.varint()?);
        let offset = if type_bits & BIT_OFFSET != 0 { reader.varint()? } else { 0 };
        let has_length = type_bits & BIT_LENGTH != 0;
        let payload = described(reader, has_length)?;
        // Section 19.8: no stream is longer than a variable-length integer can express.
        let end = offset + u64::from(payload.length);
        let frame = Self { stream, offset, fin: type_bits & BIT_FIN != 0, has_length, payload };
        (end <= super::MAX_VARINT).then_some(frame)
    }
}

/// An unreliable datagram of the application, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramFrame {
    /// Whether the frame states its length. If not, it reaches to the end of its packet.
    pub has_length: bool,
    /// The datagram.
    pub payload: Payload,
}

impl DatagramFrame {
    pub(super) const fn length(&self) -> u32 {
        let length = self.payload.length;
        1 + if self.has_length { varint_length(length as u64) } else { 0 } + length
    }

    /// Appends what stands behind the frame type.
    pub(super) fn emit(&self, payload: PayloadBytes<'_>, out: &mut Emitter<'_>) {
        if self.has_length {
            out.varint(self.payload.length.into());
        }
        out.payload(payload, self.payload.length);
    }

    pub(super) fn parse(has_length: bool, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { has_length, payload: described(reader, has_length)? })
    }
}

/// A part of the messages of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CryptoFrame {
    /// Offset of the first byte among those of its packet number space.
    pub offset: u64,
    /// The bytes.
    pub data: Box<[u8]>,
}

impl CryptoFrame {
    /// Bytes that a frame takes beside its data, of which it has `length` bytes.
    pub const fn header_length(offset: u64, length: u32) -> u32 {
        1 + varint_length(offset) + varint_length(length as u64)
    }

    pub(super) const fn length(&self) -> u32 {
        let length = self.data.len() as u32;
        Self::header_length(self.offset, length) + length
    }

    pub(super) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let offset = reader.varint()?;
        let length = usize::try_from(reader.varint()?).ok()?;
        let data = reader.bytes(length)?;
        (offset + length as u64 <= super::MAX_VARINT).then(|| Self { offset, data: data.into() })
    }
}

/// The description of data that reaches as far as is stated, or to the end.
fn described(reader: &mut Reader<'_>, has_length: bool) -> Option<Payload> {
    let length = if has_length { usize::try_from(reader.varint()?).ok()? } else { reader.remaining() };
    let bytes = reader.bytes(length)?;
    Some(Payload { stream_offset: 0, length: length as u32, sum: checksum::ones_complement_sum(bytes) })
}
