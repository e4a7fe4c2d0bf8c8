//! Stories of one TCP connection.

mod close;
mod handshake;
mod validation;
