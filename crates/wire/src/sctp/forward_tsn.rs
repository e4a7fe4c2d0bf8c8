//! FORWARD-TSN (RFC 3758, section 3.2).

use super::tlv::CHUNK_HEADER_LENGTH;
use crate::reader::Reader;

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
