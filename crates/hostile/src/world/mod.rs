//! Two hosts in virtual time, the paths between them, and everyone who has no business there.

mod act;
mod amplification;
mod attack;
mod check;
mod host;
mod path;
mod puppet;
mod trace;
mod transmit;
mod verdict;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::CONNECTION_ID_LENGTH;
use subflow_transport::{EndpointId, Event};
use subflow_wire::{Body, Packet, QuicDatagram};

use crate::case::Case;
use crate::forgery::Greeting;
use crate::ledger::{Ended, Ledger};
use crate::limits;
use crate::setup::{ATTACKER, CLIENT, PORT, SERVER};
use crate::wiretap::Wiretap;
use amplification::Amplification;
use host::MeteredHost;
use path::Paths;

/// The attacker's addresses below this accept every connection, with [`Greeting::default`](crate::forgery::Greeting).
const HOSPITABLE: u16 = 100;

/// When a case begins.
const START: Instant = Instant::from_nanos(1_000_000_000);

/// The hosts, the network and the model of a case.
pub(crate) struct World<'a> {
    case: &'a Case,
    now: Instant,
    hosts: [MeteredHost; 2],
    in_flight: BTreeMap<(Instant, u64), Arrival>,
    order: u64,
    paths: Paths,
    amplification: Amplification,
    wiretap: Wiretap,
    ledger: Ledger,
    /// How the attacker behaves at which of its addresses.
    greetings: BTreeMap<IpAddr, Greeting>,
    /// Packets that passed: the first ones, and the last.
    first: Vec<Recorded>,
    last: VecDeque<Recorded>,
    /// Packets and timers that were handled.
    steps: u64,
    /// Bytes of the packets that arrived.
    bytes: u64,
    /// Packets that hosts have sent.
    sent: u64,
    /// Most endpoints that each host has had at once.
    most_endpoints: [usize; 2],
    /// Addresses come and go: connections need not survive it.
    unsettled: bool,
    /// Everybody ends what they have, new connections too.
    closing: bool,
    traced: bool,
}

/// A packet that passed: when, after how many others, to whom, and what it was.
type Recorded = (Instant, u64, usize, Vec<u8>);

/// A packet on its way.
struct Arrival {
    to: usize,
    wire: Vec<u8>,
    /// It is forged by someone who sees nothing: a host says one word about it at most.
    blind: bool,
    /// It is late, and so many packets had been sent when it should have arrived.
    late_since: Option<u64>,
}

/// A packet of QUIC carries the lowest bits of its number. One that is later than so many others may be taken for a
/// packet with a higher number, which its protection would show; without protection the network drops it.
const LATEST_NUMBER: u64 = 60;

/// What a case came to, where nothing was wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Packets and timers.
    pub steps: u64,
    /// Packets that the hosts sent.
    pub sent: u64,
    /// Application bytes that arrived at hosts.
    pub delivered: u64,
    /// Most bytes that a host held, and how many it was allowed then.
    pub most_held: (i64, i64),
    /// Honest connections that had to complete, and did.
    pub completed: u64,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case, traced: bool) -> Self {
        let host = |index: usize| {
            let seed = case.seed.wrapping_mul(2).wrapping_add(index as u64);
            let mut host = MeteredHost::new(case.setup.addresses_of(index), seed);
            host.listen(PORT, case.stack.listener(&case.setup.ends[index]));
            host
        };
        Self {
            case,
            now: START,
            hosts: [host(CLIENT), host(SERVER)],
            in_flight: BTreeMap::new(),
            order: 0,
            paths: Paths::default(),
            amplification: Amplification::default(),
            wiretap: Wiretap::default(),
            ledger: Ledger::new(case),
            greetings: BTreeMap::new(),
            first: Vec::new(),
            last: VecDeque::new(),
            steps: 0,
            bytes: 0,
            sent: 0,
            most_endpoints: [0; 2],
            unsettled: false,
            closing: false,
            traced,
        }
    }

    /// Packets and timers so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Bytes that have arrived in packets.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The time since the case has begun.
    fn elapsed(&self) -> Duration {
        self.now.since(START)
    }

    /// When something happens next.
    fn next(&self) -> Option<Instant> {
        let arrival = self.in_flight.keys().next().map(|&(at, _)| at);
        let timers = self.hosts.iter().filter_map(|host| host.next_timeout().map(|(at, _)| at));
        arrival.into_iter().chain(timers).min()
    }

    /// Runs until `time`, or until `most` packets and timers have been handled.
    fn run_to(&mut self, time: Instant, most: u64) {
        let end = (self.steps + most).min(if self.closing { u64::MAX } else { limits::STEPS_PER_CASE });
        while self.steps < end && self.next().is_some_and(|next| next <= time) {
            self.step();
        }
        if self.next().is_none_or(|next| next > time) {
            self.now = self.now.max(time);
        }
    }

    fn run_for(&mut self, time: Duration, most: u64) {
        self.run_to(self.now + time, most);
    }

    /// Handles one packet or one timer.
    fn step(&mut self) {
        let Some(at) = self.next() else { return };
        self.steps += 1;
        self.now = self.now.max(at);
        if self.in_flight.first_key_value().is_some_and(|(&(arrival, _), _)| arrival <= at) {
            let (_, arrival) = self.in_flight.pop_first().expect("just seen");
            self.deliver(&arrival);
            return;
        }
        for host in [CLIENT, SERVER] {
            if let Some((due, id)) = self.hosts[host].next_timeout()
                && due <= at
            {
                self.hosts[host].handle_timeout(self.now, id);
                self.drain(host, id);
                let stands = self.hosts[host].next_timeout().is_some_and(|next| next == (due, id));
                assert!(
                    !stands,
                    "time stands still: an endpoint of host {host} wants to be called at {due:?} for ever"
                );
                return;
            }
        }
    }

    fn deliver(&mut self, arrival: &Arrival) {
        self.bytes += arrival.wire.len() as u64;
        // A corrupt packet is refused here.
        let Ok((packet, payload)) = Packet::parse(&arrival.wire) else { return };
        let Some((packet, bytes)) = self.understand(arrival.to, packet, &arrival.wire[payload]) else { return };
        self.trace(|| format!("arrives: {}", trace::line(&packet)));
        if arrival.to == ATTACKER {
            self.answer_as_attacker(&packet);
            return;
        }
        let is_too_late = arrival.late_since.is_some_and(|sent| self.sent - sent > LATEST_NUMBER);
        if is_too_late && self.case.stack.has_idle_timeout() {
            self.ledger.connections.iter_mut().for_each(|connection| connection.lost_late = true);
            return;
        }
        let host = arrival.to;
        if !self.hosts[host].has_address(packet.ip.destination) {
            return;
        }
        if arrival.blind
            && let Some(id) = self.hosts[host].owner_of(&packet)
        {
            // What has become due with time, such as copies for a scheduler's new list of subflows, is no answer.
            self.drain(host, id);
        }
        let sent = self.sent;
        let taken_by = self.hosts[host].handle_packet(self.now, &packet);
        let accepted = self.take_accepted(host);
        if attack::is_syn(&packet) && (arrival.blind || arrival.late_since.is_some()) {
            accepted.iter().for_each(|&id| self.ledger.on_stray_syn(host, id));
        }
        if let Some(id) = taken_by {
            self.ledger.on_packet(host, id, self.hosts[host].endpoint_mut(id), &packet, &bytes);
            self.push_unwritten(host, id);
            self.drain(host, id);
        }
        accepted.into_iter().filter(|&id| Some(id) != taken_by).for_each(|id| self.drain(host, id));
        self.drain_replies(host);
        let answers = self.sent - sent;
        // A repetition behind a closed window is due with time on every subflow, and leaves when one of them has been
        // called.
        let repeats = self.case.setup.ends[host].opportunistic;
        let allowed = 1 + taken_by.filter(|_| repeats).map_or(0, |id| self.hosts[host].ends_of(id));
        assert!(!arrival.blind || answers <= allowed, "{answers} packets in answer to one of a stranger");
    }

    /// A packet as the host gets it, with its user data: what of UDP is no QUIC is no packet.
    fn understand(&mut self, to: usize, packet: Packet, payload: &[u8]) -> Option<(Packet, Vec<u8>)> {
        let Body::Udp(udp) = packet.body else {
            let bytes = user_data(&packet, payload);
            return Some((packet, bytes));
        };
        let parsed = QuicDatagram::parse(udp.source_port, udp.destination_port, payload, CONNECTION_ID_LENGTH);
        if to == SERVER {
            let local = SocketAddr::new(packet.ip.destination, udp.destination_port);
            let remote = SocketAddr::new(packet.ip.source, udp.source_port);
            let datagram = parsed.as_ref().ok().map(|(datagram, _)| datagram);
            self.amplification.receive((local, remote), payload.len() as u64, datagram);
        }
        let (datagram, ranges) = parsed.ok()?;
        let bytes = ranges.into_iter().flat_map(|range| payload[range].to_vec()).collect();
        Some((Packet { body: Body::Quic(datagram), ..packet }, bytes))
    }

    /// Notes the connections that a host has accepted; they are yet to be drained.
    fn take_accepted(&mut self, host: usize) -> Vec<EndpointId> {
        let mut accepted = Vec::new();
        while let Some(id) = self.hosts[host].poll_accept() {
            match host {
                SERVER => self.ledger.accept(id, self.hosts[SERVER].endpoint(id)),
                _ => {
                    let ends = self.hosts[host].endpoint(id).ends();
                    self.ledger.open(host, id, (ends.local, ends.remote), false)
                }
            };
            if self.closing {
                let side = self.ledger.side(host, id);
                (side.finishing, side.finished) = (true, true);
            }
            accepted.push(id);
        }
        accepted
    }

    /// Takes everything out of an endpoint, as its invariant demands, and lets it go once it is over.
    fn drain(&mut self, host: usize, id: EndpointId) {
        let mut packets = 0;
        loop {
            while let Some(packet) = self.hosts[host].poll_transmit(self.now, id) {
                packets += 1;
                assert!(packets <= limits::PACKETS_AT_ONCE, "an endpoint sends without end at {:?}", self.now);
                self.transmit(host, Some(id), packet);
            }
            let mut again = false;
            while let Some(event) = self.hosts[host].poll_event(id) {
                match event {
                    Event::Writable => again |= self.push_unwritten(host, id),
                    Event::Established => again |= self.on_established(host, id),
                    _ => {}
                }
            }
            if !again {
                break;
            }
        }
        let endpoint = self.hosts[host].endpoint(id);
        if endpoint.is_closed() {
            let (how, written, received) = (endpoint.ended(), endpoint.bytes_written(), endpoint.bytes_received());
            self.trace(|| format!("endpoint {} of host {host} is over: {how:?}", id.0));
            self.ledger.end(host, id, Ended { how, written, received });
            self.hosts[host].remove(id);
        } else {
            self.hosts[host].arm(self.now, id);
        }
        self.most_endpoints[host] = self.most_endpoints[host].max(self.hosts[host].endpoints());
        self.drain_replies(host);
    }

    fn drain_all(&mut self, host: usize) {
        for id in self.hosts[host].endpoint_ids() {
            self.drain(host, id);
        }
    }

    fn drain_replies(&mut self, host: usize) {
        while let Some(packet) = self.hosts[host].poll_reply() {
            self.transmit(host, None, packet);
        }
    }

    fn on_established(&mut self, host: usize, id: EndpointId) -> bool {
        self.ledger.side(host, id).established = true;
        self.push_unwritten(host, id)
    }

    /// Writes what waits for room in the send buffer; returns whether the endpoint has to be drained.
    fn push_unwritten(&mut self, host: usize, id: EndpointId) -> bool {
        let side = self.ledger.side(host, id);
        let (unwritten, finishing) = (side.unwritten, side.finishing);
        if unwritten == 0 && !finishing {
            return false;
        }
        let written = if unwritten == 0 { 0 } else { self.hosts[host].apply(id, |endpoint| endpoint.write(unwritten)) };
        let side = self.ledger.side(host, id);
        side.unwritten -= written;
        if side.unwritten == 0 && finishing {
            side.finishing = false;
            self.hosts[host].apply(id, |endpoint| endpoint.finish());
        }
        true
    }
}

/// The bytes of a packet's payload; of SCTP, those of its DATA chunks, one after the other.
fn user_data(packet: &Packet, payload: &[u8]) -> Vec<u8> {
    match &packet.body {
        Body::Sctp(body) => body.payload_ranges().flat_map(|range| payload[range].to_vec()).collect(),
        _ => payload.to_vec(),
    }
}
