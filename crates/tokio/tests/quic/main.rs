//! Endpoints of QUIC over sockets of loopback addresses, in real time.

mod aioquic;
mod ends;
mod failures;
mod paths;
mod streams;
mod support;
