//! Connections that this host opens, and the choice of their local ports.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::{PROTOCOL_TCP, PROTOCOL_UDP};

use super::demux::Protocol;
use super::{EndpointId, Host};
use crate::tcp::{Ends, TcpEndpoint, TcpOptions};
use crate::udp::UdpEndpoint;
use crate::{Endpoint, mptcp};

/// Why a connection could not be opened.
///
/// Addresses and ports are in use from the first packet until the connection is over. TIME-WAIT is part of the
/// connection (RFC 9293, section 3.6.1): a connection closed by this side first keeps its port for
/// [`time_wait`](crate::tcp::Config::time_wait), for connections to the same peer only. A connection that was reset,
/// that timed out or that its peer closed first releases its port at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The requested local address and port already have a connection to this peer.
    #[error("{local} has a connection to {remote} already; name another port, or 0 for any that is free")]
    InUse {
        /// The requested address and port.
        local: SocketAddr,
        /// The peer.
        remote: SocketAddr,
    },
    /// Every dynamic port of the local address has a connection to this peer.
    #[error(
        "{local} has connections to {remote} from all of its {} dynamic ports; \
         close some, wait for those in TIME-WAIT, or connect from another address",
        PORT_COUNT
    )]
    NoFreePort {
        /// The local address.
        local: IpAddr,
        /// The peer.
        remote: SocketAddr,
    },
}

impl Host {
    /// Opens a TCP connection from `local` (port 0: any that is free) to `remote`.
    ///
    /// # Errors
    ///
    /// If the port, or every port, is in use for connections to `remote`.
    pub fn connect_tcp(
        &mut self,
        options: &TcpOptions,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        let ends = self.free_ends(PROTOCOL_TCP, local, remote)?;
        let initial = self.random.initial_sequence(ends, now);
        Ok(self.add(TcpEndpoint::connect(options, ends, initial, now).into(), ends))
    }

    /// Opens an MPTCP connection from `local` (port 0: any that is free) to `remote`.
    ///
    /// # Errors
    ///
    /// If the port, or every port, is in use for connections to `remote`.
    pub fn connect_mptcp(
        &mut self,
        config: Arc<mptcp::Config>,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        let ends = self.free_ends(PROTOCOL_TCP, local, remote)?;
        let mut random = self.random.fork();
        let key = self.tokens.fresh_key(&mut random);
        let connection = mptcp::Connection::connect(config, ends, &self.addresses, key, random, now);
        let id = self.add(connection.into(), ends);
        self.tokens.insert(key.token, id);
        Ok(id)
    }

    /// Opens a UDP socket between `local` and `remote`.
    ///
    /// # Errors
    ///
    /// If there is already a socket between them.
    pub fn open_udp(&mut self, local: SocketAddr, remote: SocketAddr) -> Result<EndpointId, ConnectError> {
        let ends = Ends { local, remote };
        if self.is_in_use(PROTOCOL_UDP, ends) {
            return Err(ConnectError::InUse { local, remote });
        }
        Ok(self.add(UdpEndpoint::new(ends).into(), ends))
    }

    /// Adds an endpoint with its initial addresses and ports.
    pub(super) fn add(&mut self, endpoint: Endpoint, ends: Ends) -> EndpointId {
        let protocol = endpoint.protocol();
        let id = EndpointId(self.endpoints.insert(endpoint) as u32);
        self.demux.assign(protocol, ends, id, 0);
        id
    }

    /// Whether `ends` belong to an endpoint or a subflow that is not over.
    pub(super) fn is_in_use(&self, protocol: Protocol, ends: Ends) -> bool {
        self.demux.owner(protocol, ends).is_some_and(|(id, subflow)| !self.endpoint(id).is_over(subflow))
    }

    /// Free ends for a connection to `remote`: with the requested port, or with any free port if that is 0.
    pub(super) fn free_ends(
        &mut self,
        protocol: Protocol,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<Ends, ConnectError> {
        let with_port = |port| Ends { local: SocketAddr::new(local.ip(), port), remote };
        if local.port() != 0 {
            let asked = with_port(local.port());
            return if self.is_in_use(protocol, asked) {
                Err(ConnectError::InUse { local, remote })
            } else {
                Ok(asked)
            };
        }
        if let Some(port) = self.ports.of_socket(protocol, local.ip()) {
            return self.free_ends(protocol, SocketAddr::new(local.ip(), port), remote);
        }
        let mut ports = core::mem::take(&mut self.ports);
        let offset = self.random.port_offset(local.ip(), remote);
        let port = ports.choose(offset, |port| !self.is_in_use(protocol, with_port(port)));
        self.ports = ports;
        port.map(with_port).ok_or(ConnectError::NoFreePort { local: local.ip(), remote })
    }

    /// What this host opens from the address of `socket` over UDP leaves from its port from now on, unless another one is
    /// asked for: that of a socket of the operating system, which carries the datagrams. It replaces an earlier one of the
    /// same address.
    pub fn set_udp_socket(&mut self, socket: SocketAddr) {
        self.ports.sockets.insert(socket.ip(), socket.port());
    }

    /// Requests a further subflow of an MPTCP endpoint, in addition to those of its path manager. Drain the endpoint
    /// afterwards.
    pub fn open_subflow(
        &mut self,
        id: EndpointId,
        local: IpAddr,
        local_port: Option<u16>,
        remote: SocketAddr,
        backup: bool,
        now: Instant,
    ) {
        self.endpoint_mut(id).request_subflow(local, local_port, remote, backup);
        self.open_requested(id, now);
    }

    /// Assigns ports to the subflows that a path manager has requested, and opens them.
    #[inline]
    pub(super) fn open_requested(&mut self, id: EndpointId, now: Instant) {
        if self.endpoint(id).has_open_requests() {
            self.open_now(id, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn open_now(&mut self, id: EndpointId, now: Instant) {
        let protocol = self.endpoint(id).protocol();
        for request in self.endpoint_mut(id).take_open_requests() {
            let local = SocketAddr::new(request.local, request.local_port.unwrap_or(0));
            let ends = self.free_ends(protocol, local, request.remote);
            let endpoint = self.endpoint_mut(id);
            match ends.ok().and_then(|ends| Some((ends, endpoint.open_subflow(&request, ends, now)?))) {
                Some((ends, subflow)) => self.demux.assign(protocol, ends, id, subflow),
                None => endpoint.on_open_failed(&request, now),
            }
        }
    }
}

/// The first dynamic port (RFC 6335, section 6).
const FIRST_PORT: u16 = 49_152;
/// Number of dynamic ports.
const PORT_COUNT: u16 = 16_384;

/// Selection of ports by a keyed hash (RFC 6056, section 3.3.3, algorithm 3).
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    /// Number of ports tried so far, modulo [`PORT_COUNT`] (`next_ephemeral`).
    next: u16,
    /// The ports of UDP that exist, by address; all of an address that is not among them.
    sockets: BTreeMap<IpAddr, u16>,
}

impl Ports {
    /// The only port of an address, if it has one only.
    fn of_socket(&self, protocol: Protocol, local: IpAddr) -> Option<u16> {
        if protocol == PROTOCOL_UDP { self.sockets.get(&local).copied() } else { None }
    }

    /// A free port. The search starts at `offset` plus the number of ports tried before; `None` if no port is free.
    pub(super) fn choose(&mut self, offset: u32, is_free: impl Fn(u16) -> bool) -> Option<u16> {
        let offset = (offset % u32::from(PORT_COUNT)) as u16;
        for _ in 0..PORT_COUNT {
            let port = FIRST_PORT + (offset + self.next) % PORT_COUNT;
            self.next = (self.next + 1) % PORT_COUNT;
            if is_free(port) {
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn ports_follow_each_other_from_the_offset_on() {
        let mut ports = Ports::default();
        let three: Vec<_> = (0..3).map(|_| ports.choose(0, |_| true)).collect();
        assert_eq!(three, [Some(49_152), Some(49_153), Some(49_154)]);
        assert_eq!(ports.choose(16_384 + 100, |_| true), Some(49_152 + 103));
    }

    #[test]
    fn the_last_free_port_is_found_and_a_search_without_one_ends() {
        let mut ports = Ports::default();
        assert_eq!(ports.choose(0, |port| port == 65_535), Some(65_535));
        assert_eq!(ports.choose(u32::MAX, |port| port == 50_000), Some(50_000));
        let looked_at = Cell::new(0);
        let none = ports.choose(7, |_| {
            looked_at.set(looked_at.get() + 1);
            false
        });
        assert_eq!((none, looked_at.get()), (None, 16_384));
    }
}
