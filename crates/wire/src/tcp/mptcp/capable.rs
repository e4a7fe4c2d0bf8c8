//! MP_CAPABLE: the handshake of the first subflow.

use super::{finish_option, start_option, subtype};
use crate::error::EmitError;
use crate::reader::Reader;

/// Flags of MP_CAPABLE (RFC 8684, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapableFlags {
    /// A: DSS checksums are required.
    pub checksum_required: bool,
    /// C: the sender accepts no joins to this address and port.
    pub deny_join_to_initial_address: bool,
}

/// MP_CAPABLE (RFC 8684, section 3.1): 4 bytes on the SYN, 12 on the SYN/ACK, 20 on the third ACK, 22 or 24 with the
/// first data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// Protocol version. This crate supports version 1 and keeps any other version unchanged.
    pub version: u8,
    /// Flags. H (HMAC-SHA256) is implied.
    pub flags: CapableFlags,
    /// Key of the sender of this segment; absent on the SYN.
    pub sender_key: Option<u64>,
    /// Key of the receiver of this segment; on the third ACK and with the first data.
    pub receiver_key: Option<u64>,
    /// Data-level length, with the first data.
    pub data_length: Option<u16>,
    /// DSS checksum of that data.
    pub checksum: Option<u16>,
}

// Flags in the fourth byte (RFC 8684, section 3.1).
const CHECKSUM_REQUIRED: u8 = 0x80; // A
const EXTENSIBILITY: u8 = 0x40; // B
const DENY_JOIN_TO_INITIAL_ADDRESS: u8 = 0x20; // C
const HMAC_SHA256: u8 = 0x01; // H

/// The version whose flags this crate understands.
const VERSION_1: u8 = 1;

impl Capable {
    /// Bytes the option takes without padding.
    pub(super) const fn length_field(&self) -> u32 {
        4 + 8 * (self.sender_key.is_some() as u32 + self.receiver_key.is_some() as u32)
            + 2 * (self.data_length.is_some() as u32 + self.checksum.is_some() as u32)
    }

    /// Checks that each field is present only together with all fields before it.
    pub(super) const fn check(&self) -> Result<(), EmitError> {
        let missing = match self {
            Self { sender_key: None, receiver_key: Some(_), .. } => "the sender's key",
            Self { receiver_key: None, data_length: Some(_), .. } => "the receiver's key",
            Self { data_length: None, checksum: Some(_), .. } => "the data-level length",
            _ => return Ok(()),
        };
        Err(EmitError::IncompleteOption { option: "MP_CAPABLE", missing })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let start = start_option(self.length_field(), subtype::CAPABLE, self.version, out);
        out.push(self.flags.to_byte());
        for key in [self.sender_key, self.receiver_key].into_iter().flatten() {
            out.extend_from_slice(&key.to_be_bytes());
        }
        for field in [self.data_length, self.checksum].into_iter().flatten() {
            out.extend_from_slice(&field.to_be_bytes());
        }
        finish_option(start, out);
    }

    /// Parses the bytes after subtype and version. The length determines the form. The connection checks whether this
    /// form is allowed on the segment.
    pub(super) fn parse(version: u8, mut reader: Reader<'_>) -> Option<Self> {
        let flags = CapableFlags::from_byte(version, reader.u8()?)?;
        let (keys, data_fields) = match reader.remaining() {
            0 => (0, 0),
            8 => (1, 0),
            16 => (2, 0),
            18 => (2, 1),
            20 => (2, 2),
            _ => return None,
        };
        Some(Self {
            version,
            flags,
            sender_key: if keys > 0 { Some(reader.u64()?) } else { None },
            receiver_key: if keys > 1 { Some(reader.u64()?) } else { None },
            data_length: if data_fields > 0 { Some(reader.u16()?) } else { None },
            checksum: if data_fields > 1 { Some(reader.u16()?) } else { None },
        })
    }
}

impl CapableFlags {
    const fn to_byte(self) -> u8 {
        HMAC_SHA256
            | if self.checksum_required { CHECKSUM_REQUIRED } else { 0 }
            | if self.deny_join_to_initial_address { DENY_JOIN_TO_INITIAL_ADDRESS } else { 0 }
    }

    /// `None` if the option must be ignored: if flag B is set, or flag H, the only defined algorithm, is not. Other
    /// versions may define these bits differently.
    const fn from_byte(version: u8, byte: u8) -> Option<Self> {
        if version == VERSION_1 && byte & (EXTENSIBILITY | HMAC_SHA256) != HMAC_SHA256 {
            return None;
        }
        Some(Self {
            checksum_required: byte & CHECKSUM_REQUIRED != 0,
            deny_join_to_initial_address: byte & DENY_JOIN_TO_INITIAL_ADDRESS != 0,
        })
    }
}
