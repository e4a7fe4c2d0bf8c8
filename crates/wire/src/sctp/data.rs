//! DATA (RFC 9260, section 3.3.1), and FORWARD-TSN, which skips data that was abandoned (RFC 3758, section 3.2).

use super::tlv::CHUNK_HEADER_LENGTH;
use crate::reader::Reader;
use crate::{Payload, PayloadBytes};

/// Flags: I, U, B, E.
const FLAG_IMMEDIATE: u8 = 0x08;
const FLAG_UNORDERED: u8 = 0x04;
const FLAG_BEGIN: u8 = 0x02;
const FLAG_END: u8 = 0x01;

/// A DATA chunk without its user data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataChunk {
    /// I: the receiver should acknowledge without delay.
    pub immediate: bool,
    /// U: the message has no place in the order of its stream.
    pub unordered: bool,
    /// B: first fragment of its message.
    pub begin: bool,
    /// E: last fragment of its message.
    pub end: bool,
    /// Transmission sequence number.
    pub tsn: u32,
    /// Stream identifier.
    pub stream: u16,
    /// Stream sequence number of the message.
    pub stream_sequence: u16,
    /// Payload protocol identifier: the application's.
    pub protocol_identifier: u32,
    /// What it carries.
    pub payload: Payload,
}

impl DataChunk {
    /// Bytes that a DATA chunk takes beside its user data.
    pub const HEADER_LENGTH: u32 = 16;

    pub(super) const fn flags(&self) -> u8 {
        (self.immediate as u8) << 3 | (self.unordered as u8) << 2 | (self.begin as u8) << 1 | self.end as u8
    }

    /// Appends what stands behind type, flags and length.
    pub(super) fn emit(&self, payload: PayloadBytes<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tsn.to_be_bytes());
        out.extend_from_slice(&self.stream.to_be_bytes());
        out.extend_from_slice(&self.stream_sequence.to_be_bytes());
        out.extend_from_slice(&self.protocol_identifier.to_be_bytes());
        match payload {
            PayloadBytes::Zero => out.resize(out.len() + self.payload.length as usize, 0),
            PayloadBytes::Bytes(bytes) => out.extend_from_slice(bytes),
        }
    }

    pub(super) fn parse(flags: u8, value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        Some(Self {
            immediate: flags & FLAG_IMMEDIATE != 0,
            unordered: flags & FLAG_UNORDERED != 0,
            begin: flags & FLAG_BEGIN != 0,
            end: flags & FLAG_END != 0,
            tsn: reader.u32()?,
            stream: reader.u16()?,
            stream_sequence: reader.u16()?,
            protocol_identifier: reader.u32()?,
            payload: Payload {
                stream_offset: 0,
                length: reader.remaining() as u32,
                sum: crate::checksum::ones_complement_sum(&value[value.len() - reader.remaining()..]),
            },
        })
    }
}

/// Moves the peer's cumulative TSN over what has been abandoned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardTsnChunk {
    /// The receiver shall count everything up to here as received.
    pub new_cumulative_tsn: u32,
    /// Ordered streams of which messages were abandoned.
    pub streams: Vec<SkippedStream>,
}

/// A stream with abandoned messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedStream {
    /// Stream identifier.
    pub stream: u16,
    /// The largest stream sequence number abandoned.
    pub stream_sequence: u16,
}

impl ForwardTsnChunk {
    pub(super) fn length(&self) -> u32 {
        CHUNK_HEADER_LENGTH + 4 + 4 * self.streams.len() as u32
    }

    /// Appends what stands behind type, flags and length.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.new_cumulative_tsn.to_be_bytes());
        for skipped in &self.streams {
            out.extend_from_slice(&skipped.stream.to_be_bytes());
            out.extend_from_slice(&skipped.stream_sequence.to_be_bytes());
        }
    }

    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        let new_cumulative_tsn = reader.u32()?;
        let mut streams = Vec::with_capacity(reader.remaining() / 4);
        while reader.remaining() > 0 {
            streams.push(SkippedStream { stream: reader.u16()?, stream_sequence: reader.u16()? });
        }
        Some(Self { new_cumulative_tsn, streams })
    }
}
