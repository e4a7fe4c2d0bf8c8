//! MPTCP options (RFC 8684, section 3): TCP option kind 30 with a subtype.
//!
//! Each larger option has its own file; the small ones are in this file.

mod add_address;
mod capable;
mod dss;
mod join;

use arrayvec::ArrayVec;

use super::option_kind;
use crate::error::EmitError;
use crate::reader::Reader;

pub use add_address::AddAddress;
pub use capable::{Capable, CapableFlags};
pub use dss::{DataAck, Dss, Mapping};
pub use join::Join;

/// Any MPTCP option except the DSS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// MP_CAPABLE.
    Capable(Capable),
    /// MP_JOIN.
    Join(Join),
    /// ADD_ADDR, or its echo.
    AddAddress(AddAddress),
    /// REMOVE_ADDR (section 3.4.2): the identifiers of the withdrawn addresses.
    RemoveAddress(ArrayVec<u8, 37>),
    /// MP_PRIO (section 3.3.8): whether this subflow becomes a backup.
    Priority {
        /// B.
        backup: bool,
    },
    /// MP_FAIL (section 3.7): the data sequence number of the mapping whose checksum failed.
    Fail {
        /// Data sequence number, 64 bits.
        data_sequence: u64,
    },
    /// MP_FASTCLOSE (section 3.5).
    FastClose {
        /// The receiver's key.
        receiver_key: u64,
    },
    /// MP_TCPRST (section 3.6).
    Reset(ResetReason),
}

/// A parsed MPTCP option.
pub(super) enum ParsedOption {
    Dss(Dss),
    Other(MptcpOption),
}

/// Parses the `body` of an MPTCP option, the bytes after kind and length. `None` if its subtype is unknown or its
/// length is invalid for the subtype.
pub(super) fn parse(body: &[u8]) -> Option<ParsedOption> {
    let mut reader = Reader::new(body);
    let first = reader.u8()?;
    // The low half contains flags, or the version of MP_CAPABLE.
    let (subtype, low) = (first >> 4, first & 0x0f);
    let option = match subtype {
        subtype::CAPABLE => MptcpOption::Capable(Capable::parse(low, reader)?),
        subtype::JOIN => MptcpOption::Join(Join::parse(low, reader)?),
        subtype::DSS => return Dss::parse(reader).map(ParsedOption::Dss),
        subtype::ADD_ADDRESS => MptcpOption::AddAddress(AddAddress::parse(low, reader)?),
        subtype::REMOVE_ADDRESS => parse_remove_address(&body[1..])?,
        subtype::PRIORITY => parse_priority(low, reader)?,
        subtype::FAIL => MptcpOption::Fail { data_sequence: parse_reserved_and_u64(reader)? },
        subtype::FAST_CLOSE => MptcpOption::FastClose { receiver_key: parse_reserved_and_u64(reader)? },
        subtype::RESET => MptcpOption::Reset(ResetReason::parse(low, reader)?),
        _ => return None,
    };
    Some(ParsedOption::Other(option))
}

fn parse_remove_address(identifiers: &[u8]) -> Option<MptcpOption> {
    if identifiers.is_empty() {
        return None;
    }
    ArrayVec::try_from(identifiers).ok().map(MptcpOption::RemoveAddress)
}

/// Version 1 has one form, of 3 bytes, which changes the subflow that carries it. The form of 4 bytes in RFC 6824 names
/// an address, whose subflows may be others: it is no option of version 1 and is ignored, as Linux does.
fn parse_priority(flags: u8, reader: Reader<'_>) -> Option<MptcpOption> {
    reader.finish(MptcpOption::Priority { backup: flags & BACKUP != 0 })
}

/// The bytes of MP_FAIL and MP_FASTCLOSE after their subtype.
fn parse_reserved_and_u64(mut reader: Reader<'_>) -> Option<u64> {
    let (_reserved, value) = (reader.u8()?, reader.u64()?);
    reader.finish(value)
}

impl MptcpOption {
    /// Bytes the option takes in the header, with padding to a multiple of 4.
    pub fn wire_length(&self) -> u32 {
        self.length_field().next_multiple_of(4)
    }

    /// Bytes the option takes without padding.
    fn length_field(&self) -> u32 {
        match self {
            Self::Capable(capable) => capable.length_field(),
            Self::Join(join) => join.length_field(),
            Self::AddAddress(announcement) => announcement.length_field(),
            Self::RemoveAddress(identifiers) => 3 + identifiers.len() as u32,
            Self::Priority { .. } => 3,
            Self::Fail { .. } | Self::FastClose { .. } => 12,
            Self::Reset(_) => ResetReason::LENGTH,
        }
    }

    /// Checks that the option's fields match one of its wire formats.
    pub(super) fn check(&self) -> Result<(), EmitError> {
        match self {
            Self::Capable(capable) => capable.check(),
            Self::RemoveAddress(identifiers) if identifiers.is_empty() => {
                Err(EmitError::IncompleteOption { option: "REMOVE_ADDR", missing: "an address identifier" })
            }
            _ => Ok(()),
        }
    }

    /// Appends the option, padded to a multiple of 4.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let start = |subtype, flags, out: &mut Vec<u8>| start_option(self.length_field(), subtype, flags, out);
        match self {
            Self::Capable(capable) => capable.emit(out),
            Self::Join(join) => join.emit(out),
            Self::AddAddress(announcement) => announcement.emit(out),
            Self::RemoveAddress(identifiers) => {
                let start = start(subtype::REMOVE_ADDRESS, 0, out);
                out.extend_from_slice(identifiers);
                finish_option(start, out);
            }
            Self::Priority { backup } => {
                let start = start(subtype::PRIORITY, if *backup { BACKUP } else { 0 }, out);
                finish_option(start, out);
            }
            Self::Fail { data_sequence } => {
                let start = start(subtype::FAIL, 0, out);
                out.push(0);
                out.extend_from_slice(&data_sequence.to_be_bytes());
                finish_option(start, out);
            }
            Self::FastClose { receiver_key } => {
                let start = start(subtype::FAST_CLOSE, 0, out);
                out.push(0);
                out.extend_from_slice(&receiver_key.to_be_bytes());
                finish_option(start, out);
            }
            Self::Reset(reason) => reason.emit(out),
        }
    }
}

/// B of MP_PRIO, in the low half of the third byte.
const BACKUP: u8 = 0x1;

/// Appends kind, length, and subtype with the four low bits `low`. Returns the offset of the option.
fn start_option(length: u32, subtype: u8, low: u8, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[option_kind::MPTCP, length as u8, subtype << 4 | low & 0x0f]);
    start
}

/// Pads the option at offset `start` to a multiple of 4.
fn finish_option(start: usize, out: &mut Vec<u8>) {
    debug_assert_eq!(out.len() - start, usize::from(out[start + 1]), "length field of {:x?}", &out[start..]);
    let padded = (out.len() - start).next_multiple_of(4);
    out.resize(start + padded, option_kind::NOP);
}

/// MPTCP option subtypes (RFC 8684, section 7.2).
mod subtype {
    pub(super) const CAPABLE: u8 = 0x0;
    pub(super) const JOIN: u8 = 0x1;
    pub(super) const DSS: u8 = 0x2;
    pub(super) const ADD_ADDRESS: u8 = 0x3;
    pub(super) const REMOVE_ADDRESS: u8 = 0x4;
    pub(super) const PRIORITY: u8 = 0x5;
    pub(super) const FAIL: u8 = 0x6;
    pub(super) const FAST_CLOSE: u8 = 0x7;
    pub(super) const RESET: u8 = 0x8;
}

/// The reason for the reset of a subflow (RFC 8684, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason {
    /// T: the condition is transient.
    pub transient: bool,
    /// The reason code (RFC 8684, table 3).
    pub code: u8,
}

/// T, in the low half of the third byte.
const TRANSIENT: u8 = 0x1;

impl ResetReason {
    /// Bytes the option takes.
    pub(super) const LENGTH: u32 = 4;

    /// Code 0: unspecified error.
    pub const UNSPECIFIED: Self = Self { transient: false, code: 0 };
    /// Code 1: an MPTCP-specific error, such as a bad HMAC or token.
    pub const MPTCP_SPECIFIC: Self = Self { transient: false, code: 1 };
    /// Code 2: the host lacks resources for the subflow.
    pub const LACK_OF_RESOURCES: Self = Self { transient: true, code: 2 };
    /// Code 3: administratively prohibited.
    pub const PROHIBITED: Self = Self { transient: false, code: 3 };
    /// Code 4: too much outstanding data; the subflow is slow.
    pub const TOO_MUCH_OUTSTANDING_DATA: Self = Self { transient: true, code: 4 };
    /// Code 5: unacceptable performance.
    pub const UNACCEPTABLE_PERFORMANCE: Self = Self { transient: true, code: 5 };
    /// Code 6: a middlebox interferes with MPTCP signalling.
    pub const MIDDLEBOX_INTERFERENCE: Self = Self { transient: false, code: 6 };

    pub(super) fn emit(self, out: &mut Vec<u8>) {
        let start = start_option(Self::LENGTH, subtype::RESET, if self.transient { TRANSIENT } else { 0 }, out);
        out.push(self.code);
        finish_option(start, out);
    }

    /// Parses the bytes after subtype and flags.
    pub(super) fn parse(flags: u8, mut reader: Reader<'_>) -> Option<Self> {
        let code = reader.u8()?;
        reader.finish(Self { transient: flags & TRANSIENT != 0, code })
    }
}
