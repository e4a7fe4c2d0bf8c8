//! The typed packet that endpoints exchange.

use crate::ip::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};
use crate::{IpHeader, Payload, QuicDatagram, SctpPacket, TcpSegment, UdpDatagram, ipv4, ipv6, udp};

mod emit;
mod parse;

/// The transport header and payload description after the IP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Tcp(TcpSegment),
    /// A UDP datagram.
    Udp(UdpDatagram),
    /// An SCTP packet, possibly encapsulated in UDP.
    Sctp(SctpPacket),
    /// A UDP datagram with QUIC packets. [`Packet::parse`] returns it as [`Body::Udp`]: what the payload is only its
    /// receiver knows.
    Quic(QuicDatagram),
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
    #[inline(always)]
    pub fn wire_length(&self) -> u32 {
        let ip_header = if self.ip.source.is_ipv4() { ipv4::HEADER_LENGTH } else { ipv6::HEADER_LENGTH };
        (ip_header + self.body.header_length()).saturating_add(self.body.payload().length)
    }

    /// The payload description; empty for SCTP and QUIC (see [`SctpPacket::payloads`] and
    /// [`QuicDatagram::payloads`]).
    #[inline]
    pub const fn payload(&self) -> &Payload {
        self.body.payload()
    }
}

impl Body {
    /// The payload description; empty for SCTP and QUIC (see [`SctpPacket::payloads`] and
    /// [`QuicDatagram::payloads`]).
    #[inline]
    pub const fn payload(&self) -> &Payload {
        match self {
            Self::Tcp(segment) => &segment.payload,
            Self::Udp(datagram) => &datagram.payload,
            Self::Sctp(_) | Self::Quic(_) => &Payload { stream_offset: 0, length: 0, sum: 0 },
        }
    }

    /// Length in bytes of the transport header with options, between the IP header and the payload. For SCTP and
    /// QUIC, the whole packet including user data.
    #[inline(always)]
    pub fn header_length(&self) -> u32 {
        match self {
            Self::Tcp(segment) => segment.header_length(),
            Self::Udp(_) => udp::HEADER_LENGTH,
            Self::Sctp(_) | Self::Quic(_) => self.summed_length(),
        }
    }

    /// The length of a packet that is the sum of its chunks or packets. Apart, since it would keep the usual case from
    /// being inlined.
    #[inline(never)]
    fn summed_length(&self) -> u32 {
        match self {
            Self::Tcp(_) | Self::Udp(_) => self.header_length(),
            Self::Sctp(packet) => packet.length() + packet.encapsulation.map_or(0, |_| udp::HEADER_LENGTH),
            Self::Quic(datagram) => udp::HEADER_LENGTH + datagram.length(),
        }
    }

    /// The number of the transport protocol (IANA) with its source and destination ports: of SCTP in UDP, those of SCTP.
    #[inline]
    pub const fn transport_ports(&self) -> (u8, u16, u16) {
        match self {
            Self::Tcp(segment) => (PROTOCOL_TCP, segment.source_port, segment.destination_port),
            Self::Udp(datagram) => (PROTOCOL_UDP, datagram.source_port, datagram.destination_port),
            Self::Sctp(packet) => (PROTOCOL_SCTP, packet.source_port, packet.destination_port),
            Self::Quic(datagram) => (PROTOCOL_UDP, datagram.source_port, datagram.destination_port),
        }
    }

    /// The protocol number in the IP header (IANA).
    pub const fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => PROTOCOL_TCP,
            Self::Udp(_) | Self::Quic(_) => PROTOCOL_UDP,
            Self::Sctp(packet) if packet.encapsulation.is_some() => PROTOCOL_UDP,
            Self::Sctp(_) => PROTOCOL_SCTP,
        }
    }
}

/// Packets are stored in slots that are reused; SCTP and QUIC must not make the slots of TCP segments larger.
const _: () = assert!(size_of::<SctpPacket>() <= size_of::<TcpSegment>());
const _: () = assert!(size_of::<QuicDatagram>() <= size_of::<TcpSegment>());
