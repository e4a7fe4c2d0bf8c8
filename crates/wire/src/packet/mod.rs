//! The typed packet that endpoints exchange.

use crate::sctp::PROTOCOL_SCTP;
use crate::{IpHeader, SctpPacket, TcpSegment, UdpDatagram, ipv4, ipv6, udp};

mod emit;
mod parse;

pub use emit::PayloadBytes;

/// A payload without its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Offset of the first byte in the sender's application stream. It is not sent: the code that has the bytes uses it
    /// to find them. Zero in parsed packets.
    pub stream_offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// One's-complement sum of the payload as 16-bit big-endian words, with an odd last byte padded with zero
    /// (RFC 1071, not complemented). Simulated payloads are all zero, so their sum is 0. MPTCP's DSS checksum uses it.
    pub sum: u16,
}

/// The transport header and payload description after the IP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Tcp(TcpSegment),
    /// A UDP datagram.
    Udp(UdpDatagram),
    /// An SCTP packet, possibly encapsulated in UDP.
    Sctp(SctpPacket),
}

/// One IP packet: headers and the description of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The network header.
    pub ip: IpHeader,
    /// The transport header and payload description.
    pub body: Body,
}

impl Packet {
    /// Length in bytes from the IP header to the end of the payload: the size on a link. It reads a few fields and
    /// allocates nothing.
    #[inline]
    pub fn wire_length(&self) -> u32 {
        let ip_header = if self.ip.source.is_ipv4() { ipv4::HEADER_LENGTH } else { ipv6::HEADER_LENGTH };
        (ip_header + self.body.header_length()).saturating_add(self.body.payload().length)
    }

    /// The payload description; empty for SCTP (see [`SctpPacket::payloads`]).
    #[inline]
    pub const fn payload(&self) -> &Payload {
        self.body.payload()
    }
}

impl Body {
    /// The payload description; empty for SCTP (see [`SctpPacket::payloads`]).
    #[inline]
    pub const fn payload(&self) -> &Payload {
        match self {
            Self::Tcp(segment) => &segment.payload,
            Self::Udp(datagram) => &datagram.payload,
            Self::Sctp(_) => &Payload { stream_offset: 0, length: 0, sum: 0 },
        }
    }

    /// Length in bytes of the transport header with options, between the IP header and the payload. For SCTP, the whole
    /// packet including user data.
    #[inline]
    pub fn header_length(&self) -> u32 {
        match self {
            Self::Tcp(segment) => segment.header_length(),
            Self::Udp(_) => udp::HEADER_LENGTH,
            Self::Sctp(packet) => packet.length() + packet.encapsulation.map_or(0, |_| udp::HEADER_LENGTH),
        }
    }

    /// The protocol number in the IP header (IANA).
    pub const fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => PROTOCOL_TCP,
            Self::Udp(_) => PROTOCOL_UDP,
            Self::Sctp(packet) if packet.encapsulation.is_some() => PROTOCOL_UDP,
            Self::Sctp(_) => PROTOCOL_SCTP,
        }
    }
}

pub(crate) const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

/// Packets are stored in slots that are reused; SCTP must not make the slots of TCP segments larger.
const _: () = assert!(size_of::<SctpPacket>() <= size_of::<TcpSegment>());
