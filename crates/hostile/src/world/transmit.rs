//! What becomes of a packet between its sender and the host that has its destination.

use std::net::SocketAddr;

use subflow_quantity::Duration;
use subflow_transport::{EndpointId, edge};
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, IpHeader, Packet};

use super::path::Loaded;
use super::{Arrival, HOSPITABLE, World, puppet, trace};
use crate::action::Interference;
use crate::forgery::Greeting;
use crate::setup::{ATTACKER, CLIENT, SERVER};
use crate::wiretap::{host_of, index_of, ports};

/// Packets that are recorded: the first ones, and the last.
const FIRST_RECORDED: usize = 64;
const LAST_RECORDED: usize = 512;
/// A delay that a sender may take for a loss.
const LONG_DELAY_MS: u32 = 10_000;
/// The delay of every path to the attacker and from it.
const ATTACKER_DELAY: Duration = Duration::from_millis(10);

impl World<'_> {
    /// A host sends a packet: of an endpoint, or of its own.
    pub(super) fn transmit(&mut self, host: usize, id: Option<EndpointId>, packet: Packet) {
        self.sent += 1;
        let bytes = id.map_or_else(Vec::new, |id| self.ledger.bytes_of(host, id, &packet));
        let mut loaded = Loaded { packet: packet.clone(), bytes };
        self.hosts[host].release(packet);
        edge::set_payload_sum(&mut loaded.packet, ones_complement_sum(&loaded.bytes));
        let (source, destination) = (loaded.packet.ip.source, loaded.packet.ip.destination);
        if !self.hosts[host].has_address(source) {
            return;
        }
        self.trace(|| format!("leaves:  {}", trace::line(&loaded.packet)));
        if let (SERVER, Body::Quic(datagram)) = (host, &loaded.packet.body) {
            let (local, remote) = ports(&loaded.packet);
            let ends = (SocketAddr::new(source, local), SocketAddr::new(destination, remote));
            self.amplification.send(ends, datagram.length().into());
        }
        self.wiretap.overhear(&loaded.packet);
        match host_of(destination) {
            ATTACKER => self.arrive(ATTACKER, &loaded, ATTACKER_DELAY),
            to if to == 1 - host => self.cross(host, id, loaded),
            // No host has this address.
            _ => {}
        }
    }

    /// A packet goes from one host to the other.
    fn cross(&mut self, from: usize, id: Option<EndpointId>, mut loaded: Loaded) {
        let ip = loaded.packet.ip;
        let (client, server) = path_of(from, &ip);
        let delay = self.case.setup.delay(client, server);
        // A SYN is sent half as often as other segments before the connection is given up, and a stranger's SYN may hold
        // the server's place for some of these times.
        let is_syn = matches!(&loaded.packet.body, Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN));
        let weight = 1 + u32::from(is_syn);
        let connection = self.connection_of(from, id, &loaded.packet, is_syn);
        let lose = |world: &mut Self, packets: u32| {
            if let Some(connection) = connection {
                world.ledger.connections[connection].lose(packets * weight);
            }
        };
        if !self.paths.is_up(client, server) {
            lose(self, 1);
            return;
        }
        let interference = self.paths.next_interference(from);
        if let Some(how) = &interference {
            self.trace(|| format!("         on its way: {how:?}"));
        }
        match interference {
            None => self.arrive(1 - from, &loaded, delay),
            Some(Interference::Drop) => lose(self, 1),
            Some(Interference::Delay(ms)) => {
                lose(self, u32::from(ms > LONG_DELAY_MS));
                self.arrive_late(1 - from, &loaded, delay + Duration::from_millis(ms.into()));
            }
            Some(Interference::Duplicate) => {
                self.arrive(1 - from, &loaded, delay);
                self.arrive(1 - from, &loaded, delay);
            }
            Some(Interference::Flip(bit)) => {
                lose(self, 1);
                let mut wire = loaded.to_wire();
                let bit = usize::from(bit) % (8 * wire.len());
                wire[bit / 8] ^= 1 << (bit % 8);
                self.put_on_wire(1 - from, wire, delay, false);
            }
            Some(Interference::Rewrite(_)) if self.case.stack.has_idle_timeout() => {
                lose(self, 1);
                self.arrive_damaged(1 - from, &loaded, delay);
            }
            Some(Interference::Rewrite(at)) => {
                if loaded.rewrite(at)
                    && let Some(connection) = connection
                {
                    let connection = &mut self.ledger.connections[connection];
                    (connection.rewritten, connection.may_end_early) = (true, true);
                }
                self.arrive(1 - from, &loaded, delay);
            }
            Some(Interference::Split(at)) => {
                for part in loaded.split(at) {
                    self.arrive(1 - from, &part, delay);
                }
            }
            Some(Interference::Strip(what)) => {
                if loaded.strip(what)
                    && let Some(connection) = connection
                {
                    let connection = &mut self.ledger.connections[connection];
                    (connection.stripped, connection.may_end_early) = (true, true);
                }
                self.arrive(1 - from, &loaded, delay);
            }
        }
    }

    /// The connection of a packet. One whose SYN/ACK belongs to no endpoint was answered with a cookie.
    fn connection_of(&mut self, from: usize, id: Option<EndpointId>, packet: &Packet, is_syn: bool) -> Option<usize> {
        // Further subflows have ends of their own, and replies belong to no endpoint.
        if let Some(id) = id {
            return Some(self.ledger.owner(from, id));
        }
        let (source, destination) = ports(packet);
        let local = SocketAddr::new(packet.ip.source, source);
        let connection = self.ledger.between(local, SocketAddr::new(packet.ip.destination, destination))?;
        if is_syn {
            self.ledger.connections[connection].has_cookie = true;
        }
        Some(connection)
    }

    /// The packet gets there after `delay`.
    fn arrive(&mut self, to: usize, loaded: &Loaded, delay: Duration) {
        let wire = loaded.to_wire();
        if to != ATTACKER {
            self.record(to, &wire);
        }
        self.put_on_wire(to, wire, delay, false);
    }

    /// It gets there with other bytes, which what protects a packet of QUIC shows.
    fn arrive_damaged(&mut self, to: usize, loaded: &Loaded, delay: Duration) {
        let mut wire = loaded.to_wire();
        wire.iter_mut().rev().take(1).for_each(|last| *last ^= 0x55);
        self.put_on_wire(to, wire, delay, false);
    }

    /// It gets there later than others that are sent behind it.
    fn arrive_late(&mut self, to: usize, loaded: &Loaded, delay: Duration) {
        let wire = loaded.to_wire();
        if to != ATTACKER {
            self.record(to, &wire);
        }
        self.put_on_wire_late(to, wire, delay, self.sent);
    }

    pub(super) fn put_on_wire(&mut self, to: usize, wire: Vec<u8>, delay: Duration, blind: bool) {
        self.order += 1;
        self.in_flight.insert((self.now + delay, self.order), Arrival { to, wire, blind, late_since: None });
    }

    /// A packet arrives late: it should have come when `sent` packets had been sent.
    pub(super) fn put_on_wire_late(&mut self, to: usize, wire: Vec<u8>, delay: Duration, sent: u64) {
        self.order += 1;
        let arrival = Arrival { to, wire, blind: false, late_since: Some(sent) };
        self.in_flight.insert((self.now + delay, self.order), arrival);
    }

    fn record(&mut self, to: usize, wire: &[u8]) {
        if self.first.len() < FIRST_RECORDED {
            self.first.push((self.now, self.sent, to, wire.to_vec()));
        }
        if self.last.len() == LAST_RECORDED {
            self.last.pop_front();
        }
        self.last.push_back((self.now, self.sent, to, wire.to_vec()));
    }

    /// A packet has come to one of the attacker's addresses.
    pub(super) fn answer_as_attacker(&mut self, packet: &Packet) {
        let address = packet.ip.destination;
        let hospitable = Greeting::default();
        let greeting = match self.greetings.get(&address) {
            Some(greeting) => greeting,
            None if index_of(address) < HOSPITABLE => &hospitable,
            None => return,
        };
        if greeting.silent {
            return;
        }
        if let Some(answer) = puppet::answer(&self.wiretap, greeting, packet) {
            self.send_as_attacker(answer);
        }
    }

    /// The attacker sends a packet in its own name.
    pub(super) fn send_as_attacker(&mut self, packet: Packet) {
        let to = host_of(packet.ip.destination);
        if !matches!(to, CLIENT | SERVER) {
            return;
        }
        self.wiretap.overhear(&packet);
        let mut wire = Vec::new();
        // Options that do not fit are the attacker's bad luck.
        if packet.emit(subflow_wire::PayloadBytes::Zero, 0, &mut wire).is_ok() {
            self.put_on_wire(to, wire, ATTACKER_DELAY, false);
        }
    }
}

/// The interfaces of the client and of the server that a packet of the host `from` goes between.
fn path_of(from: usize, ip: &IpHeader) -> (usize, usize) {
    let [source, destination] = [ip.source, ip.destination].map(|address| usize::from(index_of(address)));
    if from == CLIENT { (source, destination) } else { (destination, source) }
}
