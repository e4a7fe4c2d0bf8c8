//! TCP segments (RFC 9293) and their options.

mod emit;
pub mod mptcp;
mod options;
mod parse;

use core::ops::{BitOr, BitOrAssign};

use crate::{ParseError, Payload};

pub(crate) use emit::emit_header;
pub use options::{SackBlock, SynOptions, TcpOptions, Timestamps};
pub(crate) use parse::{header_length, parse_header};

/// Offset of the checksum in the header.
pub(crate) const CHECKSUM_OFFSET: usize = 16;

const FIXED_HEADER_LENGTH: u32 = 20;
const MAXIMUM_OPTIONS_LENGTH: u32 = 40;

/// A TCP segment without its payload bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpSegment {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first payload byte, or of the SYN or FIN.
    pub sequence: u32,
    /// Next sequence number expected; significant when [`TcpFlags::ACK`] is set.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// The window field as sent (not scaled).
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Payload description.
    pub payload: Payload,
}

impl TcpSegment {
    /// Parses the header at the start of `bytes` and returns its length with it: of a segment whose payload may be cut,
    /// as in a capture. The payload is left empty, and no checksum is verified.
    pub fn parse_header(bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        let length = header_length(bytes)?;
        Ok((parse_header(&bytes[..length]), length))
    }

    /// Length of the header in bytes, with options (RFC 9293, section 3.1).
    #[inline]
    pub fn header_length(&self) -> u32 {
        FIXED_HEADER_LENGTH + self.options.wire_length()
    }
}

/// Option kinds (IANA, "TCP Option Kind Numbers").
mod option_kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const MPTCP: u8 = 30;
}

/// The TCP control bits (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for TcpFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl BitOrAssign for TcpFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
