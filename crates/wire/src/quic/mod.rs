//! QUIC version 1 (RFC 9000), with DATAGRAM frames (RFC 9221), acknowledgment frequency
//! (draft-ietf-quic-ack-frequency) and multipath (draft-ietf-quic-multipath-21).
//!
//! | what | file |
//! |---|---|
//! | variable-length integers (section 16) | `varint.rs` |
//! | packet numbers (section 17.1, appendix A) | `packet_number.rs` |
//! | connection identifiers (section 5.1) | `connection_id.rs` |
//! | headers (section 17) | `header.rs` |
//! | packets, and several in one UDP datagram (section 12.2) | `packet.rs`, `datagram.rs` |
//! | packets before their protection is removed (RFC 9001, section 5.4) | `protected.rs` |
//! | frames (section 19) | `frame.rs`; their bytes: `frame_bytes.rs` |
//! | ACK and PATH_ACK frames | `ack.rs` |
//! | STREAM, CRYPTO and DATAGRAM frames | `data_frames.rs` |
//! | transport parameters (section 18) | `transport_parameters.rs` |
//!
//! Application data is described, not held: STREAM and DATAGRAM frames have a [`Payload`](crate::Payload), and
//! [`QuicDatagram::parse`] says where its bytes stand in a datagram. CRYPTO frames hold their bytes, which both ends need.
//!
//! Packets are those of the *null suite*: they have the lengths of AEAD-protected packets, with a tag of
//! [`TAG_LENGTH`] bytes that is zero, but headers are not masked and payloads not encrypted. Keys are not part of this
//! crate. Whoever has them turns such a packet into one of another suite in place, and back: [`ProtectedPacket`] says where
//! what is masked and encrypted lies.
//!
//! A datagram whose first packet is malformed is refused; a malformed packet behind others ends the datagram, as
//! section 12.2 asks for. What of a packet's payload is no frame is kept as [`Frame::Invalid`]: the connection decides
//! about the error (section 12.4).
//!
//! A short header does not state the length of its connection identifier, and nothing in a UDP datagram says that it is
//! QUIC. [`Packet::parse`](crate::Packet::parse) therefore returns QUIC as UDP, and the receiver, who knows both, calls
//! [`QuicDatagram::parse`].

mod ack;
mod connection_id;
mod data_frames;
mod datagram;
mod frame;
mod frame_bytes;
mod header;
mod packet;
mod packet_number;
mod protected;
mod transport_parameters;
mod varint;

pub use ack::{AckFrame, AckRange, EcnCounts};
pub use connection_id::{ConnectionId, MAX_CONNECTION_ID_LENGTH};
pub use data_frames::{CryptoFrame, DatagramFrame, Direction, StreamFrame, StreamId};
pub use datagram::QuicDatagram;
pub use frame::{CloseCause, CloseFrame, Frame, NewConnectionIdFrame, STATELESS_RESET_TOKEN_LENGTH, frame_type};
pub use header::{PacketHeader, VERSION_1};
pub use packet::{QuicPacket, TAG_LENGTH};
pub use packet_number::PacketNumber;
pub use protected::{PacketKind, ProtectedPacket, SAMPLE_LENGTH};
pub use transport_parameters::{PreferredAddress, TransportParameters};
pub use varint::{MAX_VARINT, varint_length};

pub(crate) use varint::Emitter;
