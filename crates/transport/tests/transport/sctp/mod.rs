//! Stories of SCTP associations.

mod any_chunks;
mod buffers;
mod handshake;
mod linux;
mod multipath;
mod properties;
mod reliability;
mod transfer;
