//! The protocol that the hosts of a case speak, and what the model has to know of it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use subflow_transport::sctp::config::MOST_TSNS_AHEAD;
use subflow_transport::tcp::Connection;
use subflow_transport::{Endpoint, Listener};

use crate::setup::End;

/// What the hosts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// Plain TCP.
    Tcp,
    /// MPTCP, at one end possibly plain TCP.
    Mptcp,
    /// SCTP.
    Sctp,
    /// QUIC over one path.
    Quic,
    /// QUIC over several paths, at one end possibly over one.
    Mpquic,
}

impl Stack {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Mptcp, Self::Sctp, Self::Quic, Self::Mpquic];

    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Sctp => "sctp",
            Self::Quic => "quic",
            Self::Mpquic => "mpquic",
        }
    }

    /// Whether a connection may use several addresses of its hosts.
    pub(crate) const fn is_multipath(self) -> bool {
        matches!(self, Self::Mptcp | Self::Sctp | Self::Mpquic)
    }

    /// Whether a connection is one between all addresses of its hosts.
    pub(crate) const fn is_multihomed(self) -> bool {
        matches!(self, Self::Sctp)
    }

    /// Whether an end that closes gives up if its peer cannot: SCTP's T5 (RFC 9260, section 9.2).
    pub(crate) const fn guards_its_close(self) -> bool {
        matches!(self, Self::Sctp)
    }

    /// Whether a connection ends when nothing has happened for [a time](crate::setup::IDLE_TIMEOUT), and an end that has
    /// lost the last packets of its peer waits for that.
    pub(crate) const fn has_idle_timeout(self) -> bool {
        matches!(self, Self::Quic | Self::Mpquic)
    }

    /// What `end` listens or connects with.
    pub(crate) fn listener(self, end: &End) -> Listener {
        match self {
            Self::Tcp => end.tcp_options().into(),
            Self::Mptcp if end.plain => end.tcp_options().into(),
            Self::Mptcp => Arc::new(end.mptcp_config()).into(),
            Self::Sctp => Arc::new(end.sctp_config()).into(),
            Self::Quic => Arc::new(end.quic_config(false)).into(),
            Self::Mpquic => Arc::new(end.quic_config(!end.plain)).into(),
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stack {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|stack| stack.name() == name).ok_or_else(|| format!("no stack is called {name:?}"))
    }
}

/// The connections of TCP that it consists of, closed ones too; the one that opened it first.
pub(crate) fn connections(endpoint: &Endpoint) -> Vec<&Connection> {
    match endpoint {
        Endpoint::Tcp(tcp) => vec![tcp.connection()],
        Endpoint::Mptcp(mptcp) => mptcp.subflows().iter().map(|subflow| subflow.connection()).collect(),
        Endpoint::Sctp(_) | Endpoint::Quic(_) | Endpoint::Udp(_) => Vec::new(),
    }
}

/// How many pairs of ends it has, on a host with so many addresses: an MPTCP connection one for each subflow, an SCTP
/// association one for each pair of addresses.
pub(crate) fn ends(endpoint: &Endpoint, addresses: usize) -> usize {
    match endpoint {
        Endpoint::Mptcp(mptcp) => mptcp.subflows().len(),
        Endpoint::Sctp(association) => association.destinations().len() * addresses,
        Endpoint::Quic(_) => endpoint.figures().paths.len().max(1),
        Endpoint::Tcp(_) | Endpoint::Udp(_) => 1,
    }
}

/// The bytes that it may hold whatever it sends, and those of the smallest segment that it may have to send.
pub(crate) fn memory(endpoint: &Endpoint, end: &End) -> (i64, u32) {
    match endpoint {
        Endpoint::Tcp(_) => (64 << 10, 48),
        // As many subflows as a connection may have.
        Endpoint::Mptcp(_) => (512 << 10, 48),
        // As many TSNs as one may have arrived ahead of a hole.
        Endpoint::Sctp(_) => ((256 << 10) + 128 * i64::from(MOST_TSNS_AHEAD), end.message_size.clamp(1, 500)),
        // Ranges of data ahead of a hole, on each of its streams; packet numbers, and challenges, of each path.
        Endpoint::Quic(_) => (2 << 20, 48),
        Endpoint::Udp(_) => (1 << 10, 1),
    }
}

/// Whether what it acknowledges was delivered. Data of SCTP may be acknowledged and wait for the rest of its message.
pub(crate) fn acknowledges_what_is_delivered(endpoint: &Endpoint) -> bool {
    !matches!(endpoint, Endpoint::Sctp(_))
}
