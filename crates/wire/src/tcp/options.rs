//! TCP options and their length.

use arrayvec::ArrayVec;

use super::MAXIMUM_OPTIONS_LENGTH;
use super::mptcp::{Dss, MptcpOption};
use crate::error::EmitError;

/// Bytes of the Timestamps option with its padding.
const TIMESTAMPS_LENGTH: u32 = 12;

/// The Timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// One block of the SACK option (RFC 2018): the bytes `left..right` have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// The sequence number after the block's last.
    pub right: u32,
}

/// Options that are sent only on a SYN or SYN/ACK.
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
    /// MPTCP Data Sequence Signal, separate from the other MPTCP options because nearly every segment has one.
    pub dss: Option<Dss>,
    /// All other MPTCP options. Empty, and then without heap memory, on nearly every segment.
    pub mptcp: Vec<MptcpOption>,
}

impl TcpOptions {
    /// Length of the options in the header with padding: a multiple of 4, and more than 40 if they do not fit. The
    /// layout is that of Linux: timestamps take 12 bytes, including SACK-permitted; SACK takes 4 + 8n; every other
    /// option is padded to a multiple of 4.
    #[inline]
    pub fn wire_length(&self) -> u32 {
        let mptcp: u32 = self.mptcp.iter().map(MptcpOption::wire_length).sum();
        let sack = 8 * self.sack.len() as u32 + 4 * u32::from(!self.sack.is_empty());
        let dss = self.dss.as_ref().map_or(0, Dss::wire_length);
        self.syn.wire_length(self.timestamps.is_some())
            + TIMESTAMPS_LENGTH * u32::from(self.timestamps.is_some())
            + sack
            + dss
            + mptcp
    }

    /// Whether timestamps could be among the options, or are. Code that asks does so of few segments.
    #[cold]
    #[inline(never)]
    pub fn has_room_for_timestamps(&self) -> bool {
        self.timestamps.is_some() || self.wire_length() + TIMESTAMPS_LENGTH <= MAXIMUM_OPTIONS_LENGTH
    }

    /// Whether the options can be written.
    pub(crate) fn check(&self) -> Result<(), EmitError> {
        for option in &self.mptcp {
            option.check()?;
        }
        match self.wire_length() {
            0..=MAXIMUM_OPTIONS_LENGTH => Ok(()),
            needed => Err(EmitError::OptionsTooLong { needed }),
        }
    }
}

impl SynOptions {
    /// Length of these options. If there are timestamps, SACK-permitted replaces their padding and takes no extra
    /// bytes.
    #[inline]
    fn wire_length(&self, with_timestamps: bool) -> u32 {
        let options = u32::from(self.mss.is_some())
            + u32::from(self.window_scale.is_some())
            + u32::from(self.sack_permitted && !with_timestamps);
        4 * options
    }
}
