//! A packet's way: from an endpoint, past the tampering, into bytes; and from bytes to an endpoint.

use subflow_quantity::Duration;
use subflow_transport::{Endpoint, edge};
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, PayloadBytes, TcpSegment};

use super::{CLIENT, Edge, Leaving, Pair, SERVER, Sent, Side};
use crate::harness::Fate;
use crate::harness::edge::bytes_of;
use crate::harness::sctp::SentSctp;

impl Pair {
    fn path_of(&self, from: usize, packet: &Packet) -> Option<usize> {
        let (client, server) = match from {
            CLIENT => (packet.ip.source, packet.ip.destination),
            _ => (packet.ip.destination, packet.ip.source),
        };
        let client = self.addresses[CLIENT].iter().position(|&address| address == client)?;
        let server = self.addresses[SERVER].iter().position(|&address| address == server)?;
        Some(client * self.addresses[SERVER].len() + server)
    }

    pub(super) fn transmit(&mut self, from: usize, mut packet: Packet) {
        let Some(path) = self.path_of(from, &packet) else { return };
        if self.sides[from].lost.contains(&packet.ip.source) {
            return;
        }
        let mut bytes = bytes_of(from, &packet);
        edge::set_payload_sum(&mut packet, ones_complement_sum(&bytes));
        let fate = match &mut packet.body {
            Body::Tcp(segment) => self.tamper_with((from, path), &mut packet.ip.ecn, segment, &mut bytes),
            Body::Sctp(body) => self.sctp.tamper_with(from, &mut packet.ip.ecn, body),
            Body::Udp(_) | Body::Quic(_) => return,
        };
        let mut arrivals = match fate {
            Fate::Drop => Vec::new(),
            _ => self.paths[path].arrivals(from, self.now, packet.wire_length() as usize, &mut self.rng),
        };
        match fate {
            Fate::Twice => arrivals.extend(arrivals.clone()),
            Fate::Late(delay) => arrivals.iter_mut().for_each(|at| *at += delay),
            Fate::Pass | Fate::Drop => {}
        }
        let mut wire = Vec::new();
        packet.emit(PayloadBytes::Bytes(&bytes), 0, &mut wire).expect("every packet can be written");
        let ecn = packet.ip.ecn;
        match packet.body {
            Body::Tcp(segment) if self.keep_log => self.log.push(Sent { at: self.now, from, path, ecn, segment }),
            Body::Sctp(packet) => self.sctp.note(SentSctp { at: self.now, from, path, ecn, packet }, self.keep_log),
            _ => {}
        }
        for at in arrivals {
            self.order += 1;
            self.in_flight.insert((at, self.order), (1 - from, wire.clone()));
        }
    }

    fn tamper_with(
        &mut self,
        (from, path): (usize, usize),
        ecn: &mut Ecn,
        segment: &mut TcpSegment,
        bytes: &mut Vec<u8>,
    ) -> Fate {
        let mut fate = Fate::Pass;
        for tamper in &mut self.tampers {
            if fate != Fate::Drop {
                let next = tamper(&mut Leaving { at: self.now, from, path, ecn, segment, bytes });
                fate = if next == Fate::Pass { fate } else { next };
            }
        }
        fate
    }

    pub(super) fn deliver(&mut self, to: usize, wire: &[u8]) {
        let (packet, payload) = Packet::parse(wire).expect("what was written can be read");
        let Side { host, connection, edge, lost, .. } = &mut self.sides[to];
        if lost.contains(&packet.ip.destination) {
            return;
        }
        let taken_by = host.handle_packet(self.now, &packet);
        while let Some(id) = host.poll_accept() {
            *connection = Some(id);
            *edge = Edge::default();
        }
        if let (Some(id), true) = (taken_by, taken_by == *connection) {
            match (&packet.body, host.endpoint_mut(id)) {
                (Body::Sctp(body), Endpoint::Sctp(association)) => {
                    let start = payload.start;
                    self.sctp.check(to, association, body, &wire[start..], self.trust_content);
                }
                (_, endpoint) => {
                    edge.keep(endpoint, &wire[payload]);
                    edge.check((!self.trust_content).then_some(1 - to), self.altered, endpoint);
                }
            }
        }
        self.push_unwritten(to);
        self.drain(to);
    }

    /// `segment` as it comes to `side` between the first addresses of both.
    pub(crate) fn first_path(&self, side: usize, segment: TcpSegment) -> Packet {
        let (source, destination) = (self.address(1 - side, 0), self.address(side, 0));
        Packet {
            ip: IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
            body: Body::Tcp(segment),
        }
    }

    /// Puts a packet on the way to `side` as if it came from the other, after `delay`.
    pub(crate) fn inject(&mut self, side: usize, packet: &Packet, delay: Duration) {
        self.inject_with(side, packet, &vec![0; payload_length(packet)], delay);
    }

    /// Puts a packet of the other side on the way to `side` once more, after `delay`.
    pub(crate) fn repeat(&mut self, side: usize, packet: &Packet, delay: Duration) {
        self.inject_with(side, packet, &bytes_of(1 - side, packet), delay);
    }

    fn inject_with(&mut self, side: usize, packet: &Packet, payload: &[u8], delay: Duration) {
        let mut wire = Vec::new();
        packet.emit(PayloadBytes::Bytes(payload), 0, &mut wire).expect("a packet that can be written");
        self.order += 1;
        self.in_flight.insert((self.now + delay, self.order), (side, wire));
    }
}

fn payload_length(packet: &Packet) -> usize {
    match &packet.body {
        Body::Sctp(body) => body.user_data_length() as usize,
        _ => packet.payload().length as usize,
    }
}
