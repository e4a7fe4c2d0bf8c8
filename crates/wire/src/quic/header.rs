//! Headers of packets (RFC 9000, section 17).

use super::{ConnectionId, Emitter, PacketNumber};
use crate::error::{Header, ParseError};
use crate::reader::Reader;

/// The version number of QUIC version 1.
pub const VERSION_1: u32 = 1;

/// Bits of the first byte: of all packets, of long headers, and of short ones.
pub(super) const BIT_LONG: u8 = 0x80;
pub(super) const BIT_FIXED: u8 = 0x40;
pub(super) const LONG_RESERVED: u8 = 0x0c;
const BIT_SPIN: u8 = 0x20;
pub(super) const SHORT_RESERVED: u8 = 0x18;
const BIT_KEY_PHASE: u8 = 0x04;
/// Packet types of long headers, at their place in the first byte.
pub(super) const TYPE_MASK: u8 = 0x30;
pub(super) const TYPE_INITIAL: u8 = 0x00;
pub(super) const TYPE_ZERO_RTT: u8 = 0x10;
pub(super) const TYPE_HANDSHAKE: u8 = 0x20;
const TYPE_RETRY: u8 = 0x30;
/// Bytes with which the field of the packet's length is written, as most implementations do.
const LENGTH_FIELD: u32 = 2;
/// The longest rest of a packet, from the packet number on, of which that field can state the length.
const LONGEST_REST: u32 = 0x3fff;

/// The header of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketHeader {
    /// Initial: the first messages of the handshake.
    Initial {
        /// The version.
        version: u32,
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Source connection identifier.
        source: ConnectionId,
        /// A token of the server, from a Retry packet or an earlier connection; empty without one.
        token: Box<[u8]>,
        /// Packet number.
        number: PacketNumber,
    },
    /// 0-RTT: data before the handshake is complete.
    ZeroRtt {
        /// The version.
        version: u32,
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Source connection identifier.
        source: ConnectionId,
        /// Packet number.
        number: PacketNumber,
    },
    /// Handshake: the further messages of the handshake.
    Handshake {
        /// The version.
        version: u32,
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Source connection identifier.
        source: ConnectionId,
        /// Packet number.
        number: PacketNumber,
    },
    /// 1-RTT, with a short header: all else.
    OneRtt {
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Latency spin bit.
        spin: bool,
        /// Key phase.
        key_phase: bool,
        /// Packet number.
        number: PacketNumber,
    },
    /// Retry: the server validates the client's address.
    Retry {
        /// The version.
        version: u32,
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Source connection identifier.
        source: ConnectionId,
        /// What the client sends back.
        token: Box<[u8]>,
        /// The tag that proves who has seen the Initial packet, as it is on the wire.
        integrity_tag: [u8; 16],
    },
    /// Version Negotiation: the versions that a server supports.
    VersionNegotiation {
        /// Destination connection identifier.
        destination: ConnectionId,
        /// Source connection identifier.
        source: ConnectionId,
        /// The versions.
        versions: Vec<u32>,
    },
}

impl PacketHeader {
    /// Its packet number, if the packet has one: then it has frames, too.
    #[inline]
    pub const fn number(&self) -> Option<PacketNumber> {
        match self {
            Self::Initial { number, .. }
            | Self::ZeroRtt { number, .. }
            | Self::Handshake { number, .. }
            | Self::OneRtt { number, .. } => Some(*number),
            Self::Retry { .. } | Self::VersionNegotiation { .. } => None,
        }
    }

    /// The connection identifier to which the packet is sent.
    pub const fn destination(&self) -> ConnectionId {
        match self {
            Self::Initial { destination, .. }
            | Self::ZeroRtt { destination, .. }
            | Self::Handshake { destination, .. }
            | Self::OneRtt { destination, .. }
            | Self::Retry { destination, .. }
            | Self::VersionNegotiation { destination, .. } => *destination,
        }
    }

    /// Length in bytes, with the packet number.
    #[inline]
    pub fn length(&self) -> u32 {
        let numbered = |number: &PacketNumber| LENGTH_FIELD + number.length();
        let long = |destination: &ConnectionId, source: &ConnectionId| 7 + destination.length() + source.length();
        match self {
            Self::OneRtt { destination, number, .. } => 1 + destination.length() + number.length(),
            Self::Initial { destination, source, token, number, .. } => {
                let token = super::varint_length(token.len() as u64) + token.len() as u32;
                long(destination, source) + token + numbered(number)
            }
            Self::ZeroRtt { destination, source, number, .. } | Self::Handshake { destination, source, number, .. } => {
                long(destination, source) + numbered(number)
            }
            Self::Retry { destination, source, token, integrity_tag, .. } => {
                long(destination, source) + (token.len() + integrity_tag.len()) as u32
            }
            Self::VersionNegotiation { destination, source, versions } => {
                long(destination, source) + 4 * versions.len() as u32
            }
        }
    }

    /// Whether the header can state that `rest` bytes follow it.
    pub(super) fn can_state(&self, rest: u32) -> bool {
        match self {
            Self::OneRtt { .. } | Self::Retry { .. } | Self::VersionNegotiation { .. } => true,
            _ => self.number().map_or(0, PacketNumber::length).saturating_add(rest) <= LONGEST_REST,
        }
    }

    /// Appends the header of a packet of which `rest` bytes follow it.
    pub(super) fn emit(&self, rest: u32, out: &mut Emitter<'_>) {
        let (kind, version, destination, source) = match self {
            Self::OneRtt { destination, spin, key_phase, number } => {
                let bits = if *spin { BIT_SPIN } else { 0 } | if *key_phase { BIT_KEY_PHASE } else { 0 };
                out.bytes(&[BIT_FIXED | bits | (number.length() - 1) as u8]);
                out.bytes(destination.as_bytes());
                return emit_number(*number, out);
            }
            Self::Initial { version, destination, source, .. } => (TYPE_INITIAL, *version, destination, source),
            Self::ZeroRtt { version, destination, source, .. } => (TYPE_ZERO_RTT, *version, destination, source),
            Self::Handshake { version, destination, source, .. } => (TYPE_HANDSHAKE, *version, destination, source),
            Self::Retry { version, destination, source, .. } => (TYPE_RETRY, *version, destination, source),
            Self::VersionNegotiation { destination, source, .. } => (0, 0, destination, source),
        };
        let number_bits = self.number().map_or(0, |number| number.length() - 1) as u8;
        out.bytes(&[BIT_LONG | BIT_FIXED | kind | number_bits]);
        out.bytes(&version.to_be_bytes());
        destination.emit_counted(out);
        source.emit_counted(out);
        match self {
            Self::Initial { token, .. } => out.counted_bytes(token),
            Self::Retry { token, integrity_tag, .. } => {
                out.bytes(token);
                out.bytes(integrity_tag);
            }
            Self::VersionNegotiation { versions, .. } => {
                versions.iter().for_each(|version| out.bytes(&version.to_be_bytes()));
            }
            _ => {}
        }
        if let Some(number) = self.number() {
            out.varint_of((number.length() + rest).into(), LENGTH_FIELD);
            emit_number(number, out);
        }
    }

    /// Reads a header, and returns it with the number of bytes that follow it in its packet. The connection identifier
    /// of a short header has `id_length` bytes.
    pub(super) fn parse(bytes: &[u8], id_length: usize) -> Result<(Self, &[u8], usize), ParseError> {
        let mut reader = Reader::new(bytes);
        let truncated = ParseError::Truncated { header: Header::Quic, needed: bytes.len() + 1, available: bytes.len() };
        let first = reader.u8().ok_or(truncated)?;
        if first & BIT_LONG != 0 {
            let (header, length) = Self::parse_long(first, &mut reader)?.ok_or(truncated)?;
            return Ok((header, reader.rest(), length));
        }
        expect(first & BIT_FIXED != 0, "fixed bit")?;
        expect(first & SHORT_RESERVED == 0, "reserved bits")?;
        let destination = reader.bytes(id_length).and_then(ConnectionId::new).ok_or(truncated)?;
        let number = read_number(first, &mut reader).ok_or(truncated)?;
        let (spin, key_phase) = (first & BIT_SPIN != 0, first & BIT_KEY_PHASE != 0);
        let rest = reader.rest();
        Ok((Self::OneRtt { destination, spin, key_phase, number }, rest, rest.len()))
    }

    /// The inner option is `None` if bytes are missing.
    fn parse_long(first: u8, reader: &mut Reader<'_>) -> Result<Option<(Self, usize)>, ParseError> {
        let Some(LongStart { version, destination, source }) = LongStart::read(reader) else { return Ok(None) };
        if version == 0 {
            let count = reader.remaining() / 4;
            let versions = (0..count).filter_map(|_| reader.u32()).collect();
            let rest = reader.remaining();
            return Ok(Some((Self::VersionNegotiation { destination, source, versions }, rest)));
        }
        expect(first & BIT_FIXED != 0, "fixed bit")?;
        let kind = first & TYPE_MASK;
        if kind == TYPE_RETRY {
            let Some(length) = reader.remaining().checked_sub(16) else { return Ok(None) };
            let token = reader.bytes(length).unwrap_or_default().into();
            let integrity_tag = reader.array().unwrap_or_default();
            return Ok(Some((Self::Retry { version, destination, source, token, integrity_tag }, 0)));
        }
        expect(first & LONG_RESERVED == 0, "reserved bits")?;
        let Some((token, length)) = read_token_and_length(kind == TYPE_INITIAL, reader) else { return Ok(None) };
        let Some(number) = read_number(first, reader) else { return Ok(None) };
        let rest = length.checked_sub(number.length() as usize);
        let rest = rest.ok_or(ParseError::Field { header: Header::Quic, field: "length" })?;
        let header = match kind {
            TYPE_INITIAL => Self::Initial { version, destination, source, token: token.into(), number },
            TYPE_ZERO_RTT => Self::ZeroRtt { version, destination, source, number },
            _ => Self::Handshake { version, destination, source, number },
        };
        Ok(Some((header, rest)))
    }
}

/// What follows the first byte of every long header, of whatever version (RFC 8999, section 5.1).
pub(super) struct LongStart {
    pub(super) version: u32,
    pub(super) destination: ConnectionId,
    pub(super) source: ConnectionId,
}

impl LongStart {
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let version = reader.u32()?;
        let (destination, source) = (ConnectionId::read_counted(reader)?, ConnectionId::read_counted(reader)?);
        Some(Self { version, destination, source })
    }
}

/// What stands before the packet number of a long header: the token, which only an Initial packet has, and the number of
/// bytes from the packet number on.
pub(super) fn read_token_and_length<'a>(is_initial: bool, reader: &mut Reader<'a>) -> Option<(&'a [u8], usize)> {
    let token = match is_initial {
        true => {
            let length = usize::try_from(reader.varint()?).ok()?;
            reader.bytes(length)?
        }
        false => &[],
    };
    Some((token, usize::try_from(reader.varint()?).ok()?))
}

fn emit_number(number: PacketNumber, out: &mut Emitter<'_>) {
    out.bytes(&number.truncated().to_be_bytes()[4 - number.length() as usize..]);
}

fn read_number(first: u8, reader: &mut Reader<'_>) -> Option<PacketNumber> {
    let length = (first & 0x03) + 1;
    let value = reader.bytes(length.into())?.iter().fold(0, |value, &byte| value << 8 | u32::from(byte));
    Some(PacketNumber::from_parts(value, length))
}

const fn expect(is_valid: bool, field: &'static str) -> Result<(), ParseError> {
    if is_valid { Ok(()) } else { Err(ParseError::Field { header: Header::Quic, field }) }
}
