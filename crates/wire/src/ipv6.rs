//! The IPv6 header (RFC 8200, section 3), written without extension headers.

use std::net::Ipv6Addr;

use crate::Dscp;
use crate::error::{Header, ParseError};
use crate::ip::{Ecn, IpHeader};

/// Length of the fixed header.
pub(crate) const HEADER_LENGTH: u32 = 40;
/// Largest packet that is not a jumbogram.
pub(crate) const MAXIMUM_LENGTH: u32 = HEADER_LENGTH + 65_535;

const HOP_BY_HOP: u8 = 0;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// A parsed header with the lengths that it states.
pub(crate) struct Parsed {
    pub(crate) ip: IpHeader,
    pub(crate) protocol: u8,
    /// Length of the fixed header and the skipped extension headers.
    pub(crate) header_length: usize,
    pub(crate) total_length: usize,
}

/// Appends a header. The flow label is 0.
pub(crate) fn emit(
    ip: &IpHeader,
    (source, destination): (Ipv6Addr, Ipv6Addr),
    protocol: u8,
    payload_length: u16,
    out: &mut Vec<u8>,
) {
    let mut header = [0; HEADER_LENGTH as usize];
    header[0] = 0x60 | ip.traffic_class() >> 4; // version 6; the traffic class starts in the low half
    header[1] = ip.traffic_class() << 4;
    header[4..6].copy_from_slice(&payload_length.to_be_bytes());
    header[6] = protocol;
    header[7] = ip.hop_limit;
    header[8..24].copy_from_slice(&source.octets());
    header[24..40].copy_from_slice(&destination.octets());
    out.extend_from_slice(&header);
}

/// Parses the header at the start of `bytes`, skipping hop-by-hop and destination options.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let truncated = |needed| ParseError::Truncated { header: Header::Ipv6, needed, available: bytes.len() };

    let Some((fixed, _)) = bytes.split_first_chunk::<{ HEADER_LENGTH as usize }>() else {
        return Err(truncated(HEADER_LENGTH as usize));
    };
    let total_length = fixed.len() + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let Some(packet) = bytes.get(..total_length) else {
        return Err(truncated(total_length));
    };
    let (protocol, extensions_length) = skip_extensions(fixed[6], &packet[fixed.len()..])?;

    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        Ipv6Addr::from(octets)
    };
    Ok(Parsed {
        ip: IpHeader {
            source: address(8).into(),
            destination: address(24).into(),
            hop_limit: fixed[7],
            dscp: Dscp::from_traffic_class(traffic_class),
            ecn: Ecn::from_traffic_class(traffic_class),
        },
        protocol,
        header_length: fixed.len() + extensions_length,
        total_length,
    })
}

/// The protocol after the extension headers at the start of `bytes`, and their total length.
fn skip_extensions(mut next_header: u8, bytes: &[u8]) -> Result<(u8, usize), ParseError> {
    let mut skipped = 0;
    loop {
        match next_header {
            HOP_BY_HOP | DESTINATION_OPTIONS => {}
            FRAGMENT => return Err(ParseError::Fragment(Header::Ipv6)),
            protocol => return Ok((protocol, skipped)),
        }
        let extension = &bytes[skipped..];
        let truncated =
            |needed| ParseError::Truncated { header: Header::Ipv6Extension, needed, available: extension.len() };
        let [next, length_in_eights, ..] = *extension else {
            return Err(truncated(8));
        };
        let length = 8 + 8 * usize::from(length_in_eights);
        if length > extension.len() {
            return Err(truncated(length));
        }
        next_header = next;
        skipped += length;
    }
}
