//! Bytes to typed packets and back: IPv4, IPv6, TCP with every MPTCP option of RFC 8684, SCTP, UDP, and pcapng files.
//!
//! A [`Packet`] is headers plus the *description* of a payload ([`Payload`]: where it stands in the sender's stream and
//! how long it is). Payload bytes are attached by [`Packet::emit`] and detached by [`Packet::parse`], at the edge that
//! has them; everything in between moves descriptions only, and asks [`Packet::wire_length`] for the size. SCTP describes
//! the payload of each DATA chunk apart.
//!
//! Options are laid out as Linux lays them out, so that a simulated packet has the size of a real one.
//!
//! What arrives malformed is handled as Linux handles it. A packet whose lengths or checksums are wrong is refused with
//! a [`ParseError`]. A TCP *option* that is malformed or unknown is skipped and the segment stands without it; an option
//! length that cannot be followed (below 2, or past the end of the header) ends the option list. Whether an option
//! belongs on the segment that carries it, and whether its value makes sense, is for the endpoint to judge.
//!
//! Not supported: IPv4 options (skipped), IPv6 extension headers but for hop-by-hop and destination options (skipped),
//! fragments and jumbograms (refused), DSCP and flow labels (zero), the urgent pointer (zero), and the TCP options for
//! Fast Open, authentication and MD5 (skipped).

pub mod checksum;
mod error;
mod ipv4;
mod ipv6;
mod packet;
pub mod pcapng;
mod reader;
pub mod sctp;
pub mod tcp;
mod udp;

pub use error::{EmitError, Header, ParseError};
pub use packet::{Body, Ecn, IpHeader, Packet, Payload, PayloadBytes};
pub use pcapng::PcapngWriter;
pub use sctp::SctpPacket;
pub use tcp::TcpSegment;
pub use udp::UdpDatagram;
