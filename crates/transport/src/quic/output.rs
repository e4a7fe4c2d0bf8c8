//! Packets that leave, and those that share a datagram (RFC 9000, sections 8.1, 12.2, 13.2 and 14.1).

use subflow_quantity::Instant;
use subflow_wire::quic::{Frame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, TAG_LENGTH, VERSION_1};
use subflow_wire::{Body, Packet};

use super::handshake::LEAST_INITIAL;
use super::phase::Phase;
use super::sent::{SentFrame, SentFrames};
use super::space::SpaceId;
use super::{AMPLIFICATION_FACTOR, Connection};

/// Bytes of the headers of IP and UDP.
const HEADERS_V4: u32 = 28;
const HEADERS_V6: u32 = 48;
/// A packet is added to a datagram only where this many bytes are left.
const LEAST_ROOM: u32 = 64;
/// Packet number and payload have at least this many bytes together, of which header protection takes a sample (RFC
/// 9001, section 5.4.2).
const LEAST_SAMPLED: u32 = 4;

impl Connection {
    /// Writes the next packet to send to `packet`, and returns whether there was one.
    pub(crate) fn transmit(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let (source_port, destination_port) = (self.ends.local.port(), self.ends.remote.port());
        let datagram = datagram_of(packet);
        (datagram.source_port, datagram.destination_port) = (source_port, destination_port);
        let spare = datagram.packets.drain(..).next().map(|packet| packet.frames).unwrap_or_default();
        match &self.phase {
            Phase::Handshaking | Phase::Established(_) => self.fill_datagram(datagram, spare, now),
            Phase::Closing { .. } => self.fill_with_close(datagram, now),
            Phase::Over(_) => {}
        }
        if datagram.packets.is_empty() {
            return false;
        }
        let is_eliciting = datagram.packets.iter().any(QuicPacket::is_ack_eliciting);
        self.amplification.sent += u64::from(datagram.length());
        self.counters.datagrams_sent += 1;
        self.idle.on_sent(is_eliciting, now);
        packet.ip = self.ends.ip_header();
        true
    }

    /// Whether a server may not send a whole datagram before it receives more (section 8.1).
    pub(super) fn is_amplification_limited(&self) -> bool {
        let allowed = self.amplification.received.saturating_mul(AMPLIFICATION_FACTOR);
        !self.amplification.is_validated && self.amplification.sent + u64::from(LEAST_INITIAL) > allowed
    }

    /// Bytes of UDP payload in the largest datagram.
    pub(super) fn datagram_size(&self) -> u32 {
        let headers = if self.ends.remote.is_ipv4() { HEADERS_V4 } else { HEADERS_V6 };
        self.config.mtu.saturating_sub(headers).max(LEAST_INITIAL)
    }

    fn fill_datagram(&mut self, datagram: &mut QuicDatagram, spare: Vec<Frame>, now: Instant) {
        if self.is_amplification_limited() {
            return;
        }
        let is_handshake = |id: &SpaceId| *id != SpaceId::Data && self.spaces[*id as usize].is_open();
        // The path is known to carry the least size only.
        let size = if SpaceId::ALL.iter().any(is_handshake) { LEAST_INITIAL } else { self.datagram_size() };
        let (mut room, mut spare, mut has_initial) = (size, Some(spare), false);
        for id in SpaceId::ALL {
            if room < LEAST_ROOM || !self.spaces[id as usize].is_open() {
                continue;
            }
            let frames = spare.take().unwrap_or_default();
            if let Some(packet) = self.build(id, room, frames, now) {
                has_initial |= id == SpaceId::Initial;
                room -= packet.length();
                datagram.packets.push(packet);
            }
            if id == SpaceId::Handshake && !self.is_server && !datagram.packets.is_empty() {
                // RFC 9001, section 4.9.1: a client has no use for Initial packets any more.
                self.leave_initial(datagram);
            }
        }
        if has_initial && room > 0 {
            pad(datagram, room);
        }
    }

    /// Discards the Initial keys of a client that sends its first Handshake packet.
    fn leave_initial(&mut self, datagram: &QuicDatagram) {
        let has_handshake =
            datagram.packets.iter().any(|packet| matches!(packet.header, PacketHeader::Handshake { .. }));
        if has_handshake && self.spaces[SpaceId::Initial as usize].is_open() {
            self.discard_space(SpaceId::Initial);
        }
    }

    /// The next packet of a packet number space, of at most `room` bytes, if there is anything to send.
    fn build(&mut self, id: SpaceId, room: u32, mut frames: Vec<Frame>, now: Instant) -> Option<QuicPacket> {
        let has_frames = self.has_frames(id);
        let space = &self.spaces[id as usize];
        let is_probe = space.probes > 0;
        let ack_is_due = space.received.due_at().is_some_and(|at| at <= now);
        let may_elicit = is_probe || has_frames && self.recovery.admits(now);
        if !has_frames && id == SpaceId::Data {
            self.recovery.on_nothing_to_send();
        }
        if !ack_is_due && !may_elicit {
            return None;
        }
        let space = &mut self.spaces[id as usize];
        let number = space.next_number();
        let encoded = PacketNumber::encode(number, space.sent.largest_acknowledged());
        let header = self.header(id, encoded);
        let mut room = room.checked_sub(header.length() + TAG_LENGTH)?;
        frames.clear();
        let mut sent = SentFrames::new();
        let received = &mut self.spaces[id as usize].received;
        if let Some(ack) = if received.owes_ack() { received.take_ack(now) } else { None } {
            sent.push(SentFrame::Ack { largest: ack.largest });
            let ack = Frame::Ack(ack);
            room = room.saturating_sub(ack.length());
            frames.push(ack);
        }
        if may_elicit {
            self.fill_packet(id, room, &mut frames, &mut sent);
            if is_probe && !frames.iter().any(Frame::is_ack_eliciting) {
                frames.push(Frame::Ping);
            }
        }
        if frames.is_empty() {
            return None;
        }
        let length = encoded.length() + frames.iter().map(Frame::length).sum::<u32>();
        if length < LEAST_SAMPLED {
            frames.push(Frame::Padding(LEAST_SAMPLED - length));
        }
        self.spaces[id as usize].advance();
        let packet = QuicPacket { header, frames };
        if packet.is_ack_eliciting() {
            self.spaces[id as usize].sent.push(number, sent, now);
            self.recovery.on_sent(packet.length(), self.datagram_size(), now);
        }
        Some(packet)
    }

    fn header(&self, id: SpaceId, number: PacketNumber) -> PacketHeader {
        let (destination, source, version) = (self.ids.destination(), self.ids.source(), VERSION_1);
        match id {
            SpaceId::Initial => PacketHeader::Initial { version, destination, source, token: Box::default(), number },
            SpaceId::Handshake => PacketHeader::Handshake { version, destination, source, number },
            SpaceId::Data => PacketHeader::OneRtt { destination, spin: false, key_phase: false, number },
        }
    }

    /// Writes the packet that tells the peer that the connection is closed, if that is due.
    fn fill_with_close(&mut self, datagram: &mut QuicDatagram, now: Instant) {
        let Phase::Closing { frame, is_due, .. } = &mut self.phase else { return };
        if !core::mem::take(is_due) {
            return;
        }
        let mut frame = frame.clone();
        let open = SpaceId::ALL.into_iter().rev().find(|&id| self.spaces[id as usize].is_open());
        let Some(id) = open else { return };
        if id != SpaceId::Data {
            frame = super::error::without_application(frame);
        }
        let space = &mut self.spaces[id as usize];
        let encoded = PacketNumber::encode(space.next_number(), space.sent.largest_acknowledged());
        let ack = if space.received.owes_ack() { space.received.take_ack(now) } else { None };
        space.advance();
        let frames = ack.map(Frame::Ack).into_iter().chain([Frame::ConnectionClose(Box::new(frame))]).collect();
        datagram.packets.push(QuicPacket { header: self.header(id, encoded), frames });
        if id == SpaceId::Initial && !self.is_server {
            pad(datagram, LEAST_INITIAL.saturating_sub(datagram.length()));
        }
    }
}

/// Adds `length` bytes of padding to the last packet: before a frame that reaches to its end.
fn pad(datagram: &mut QuicDatagram, length: u32) {
    let Some(last) = datagram.packets.last_mut().filter(|_| length > 0) else { return };
    let has_open_end = matches!(last.frames.last(), Some(Frame::Stream(stream)) if !stream.has_length);
    let place = last.frames.len() - usize::from(has_open_end);
    last.frames.insert(place, Frame::Padding(length));
}

/// The datagram of a packet. Other content is replaced by an empty one.
fn datagram_of(packet: &mut Packet) -> &mut QuicDatagram {
    if !matches!(packet.body, Body::Quic(_)) {
        packet.body = Body::Quic(QuicDatagram::default());
    }
    match &mut packet.body {
        Body::Quic(datagram) => datagram,
        Body::Tcp(_) | Body::Udp(_) | Body::Sctp(_) => unreachable!("replaced above"),
    }
}
