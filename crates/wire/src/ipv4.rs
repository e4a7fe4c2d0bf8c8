//! The IPv4 header (RFC 791, section 3.1), written without options.

use std::net::Ipv4Addr;

use crate::Dscp;
use crate::checksum::ones_complement_sum;
use crate::error::{Header, ParseError};
use crate::ip::{Ecn, IpHeader};

/// Length of the header without options.
pub(crate) const HEADER_LENGTH: u32 = 20;
/// Largest total length.
pub(crate) const MAXIMUM_LENGTH: u32 = 65_535;

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS_AND_OFFSET: u16 = 0x3fff;

/// A parsed header with the lengths that it states.
pub(crate) struct Parsed {
    pub(crate) ip: IpHeader,
    pub(crate) protocol: u8,
    pub(crate) header_length: usize,
    pub(crate) total_length: usize,
}

/// Appends a header. Don't Fragment is set, as path MTU discovery requires, unless routers `may_fragment` the packet.
pub(crate) fn emit(
    ip: &IpHeader,
    (source, destination): (Ipv4Addr, Ipv4Addr),
    protocol: u8,
    total_length: u16,
    identification: u16,
    may_fragment: bool,
    out: &mut Vec<u8>,
) {
    let mut header = [0; HEADER_LENGTH as usize];
    header[0] = 0x45; // version 4, five words
    header[1] = ip.traffic_class();
    header[2..4].copy_from_slice(&total_length.to_be_bytes());
    header[4..6].copy_from_slice(&identification.to_be_bytes());
    let flags = if may_fragment { 0 } else { DONT_FRAGMENT };
    header[6..8].copy_from_slice(&flags.to_be_bytes());
    header[8] = ip.hop_limit;
    header[9] = protocol;
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    let checksum = !ones_complement_sum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    out.extend_from_slice(&header);
}

/// Parses the header at the start of `bytes`, skipping its options.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let truncated = |needed| ParseError::Truncated { header: Header::Ipv4, needed, available: bytes.len() };
    let field_too_small = |stated, minimum| ParseError::LengthField { header: Header::Ipv4, stated, minimum };

    let Some(fixed) = bytes.first_chunk::<{ HEADER_LENGTH as usize }>() else {
        return Err(truncated(HEADER_LENGTH as usize));
    };
    let header_length = usize::from(fixed[0] & 0x0f) * 4;
    if header_length < fixed.len() {
        return Err(field_too_small(header_length, fixed.len()));
    }
    let total_length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if total_length < header_length {
        return Err(field_too_small(total_length, header_length));
    }
    if total_length > bytes.len() {
        return Err(truncated(total_length));
    }
    if ones_complement_sum(&bytes[..header_length]) != 0xffff {
        return Err(ParseError::Checksum(Header::Ipv4));
    }
    if u16::from_be_bytes([fixed[6], fixed[7]]) & MORE_FRAGMENTS_AND_OFFSET != 0 {
        return Err(ParseError::Fragment(Header::Ipv4));
    }

    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    Ok(Parsed {
        ip: IpHeader {
            source: address(12).into(),
            destination: address(16).into(),
            hop_limit: fixed[8],
            dscp: Dscp::from_traffic_class(fixed[1]),
            ecn: Ecn::from_traffic_class(fixed[1]),
        },
        protocol: fixed[9],
        header_length,
        total_length,
    })
}
