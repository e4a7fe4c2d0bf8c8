//! The addresses and ports of a connection, a subflow or a socket.

use std::net::{IpAddr, SocketAddr};

use subflow_wire::{Dscp, Ecn, IpHeader};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ends {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
}

/// Hop limit of new packets (Linux: `ip_default_ttl`).
const HOP_LIMIT: u8 = 64;

impl Ends {
    /// The same as the peer sees them.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { local: self.remote, remote: self.local }
    }

    /// The local and the remote address, without ports.
    pub fn addresses(&self) -> [IpAddr; 2] {
        [self.local.ip(), self.remote.ip()]
    }

    /// The network header of packets from the local end to the remote one.
    pub fn ip_header(&self) -> IpHeader {
        IpHeader {
            source: self.local.ip(),
            destination: self.remote.ip(),
            hop_limit: HOP_LIMIT,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        }
    }
}
