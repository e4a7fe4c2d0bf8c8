//! A host: its addresses, its sockets, and the assignment of packets to them.
//!
//! | concern | file |
//! |---|---|
//! | the endpoint of a packet | `demux.rs`; by token, for MP_JOIN: `tokens.rs` |
//! | connections that this host opens | `connect.rs`; their source addresses: `sources.rs` |
//! | what a listener answers with | `listener.rs` |
//! | SYNs, and segments of no connection | `listen.rs`; INIT and COOKIE ECHO: `sctp.rs`; datagrams of QUIC: `quic.rs`, `quic_stateless.rs` |
//! | bounds on half-open state | `limits.rs` |
//! | data in the queues of the host's interfaces | `own_queue.rs` |
//! | SYN cookies | `syn_cookie.rs`, `stateless.rs` |

mod connect;
mod demux;
mod limits;
mod listen;
mod listener;
mod look_ahead;
mod own_queue;
mod quic;
mod quic_stateless;
mod sctp;
mod sources;
mod stateless;
mod syn_cookie;
mod tokens;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use rand_core::RngCore;
use slab::Slab;
use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpError;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

pub use connect::ConnectError;
pub use limits::Limits;
pub use listener::Listener;
pub use quic_stateless::StatelessReply;

use crate::sctp::Secret;
use crate::tcp::Ends;
use crate::{Endpoint, Event, RandomSource, Reach};
use connect::Ports;
use demux::{Demux, Protocol};
use limits::HalfOpen;
use quic::ConnectionIdTable;
use quic_stateless::Stateless;
use tokens::Tokens;

/// Identifies an endpoint of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// A host with its sockets.
///
/// # How to drive it
///
/// The same host serves the simulator, which moves packets between hosts, and a real interface. After every call that
/// takes or returns an [`EndpointId`], drain that endpoint: [`poll_transmit`](Self::poll_transmit) until `None`, then
/// [`poll_event`](Self::poll_event) until `None`, then set its timer to [`poll_timeout`](Self::poll_timeout). After
/// every packet, drain [`poll_accept`](Self::poll_accept), the endpoints that it returns, and
/// [`poll_reply`](Self::poll_reply).
///
/// An endpoint that is over remains, with its counters, until it is [removed](Self::remove). A driver that runs a host
/// for long removes endpoints after their [`Event::Closed`]. The addresses and ports of such an endpoint are free at
/// once, whether it is removed or not; in TIME-WAIT they are free for a new SYN of the peer (RFC 6191), but not for
/// connections that this host opens.
///
/// # SYN cookies
///
/// A SYN creates an endpoint at once, which [`poll_accept`](Self::poll_accept) returns before it is established. Above
/// [`Limits::backlog`] half-open connections on a port, the host keeps no state for a SYN: the SYN/ACK contains the
/// data that is needed to create the connection when the third ACK arrives, and that connection is established from the
/// start. TCP loses some options and accuracy by this, MPTCP nothing (`host/syn_cookie.rs` has the details). The
/// security of connections under SYN cookies rests on the 28 bits of their HMAC: a peer that cannot see the SYN/ACK has
/// to guess them within 128 s.
#[derive(Clone, Debug)]
pub struct Host {
    addresses: Vec<IpAddr>,
    reach: Reach,
    endpoints: Slab<Endpoint>,
    demux: Demux,
    listeners: BTreeMap<(Protocol, u16), Listener>,
    /// MPTCP connections by this side's token.
    tokens: Tokens,
    /// Connections of QUIC with several paths by this side's connection identifiers.
    connection_ids: ConnectionIdTable,
    accepted: VecDeque<EndpointId>,
    replies: VecDeque<Packet>,
    /// What a server of QUIC answers without a connection, as bytes.
    stateless: Stateless,
    limits: Limits,
    half_open: HalfOpen,
    /// The key with which cookies are signed.
    secret: Option<Secret>,
    /// When the last SYN cookie expires.
    cookies_until: Option<Instant>,
    ports: Ports,
    /// Connections that this host has opened from any of its addresses and that the peer has not answered; among them
    /// some that it has.
    unbound: Vec<EndpointId>,
    random: RandomSource,
}

impl Host {
    /// A host with these addresses, whose order determines MPTCP's address identifiers. `random` is the source of its
    /// keys, tags, numbers and ports: see [`RandomSource`].
    pub fn new(addresses: Vec<IpAddr>, random: impl Into<RandomSource>) -> Self {
        let random = random.into();
        Self {
            addresses,
            reach: Reach::default(),
            endpoints: Slab::new(),
            demux: Demux::new(random.hash_seed()),
            listeners: BTreeMap::new(),
            tokens: Tokens::default(),
            connection_ids: ConnectionIdTable::default(),
            accepted: VecDeque::new(),
            replies: VecDeque::new(),
            stateless: Stateless::default(),
            limits: Limits::default(),
            half_open: HalfOpen::default(),
            secret: None,
            cookies_until: None,
            ports: Ports::default(),
            unbound: Vec::new(),
            random,
        }
    }

    /// Sets the bounds on the state for peers that have not yet proved that they receive at their address. They apply
    /// to SYNs that arrive from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Half-open connections to `port`, as [`Limits::backlog`] counts them.
    pub fn half_open_connections(&self, port: u16) -> usize {
        self.half_open.connections(port)
    }

    /// Whether a connection that a listener has accepted was never established. It may be over by now.
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

    /// The key of this host's cookies. It is generated on first use, so that the random numbers of connections without
    /// cookies do not depend on it.
    fn secret(&mut self) -> Secret {
        if self.secret.is_none() {
            let mut secret = Secret::default();
            self.random.fill_bytes(&mut secret);
            self.secret = Some(secret);
        }
        self.secret.expect("just made")
    }

    /// An endpoint, read-only.
    pub fn endpoint(&self, id: EndpointId) -> &Endpoint {
        &self.endpoints[id.0 as usize]
    }

    /// An endpoint, for its application to write, finish or abort.
    pub fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.endpoints[id.0 as usize]
    }

    /// Processes an arriving packet. Returns its endpoint, which is to be drained.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        let Some((id, subflow)) = self.demux.find(packet) else {
            return self.handle_unclaimed(now, packet);
        };
        if is_syn(packet)
            && !self.endpoint(id).is_over(subflow)
            && let Some(new) = self.reopen(now, packet, (id, subflow))
        {
            return Some(new);
        }
        let Some(needs_host) = self.endpoints[id.0 as usize].handle_unless_over(now, subflow, packet) else {
            return self.handle_unclaimed(now, packet);
        };
        if needs_host {
            self.open_requested(id, now);
            self.follow_moves(id);
        }
        self.update_half_open(id);
        Some(id)
    }

    /// Processes an ICMP error that has arrived (RFC 9293, section 3.9.2.2, MUST-54; RFC 9260, section 10). Returns the endpoint whose packet it is about, which is to be drained;
    /// an error about a packet of no endpoint is ignored, and so is one about SCTP in UDP.
    pub fn handle_icmp(&mut self, now: Instant, error: &IcmpError) -> Option<EndpointId> {
        let quoted = &error.quoted;
        let (local, remote) = quoted.ports()?;
        let ends =
            Ends { local: SocketAddr::new(quoted.source, local), remote: SocketAddr::new(quoted.destination, remote) };
        let (id, subflow) = self.demux.owner(quoted.protocol, ends)?;
        if self.endpoint(id).is_over(subflow) {
            return None;
        }
        self.endpoint_mut(id).handle_icmp(subflow, error, now);
        self.open_requested(id, now);
        self.update_half_open(id);
        Some(id)
    }

    /// Processes the expiry of the endpoint's timer.
    pub fn handle_timeout(&mut self, now: Instant, id: EndpointId) {
        self.endpoints[id.0 as usize].handle_timeout(now);
        self.open_requested(id, now);
        self.follow_moves(id);
        self.update_half_open(id);
    }

    /// Updates the half-open state of an endpoint after a packet or a timer.
    #[inline]
    fn update_half_open(&mut self, id: EndpointId) {
        if !self.half_open.is_empty() {
            self.half_open.update(id, &self.endpoints[id.0 as usize]);
        }
    }

    /// The next packet that an endpoint sends.
    pub fn poll_transmit(&mut self, now: Instant, id: EndpointId) -> Option<Packet> {
        self.endpoints[id.0 as usize].poll_transmit(now)
    }

    /// Writes the endpoint's next packet to `packet`; see [`Endpoint::poll_transmit_into`].
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, id: EndpointId, packet: &mut Packet) -> bool {
        self.endpoints[id.0 as usize].poll_transmit_into(now, packet)
    }

    /// The next event of an endpoint.
    pub fn poll_event(&mut self, id: EndpointId) -> Option<Event> {
        self.endpoints[id.0 as usize].poll_event()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) for the endpoint.
    pub fn poll_timeout(&self, id: EndpointId) -> Option<Instant> {
        self.endpoints[id.0 as usize].poll_timeout()
    }

    /// Whether [`poll_accept`](Self::poll_accept) or [`poll_reply`](Self::poll_reply) would return anything.
    #[inline]
    pub fn has_news(&self) -> bool {
        !self.accepted.is_empty() || !self.replies.is_empty()
    }

    /// The next connection that a listener has accepted.
    pub fn poll_accept(&mut self) -> Option<EndpointId> {
        self.accepted.pop_front()
    }

    /// The next packet that is not sent by an endpoint: a reset for a segment of no connection, a SYN/ACK with a
    /// cookie, or an answer of SCTP outside of associations.
    pub fn poll_reply(&mut self) -> Option<Packet> {
        self.replies.pop_front()
    }

    /// The host has added `address`, or regained it. Drain every endpoint afterwards.
    pub fn add_address(&mut self, address: IpAddr, now: Instant) {
        if !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
        for id in self.endpoint_ids() {
            self.endpoint_mut(id).add_local_address(address, now);
            self.open_requested(id, now);
        }
    }

    /// The host has lost `address`. Drain every endpoint afterwards.
    pub fn remove_address(&mut self, address: IpAddr, now: Instant) {
        self.addresses.retain(|&known| known != address);
        self.move_openings(address);
        for id in self.endpoint_ids() {
            self.endpoint_mut(id).remove_local_address(address, now);
            self.open_requested(id, now);
        }
    }

    /// All endpoints, in the order of their numbers.
    pub fn endpoint_ids(&self) -> Vec<EndpointId> {
        self.endpoints.iter().map(|(index, _)| EndpointId(index as u32)).collect()
    }

    /// Removes a closed endpoint.
    pub fn remove(&mut self, id: EndpointId) {
        let endpoint = self.endpoints.remove(id.0 as usize);
        self.demux.remove(id);
        self.half_open.remove(id);
        self.unbound.retain(|&open| open != id);
        if let Some(token) = endpoint.token() {
            self.tokens.remove(token, id);
        }
        self.connection_ids.update(id, endpoint.own_ids().into_iter().map(|own| (own, false)).collect());
    }
}

#[inline]
fn is_syn(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN))
}
