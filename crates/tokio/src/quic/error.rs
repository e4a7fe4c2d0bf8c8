//! What can go wrong, as types.

use std::io;
use std::net::SocketAddr;

use subflow_transport::quic::{EndCause, TransportError};
use subflow_transport::tcp::Closed;
use subflow_wire::quic::CloseCause;

/// The first and the last code of `CRYPTO_ERROR`, whose last byte is a TLS alert (RFC 9000, section 20.1).
const CRYPTO_ERRORS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// Why a connection has ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// This side has closed it.
    #[error("this side has closed the connection")]
    Closed,
    /// The peer's application has closed it.
    #[error("the peer has closed the connection with error {error_code}{}", because(.reason))]
    ClosedByPeer {
        /// The error; 0 usually means that there is none.
        error_code: u64,
        /// What the peer says about it; maybe nothing.
        reason: String,
    },
    /// TLS does not accept the peer: its certificate, its application protocol, or what it has sent.
    #[error("{} refuses the TLS handshake: {}", if *.by_peer { "the peer" } else { "this side" }, meaning(*.alert))]
    Tls {
        /// The alert (RFC 8446, section 6).
        alert: u8,
        /// Whether it was the peer that does not accept this side.
        by_peer: bool,
    },
    /// The server takes no connection.
    #[error("the server refuses the connection")]
    Refused,
    /// The server has none of the versions of QUIC that this side has.
    #[error("the server has none of this side's versions of QUIC, which is 1; it offers {offered:x?}")]
    Version {
        /// What it offers.
        offered: Vec<u32>,
    },
    /// Nothing has arrived for the idle timeout.
    #[error("nothing has arrived from the peer for the idle timeout")]
    TimedOut,
    /// The peer does not know the connection any more: it has sent a stateless reset (RFC 9000, section 10.3).
    #[error("the peer does not know the connection (any more)")]
    Reset,
    /// The peer's implementation has found a mistake, or cannot go on.
    #[error("the peer has ended the connection with transport error {error_code:#x}{}", because(.reason))]
    TransportByPeer {
        /// The error (RFC 9000, section 20.1).
        error_code: u64,
        /// What the peer says about it; maybe nothing.
        reason: String,
    },
    /// This side has found a mistake of the peer.
    #[error("the peer does not follow the protocol: transport error {:#x} ({_0:?})", .0.code())]
    Transport(TransportError),
    /// The connection has no path any more.
    #[error("the connection has no path any more")]
    NoPath,
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

/// What a TLS alert means, for those that configurations cause.
fn meaning(alert: u8) -> String {
    let what = match alert {
        40 => "there is no common cipher suite or key exchange (handshake_failure)",
        42 => "the certificate is malformed, or is for another name (bad_certificate)",
        43 => "the certificate is of a kind that is not supported (unsupported_certificate)",
        44 => "the certificate is revoked (certificate_revoked)",
        45 => "the certificate has expired, or is not valid yet (certificate_expired)",
        46 => "the certificate is not acceptable (certificate_unknown)",
        48 => "the certificate is signed by nobody who is trusted (unknown_ca)",
        51 => "the certificate or the handshake has a wrong signature (decrypt_error)",
        70 => "there is no common version of TLS (protocol_version)",
        112 => "the server has no certificate for that name (unrecognized_name)",
        116 => "a certificate of the client is required (certificate_required)",
        120 => "there is no common application protocol, see ALPN (no_application_protocol)",
        _ => return format!("alert {alert}"),
    };
    format!("{what}, alert {alert}")
}

impl ConnectionError {
    /// Why a connection has ended that the stack says has ended so.
    pub(super) fn of(how: Closed, cause: Option<&EndCause>) -> Self {
        match cause {
            Some(EndCause::Failed(TransportError::Alert(alert))) => Self::Tls { alert: *alert, by_peer: false },
            Some(EndCause::Failed(error)) => Self::Transport(*error),
            Some(EndCause::Versions(offered)) => Self::Version { offered: offered.clone() },
            Some(EndCause::ClosedByPeer(frame)) => {
                let reason = String::from_utf8_lossy(&frame.reason).into_owned();
                match frame.cause {
                    CloseCause::Application { error_code } => Self::ClosedByPeer { error_code, reason },
                    CloseCause::Transport { error_code, .. } if CRYPTO_ERRORS.contains(&error_code) => {
                        Self::Tls { alert: error_code as u8, by_peer: true }
                    }
                    CloseCause::Transport { error_code, .. }
                        if error_code == TransportError::ConnectionRefused.code() =>
                    {
                        Self::Refused
                    }
                    CloseCause::Transport { error_code, .. } => Self::TransportByPeer { error_code, reason },
                }
            }
            None => match how {
                Closed::TimedOut => Self::TimedOut,
                Closed::Reset => Self::Reset,
                Closed::Refused => Self::Refused,
                Closed::Gracefully => Self::Closed,
                Closed::Aborted => Self::NoPath,
            },
        }
    }

    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Closed | Self::NoPath => io::ErrorKind::NotConnected,
            Self::ClosedByPeer { .. } | Self::Reset | Self::TransportByPeer { .. } => io::ErrorKind::ConnectionReset,
            Self::Refused | Self::Version { .. } => io::ErrorKind::ConnectionRefused,
            Self::TimedOut => io::ErrorKind::TimedOut,
            Self::Tls { .. } | Self::Transport(_) => io::ErrorKind::InvalidData,
        }
    }
}

impl From<ConnectionError> for io::Error {
    fn from(error: ConnectionError) -> Self {
        Self::new(error.kind(), error)
    }
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The endpoint has no TLS configuration of a client.
    #[error("the endpoint has no TLS configuration for connections that it opens: make it with Endpoint::client")]
    NoClient,
    /// The TLS configuration does not fit QUIC, or the name of the server is none.
    #[error(transparent)]
    Unfit(#[from] subflow_tls::Unfit),
    /// No socket has an address of the destination's family.
    #[error("no local address of the endpoint has the family of {remote}")]
    NoAddress {
        /// The destination.
        remote: SocketAddr,
    },
    /// The socket has a connection to that destination already.
    #[error("{local} has a connection to {remote} already; connect from another endpoint, which has a port of its own")]
    InUse {
        /// The socket's address.
        local: SocketAddr,
        /// The destination.
        remote: SocketAddr,
    },
    /// The connection has ended before it was established.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Why a stream cannot be used. Those that implement tokio's traits have it as the source of their [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The connection has ended.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The peer has ended its part without all of its data.
    #[error("the peer has reset the stream with error {0}")]
    Reset(u64),
    /// The peer does not read the stream any more.
    #[error("the peer reads the stream no more, with error {0}")]
    Stopped(u64),
    /// This side has ended its part.
    #[error("this side's part of the stream has ended")]
    Finished,
}

impl From<StreamError> for io::Error {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Connection(error) => error.into(),
            StreamError::Reset(_) => Self::new(io::ErrorKind::ConnectionReset, error),
            StreamError::Stopped(_) | StreamError::Finished => Self::new(io::ErrorKind::BrokenPipe, error),
        }
    }
}
