//! Bytes to typed packets and back: IPv4, IPv6, TCP with every MPTCP option of RFC 8684, SCTP, UDP, QUIC, and pcapng files.
//!
//! A packet as bytes, and back:
//!
//! ```
//! use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, UdpDatagram};
//!
//! let source = "10.0.0.1".parse().expect("an address");
//! let destination = "10.0.0.2".parse().expect("an address");
//! let payload = Payload { stream_offset: 0, length: 5, sum: 0 };
//! let datagram = UdpDatagram { source_port: 5001, destination_port: 5002, payload };
//! let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
//! let packet = Packet { ip, body: Body::Udp(datagram) };
//!
//! let mut bytes = Vec::new();
//! packet.emit(PayloadBytes::Bytes(b"hello"), 1, &mut bytes).expect("it fits");
//! assert_eq!(bytes.len(), 20 + 8 + 5);
//! let (parsed, payload) = Packet::parse(&bytes).expect("a good packet");
//! assert_eq!((parsed.ip, &bytes[payload]), (packet.ip, &b"hello"[..]));
//! ```
//!
//! A [`Packet`] consists of headers and the *description* of a payload ([`Payload`]: its offset in the sender's stream
//! and its length). [`Packet::emit`] adds the payload bytes and [`Packet::parse`] separates them, where real packets
//! enter and leave. All other code handles only descriptions and gets the size from [`Packet::wire_length`]. In SCTP
//! each DATA chunk has its own payload description, in QUIC each STREAM and DATAGRAM frame.
//!
//! Options have the same layout as in Linux, so that a simulated packet has the size of a real one.
//!
//! Malformed input is handled as in Linux. A packet with wrong lengths or checksums is rejected with a [`ParseError`].
//! A TCP *option* that is malformed or unknown is skipped and the segment is accepted without it; an invalid option
//! length (below 2, or beyond the end of the header) ends the option list. The endpoint decides whether an option is
//! allowed on its segment and whether its value is valid.
//!
//! Not supported: IPv4 options (skipped), IPv6 extension headers (hop-by-hop and destination options are skipped,
//! others rejected), fragments and jumbograms (rejected), flow labels (zero), the urgent pointer (zero), and the TCP
//! options for Fast Open, authentication and MD5 (skipped).

pub mod checksum;
mod dscp;
mod error;
mod flow_cache;
pub mod icmp;
mod ip;
mod ipv4;
mod ipv6;
mod packet;
mod payload;
pub mod pcapng;
pub mod quic;
mod reader;
pub mod sctp;
pub mod tcp;
mod udp;

pub use dscp::{Dscp, UnknownDscp};
pub use error::{EmitError, Header, ParseError};
pub use flow_cache::{FlowCache, FlowKeyV4};
pub use ip::{Ecn, IpHeader, PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP, set_congestion_experienced};
pub use packet::{Body, Packet};
pub use payload::{Payload, PayloadBytes};
pub use pcapng::{PcapngWriter, packet_block_length};
pub use quic::QuicDatagram;
pub use sctp::SctpPacket;
pub use tcp::TcpSegment;
pub use udp::UdpDatagram;
