//! Packets whose protection is not removed yet: what of them can be read without keys (RFC 9001, section 5.4).
//!
//! Protection is removed in place: the packet number and the lowest bits of the first byte are unmasked, the payload is
//! decrypted, and its tag set to zero. Then the packet is one of the null suite, which [`QuicDatagram::parse`] reads; and
//! one that [`QuicDatagram::emit`] has written is protected in place.
//!
//! [`QuicDatagram::parse`]: super::QuicDatagram::parse
//! [`QuicDatagram::emit`]: super::QuicDatagram::emit

use super::header::{
    BIT_FIXED, BIT_LONG, LONG_RESERVED, LongStart, SHORT_RESERVED, TYPE_HANDSHAKE, TYPE_INITIAL, TYPE_MASK,
    TYPE_ZERO_RTT, read_token_and_length,
};
use super::{ConnectionId, PacketNumber, VERSION_1};
use crate::error::{Header, ParseError};
use crate::reader::Reader;

/// Bytes of which header protection takes its mask (RFC 9001, section 5.4.2).
pub const SAMPLE_LENGTH: usize = 16;
/// Where they are, counted from the packet number.
const SAMPLE_AT: usize = 4;

/// What a packet is, as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// Initial.
    Initial,
    /// 0-RTT.
    ZeroRtt,
    /// Handshake.
    Handshake,
    /// 1-RTT.
    OneRtt,
    /// Retry, which is not protected.
    Retry,
    /// Version Negotiation, which is not protected.
    VersionNegotiation,
    /// A packet of another version, of which connection identifiers can be read only (RFC 8999).
    OtherVersion,
}

impl PacketKind {
    /// That of a packet of version 1 with a long header.
    const fn of_long(first: u8) -> Self {
        match first & TYPE_MASK {
            TYPE_INITIAL => Self::Initial,
            TYPE_ZERO_RTT => Self::ZeroRtt,
            TYPE_HANDSHAKE => Self::Handshake,
            _ => Self::Retry,
        }
    }
}

/// A packet at the start of bytes, with its protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectedPacket {
    /// What it is.
    pub kind: PacketKind,
    /// Destination connection identifier.
    pub destination: ConnectionId,
    /// Source connection identifier; empty in a short header.
    pub source: ConnectionId,
    number_at: usize,
    length: usize,
}

impl ProtectedPacket {
    /// Reads the packet at the start of `bytes`. The connection identifier of a short header has `id_length` bytes.
    ///
    /// # Errors
    ///
    /// The packet is cut short, is too short to be protected, or is none of version 1.
    pub fn parse(bytes: &[u8], id_length: usize) -> Result<Self, ParseError> {
        let truncated = ParseError::Truncated { header: Header::Quic, needed: bytes.len() + 1, available: bytes.len() };
        let mut reader = Reader::new(bytes);
        let first = reader.u8().ok_or(truncated)?;
        if first & BIT_LONG == 0 {
            let destination = reader.bytes(id_length).and_then(ConnectionId::new).ok_or(truncated)?;
            let (kind, source) = (PacketKind::OneRtt, ConnectionId::EMPTY);
            let number_at = bytes.len() - reader.remaining();
            return Self { kind, destination, source, number_at, length: bytes.len() }.checked(bytes);
        }
        let LongStart { version, destination, source } = LongStart::read(&mut reader).ok_or(truncated)?;
        let of_kind = |kind| Self { kind, destination, source, number_at: 0, length: bytes.len() };
        let kind = match (version, first) {
            (0, _) => return Ok(of_kind(PacketKind::VersionNegotiation)),
            (VERSION_1, _) => PacketKind::of_long(first),
            _ => return Ok(of_kind(PacketKind::OtherVersion)),
        };
        if kind == PacketKind::Retry {
            return Ok(of_kind(kind));
        }
        let (_, length) = read_token_and_length(kind == PacketKind::Initial, &mut reader).ok_or(truncated)?;
        let number_at = bytes.len() - reader.remaining();
        let length = number_at.checked_add(length).ok_or(truncated)?;
        Self { number_at, length, ..of_kind(kind) }.checked(bytes)
    }

    fn checked(self, bytes: &[u8]) -> Result<Self, ParseError> {
        if bytes[0] & BIT_FIXED == 0 {
            return Err(ParseError::Field { header: Header::Quic, field: "fixed bit" });
        }
        let needed = self.length.max(self.number_at + SAMPLE_AT + SAMPLE_LENGTH);
        match needed > self.length.min(bytes.len()) {
            true => Err(ParseError::Truncated { header: Header::Quic, needed, available: bytes.len() }),
            false => Ok(self),
        }
    }

    /// Bytes of the packet: what follows them in a datagram is another one.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Whether it has a packet number, and is protected.
    pub const fn is_protected(&self) -> bool {
        self.number_at > 0
    }

    /// Where its packet number begins, if it [is protected](Self::is_protected).
    pub const fn number_at(&self) -> usize {
        self.number_at
    }

    /// The bytes of which header protection takes its mask, of a packet that [is protected](Self::is_protected) and at the
    /// start of `bytes`.
    pub fn sample(&self, bytes: &[u8]) -> [u8; SAMPLE_LENGTH] {
        let start = self.number_at + SAMPLE_AT;
        // Parsing has made sure that they are there.
        bytes.get(start..).and_then(|rest| rest.first_chunk().copied()).unwrap_or_default()
    }

    /// The token of an Initial packet at the start of `bytes`; empty if it has none.
    pub fn token<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let mut reader = Reader::new(bytes);
        let is_initial = self.kind == PacketKind::Initial && reader.u8().is_some();
        let rest = if is_initial { LongStart::read(&mut reader) } else { None };
        rest.and_then(|_| read_token_and_length(true, &mut reader)).map_or(&[], |(token, _)| token)
    }

    /// The packet number, once header protection is removed from the start of `bytes`.
    pub fn number(&self, bytes: &[u8]) -> PacketNumber {
        let length = (bytes[0] & 0x03) + 1;
        let number = &bytes[self.number_at..][..usize::from(length)];
        PacketNumber::from_parts(number.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)), length)
    }

    /// Whether the bits are zero that have to be, once all protection is removed (RFC 9000, sections 17.2 and 17.3.1).
    pub const fn has_valid_bits(first: u8) -> bool {
        let reserved = if first & BIT_LONG != 0 { LONG_RESERVED } else { SHORT_RESERVED };
        first & reserved == 0
    }
}
