//! Stories of SCTP associations.

mod handshake;
mod linux;
mod multipath;
mod properties;
mod transfer;
