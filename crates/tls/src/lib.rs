//! Cryptography of QUIC: [rustls](https://docs.rs/rustls) behind the interface of the sans-IO stack.
//!
//! The stack (`subflow-transport`) knows what it needs of TLS 1.3 as [`Tls`], and has a null suite for simulations. What
//! this crate makes of a configuration of rustls speaks to other implementations:
//!
//! ```
//! use std::sync::Arc;
//!
//! use rustls::crypto::ring;
//! use subflow_transport::quic::Config;
//!
//! let mut tls = rustls::ClientConfig::builder_with_provider(ring::default_provider().into())
//!     .with_protocol_versions(&[&rustls::version::TLS13])?
//!     .with_root_certificates(rustls::RootCertStore::empty())
//!     .with_no_client_auth();
//! tls.alpn_protocols = vec![b"h3".to_vec()];
//! let config = Config { tls: Some(subflow_tls::client(tls, "server.example")?), ..Config::default() };
//! assert!(config.tls.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | concern | file |
//! |---|---|
//! | configurations, and what is wrong with them | this one |
//! | keys of packets and headers (RFC 9001, section 5) | `keys.rs` |
//! | the handshake (section 4) | `session.rs` |
//!
//! Connections are not resumed and have no 0-RTT: servers give no tickets.

mod keys;
mod session;

use std::sync::Arc;

use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::quic::Suite;
use rustls::{CipherSuite, ClientConfig, ServerConfig, SupportedCipherSuite};
use subflow_transport::quic::tls::Tls;

pub use keys::keys_of;
use session::{Client, Server};

/// Why a configuration does not fit QUIC.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// The suite is missing with which Initial packets are protected.
    #[error(
        "QUIC needs the cipher suite TLS13_AES_128_GCM_SHA256 for its first packets, and the provider has none: \
         use rustls::crypto::ring::default_provider()"
    )]
    NoInitialSuite,
    /// No application protocol is named.
    #[error("QUIC needs an application protocol: set alpn_protocols, such as [\"h3\"]")]
    NoApplicationProtocol,
    /// The name of the server is neither a DNS name nor an IP address.
    #[error("{name:?} is no name of a server: {error}")]
    ServerName {
        /// The name.
        name: String,
        /// What is wrong with it.
        #[source]
        error: InvalidDnsNameError,
    },
    /// rustls does not begin a handshake with it.
    #[error("rustls does not use the configuration for QUIC: {0}")]
    Refused(#[from] rustls::Error),
}

/// TLS for connections to a server whose certificate is for `server_name`, as
/// [`Config::tls`](subflow_transport::quic::Config::tls). Early data is switched off.
///
/// # Errors
///
/// The configuration does not fit QUIC, or the name is none.
pub fn client(mut config: ClientConfig, server_name: &str) -> Result<Arc<dyn Tls>, Unfit> {
    let no_name = |error| Unfit::ServerName { name: server_name.into(), error };
    let name = ServerName::try_from(server_name.to_owned()).map_err(no_name)?;
    let initial = initial_suite(&config.crypto_provider().cipher_suites, &config.alpn_protocols)?;
    config.enable_early_data = false;
    let client = Client { config: Arc::new(config), name, initial };
    client.session(Vec::new())?;
    Ok(Arc::new(client))
}

/// TLS for connections that a server accepts, as [`Config::tls`](subflow_transport::quic::Config::tls). Early data and tickets
/// are switched off.
///
/// # Errors
///
/// The configuration does not fit QUIC.
pub fn server(mut config: ServerConfig) -> Result<Arc<dyn Tls>, Unfit> {
    let initial = initial_suite(&config.crypto_provider().cipher_suites, &config.alpn_protocols)?;
    (config.max_early_data_size, config.send_tls13_tickets) = (0, 0);
    let server = Server { config: Arc::new(config), initial };
    server.session(Vec::new())?;
    Ok(Arc::new(server))
}

/// The suite of Initial packets (RFC 9001, section 5).
fn initial_suite(suites: &[SupportedCipherSuite], protocols: &[Vec<u8>]) -> Result<Suite, Unfit> {
    if protocols.is_empty() {
        return Err(Unfit::NoApplicationProtocol);
    }
    let is_initial = |suite: &&SupportedCipherSuite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256;
    let suite = suites.iter().find(is_initial).and_then(SupportedCipherSuite::tls13);
    suite.and_then(|suite| suite.quic_suite()).ok_or(Unfit::NoInitialSuite)
}
