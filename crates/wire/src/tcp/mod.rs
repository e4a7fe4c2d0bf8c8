//! TCP segments (RFC 9293) and their options.

pub mod mptcp;

use core::ops::{BitOr, BitOrAssign};

use arrayvec::ArrayVec;

use crate::Payload;
use mptcp::{Dss, MptcpOption};

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

/// The Timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// One block of the SACK option (RFC 2018): bytes `left..right` have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// The sequence number after the block's last.
    pub right: u32,
}

/// Options that only a SYN or SYN/ACK carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum segment size (RFC 9293, section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// SACK-permitted (RFC 2018, section 2).
    pub sack_permitted: bool,
}

/// The options of one segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// MSS, window scale, SACK-permitted.
    pub syn: SynOptions,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, most recent first; a D-SACK (RFC 2883) is the first block.
    pub sack: ArrayVec<SackBlock, 4>,
    /// MPTCP Data Sequence Signal, kept apart from the other MPTCP options because nearly every segment has one.
    pub dss: Option<Dss>,
    /// Every other MPTCP option. Empty, and then without heap memory, on nearly every segment.
    pub mptcp: Vec<MptcpOption>,
}

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
    /// The window field as it stands on the wire (not scaled).
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// What it carries.
    pub payload: Payload,
}
