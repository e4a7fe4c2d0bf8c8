//! MP_JOIN: the handshake of additional subflows.

use super::{finish_option, start_option, subtype};
use crate::reader::Reader;

/// MP_JOIN (RFC 8684, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// On the SYN.
    Syn {
        /// B: use this subflow as a backup.
        backup: bool,
        /// The sender's address identifier.
        address_id: u8,
        /// Token of the connection to join.
        token: u32,
        /// The sender's random number.
        nonce: u32,
    },
    /// On the SYN/ACK.
    SynAck {
        /// B: use this subflow as a backup.
        backup: bool,
        /// The sender's address identifier.
        address_id: u8,
        /// The leftmost 64 bits of the sender's HMAC.
        truncated_hmac: u64,
        /// The sender's random number.
        nonce: u32,
    },
    /// On the third ACK: the leftmost 160 bits of the sender's HMAC.
    Ack {
        /// The HMAC.
        hmac: [u8; 20],
    },
}

/// B, in the low half of the third byte.
const BACKUP: u8 = 0x1;

impl Join {
    /// Length of the option in bytes; none of its forms needs padding.
    pub(super) const fn length_field(&self) -> u32 {
        match self {
            Self::Syn { .. } => 12,
            Self::SynAck { .. } => 16,
            Self::Ack { .. } => 24,
        }
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let start = |backup: bool, out: &mut Vec<u8>| {
            start_option(self.length_field(), subtype::JOIN, if backup { BACKUP } else { 0 }, out)
        };
        let start = match *self {
            Self::Syn { backup, address_id, token, nonce } => {
                let start = start(backup, out);
                out.push(address_id);
                out.extend_from_slice(&token.to_be_bytes());
                out.extend_from_slice(&nonce.to_be_bytes());
                start
            }
            Self::SynAck { backup, address_id, truncated_hmac, nonce } => {
                let start = start(backup, out);
                out.push(address_id);
                out.extend_from_slice(&truncated_hmac.to_be_bytes());
                out.extend_from_slice(&nonce.to_be_bytes());
                start
            }
            Self::Ack { hmac } => {
                let start = start(false, out);
                out.push(0);
                out.extend_from_slice(&hmac);
                start
            }
        };
        finish_option(start, out);
    }

    /// Parses the bytes after subtype and flags. The length determines the form. The connection checks whether this
    /// form is allowed on the segment.
    pub(super) fn parse(flags: u8, mut reader: Reader<'_>) -> Option<Self> {
        let backup = flags & BACKUP != 0;
        let address_id = reader.u8()?;
        let join = match reader.remaining() {
            8 => Self::Syn { backup, address_id, token: reader.u32()?, nonce: reader.u32()? },
            12 => Self::SynAck { backup, address_id, truncated_hmac: reader.u64()?, nonce: reader.u32()? },
            20 => Self::Ack { hmac: reader.array()? },
            _ => return None,
        };
        reader.finish(join)
    }
}
