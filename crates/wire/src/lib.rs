//! Bytes to typed packets and back: IPv4, IPv6, TCP with every MPTCP option of RFC 8684, UDP, and pcapng files.
//!
//! A [`Packet`] is headers plus the *description* of a payload ([`Payload`]: where it stands in the sender's stream and
//! how long it is). Payload bytes are attached by [`Packet::emit`] and detached by [`Packet::parse`], at the edge that
//! has them; everything in between moves descriptions only.

mod packet;
pub mod tcp;

pub use packet::{Body, Ecn, IpHeader, Packet, Payload, UdpDatagram};
pub use tcp::TcpSegment;
