//! ICMP errors (RFC 792, RFC 1191, RFC 4443): what a router or a host reports of a packet that it did not forward or
//! deliver.
//!
//! Only errors are read, and of these what a transport needs: the kind, and the start of the packet that is quoted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::checksum::{ones_complement_add, ones_complement_sum, pseudo_header_sum};
use crate::error::{Header, ParseError};
use crate::ip::{PROTOCOL_SCTP, PROTOCOL_TCP};
use crate::{Dscp, Ecn, EmitError, IpHeader, ipv4, ipv6};

const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_ICMPV6: u8 = 58;
/// Type, code, checksum, and four bytes that depend on the type.
const HEADER_LENGTH: usize = 8;
/// Bytes of the transport header that are kept: the common header of SCTP, and an INIT up to its initiate tag.
const QUOTED_LENGTH: usize = 20;

/// What an ICMP error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpKind {
    /// The destination is unreachable (type 3; ICMPv6: type 1).
    Unreachable(Unreachable),
    /// The packet is larger than the next link carries (type 3, code 4; ICMPv6: type 2).
    TooBig {
        /// The MTU of that link; 0 from routers older than RFC 1191.
        mtu: u32,
    },
    /// The packet, or a fragment of it, was under way for too long (type 11; ICMPv6: type 3).
    TimeExceeded,
    /// A header field is wrong (type 12; ICMPv6: type 4, other than an unknown next header).
    ParameterProblem,
    /// A request to send less (type 4). RFC 6633 deprecates it.
    SourceQuench,
}

/// What is unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The network: there is no route.
    Network,
    /// The host.
    Host,
    /// The protocol: the host does not have it (ICMPv6: unknown next header).
    Protocol,
    /// The port: nobody listens.
    Port,
    /// A source route failed.
    SourceRoute,
    /// Another code, such as a prohibition by a filter.
    Other(u8),
}

/// The start of the packet that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Its source address: that of the host which gets the error.
    pub source: IpAddr,
    /// Its destination address.
    pub destination: IpAddr,
    /// Its protocol number.
    pub protocol: u8,
    /// Its length in bytes, as its IP header states it.
    pub length: u32,
    /// Up to 20 bytes of its transport header; routers quote at least 8.
    pub transport: Vec<u8>,
}

/// An ICMP error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// What it says.
    pub kind: IcmpKind,
    /// The packet that it is about.
    pub quoted: Quoted,
}

impl Quoted {
    fn field<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.transport.get(at..at + N)?.try_into().ok()
    }

    /// Source and destination port.
    pub fn ports(&self) -> Option<(u16, u16)> {
        Some((u16::from_be_bytes(self.field(0)?), u16::from_be_bytes(self.field(2)?)))
    }

    /// The sequence number of a TCP segment.
    pub fn tcp_sequence(&self) -> Option<u32> {
        self.field(4).filter(|_| self.protocol == PROTOCOL_TCP).map(u32::from_be_bytes)
    }

    /// The verification tag of an SCTP packet.
    pub fn verification_tag(&self) -> Option<u32> {
        self.field(4).filter(|_| self.protocol == PROTOCOL_SCTP).map(u32::from_be_bytes)
    }

    /// The initiate tag of an SCTP packet that begins with INIT, if enough of it is quoted.
    pub fn initiate_tag(&self) -> Option<u32> {
        let is_init = self.protocol == PROTOCOL_SCTP && self.transport.get(12) == Some(&1);
        self.field(16).filter(|_| is_init).map(u32::from_be_bytes)
    }
}

impl IcmpError {
    /// Parses the IP packet at the start of `bytes`. `None` if it is not an ICMP error, or quotes no more than a later
    /// fragment.
    ///
    /// # Errors
    ///
    /// If lengths or checksums are wrong.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, ParseError> {
        let is_version_4 = bytes.first().is_some_and(|first| first >> 4 == 4);
        let (protocol, message) = if is_version_4 {
            let ipv4::Parsed { protocol, header_length, total_length, .. } = ipv4::parse(bytes)?;
            (protocol, &bytes[header_length..total_length])
        } else {
            let ipv6::Parsed { ip, protocol, header_length, total_length } = ipv6::parse(bytes)?;
            let message = &bytes[header_length..total_length];
            if protocol == PROTOCOL_ICMPV6 {
                let pseudo = pseudo_header_sum(ip.source, ip.destination, protocol, message.len() as u32);
                verify(ones_complement_add(pseudo, ones_complement_sum(message)))?;
            }
            (protocol, message)
        };
        let Some((header, quoted)) = message.split_first_chunk::<HEADER_LENGTH>() else { return Ok(None) };
        let (kind, quoted) = match protocol {
            PROTOCOL_ICMP if is_version_4 => {
                verify(ones_complement_sum(message))?;
                (kind_of_version_4(*header), quoted_by_version_4(quoted))
            }
            PROTOCOL_ICMPV6 if !is_version_4 => (kind_of_version_6(*header), quoted_by_version_6(quoted)),
            _ => return Ok(None),
        };
        Ok(kind.zip(quoted).map(|(kind, quoted)| Self { kind, quoted }))
    }

    /// Appends the error as `router` sends it to the source of the quoted packet.
    ///
    /// # Errors
    ///
    /// If the addresses are of different families.
    pub fn emit(&self, router: IpAddr, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let Quoted { source, destination, protocol, .. } = self.quoted;
        let header =
            |from, to| IpHeader { source: from, destination: to, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let (quoted, outer) = (header(source, destination), header(router, source));
        let length = |header: u32| (header as usize + HEADER_LENGTH + self.quoted.transport.len()) as u16;
        let start = out.len();
        match (router, source, destination) {
            (IpAddr::V4(router), IpAddr::V4(host), IpAddr::V4(peer)) => {
                let total = length(2 * ipv4::HEADER_LENGTH);
                ipv4::emit(&outer, (router, host), PROTOCOL_ICMP, total, 0, false, out);
                out.extend_from_slice(&self.header(false));
                ipv4::emit(&quoted, (host, peer), protocol, self.quoted.length as u16, 0, false, out);
            }
            (IpAddr::V6(router), IpAddr::V6(host), IpAddr::V6(peer)) => {
                ipv6::emit(&outer, (router, host), PROTOCOL_ICMPV6, length(ipv6::HEADER_LENGTH), out);
                out.extend_from_slice(&self.header(true));
                let stated = self.quoted.length.saturating_sub(ipv6::HEADER_LENGTH);
                ipv6::emit(&quoted, (host, peer), protocol, stated as u16, out);
            }
            _ => return Err(EmitError::MixedFamilies),
        }
        out.extend_from_slice(&self.quoted.transport);
        let header = if router.is_ipv4() { ipv4::HEADER_LENGTH } else { ipv6::HEADER_LENGTH };
        let message = start + header as usize;
        let mut sum = ones_complement_sum(&out[message..]);
        if router.is_ipv6() {
            let length = (out.len() - message) as u32;
            sum = ones_complement_add(sum, pseudo_header_sum(router, source, PROTOCOL_ICMPV6, length));
        }
        out[message + 2..message + 4].copy_from_slice(&(!sum).to_be_bytes());
        Ok(())
    }

    fn header(&self, version_6: bool) -> [u8; HEADER_LENGTH] {
        let (kind, code, rest) = match (self.kind, version_6) {
            (IcmpKind::Unreachable(what), false) => (3, code_of_version_4(what), 0),
            (IcmpKind::Unreachable(Unreachable::Protocol), true) => (4, 1, 0),
            (IcmpKind::Unreachable(what), true) => (1, code_of_version_6(what), 0),
            (IcmpKind::TooBig { mtu }, false) => (3, 4, mtu & 0xffff),
            (IcmpKind::TooBig { mtu }, true) => (2, 0, mtu),
            (IcmpKind::TimeExceeded, false) => (11, 0, 0),
            (IcmpKind::TimeExceeded, true) => (3, 0, 0),
            (IcmpKind::ParameterProblem, false) => (12, 0, 0),
            (IcmpKind::ParameterProblem, true) => (4, 0, 0),
            (IcmpKind::SourceQuench, _) => (4, 0, 0),
        };
        let mut header = [0; HEADER_LENGTH];
        (header[0], header[1]) = (kind, code);
        header[4..].copy_from_slice(&rest.to_be_bytes());
        header
    }
}

fn verify(sum: u16) -> Result<(), ParseError> {
    if sum == 0xffff { Ok(()) } else { Err(ParseError::Checksum(Header::Icmp)) }
}

const fn code_of_version_4(what: Unreachable) -> u8 {
    match what {
        Unreachable::Network => 0,
        Unreachable::Host => 1,
        Unreachable::Protocol => 2,
        Unreachable::Port => 3,
        Unreachable::SourceRoute => 5,
        Unreachable::Other(code) => code,
    }
}

const fn code_of_version_6(what: Unreachable) -> u8 {
    match what {
        Unreachable::Network => 0,
        Unreachable::Host => 3,
        Unreachable::Port => 4,
        Unreachable::Other(code) => code,
        Unreachable::Protocol | Unreachable::SourceRoute => 7,
    }
}

/// `None` if it is no error.
fn kind_of_version_4([kind, code, _, _, _, _, high, low]: [u8; HEADER_LENGTH]) -> Option<IcmpKind> {
    Some(match (kind, code) {
        (3, 0) => IcmpKind::Unreachable(Unreachable::Network),
        (3, 1) => IcmpKind::Unreachable(Unreachable::Host),
        (3, 2) => IcmpKind::Unreachable(Unreachable::Protocol),
        (3, 3) => IcmpKind::Unreachable(Unreachable::Port),
        (3, 4) => IcmpKind::TooBig { mtu: u16::from_be_bytes([high, low]).into() },
        (3, 5) => IcmpKind::Unreachable(Unreachable::SourceRoute),
        (3, code) => IcmpKind::Unreachable(Unreachable::Other(code)),
        (4, _) => IcmpKind::SourceQuench,
        (11, _) => IcmpKind::TimeExceeded,
        (12, _) => IcmpKind::ParameterProblem,
        _ => return None,
    })
}

/// `None` if it is no error.
fn kind_of_version_6([kind, code, _, _, rest @ ..]: [u8; HEADER_LENGTH]) -> Option<IcmpKind> {
    Some(match (kind, code) {
        (1, 0) => IcmpKind::Unreachable(Unreachable::Network),
        (1, 3) => IcmpKind::Unreachable(Unreachable::Host),
        (1, 4) => IcmpKind::Unreachable(Unreachable::Port),
        (1, 7) => IcmpKind::Unreachable(Unreachable::SourceRoute),
        (1, code) => IcmpKind::Unreachable(Unreachable::Other(code)),
        (2, _) => IcmpKind::TooBig { mtu: u32::from_be_bytes(rest) },
        (3, _) => IcmpKind::TimeExceeded,
        (4, 1) => IcmpKind::Unreachable(Unreachable::Protocol),
        (4, _) => IcmpKind::ParameterProblem,
        _ => return None,
    })
}

fn quoted(
    (source, destination): (IpAddr, IpAddr),
    (protocol, length): (u8, u32),
    transport: Option<&[u8]>,
) -> Option<Quoted> {
    let transport = transport?;
    let transport = transport[..transport.len().min(QUOTED_LENGTH)].to_vec();
    Some(Quoted { source, destination, protocol, length, transport })
}

/// The quoted packet is cut off, so that its lengths and its checksum say nothing.
fn quoted_by_version_4(bytes: &[u8]) -> Option<Quoted> {
    let fixed = bytes.first_chunk::<{ ipv4::HEADER_LENGTH as usize }>()?;
    let is_first_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff == 0;
    let address = |at: usize| IpAddr::from(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]));
    let length = u16::from_be_bytes([fixed[2], fixed[3]]).into();
    let transport = bytes.get(usize::from(fixed[0] & 0x0f) * 4..).filter(|_| is_first_fragment);
    quoted((address(12), address(16)), (fixed[9], length), transport)
}

/// Extension headers of the quoted packet are not skipped: our packets have none.
fn quoted_by_version_6(bytes: &[u8]) -> Option<Quoted> {
    let (fixed, transport) = bytes.split_first_chunk::<{ ipv6::HEADER_LENGTH as usize }>()?;
    let address = |at: usize| Some(IpAddr::from(Ipv6Addr::from(*fixed.get(at..)?.first_chunk::<16>()?)));
    let length = ipv6::HEADER_LENGTH + u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    quoted((address(8)?, address(24)?), (fixed[6], length), Some(transport))
}
