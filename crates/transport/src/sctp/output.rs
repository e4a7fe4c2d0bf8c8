//! Packets and their contents (RFC 9260, section 6.10).

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Packet, SctpPacket};

use super::Association;
use super::control_queue::{Control, Reply};
use super::packet_size::padded;
use super::phase::Phase;
use crate::tcp::Ends;

impl Association {
    /// Fills `packet` with the next one to send, and returns whether there was one.
    pub(crate) fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.clock = now;
        if let Some(Reply { local, remote, tag, encapsulation, chunk }) = self.control.next_reply() {
            let body = self.begin_packet(packet, local, remote, tag);
            body.encapsulation = encapsulation;
            body.chunks.push(chunk);
            return true;
        }
        if !self.phase.is_closed() && self.stream.finished {
            self.continue_shutdown(now);
        }
        if let Some(control) = self.control.next() {
            self.send_control(control, packet, now);
            return true;
        }
        if self.phase.state().may_send_data() && self.send_data(packet, now) {
            return true;
        }
        if self.phase.state().may_send_data() && self.send_forward_tsn(packet, now) {
            return true;
        }
        if self.inbound.is_sack_due() && !self.phase.is_closed() && self.peer.is_known() {
            let index = self.inbound.sack_destination().min(self.destinations.len() - 1);
            let local = self.inbound.sack_source().unwrap_or(self.destinations[index].local);
            let room = self.room();
            let chunk = self.take_sack(room);
            self.destinations[index].counters.packets_sent += 1;
            let (remote, tag) = (self.destinations[index].remote, self.peer.tag());
            self.begin_packet(packet, local, remote, tag).chunks.push(chunk);
            return true;
        }
        false
    }

    /// A packet around a control chunk, with others for the same destination, a SACK that is due, and data behind a
    /// cookie.
    fn send_control(&mut self, control: Control, packet: &mut Packet, now: Instant) {
        let index = control.destination;
        let (usual, remote) = (self.destinations[index].local, self.destinations[index].remote);
        let local = control.local.unwrap_or(usual);
        let tag = control.tag.unwrap_or(self.peer.tag());
        let bundles = control.is_bundled();
        let is_cookie = matches!(control.chunk, Chunk::CookieEcho(_));
        let mut room = self.room().saturating_sub(padded(control.chunk.length()));
        let body = self.begin_packet(packet, local, remote, tag);
        body.chunks.push(control.chunk);
        if !bundles {
            return;
        }
        while let Some(chunk) = self.control.next_bundled(index, [local, usual], room) {
            room -= padded(chunk.length());
            body.chunks.push(chunk);
        }
        // A SACK is sent to the source of the data or to another active destination (section 6.4).
        let arrives = index == self.inbound.sack_destination() || self.destinations[index].is_active();
        if self.inbound.is_sack_due() && !self.phase.is_closed() && arrives && room >= 64 {
            let sack = self.take_sack(room);
            room = room.saturating_sub(padded(sack.length()));
            body.chunks.push(sack);
        }
        if is_cookie && matches!(self.phase, Phase::CookieEchoed { .. }) {
            self.bundle_with_cookie(index, room, body, now);
        }
    }

    /// A FORWARD-TSN that is not bundled with data.
    fn send_forward_tsn(&mut self, packet: &mut Packet, now: Instant) -> bool {
        let index = self.destinations.current();
        match self.outbound.take_forward_tsn(&mut self.counters, now) {
            Some(chunk) => {
                self.begin_packet_to(packet, index).chunks.push(chunk);
                true
            }
            None => false,
        }
    }

    pub(super) fn begin_packet_to<'a>(&mut self, packet: &'a mut Packet, index: usize) -> &'a mut SctpPacket {
        let destination = &mut self.destinations[index];
        destination.counters.packets_sent += 1;
        let (local, remote, tag) = (destination.local, destination.remote, self.peer.tag());
        self.begin_packet(packet, local, remote, tag)
    }

    fn begin_packet<'a>(&self, packet: &'a mut Packet, local: IpAddr, remote: IpAddr, tag: u32) -> &'a mut SctpPacket {
        let ends = Ends {
            local: SocketAddr::new(local, self.local.port()),
            remote: SocketAddr::new(remote, self.peer.port()),
        };
        packet.ip = ends.ip_header();
        if !matches!(packet.body, Body::Sctp(_)) {
            packet.body = Body::Sctp(SctpPacket::default());
        }
        let Body::Sctp(body) = &mut packet.body else { unreachable!("replaced above") };
        body.source_port = self.local.port();
        body.destination_port = self.peer.port();
        body.verification_tag = tag;
        body.encapsulation = self.peer.encapsulation();
        body.may_fragment = false;
        body.chunks.clear();
        body
    }
}
