//! Stories of SCTP associations.

mod handshake;
mod multipath;
mod transfer;
