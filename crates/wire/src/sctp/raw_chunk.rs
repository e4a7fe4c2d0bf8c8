//! Chunks of an unknown type, or whose contents do not follow their format.

use super::packet::CHUNK_HEADER_LENGTH;
use super::{InitChunk, chunk_type};

/// A chunk as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawChunk {
    /// Type. Its two highest bits say what to do about one that is unknown (RFC 9260, section 3.2).
    pub kind: u8,
    /// Flags.
    pub flags: u8,
    /// What stands behind type, flags and length.
    pub value: Box<[u8]>,
}

impl RawChunk {
    /// Whether the chunks behind an unknown one are to be processed (bit 7 of the type).
    pub const fn is_skippable(&self) -> bool {
        self.kind & 0x80 != 0
    }

    /// Whether an unknown chunk is to be reported to its sender (bit 6 of the type).
    pub const fn is_reportable(&self) -> bool {
        self.kind & 0x40 != 0
    }

    /// The initiate tag of an INIT or INIT ACK whose fixed part is there.
    pub fn initiate_tag(&self) -> Option<u32> {
        let opens = matches!(self.kind, chunk_type::INIT | chunk_type::INIT_ACK);
        let tag = self.value.first_chunk().filter(|_| opens && self.value.len() >= InitChunk::FIXED_LENGTH)?;
        Some(u32::from_be_bytes(*tag))
    }

    /// The chunk with its type, flags and length, without padding: what is reported.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let length = CHUNK_HEADER_LENGTH as usize + self.value.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&[self.kind, self.flags]);
        bytes.extend_from_slice(&(length as u16).to_be_bytes());
        bytes.extend_from_slice(&self.value);
        bytes.into_boxed_slice()
    }
}
