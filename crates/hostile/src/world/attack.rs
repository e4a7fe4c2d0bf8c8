//! Forged packets, one or many.

use subflow_quantity::Duration;
use subflow_wire::quic::PacketHeader;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet, PayloadBytes};

use super::{World, trace};
use crate::action::Forge;
use crate::forge::Forger;
use crate::ledger::Connection;
use crate::limits;
use crate::setup::{CLIENT, SERVER};
use crate::wiretap::host_of;

/// From the attacker to whom it attacks.
const DELAY: Duration = Duration::from_millis(1);

/// Whether it is a SYN.
pub(super) fn is_syn(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN))
}

/// Whether it is the first packet of a client of QUIC.
fn opens_quic(packet: &Packet) -> bool {
    let Body::Quic(datagram) = &packet.body else { return false };
    matches!(datagram.packets.first().map(|first| &first.header), Some(PacketHeader::Initial { .. }))
}

impl World<'_> {
    pub(super) fn forge(&mut self, forge: &Forge) {
        let flows = self.wiretap.flows();
        if flows == 0 {
            return;
        }
        let flow = usize::from(forge.flow) % flows;
        let every = Duration::from_micros(forge.every_us.into());
        if !forge.blind {
            self.give_up(flow);
        }
        if !forge.blind && self.case.stack.has_idle_timeout() {
            // The flow may be a further path of any connection.
            self.ledger.connections.iter_mut().for_each(Connection::give_up);
        }
        for number in 0..u32::from(forge.times.max(1)) {
            self.forge_one(forge, flow, number);
            self.run_for(every, limits::STEPS_PER_WAIT);
        }
        // What was forged arrives before the next action, or it would not know of it.
        self.run_for(DELAY, limits::STEPS_PER_WAIT);
    }

    fn forge_one(&mut self, forge: &Forge, flow: usize, number: u32) {
        let to = usize::from(forge.to % 2);
        let base = Forger {
            setup: &self.case.setup,
            wiretap: &self.wiretap,
            flow,
            to,
            blind: forge.blind,
            stride: forge.stride,
            number,
        };
        // Where it comes from the end of another flow, the numbers of that flow count.
        let (from, destination) = base.ends();
        let (flow, to) = match self.wiretap.find(from, destination) {
            Some((other, side)) if forge.moves() => (other, 1 - side),
            _ => (flow, to),
        };
        let packet = Forger { flow, to, ..base }.packet(&forge.forgery, from, destination);
        let Some(packet) = packet else { return };
        if forge.blind && self.wiretap.find(from, destination).is_some() && opens_quic(&packet) {
            // It would hold the place of a client whose own first packet is on its way.
            return;
        }
        let victim = host_of(packet.ip.destination);
        if !matches!(victim, CLIENT | SERVER) {
            return;
        }
        let mut wire = Vec::new();
        if packet.emit(PayloadBytes::Zero, 0, &mut wire).is_err() {
            return;
        }
        // A SYN that meets an endpoint in SYN-SENT: that is how two sides open a connection to each other at once (RFC
        // 9293, figure 7). It needs no sequence number, and ends the connection that was meant.
        if !forge.blind || is_syn(&packet) && self.hosts[victim].is_opening(&packet) {
            self.give_up(flow);
        }
        self.trace(|| format!("forged:  {}", trace::line(&packet)));
        self.put_on_wire(victim, wire, DELAY, forge.blind);
    }

    /// An attacker who knows a flow forges its packets.
    fn give_up(&mut self, flow: usize) {
        let [one, other] = self.wiretap.flow(flow).ends;
        let first = self.wiretap.first_of(flow);
        let [first_one, first_other] = self.wiretap.flow(first).ends;
        for (one, other) in [(one, other), (first_one, first_other)] {
            if let Some(connection) = self.ledger.between(one, other) {
                self.ledger.connections[connection].give_up();
            }
        }
    }
}
