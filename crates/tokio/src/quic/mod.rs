//! QUIC for tokio: connections with streams over UDP sockets, by [`subflow_transport`]'s stack with the cryptography of rustls
//! (RFC 9000, RFC 9001, RFC 9002), over several paths if the peer has them too (draft-ietf-quic-multipath-21).
//!
//! An [`Endpoint`] has one socket for each local address. A path is one of them with an address of the peer. The client's path
//! manager opens paths from further addresses, the scheduler chooses the path of each packet; a peer without multipath has one
//! path.
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddr};
//!
//! use rustls::pki_types::PrivatePkcs8KeyDer;
//! use subflow_tokio::quic::{Endpoint, Options};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let signed = rcgen::generate_simple_self_signed(["server.example".to_owned()])?;
//! let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
//! let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
//! let mut tls = rustls::ServerConfig::builder_with_provider(provider.clone())
//!     .with_safe_default_protocol_versions()?
//!     .with_no_client_auth()
//!     .with_single_cert(vec![signed.cert.der().clone()], key.into())?;
//! tls.alpn_protocols = vec![b"echo".to_vec()];
//! let server = Endpoint::server(tls, &[SocketAddr::from((Ipv4Addr::LOCALHOST, 0))], &Options::default())?;
//! let address = server.local_addrs()[0];
//!
//! let mut roots = rustls::RootCertStore::empty();
//! roots.add(signed.cert.der().clone())?;
//! let mut tls = rustls::ClientConfig::builder_with_provider(provider)
//!     .with_safe_default_protocol_versions()?
//!     .with_root_certificates(roots)
//!     .with_no_client_auth();
//! tls.alpn_protocols = vec![b"echo".to_vec()];
//! // Two addresses, as those of WiFi and LTE would be: two paths, with the congestion control, scheduler and path manager of
//! // these names.
//! let locals = [[127, 0, 0, 1], [127, 0, 0, 2]].map(|address| SocketAddr::from((address, 0)));
//! let client = Endpoint::client(tls, &locals, &Options::named("olia", "ll", "single-mesh")?)?;
//!
//! let (connection, accepted) = tokio::join!(client.connect(address, "server.example"), server.accept());
//! let (mut request, mut answer) = connection?.open_bi().await?;
//! request.write_all(b"hello").await?;
//! request.shutdown().await?;
//! let (mut send, mut receive) = accepted.accept_bi().await?;
//! tokio::io::copy(&mut receive, &mut send).await?;
//! send.shutdown().await?;
//! let mut text = String::new();
//! answer.read_to_string(&mut text).await?;
//! assert_eq!(text, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | connecting, accepting, addresses that come and go | `endpoint.rs` |
//! | streams, paths and the end of a connection | `connection.rs`; reading and writing: `stream.rs` |
//! | what can go wrong | `error.rs` |
//! | algorithms and bounds | `options.rs` |
//! | figures of paths | `figures.rs` |
//! | the task that receives datagrams and waits for timers | `driver.rs`, `../shared.rs`; sockets: `sockets.rs`; what they carry: `datagrams.rs` |
//! | everything behind the lock | `state.rs`; one connection: `connection_state.rs`; one stream: `stream_state.rs` |
//!
//! Not there: streams in one direction, datagrams, 0-RTT, migration of a path to another address, ECN (which takes control
//! messages of sockets), path MTU discovery ([`Options::mtu`] is what is sent).

mod connection;
mod connection_state;
mod datagrams;
mod driver;
mod endpoint;
mod error;
mod figures;
mod options;
mod sockets;
mod state;
mod stream;
mod stream_state;

pub use connection::Connection;
pub use endpoint::Endpoint;
pub use error::{ConnectError, ConnectionError, StreamError};
pub use figures::PathState;
pub use options::Options;
pub use stream::{ReceiveStream, SendStream};
