//! SCTP packets (RFC 9260), with partial reliability (RFC 3758), NR-SACK (draft-natarajan-tsvwg-sctp-nrsack), delayed
//! acknowledgments for concurrent multipath transfer (draft-tuexen-tsvwg-sctp-multipath) and UDP encapsulation (RFC
//! 6951).
//!
//! User data is described, not held: every DATA chunk has a [`Payload`](crate::Payload), and
//! [`SctpPacket::payload_ranges`] says where its bytes stand in a parsed packet.
//!
//! A packet whose checksum is wrong, or in which a chunk reaches beyond the end, is refused as a whole. A chunk of a
//! known type with contents that do not follow its format is kept as [`Chunk::Malformed`], a chunk of another type as
//! [`Chunk::Unknown`]: what to do about either is for the association to decide (RFC 9260, sections 3.2 and 8.5).
//!
//! Not supported: AUTH (RFC 4895), ASCONF (RFC 5061), RE-CONFIG (RFC 6525), I-DATA (RFC 8260), which come as unknown.

mod cause;
mod chunk;
mod data;
mod packet;
mod parameter;
mod sack;
mod tlv;

pub use cause::ErrorCause;
pub use chunk::{Chunk, RawChunk, chunk_type};
pub use data::{DataChunk, ForwardTsnChunk, SkippedStream};
pub use packet::{HEADER_LENGTH, SctpPacket, UDP_ENCAPSULATION_PORT, UdpEncapsulation};
pub use parameter::{InitChunk, Parameter, RawParameter, parameter_type};
pub use sack::{GAP_BLOCK_LENGTH, GapBlock, GapBlocks, NrSackChunk, SackChunk};
pub use tlv::CHUNK_HEADER_LENGTH;
