//! The SCTP packet: common header, chunks, and the way to bytes and back.

use core::ops::Range;

use super::Chunk;
use super::tlv::{CHUNK_HEADER_LENGTH, padded};
use crate::error::{EmitError, Header, ParseError};
use crate::{Payload, PayloadBytes};

/// Length of the common header (RFC 9260, section 3.1).
pub const HEADER_LENGTH: u32 = 12;
/// Where the checksum stands in the common header.
const CHECKSUM_OFFSET: usize = 8;

/// The UDP port registered for SCTP in UDP (RFC 6951, section 8).
pub const UDP_ENCAPSULATION_PORT: u16 = 9899;

/// An SCTP packet without the bytes of its user data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SctpPacket {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Verification tag: the receiver's, 0 with INIT, possibly the sender's own with a reflected tag (section 8.4).
    pub verification_tag: u32,
    /// The UDP header in front, if SCTP is carried in UDP.
    pub encapsulation: Option<UdpEncapsulation>,
    /// Whether routers may fragment it (IPv4: Don't Fragment is not set): it holds a chunk that was cut for a larger
    /// path MTU (RFC 9260, section 7.3). Unknown of a packet that was parsed.
    pub may_fragment: bool,
    /// Chunks, in their order. A vector, so that a packet that is used again keeps its memory.
    pub chunks: Vec<Chunk>,
}

/// SCTP carried in UDP (RFC 6951): the ports of the UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpEncapsulation {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl SctpPacket {
    /// Length in bytes from the common header to the padding of the last chunk, without a UDP header in front.
    #[inline]
    pub fn length(&self) -> u32 {
        HEADER_LENGTH + self.chunks.iter().map(|chunk| padded(chunk.length())).sum::<u32>()
    }

    /// Bytes of user data in all DATA chunks.
    pub fn user_data_length(&self) -> u32 {
        self.payloads().map(|payload| payload.length).sum()
    }

    /// The descriptions of the user data, in the order of the chunks.
    pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
        self.chunks.iter().filter_map(Chunk::payload)
    }

    /// Where the user data of each DATA chunk lies, counted from the common header, in the order of the chunks.
    pub fn payload_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = HEADER_LENGTH as usize;
        self.chunks.iter().filter_map(move |chunk| {
            let end = start + chunk.length() as usize;
            let range = chunk.payload().map(|payload| end - payload.length as usize..end);
            start = end.next_multiple_of(4);
            range
        })
    }

    /// Appends the packet, from the common header on, with its checksum. Of `payload` bytes, each DATA chunk takes as
    /// many as it describes, one after the other; too many or too few are an error, and leave `out` as it was.
    pub fn emit(&self, payload: PayloadBytes<'_>, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.check(payload)?;
        let start = out.len();
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.verification_tag.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        let mut left = payload;
        for chunk in &self.chunks {
            let length = chunk.payload().map_or(0, |payload| payload.length as usize);
            let own = match left {
                PayloadBytes::Zero => PayloadBytes::Zero,
                PayloadBytes::Bytes(bytes) => {
                    let (own, rest) = bytes.split_at(length);
                    left = PayloadBytes::Bytes(rest);
                    PayloadBytes::Bytes(own)
                }
            };
            chunk.emit(own, out);
        }
        let checksum = crc32c::crc32c(&out[start..]);
        out[start + CHECKSUM_OFFSET..][..4].copy_from_slice(&checksum.to_le_bytes());
        Ok(())
    }

    /// Whether the packet can be written with `payload` as its user data.
    pub(crate) fn check(&self, payload: PayloadBytes<'_>) -> Result<(), EmitError> {
        let expected = self.user_data_length();
        if let PayloadBytes::Bytes(bytes) = payload
            && bytes.len() != expected as usize
        {
            return Err(EmitError::PayloadLength { expected, given: bytes.len() });
        }
        let longest = self.chunks.iter().map(Chunk::length).max().unwrap_or(0);
        if longest > u32::from(u16::MAX) {
            return Err(EmitError::ChunkTooLong { needed: longest });
        }
        Ok(())
    }

    /// Parses the packet that `bytes` is, from the common header on. The CRC32c is verified (RFC 9260, section 6.8),
    /// and so is that every chunk lies within the packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let minimum = HEADER_LENGTH as usize;
        if bytes.len() < minimum {
            return Err(ParseError::Truncated { header: Header::Sctp, needed: minimum, available: bytes.len() });
        }
        let (header, chunks) = bytes.split_at(minimum);
        let stated = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let before = crc32c::crc32c(&header[..CHECKSUM_OFFSET]);
        let computed = crc32c::crc32c_append(crc32c::crc32c_append(before, &[0; 4]), chunks);
        if stated != computed {
            return Err(ParseError::Checksum(Header::Sctp));
        }
        Ok(Self {
            source_port: u16::from_be_bytes([header[0], header[1]]),
            destination_port: u16::from_be_bytes([header[2], header[3]]),
            verification_tag: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            encapsulation: None,
            may_fragment: false,
            chunks: parse_chunks(chunks)?,
        })
    }
}

fn parse_chunks(mut bytes: &[u8]) -> Result<Vec<Chunk>, ParseError> {
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let minimum = CHUNK_HEADER_LENGTH as usize;
        let truncated = |needed| ParseError::Truncated { header: Header::SctpChunk, needed, available: bytes.len() };
        let [kind, flags, high, low, ..] = *bytes else { return Err(truncated(minimum)) };
        let stated = usize::from(u16::from_be_bytes([high, low]));
        if stated < minimum {
            return Err(ParseError::LengthField { header: Header::SctpChunk, stated, minimum });
        }
        let Some(value) = bytes.get(minimum..stated) else { return Err(truncated(stated)) };
        chunks.push(Chunk::parse(kind, flags, value));
        // Padding of the last chunk that was cut off is forgiven, as Linux does.
        bytes = &bytes[stated.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(chunks)
}
