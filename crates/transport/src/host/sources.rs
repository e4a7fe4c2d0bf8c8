//! The source addresses of connections that this host opens: addresses that it has, and from which there is a route to
//! the peer.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;

use super::{ConnectError, EndpointId, Host, Listener};
use crate::Reach;
use crate::tcp::State;

impl Host {
    /// Sets from which of the host's addresses there are routes to which addresses of peers. By default packets reach
    /// all addresses of their family. It concerns connections that are opened or accepted from now on.
    pub fn set_reach(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// The address from which packets to `remote` leave: `preferred` if the host has it and it reaches `remote`, else the
    /// first of its addresses that does. Without any it is `preferred`, whose packets are lost.
    pub fn source(&self, preferred: IpAddr, remote: IpAddr) -> IpAddr {
        self.reach.source(&self.addresses, preferred, remote).unwrap_or(preferred)
    }

    /// Opens a connection as [`connect`](Self::connect) does, from the [source](Self::source) that the host has for it:
    /// if possible that of `preferred`, whose port applies to each. If that address is lost before the peer has answered,
    /// the SYN is sent again from another one (Linux: `net.ipv4.ip_dynaddr`).
    ///
    /// # Errors
    ///
    /// The port is in use, or none is free.
    pub fn connect_from_any(
        &mut self,
        stack: &Listener,
        preferred: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        let local = SocketAddr::new(self.source(preferred.ip(), remote.ip()), preferred.port());
        let id = self.connect(stack, local, remote, now)?;
        self.unbound = core::mem::take(&mut self.unbound).into_iter().filter(|&open| self.is_opening(open)).collect();
        if self.is_opening(id) {
            self.unbound.push(id);
        }
        Ok(id)
    }

    /// Whether a connection waits for the answer to its first SYN.
    fn is_opening(&self, id: EndpointId) -> bool {
        let endpoint = self.endpoints.get(id.0 as usize);
        endpoint.and_then(|endpoint| endpoint.tcp(0)).is_some_and(|tcp| tcp.state() == State::SynSent)
    }

    /// The host has lost `address`: connections that wait there for the answer to their SYN, and that may have any
    /// source, go on from another address.
    pub(super) fn move_openings(&mut self, address: IpAddr) {
        for id in self.unbound.clone() {
            let ends = if self.is_opening(id) { self.endpoint(id).ends() } else { continue };
            if ends.local.ip() != address {
                continue;
            }
            let Some(source) = self.reach.source(&self.addresses, address, ends.remote.ip()) else { continue };
            let protocol = self.endpoint(id).protocol();
            let same_port = SocketAddr::new(source, ends.local.port());
            let free = self.free_ends(protocol, same_port, ends.remote);
            let Ok(moved) = free.or_else(|_| self.free_ends(protocol, SocketAddr::new(source, 0), ends.remote)) else {
                continue;
            };
            self.endpoints[id.0 as usize].move_opening(moved, &self.addresses);
            self.demux.assign(protocol, moved, id, 0);
        }
    }
}
