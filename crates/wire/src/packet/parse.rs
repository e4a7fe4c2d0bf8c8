//! Parses bytes into a typed packet.

use core::ops::Range;

use super::{Body, Packet};
use crate::checksum::{ones_complement_add, ones_complement_sum, pseudo_header_sum};
use crate::error::{Header, ParseError};
use crate::ip::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};
use crate::sctp::{UDP_ENCAPSULATION_PORT, UdpEncapsulation};
use crate::{IpHeader, SctpPacket, UdpDatagram, ipv4, ipv6, tcp, udp};

impl Packet {
    /// Parses the IP packet at the start of `bytes` and returns the range of its payload in `bytes`. For SCTP the range
    /// is that of the SCTP packet, in which [`SctpPacket::payload_ranges`] finds the user data of each DATA chunk. SCTP
    /// in UDP is recognised by its port, 9899, and a correct CRC32c.
    ///
    /// Lengths and checksums are verified; `payload.length` and `payload.sum` are set. Bytes after the packet, such as
    /// the padding of a short Ethernet frame, are ignored. Malformed TCP options are skipped (see the crate's root).
    pub fn parse(bytes: &[u8]) -> Result<(Self, Range<usize>), ParseError> {
        Self::parse_with(bytes, true)
    }

    /// As [`parse`](Self::parse), without verifying the checksum of TCP: for a packet whose checksum a kernel has
    /// verified or left to a device, and for one on its way, since routers and switches do not verify it either.
    pub fn parse_without_checksum(bytes: &[u8]) -> Result<(Self, Range<usize>), ParseError> {
        Self::parse_with(bytes, false)
    }

    fn parse_with(bytes: &[u8], verify: bool) -> Result<(Self, Range<usize>), ParseError> {
        let version = match bytes.first() {
            Some(first) => first >> 4,
            None => return Err(ParseError::Truncated { header: Header::Ipv4, needed: 20, available: 0 }),
        };
        let (header, ip, protocol, transport) = match version {
            4 => {
                let ipv4::Parsed { ip, protocol, header_length, total_length } = ipv4::parse(bytes)?;
                (Header::Ipv4, ip, protocol, header_length..total_length)
            }
            6 => {
                let ipv6::Parsed { ip, protocol, header_length, total_length } = ipv6::parse(bytes)?;
                (Header::Ipv6, ip, protocol, header_length..total_length)
            }
            version => return Err(ParseError::IpVersion(version)),
        };
        let start = transport.start;
        let (body, payload) = match protocol {
            PROTOCOL_TCP => parse_tcp(&ip, &bytes[transport], verify)?,
            PROTOCOL_UDP => parse_udp(&ip, &bytes[transport])?,
            PROTOCOL_SCTP => {
                let packet = SctpPacket::parse(&bytes[transport.clone()])?;
                (Body::Sctp(packet), 0..transport.len())
            }
            protocol => return Err(ParseError::Protocol { header, protocol }),
        };
        Ok((Self { ip, body }, start + payload.start..start + payload.end))
    }
}

/// The TCP segment `bytes`, and the range of its payload in `bytes`.
fn parse_tcp(ip: &IpHeader, bytes: &[u8], verify: bool) -> Result<(Body, Range<usize>), ParseError> {
    let header_length = tcp::header_length(bytes)?;
    let (header, payload) = bytes.split_at(header_length);
    let payload_sum = ones_complement_sum(payload);
    if verify && transport_sum(ip, PROTOCOL_TCP, header, payload.len(), payload_sum) != 0xffff {
        return Err(ParseError::Checksum(Header::Tcp));
    }
    let mut segment = tcp::parse_header(header);
    segment.payload.length = payload.len() as u32;
    segment.payload.sum = payload_sum;
    Ok((Body::Tcp(segment), header_length..bytes.len()))
}

/// The datagram at the start of `bytes`, and the range of its payload in `bytes`.
fn parse_udp(ip: &IpHeader, bytes: &[u8]) -> Result<(Body, Range<usize>), ParseError> {
    let udp::Parsed { mut datagram, length, has_checksum } = udp::parse_header(bytes)?;
    let (header, payload) = bytes[..length].split_at(udp::HEADER_LENGTH as usize);
    datagram.payload.sum = ones_complement_sum(payload);
    let sum = transport_sum(ip, PROTOCOL_UDP, header, payload.len(), datagram.payload.sum);
    // The UDP checksum is optional only with IPv4 (RFC 8200, section 8.1).
    let may_lack_checksum = ip.source.is_ipv4();
    if if has_checksum { sum != 0xffff } else { !may_lack_checksum } {
        return Err(ParseError::Checksum(Header::Udp));
    }
    let payload_range = header.len()..length;
    let UdpDatagram { source_port, destination_port, .. } = datagram;
    if [source_port, destination_port].contains(&UDP_ENCAPSULATION_PORT)
        && let Ok(mut packet) = SctpPacket::parse(payload)
    {
        packet.encapsulation = Some(UdpEncapsulation { source_port, destination_port });
        return Ok((Body::Sctp(packet), payload_range));
    }
    Ok((Body::Udp(datagram), payload_range))
}

/// The sum over pseudo header, header (of even length) and payload: all ones if the checksum is correct.
fn transport_sum(ip: &IpHeader, protocol: u8, header: &[u8], payload_length: usize, payload_sum: u16) -> u16 {
    let length = (header.len() + payload_length) as u32;
    let headers = ones_complement_add(
        pseudo_header_sum(ip.source, ip.destination, protocol, length),
        ones_complement_sum(header),
    );
    ones_complement_add(headers, payload_sum)
}
