//! Packets and their contents (RFC 9260, section 6.10).

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;
use subflow_wire::sctp::{CHUNK_HEADER_LENGTH, Chunk, ErrorCause, HEADER_LENGTH, UdpEncapsulation};
use subflow_wire::{Body, Packet, SctpPacket};

use super::Association;
use super::config::Config;
use super::input::Origin;
use super::phase::Phase;
use crate::tcp::Ends;

/// A control chunk that waits to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(super) destination: usize,
    pub(super) chunk: Chunk,
    /// The verification tag, where it is not the peer's.
    pub(super) tag: Option<u32>,
}

impl Control {
    pub(super) fn to(destination: usize, chunk: Chunk) -> Self {
        Self { destination, chunk, tag: None }
    }

    /// Whether it may be bundled.
    fn is_bundled(&self) -> bool {
        self.tag.is_none() && !matches!(self.chunk, Chunk::Init(_) | Chunk::InitAck(_) | Chunk::ShutdownComplete { .. })
    }
}

/// A packet that is independent of the association's state, with an address and a tag of its own.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(super) local: IpAddr,
    pub(super) remote: IpAddr,
    pub(super) tag: u32,
    pub(super) encapsulation: Option<UdpEncapsulation>,
    pub(super) chunk: Chunk,
}

/// The length of a chunk in a packet, in bytes.
pub(super) fn padded(length: u32) -> u32 {
    length.next_multiple_of(4)
}

/// Bytes for chunks in an IP packet of `mtu` bytes to `remote`, UDP header or not.
pub(super) fn room_for_chunks(config: &Config, mtu: u32, remote: IpAddr) -> u32 {
    let ip_header = if remote.is_ipv4() { 20 } else { 40 };
    let udp_header = if config.encapsulation.is_some() { 8 } else { 0 };
    mtu.saturating_sub(ip_header + udp_header + HEADER_LENGTH)
}

impl Association {
    /// A packet of its own in answer to the one at hand.
    pub(super) fn reply(&mut self, origin: Origin, tag: u32, chunk: Chunk) {
        let encapsulation = origin.encapsulation.map(|theirs| UdpEncapsulation {
            source_port: theirs.destination_port,
            destination_port: theirs.source_port,
        });
        self.replies.push_back(Reply { local: origin.local, remote: origin.source, tag, encapsulation, chunk });
    }

    /// Records an error cause for the sender of the current packet. All causes for a packet share one ERROR, which fits
    /// into one packet (section 3.3.10); further ones are not reported.
    pub(super) fn report(&mut self, cause: ErrorCause) {
        let taken: u32 = self.reports.iter().map(|cause| padded(cause.length())).sum();
        if CHUNK_HEADER_LENGTH + taken + padded(cause.length()) <= self.room() {
            self.reports.push(cause);
        }
    }

    /// The ERROR with all causes for the current packet.
    pub(super) fn send_reports(&mut self, origin: Origin) {
        if !self.reports.is_empty() {
            let destination = origin.destination.unwrap_or(self.destinations.primary());
            let causes = core::mem::take(&mut self.reports);
            self.controls.push_back(Control::to(destination, Chunk::Error(causes)));
        }
    }

    /// Fills `packet` with the next one to send, and returns whether there was one.
    pub(crate) fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.clock = now;
        if let Some(Reply { local, remote, tag, encapsulation, chunk }) = self.replies.pop_front() {
            let body = self.begin_packet(packet, local, remote, tag);
            body.encapsulation = encapsulation;
            body.chunks.push(chunk);
            return true;
        }
        if !self.phase.is_closed() && self.stream.finished {
            self.continue_shutdown(now);
        }
        if let Some(control) = self.controls.pop_front() {
            self.send_control(control, packet, now);
            return true;
        }
        if self.phase.state().may_send_data() && self.send_data(packet, now) {
            return true;
        }
        if self.phase.state().may_send_data() && self.send_forward_tsn(packet, now) {
            return true;
        }
        if self.inbound.is_sack_due() && !self.phase.is_closed() && self.remote_tag != 0 {
            let index = self.inbound.sack_destination().min(self.destinations.len() - 1);
            let room = self.room();
            let chunk = self.take_sack(room);
            self.begin_packet_to(packet, index).chunks.push(chunk);
            return true;
        }
        false
    }

    /// A packet around a control chunk, with others for the same destination, a SACK that is due, and data behind a
    /// cookie.
    fn send_control(&mut self, control: Control, packet: &mut Packet, now: Instant) {
        let index = control.destination;
        let (local, remote) = (self.destinations[index].local, self.destinations[index].remote);
        let tag = control.tag.unwrap_or(self.remote_tag);
        let bundles = control.is_bundled();
        let is_cookie = matches!(control.chunk, Chunk::CookieEcho(_));
        let mut room = self.room().saturating_sub(padded(control.chunk.length()));
        let body = self.begin_packet(packet, local, remote, tag);
        body.chunks.push(control.chunk);
        if !bundles {
            return;
        }
        while let Some(next) = self.controls.front() {
            let length = padded(next.chunk.length());
            if next.destination != index || !next.is_bundled() || length > room {
                break;
            }
            room -= length;
            body.chunks.extend(self.controls.pop_front().map(|control| control.chunk));
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

    /// Bytes for chunks in a packet.
    pub(super) fn room(&self) -> u32 {
        room_for_chunks(&self.config, self.mtu, self.destinations[0].remote)
    }

    /// The most user data of one chunk: it fits in a packet on every path.
    pub(super) fn fragmentation_point(&self) -> u32 {
        let most = self.room().saturating_sub(subflow_wire::sctp::DataChunk::HEADER_LENGTH);
        (most / 4 * 4).max(4)
    }

    pub(super) fn begin_packet_to<'a>(&mut self, packet: &'a mut Packet, index: usize) -> &'a mut SctpPacket {
        let destination = &mut self.destinations[index];
        destination.counters.packets_sent += 1;
        let (local, remote, tag) = (destination.local, destination.remote, self.remote_tag);
        self.begin_packet(packet, local, remote, tag)
    }

    fn begin_packet<'a>(&self, packet: &'a mut Packet, local: IpAddr, remote: IpAddr, tag: u32) -> &'a mut SctpPacket {
        let ends =
            Ends { local: SocketAddr::new(local, self.local_port), remote: SocketAddr::new(remote, self.remote_port) };
        packet.ip = ends.ip_header();
        if !matches!(packet.body, Body::Sctp(_)) {
            packet.body = Body::Sctp(SctpPacket::default());
        }
        let Body::Sctp(body) = &mut packet.body else { unreachable!("replaced above") };
        body.source_port = self.local_port;
        body.destination_port = self.remote_port;
        body.verification_tag = tag;
        body.encapsulation = self.encapsulation;
        body.may_fragment = false;
        body.chunks.clear();
        body
    }
}
