//! ADD_ADDR: an address announced to the peer, and the echo that confirms it.

use std::net::IpAddr;

use super::{finish_option, start_option, subtype};
use crate::reader::Reader;

/// ADD_ADDR (RFC 8684, section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// Address identifier.
    pub address_id: u8,
    /// The announced address.
    pub address: IpAddr,
    /// Port, if it differs from the initial subflow's.
    pub port: Option<u16>,
    /// The rightmost 64 bits of the HMAC; absent in the echo (bit E).
    pub truncated_hmac: Option<u64>,
}

/// E, in the low half of the third byte.
const ECHO: u8 = 0x1;
const HMAC_LENGTH: usize = 8;

impl AddAddress {
    /// The echo by which the receiver of this announcement confirms it: "the HMAC is not present".
    pub const fn echo(self) -> Self {
        Self { truncated_hmac: None, ..self }
    }

    /// Bytes the option takes without padding.
    pub(super) const fn length_field(&self) -> u32 {
        let address = if self.address.is_ipv4() { 4 } else { 16 };
        let port = if self.port.is_some() { 2 } else { 0 };
        let hmac = if self.truncated_hmac.is_some() { HMAC_LENGTH as u32 } else { 0 };
        4 + address + port + hmac
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let flags = if self.truncated_hmac.is_none() { ECHO } else { 0 };
        let start = start_option(self.length_field(), subtype::ADD_ADDRESS, flags, out);
        out.push(self.address_id);
        match self.address {
            IpAddr::V4(address) => out.extend_from_slice(&address.octets()),
            IpAddr::V6(address) => out.extend_from_slice(&address.octets()),
        }
        if let Some(port) = self.port {
            out.extend_from_slice(&port.to_be_bytes());
        }
        if let Some(hmac) = self.truncated_hmac {
            out.extend_from_slice(&hmac.to_be_bytes());
        }
        finish_option(start, out);
    }

    /// Parses the bytes after subtype and flags. The length determines the address family and whether there is a port.
    /// An announcement without an HMAC, or an echo with one, is malformed.
    pub(super) fn parse(flags: u8, mut reader: Reader<'_>) -> Option<Self> {
        let address_id = reader.u8()?;
        let echo = flags & ECHO != 0;
        let hmac_length = if echo { 0 } else { HMAC_LENGTH };
        let (is_ipv4, has_port) = match reader.remaining().checked_sub(hmac_length)? {
            4 => (true, false),
            6 => (true, true),
            16 => (false, false),
            18 => (false, true),
            _ => return None,
        };
        let address = if is_ipv4 { IpAddr::from(reader.array::<4>()?) } else { IpAddr::from(reader.array::<16>()?) };
        let port = if has_port { Some(reader.u16()?) } else { None };
        let truncated_hmac = if echo { None } else { Some(reader.u64()?) };
        reader.finish(Self { address_id, address, port, truncated_hmac })
    }
}
