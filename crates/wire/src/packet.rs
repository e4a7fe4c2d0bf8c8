//! The typed packet that endpoints exchange.

use std::net::IpAddr;

use crate::TcpSegment;

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not use ECN.
    #[default]
    NotEct = 0,
    /// ECN-capable transport, codepoint ECT(1).
    Ect1 = 1,
    /// ECN-capable transport, codepoint ECT(0).
    Ect0 = 2,
    /// Congestion was experienced on the path.
    CongestionExperienced = 3,
}

/// What endpoints and routers need of an IPv4 or IPv6 header. Both addresses are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Time to live (IPv4) or hop limit (IPv6).
    pub hop_limit: u8,
    /// Explicit congestion notification.
    pub ecn: Ecn,
}

/// A payload without its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Offset of the first byte in the sender's application stream. Not on the wire: it lets the edge that holds the
    /// bytes attach them. Zero in parsed packets.
    pub stream_offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// One's-complement sum of the payload as 16-bit big-endian words, an odd last byte padded with zero (RFC 1071,
    /// not complemented). Simulated payloads are all zero, so their sum is 0. MPTCP's DSS checksum builds on it.
    pub sum: u16,
}

/// A UDP datagram without its bytes (RFC 768).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpDatagram {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// What it carries.
    pub payload: Payload,
}

/// The transport header behind the IP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Tcp(TcpSegment),
    /// A UDP datagram.
    Udp(UdpDatagram),
}

/// One IP packet: headers and the description of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The network header.
    pub ip: IpHeader,
    /// The transport header and payload description.
    pub body: Body,
}
