//! The loop: packets and timers in the order of time.

mod transit;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::{Endpoint, EndpointId, Event, Host, Listener};
use subflow_wire::{Ecn, TcpSegment};

use super::edge::Edge;
use super::sctp::Hooks;
use super::{Fate, Path, Setup};

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;
/// The port that the server listens on.
pub(crate) const PORT: u16 = 80;

/// A packet on its way out, to be looked at and changed.
pub(crate) struct Leaving<'a> {
    pub(crate) at: Instant,
    /// The side that sends it.
    pub(crate) from: usize,
    pub(crate) path: usize,
    pub(crate) ecn: &'a mut Ecn,
    pub(crate) segment: &'a mut TcpSegment,
    pub(crate) bytes: &'a mut Vec<u8>,
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) from: usize,
    pub(crate) path: usize,
    pub(crate) ecn: Ecn,
    pub(crate) segment: TcpSegment,
}

/// One host with its connection.
struct Side {
    host: Host,
    connection: Option<EndpointId>,
    edge: Edge,
    /// Bytes that wait for room in the send buffer.
    unwritten: u64,
    finishing: bool,
    events: Vec<(Instant, Event)>,
    /// Addresses that the host does not have at present.
    lost: Vec<IpAddr>,
}

type Tamper = Box<dyn FnMut(&mut Leaving<'_>) -> Fate>;

/// Two hosts in virtual time.
pub(crate) struct Pair {
    pub(super) now: Instant,
    sides: [Side; 2],
    listener: Listener,
    pub(crate) paths: Vec<Path>,
    addresses: [Vec<IpAddr>; 2],
    in_flight: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    order: u64,
    tampers: Vec<Tamper>,
    /// The same for SCTP.
    pub(crate) sctp: Hooks,
    /// Everything that was sent, unless [`Pair::keep_log`] is off.
    pub(crate) log: Vec<Sent>,
    pub(crate) keep_log: bool,
    /// Only that reported bytes arrived is checked, not what they are.
    pub(crate) trust_content: bool,
    /// How many bytes of each direction may be others than those that were sent.
    pub(crate) altered: usize,
    /// Packets and timers so far.
    pub(crate) steps: u64,
    rng: Pcg64Mcg,
}

impl Pair {
    pub(super) fn new(setup: Setup) -> Self {
        let side = |index: usize| Side {
            host: Host::new(
                setup.addresses[index].clone(),
                Pcg64Mcg::seed_from_u64(setup.seed.wrapping_mul(2).wrapping_add(index as u64)),
            ),
            connection: None,
            edge: Edge::default(),
            unwritten: 0,
            finishing: false,
            events: Vec::new(),
            lost: Vec::new(),
        };
        let mut pair = Self {
            now: Instant::from_nanos(1_000_000_000),
            sides: [side(CLIENT), side(SERVER)],
            listener: setup.stacks[CLIENT].listener(),
            paths: setup.paths,
            addresses: setup.addresses,
            in_flight: BTreeMap::new(),
            order: 0,
            tampers: Vec::new(),
            sctp: Hooks::default(),
            log: Vec::new(),
            keep_log: true,
            trust_content: false,
            altered: 0,
            steps: 0,
            rng: Pcg64Mcg::seed_from_u64(setup.seed ^ 0x5eed),
        };
        pair.host(SERVER).listen(PORT, setup.stacks[SERVER].listener());
        pair
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// How many bytes `side` has received that are others than those that were sent.
    pub(crate) fn differing(&self, side: usize) -> usize {
        self.sides[side].edge.differing
    }

    pub(crate) fn host(&mut self, side: usize) -> &mut Host {
        &mut self.sides[side].host
    }

    pub(crate) fn address(&self, side: usize, index: usize) -> IpAddr {
        self.addresses[side][index]
    }

    /// How many addresses a side has.
    pub(crate) fn addresses(&self, side: usize) -> usize {
        self.addresses[side].len()
    }

    pub(crate) fn endpoint(&self, side: usize) -> &Endpoint {
        let side = &self.sides[side];
        side.host.endpoint(side.connection.expect("a connection"))
    }

    /// To look deeper into an endpoint; what changes what it sends has a verb of its own.
    pub(crate) fn endpoint_mut(&mut self, side: usize) -> &mut Endpoint {
        let side = &mut self.sides[side];
        side.host.endpoint_mut(side.connection.expect("a connection"))
    }

    pub(crate) fn connection(&self, side: usize) -> EndpointId {
        self.sides[side].connection.expect("a connection")
    }

    pub(crate) fn has_connection(&self, side: usize) -> bool {
        self.sides[side].connection.is_some()
    }

    /// What happened on a side, and when.
    pub(crate) fn events(&self, side: usize) -> &[(Instant, Event)] {
        &self.sides[side].events
    }

    /// Sends the SYN.
    pub(crate) fn connect(&mut self) {
        let local = SocketAddr::new(self.address(CLIENT, 0), 0);
        self.connect_from(local);
    }

    pub(crate) fn connect_from(&mut self, local: SocketAddr) {
        let (now, remote) = (self.now, SocketAddr::new(self.address(SERVER, 0), PORT));
        let host = &mut self.sides[CLIENT].host;
        let id = match &self.listener {
            Listener::Tcp(options) => host.connect_tcp(options, local, remote, now),
            Listener::Mptcp(config) => host.connect_mptcp(config.clone(), local, remote, now),
            Listener::Sctp(config) => host.connect_sctp(config.clone(), local, remote, now),
            Listener::Quic(_) => unreachable!("it has a harness of its own"),
        };
        self.adopt(CLIENT, id.expect("the port is free"));
    }

    /// The side's host loses its memory of the connection, as in a crash.
    pub(crate) fn forget(&mut self, side: usize) {
        let side = &mut self.sides[side];
        side.host.remove(side.connection.take().expect("a connection"));
        side.events.clear();
    }

    /// Takes `id` for the side's connection.
    pub(crate) fn adopt(&mut self, side: usize, id: EndpointId) {
        self.sides[side].connection = Some(id);
        self.drain(side);
    }

    /// Lets `act` do something to a side's endpoint, and drains it.
    pub(crate) fn act<T>(&mut self, side: usize, act: impl FnOnce(&mut Endpoint, Instant) -> T) -> T {
        let now = self.now;
        let Side { host, connection, .. } = &mut self.sides[side];
        let done = act(host.endpoint_mut(connection.expect("a connection")), now);
        self.drain(side);
        done
    }

    /// Writes as much as the send buffer takes now, and the rest as it becomes free.
    pub(crate) fn write(&mut self, side: usize, bytes: u64) {
        self.sides[side].unwritten += bytes;
        self.push_unwritten(side);
        self.drain(side);
    }

    /// Ends the stream after what was written.
    pub(crate) fn finish(&mut self, side: usize) {
        self.sides[side].finishing = true;
        self.push_unwritten(side);
        self.drain(side);
    }

    fn push_unwritten(&mut self, side: usize) {
        let Side { host, connection, unwritten, finishing, .. } = &mut self.sides[side];
        let Some(id) = *connection else { return };
        let endpoint = host.endpoint_mut(id);
        if *unwritten > 0 {
            *unwritten -= endpoint.write(*unwritten);
        }
        if *unwritten == 0 && core::mem::take(finishing) {
            endpoint.finish();
        }
    }

    /// The side's host loses its address of this index: nothing leaves from it or reaches it any more.
    pub(crate) fn lose_address(&mut self, side: usize, index: usize) {
        let (address, now) = (self.addresses[side][index], self.now);
        self.sides[side].lost.push(address);
        self.sides[side].host.remove_address(address, now);
        self.drain(side);
    }

    /// It gets it back.
    pub(crate) fn regain_address(&mut self, side: usize, index: usize) {
        let (address, now) = (self.addresses[side][index], self.now);
        self.sides[side].lost.retain(|&lost| lost != address);
        self.sides[side].host.add_address(address, now);
        self.drain(side);
    }

    /// Every packet that leaves from now on passes `tamper`.
    pub(crate) fn tamper(&mut self, tamper: impl FnMut(&mut Leaving<'_>) -> Fate + 'static) {
        self.tampers.push(Box::new(tamper));
    }

    pub(crate) fn stop_tampering(&mut self) {
        self.tampers.clear();
    }

    /// Takes everything out of a side's endpoints, as their invariant demands.
    pub(crate) fn drain(&mut self, side: usize) {
        let now = self.now;
        for id in self.sides[side].host.endpoint_ids() {
            for packets in 0.. {
                assert!(packets < 20_000, "an endpoint sends without end at {now:?}");
                let Some(packet) = self.sides[side].host.poll_transmit(now, id) else { break };
                self.transmit(side, packet);
            }
            while let Some(event) = self.sides[side].host.poll_event(id) {
                if self.sides[side].connection == Some(id) {
                    self.sides[side].events.push((now, event));
                }
                if event == Event::Writable {
                    self.push_unwritten(side);
                    return self.drain(side);
                }
            }
        }
        while let Some(packet) = self.sides[side].host.poll_reply() {
            self.transmit(side, packet);
        }
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Option<Instant> {
        let arrival = self.in_flight.keys().next().map(|&(at, _)| at);
        [arrival, self.next_timer(CLIENT), self.next_timer(SERVER)].into_iter().flatten().min()
    }

    pub(crate) fn next_timer(&self, side: usize) -> Option<Instant> {
        let host = &self.sides[side].host;
        host.endpoint_ids().into_iter().filter_map(|id| host.poll_timeout(id)).min()
    }

    /// Handles one packet or one side's timers. Returns whether anything was left to happen.
    pub(crate) fn step(&mut self) -> bool {
        let Some(at) = self.next() else { return false };
        self.steps += 1;
        self.now = self.now.max(at);
        if self.in_flight.first_key_value().is_some_and(|(&(arrival, _), _)| arrival <= at) {
            let (_, (side, wire)) = self.in_flight.pop_first().expect("just seen");
            self.deliver(side, &wire);
            return true;
        }
        for side in [CLIENT, SERVER] {
            for id in self.sides[side].host.endpoint_ids() {
                if self.sides[side].host.poll_timeout(id).is_some_and(|due| due <= at) {
                    self.sides[side].host.handle_timeout(self.now, id);
                    self.drain(side);
                    let next = self.sides[side].host.poll_timeout(id);
                    assert!(next.is_none_or(|next| next > at), "the timer of side {side} stands still at {at:?}");
                }
            }
        }
        true
    }
}
