//! A host: its addresses, its sockets, and which packet belongs to which.
//!
//! The same host serves the simulator, which moves packets between hosts, and a real interface. After every call that
//! names or returns an [`EndpointId`], drain that endpoint: [`poll_transmit`](Host::poll_transmit) until `None`, then
//! [`poll_event`](Host::poll_event) until `None`, then re-arm its timer from [`poll_timeout`](Host::poll_timeout). Drain
//! [`poll_reply`](Host::poll_reply) and [`poll_accept`](Host::poll_accept) too.

mod demux;
mod listen;
mod sctp;
mod tokens;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use slab::Slab;
use subflow_quantity::Instant;
use subflow_wire::Packet;

pub use listen::Listener;

use crate::mptcp;
use crate::sctp::Secret;
use crate::tcp::{Ends, TcpEndpoint, TcpOptions};
use crate::udp::UdpEndpoint;
use crate::{Endpoint, Event, RandomSource};
use demux::Demux;
use tokens::Tokens;

/// Names an endpoint of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// First port given to connections that name none (IANA: dynamic ports).
const FIRST_PORT: u16 = 49_152;

/// A host with its sockets.
#[derive(Clone, Debug)]
pub struct Host {
    addresses: Vec<IpAddr>,
    endpoints: Slab<Endpoint>,
    demux: Demux,
    listeners: BTreeMap<u16, Listener>,
    /// MPTCP connections by this side's token.
    tokens: Tokens,
    accepted: VecDeque<EndpointId>,
    replies: VecDeque<Packet>,
    /// Signs SCTP's cookies.
    secret: Option<Secret>,
    next_port: u16,
    random: RandomSource,
}

impl Host {
    /// A host with these addresses; their order gives MPTCP's address identifiers. `random` is its stream of randomness.
    pub fn new(addresses: Vec<IpAddr>, random: impl Into<RandomSource>) -> Self {
        Self {
            addresses,
            endpoints: Slab::new(),
            demux: Demux::default(),
            listeners: BTreeMap::new(),
            tokens: Tokens::default(),
            accepted: VecDeque::new(),
            replies: VecDeque::new(),
            secret: None,
            next_port: FIRST_PORT,
            random: random.into(),
        }
    }

    /// The host's addresses.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// Opens a TCP connection from `local` (port 0: any that is free) to `remote`.
    pub fn connect_tcp(
        &mut self,
        options: &TcpOptions,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> EndpointId {
        let ends = self.free_ends(local, remote);
        let initial = self.random.initial_sequence(ends, now);
        self.add(Endpoint::Tcp(Box::new(TcpEndpoint::connect(options, ends, initial, now))), ends)
    }

    /// Opens an MPTCP connection from `local` (port 0: any that is free) to `remote`.
    pub fn connect_mptcp(
        &mut self,
        config: Arc<mptcp::Config>,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> EndpointId {
        let ends = self.free_ends(local, remote);
        let mut random = self.random.fork();
        let key = self.tokens.fresh_key(&mut random);
        let connection = mptcp::Connection::connect(config, ends, &self.addresses, key, random, now);
        let id = self.add(Endpoint::Mptcp(Box::new(connection)), ends);
        self.tokens.insert(key.token, id);
        id
    }

    /// Opens a UDP socket between `local` and `remote`.
    pub fn open_udp(&mut self, local: SocketAddr, remote: SocketAddr) -> EndpointId {
        let ends = Ends { local, remote };
        self.add(Endpoint::Udp(Box::new(UdpEndpoint::new(ends))), ends)
    }

    /// A free local end for a connection to `remote`: the one asked for, where its port is not 0 and it is free.
    fn free_ends(&mut self, local: SocketAddr, remote: SocketAddr) -> Ends {
        let asked = Ends { local, remote };
        if local.port() != 0 && !self.demux.contains(asked) {
            return asked;
        }
        loop {
            let ends = Ends { local: SocketAddr::new(local.ip(), self.next_port), remote };
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_PORT);
            if !self.demux.contains(ends) {
                return ends;
            }
        }
    }

    fn add(&mut self, endpoint: Endpoint, ends: Ends) -> EndpointId {
        let id = EndpointId(self.endpoints.insert(endpoint) as u32);
        self.demux.insert(ends, id, 0);
        id
    }

    /// An endpoint, to look at.
    pub fn endpoint(&self, id: EndpointId) -> &Endpoint {
        &self.endpoints[id.0 as usize]
    }

    /// An endpoint, for its application to write, finish, abort.
    pub fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.endpoints[id.0 as usize]
    }

    /// Asks an MPTCP endpoint for a further subflow, beside those of its path manager. Drain it afterwards.
    pub fn open_subflow(
        &mut self,
        id: EndpointId,
        local: IpAddr,
        local_port: Option<u16>,
        remote: SocketAddr,
        backup: bool,
        now: Instant,
    ) {
        if let Endpoint::Mptcp(connection) = self.endpoint_mut(id) {
            connection.request_subflow(local, local_port, remote, backup);
        }
        self.open_requested(id, now);
    }

    /// A packet arrived. Returns the endpoint that took it, to be drained.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        let claimed = self.demux.find(packet).filter(|&(id, subflow)| !self.endpoint(id).is_over(subflow));
        let Some((id, subflow)) = claimed else {
            return self.handle_unclaimed(now, packet);
        };
        self.endpoints[id.0 as usize].handle_packet(now, subflow, packet);
        self.open_requested(id, now);
        self.follow_association(id);
        Some(id)
    }

    /// The endpoint's timer fired.
    pub fn handle_timeout(&mut self, now: Instant, id: EndpointId) {
        self.endpoints[id.0 as usize].handle_timeout(now);
        self.open_requested(id, now);
    }

    /// The next packet of an endpoint.
    pub fn poll_transmit(&mut self, now: Instant, id: EndpointId) -> Option<Packet> {
        self.endpoints[id.0 as usize].poll_transmit(now)
    }

    /// Fills `packet` with the endpoint's next one; see [`Endpoint::poll_transmit_into`].
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, id: EndpointId, packet: &mut Packet) -> bool {
        self.endpoints[id.0 as usize].poll_transmit_into(now, packet)
    }

    /// What happened on an endpoint.
    pub fn poll_event(&mut self, id: EndpointId) -> Option<Event> {
        self.endpoints[id.0 as usize].poll_event()
    }

    /// When the endpoint wants [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self, id: EndpointId) -> Option<Instant> {
        self.endpoints[id.0 as usize].poll_timeout()
    }

    /// Whether [`poll_accept`](Self::poll_accept) or [`poll_reply`](Self::poll_reply) has something to say.
    #[inline]
    pub fn has_news(&self) -> bool {
        !self.accepted.is_empty() || !self.replies.is_empty()
    }

    /// A connection that a listener accepted since the last call.
    pub fn poll_accept(&mut self) -> Option<EndpointId> {
        self.accepted.pop_front()
    }

    /// A packet of the host itself: a reset for a segment that belongs to nobody.
    pub fn poll_reply(&mut self) -> Option<Packet> {
        self.replies.pop_front()
    }

    /// Gives ports to the subflows that a path manager wants, and opens them.
    #[inline]
    fn open_requested(&mut self, id: EndpointId, now: Instant) {
        if let Endpoint::Mptcp(connection) = &self.endpoints[id.0 as usize]
            && connection.has_open_requests()
        {
            self.open_now(id, now);
        }
    }

    fn open_now(&mut self, id: EndpointId, now: Instant) {
        let Endpoint::Mptcp(connection) = &mut self.endpoints[id.0 as usize] else { return };
        for request in connection.take_open_requests() {
            let local = SocketAddr::new(request.local, request.local_port.unwrap_or(0));
            let ends = self.free_ends(local, request.remote);
            let Endpoint::Mptcp(connection) = &mut self.endpoints[id.0 as usize] else { return };
            let subflow = connection.open_subflow(&request, ends, now);
            self.demux.insert(ends, id, subflow);
        }
    }

    /// The host gained or got back `address`. Drain every endpoint afterwards.
    pub fn add_address(&mut self, address: IpAddr, now: Instant) {
        if !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
        for id in self.endpoint_ids() {
            if let Endpoint::Mptcp(connection) = self.endpoint_mut(id) {
                connection.add_local_address(address, now);
            }
            self.open_requested(id, now);
        }
    }

    /// The host lost `address`. Drain every endpoint afterwards.
    pub fn remove_address(&mut self, address: IpAddr, now: Instant) {
        self.addresses.retain(|&known| known != address);
        for id in self.endpoint_ids() {
            if let Endpoint::Mptcp(connection) = self.endpoint_mut(id) {
                connection.remove_local_address(address, now);
            }
            self.open_requested(id, now);
        }
    }

    /// All endpoints, in the order of their numbers.
    pub fn endpoint_ids(&self) -> Vec<EndpointId> {
        self.endpoints.iter().map(|(index, _)| EndpointId(index as u32)).collect()
    }

    /// Forgets a closed endpoint.
    pub fn remove(&mut self, id: EndpointId) {
        let endpoint = self.endpoints.remove(id.0 as usize);
        self.demux.remove(id);
        if let Endpoint::Mptcp(connection) = &endpoint {
            self.tokens.remove(connection.token(), id);
        }
    }
}
