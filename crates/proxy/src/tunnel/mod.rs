//! A tunnel between two of ours: clients of the proxy are carried over one multipath QUIC connection to a server, which connects
//! to their destinations by TCP. It changes nothing on the machine, and needs no root rights.
//!
//! Each connection of a client is one bidirectional stream. It begins with a request as in SOCKS5 (RFC 1928, section 4: version 5,
//! CONNECT, 0, kind of address, address, port), which the server answers with a reply (section 6), always with the address
//! 0.0.0.0:0. What follows are the bytes of the TCP connection; its end is that of the stream's part, its reset resets the
//! stream. A stream that ends without any byte asks whether the server is there: the server ends its part, too.
//!
//! Both ends have a certificate, which the other knows by its SHA-256 sum. The TLS handshake fails otherwise, before there is any
//! stream.
//!
//! | to find | look in |
//! |---|---|
//! | certificates, TLS | `identity.rs` |
//! | the client: connecting, and again; its interfaces | `client.rs`, `links.rs` |
//! | the server: streams to TCP connections | `server.rs` |
//! | where clients may go | `allowed.rs` |
//! | one stream | `stream.rs` |
//! | paths in the log | `path_log.rs` |

mod allowed;
mod client;
mod identity;
mod links;
mod path_log;
mod server;
mod stream;

use std::time::Duration;

use subflow_tokio::UnknownName;

pub use allowed::{Allowed, NoDestinations};
pub use client::{ClientSettings, run_client};
pub use identity::{Fingerprint, Identity, NoFingerprint};
pub use server::{ServerSettings, run_server};
pub use subflow_tokio::quic::Options;

/// Time without a packet of the peer after which a connection has ended.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Most connections of clients that are carried at a time; further ones wait.
const STREAMS: u64 = 256;
/// Most bytes of a stream that wait to be read or acknowledged, at each end.
const STREAM_BUFFER: u64 = 1 << 20;

/// Options of a tunnel's QUIC with the algorithms of these names; packets have at most `mtu` bytes.
///
/// # Errors
///
/// There is no such algorithm.
pub fn options(congestion: &str, scheduler: &str, path_manager: &str, mtu: u16) -> Result<Options, UnknownName> {
    let named = Options::named(congestion, scheduler, path_manager)?;
    Ok(Options {
        mtu,
        idle_timeout: Some(IDLE_TIMEOUT),
        // For all streams, so that readers which stop do not stop others.
        receive_buffer: STREAMS * STREAM_BUFFER,
        stream_receive_buffer: STREAM_BUFFER,
        stream_send_buffer: STREAM_BUFFER,
        streams: STREAMS,
        ..named
    })
}
