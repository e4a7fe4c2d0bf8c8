//! A host: its addresses, its sockets, and which packet belongs to which.
//!
//! | concern | file |
//! |---|---|
//! | which endpoint a packet is for | `demux.rs`; by token, for MP_JOIN: `tokens.rs` |
//! | connections that this host opens | `connect.rs`; their ports: `ports.rs` |
//! | SYNs, and segments of no connection | `listen.rs`; INIT and COOKIE ECHO: `sctp.rs` |
//! | what peers can make it keep before they have answered | `limits.rs` |
//! | SYN cookies | `syn_cookie.rs`, `stateless.rs` |

mod connect;
mod demux;
mod limits;
mod listen;
mod ports;
mod sctp;
mod stateless;
mod syn_cookie;
mod tokens;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use rand_core::RngCore;
use slab::Slab;
use subflow_quantity::Instant;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

pub use connect::ConnectError;
pub use limits::Limits;
pub use listen::Listener;

use crate::sctp::Secret;
use crate::{Endpoint, Event, RandomSource};
use demux::{Demux, Protocol};
use limits::HalfOpen;
use ports::Ports;
use tokens::Tokens;

/// Names an endpoint of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// A host with its sockets.
///
/// # How to drive it
///
/// The same host serves the simulator, which moves packets between hosts, and a real interface. After every call that
/// names or returns an [`EndpointId`], drain that endpoint: [`poll_transmit`](Self::poll_transmit) until `None`, then
/// [`poll_event`](Self::poll_event) until `None`, then set its timer to [`poll_timeout`](Self::poll_timeout). Drain
/// [`poll_accept`](Self::poll_accept), and the endpoints that it returns, and [`poll_reply`](Self::poll_reply) after
/// every packet.
///
/// An endpoint that is over stays, with its counters, until it is [removed](Self::remove): whoever runs a host for long
/// removes endpoints whose [`Event::Closed`] has come. Its ends are free at once, whether it is removed or not; ends in
/// TIME-WAIT are free for a new SYN of the peer (RFC 6191), but not for connections that this host opens.
///
/// # SYN cookies
///
/// A SYN makes an endpoint at once, which [`poll_accept`](Self::poll_accept) returns before it is established. Above
/// [`Limits::backlog`] of them on a port the host keeps nothing for a SYN: its SYN/ACK has in it what is needed to make
/// the connection when the third ACK comes, and that connection is established from the start. TCP loses a little by
/// that, MPTCP nothing (`host/syn_cookie.rs` says what). Connections under SYN cookies are as secure as the 28 bits of
/// their HMAC, for which a peer that cannot see the SYN/ACK has to guess within 128 s.
#[derive(Clone, Debug)]
pub struct Host {
    addresses: Vec<IpAddr>,
    endpoints: Slab<Endpoint>,
    demux: Demux,
    listeners: BTreeMap<(Protocol, u16), Listener>,
    /// MPTCP connections by this side's token.
    tokens: Tokens,
    accepted: VecDeque<EndpointId>,
    replies: VecDeque<Packet>,
    limits: Limits,
    half_open: HalfOpen,
    /// Signs cookies.
    secret: Option<Secret>,
    /// When the last SYN cookie loses its validity.
    cookies_until: Option<Instant>,
    ports: Ports,
    random: RandomSource,
}

impl Host {
    /// A host with these addresses; their order gives MPTCP's address identifiers. `random` is what its keys, tags,
    /// numbers and ports are drawn from: see [`RandomSource`].
    pub fn new(addresses: Vec<IpAddr>, random: impl Into<RandomSource>) -> Self {
        let random = random.into();
        Self {
            addresses,
            endpoints: Slab::new(),
            demux: Demux::new(random.hash_seed()),
            listeners: BTreeMap::new(),
            tokens: Tokens::default(),
            accepted: VecDeque::new(),
            replies: VecDeque::new(),
            limits: Limits::default(),
            half_open: HalfOpen::default(),
            secret: None,
            cookies_until: None,
            ports: Ports::default(),
            random,
        }
    }

    /// Bounds what peers can make the host keep before they have shown that they receive what is sent to them. For SYNs
    /// that come from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Half-open connections to `port`, as [`Limits::backlog`] counts them.
    pub fn half_open_connections(&self, port: u16) -> usize {
        self.half_open.connections(port)
    }

    /// Whether a connection that a listener has accepted was never established; it may be over by now.
    pub fn is_half_open(&self, id: EndpointId) -> bool {
        self.half_open.has_connection(id)
    }

    /// Half-open MPTCP subflows of all connections, as [`Limits::half_open_joins`] counts them.
    pub fn half_open_joins(&self) -> usize {
        self.half_open.joins()
    }

    /// The host's addresses.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The key of this host's cookies. Made when it is needed, so that the random numbers of connections without
    /// cookies do not depend on it.
    fn secret(&mut self) -> Secret {
        if self.secret.is_none() {
            let mut secret = Secret::default();
            self.random.fill_bytes(&mut secret);
            self.secret = Some(secret);
        }
        self.secret.expect("just made")
    }

    /// An endpoint, to look at.
    pub fn endpoint(&self, id: EndpointId) -> &Endpoint {
        &self.endpoints[id.0 as usize]
    }

    /// An endpoint, for its application to write, finish, abort.
    pub fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.endpoints[id.0 as usize]
    }

    /// A packet arrived. Returns the endpoint that took it, to be drained.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        let claimed = self.demux.find(packet).filter(|&(id, subflow)| !self.endpoint(id).is_over(subflow));
        let Some((id, subflow)) = claimed else {
            return self.handle_unclaimed(now, packet);
        };
        if is_syn(packet)
            && let Some(new) = self.reopen(now, packet, (id, subflow))
        {
            return Some(new);
        }
        self.endpoints[id.0 as usize].handle_packet(now, subflow, packet);
        self.open_requested(id, now);
        self.follow_association(id);
        self.update_half_open(id);
        Some(id)
    }

    /// The endpoint's timer fired.
    pub fn handle_timeout(&mut self, now: Instant, id: EndpointId) {
        self.endpoints[id.0 as usize].handle_timeout(now);
        self.open_requested(id, now);
        self.update_half_open(id);
    }

    /// Notes what a packet or a timer has made of a half-open connection or subflow.
    #[inline]
    fn update_half_open(&mut self, id: EndpointId) {
        if !self.half_open.is_empty() {
            self.half_open.update(id, &self.endpoints[id.0 as usize]);
        }
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

    /// Whether [`poll_accept`](Self::poll_accept) or [`poll_reply`](Self::poll_reply) would return anything.
    #[inline]
    pub fn has_news(&self) -> bool {
        !self.accepted.is_empty() || !self.replies.is_empty()
    }

    /// A connection that a listener accepted since the last call.
    pub fn poll_accept(&mut self) -> Option<EndpointId> {
        self.accepted.pop_front()
    }

    /// A packet that no endpoint sends: a reset for a segment of no connection, a SYN/ACK with a cookie, what SCTP
    /// answers outside of associations.
    pub fn poll_reply(&mut self) -> Option<Packet> {
        self.replies.pop_front()
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
        self.half_open.remove(id);
        if let Endpoint::Mptcp(connection) = &endpoint {
            self.tokens.remove(connection.token(), id);
        }
    }
}

#[inline]
fn is_syn(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN))
}
