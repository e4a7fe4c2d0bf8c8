//! UDP (RFC 768).

use crate::Payload;
use crate::error::{Header, ParseError};

/// Length of the header.
pub(crate) const HEADER_LENGTH: u32 = 8;
/// Offset of the checksum in the header.
pub(crate) const CHECKSUM_OFFSET: usize = 6;

/// A UDP datagram without its payload bytes (RFC 768).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpDatagram {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Payload description.
    pub payload: Payload,
}

/// A parsed header.
pub(crate) struct Parsed {
    pub(crate) datagram: UdpDatagram,
    /// Length of header and payload.
    pub(crate) length: usize,
    /// Whether the sender computed a checksum.
    pub(crate) has_checksum: bool,
}

/// Appends the header with a zero checksum.
pub(crate) fn emit_header(datagram: &UdpDatagram, length: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&datagram.source_port.to_be_bytes());
    out.extend_from_slice(&datagram.destination_port.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
}

/// The checksum for a `sum` over pseudo header, header and payload. A computed zero is sent as all ones, because zero
/// means that there is no checksum (RFC 768).
pub(crate) const fn checksum(sum: u16) -> u16 {
    if sum == 0xffff { 0xffff } else { !sum }
}

/// Parses the header at the start of `bytes`. The payload's length is set, its sum is not.
pub(crate) fn parse_header(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let truncated = |needed| ParseError::Truncated { header: Header::Udp, needed, available: bytes.len() };

    let Some(header) = bytes.first_chunk::<{ HEADER_LENGTH as usize }>() else {
        return Err(truncated(HEADER_LENGTH as usize));
    };
    let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let length = usize::from(field(4));
    if length < header.len() {
        return Err(ParseError::LengthField { header: Header::Udp, stated: length, minimum: header.len() });
    }
    if length > bytes.len() {
        return Err(truncated(length));
    }
    let payload = Payload { length: u32::from(field(4)) - HEADER_LENGTH, ..Payload::default() };
    Ok(Parsed {
        datagram: UdpDatagram { source_port: field(0), destination_port: field(2), payload },
        length,
        has_checksum: field(CHECKSUM_OFFSET) != 0,
    })
}
