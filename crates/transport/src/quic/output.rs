//! Packets that leave, and those that share a datagram (RFC 9000, sections 8.1, 12.2, 13.2 and 14.1).

use subflow_quantity::Instant;
use subflow_wire::quic::{
    AckFrame, Frame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, TAG_LENGTH, VERSION_1,
};
use subflow_wire::{Body, Packet};

use super::Connection;
use super::path::LEAST_INITIAL;
use super::path_choice::Load;
use super::phase::Phase;
use super::sent::{SentFrame, SentFrames};
use super::space::Space;
use super::space_id::SpaceId;

/// Bytes of the headers of IP and UDP.
const HEADERS_V4: u32 = 28;
const HEADERS_V6: u32 = 48;
/// A packet is added to a datagram only where this many bytes are left.
const LEAST_ROOM: u32 = 64;
/// Packet number and payload have at least this many bytes together, of which header protection takes a sample (RFC
/// 9001, section 5.4.2).
const LEAST_SAMPLED: u32 = 4;

impl Connection {
    /// Whether a packet may be sent at `now`. If not, what building one would change has been changed.
    #[inline]
    pub(super) fn may_have_packet(&mut self, now: Instant) -> bool {
        // Where one path and one packet number space are left, which is most of the time, all is seen without a packet.
        let is_settled = self.phase.is_established() && self.paths.len() == 1 && !self.in_handshake();
        let path = &mut self.paths[0];
        if !is_settled || self.timers_moved || !path.sends() || path.amplification.is_limited() {
            return true;
        }
        if path.space.probes > 0 || path.space.received.due_at().is_some_and(|at| at <= now) {
            return true;
        }
        let has_frames = self.has_frames(SpaceId::of_path(0), Load::Data);
        let recovery = &mut self.paths[0].recovery;
        if !has_frames {
            recovery.on_nothing_to_send(&self.congestion);
            return false;
        }
        recovery.admits(&self.congestion, now)
    }

    /// Whether packets of the handshake may still be sent.
    #[inline]
    pub(super) fn in_handshake(&self) -> bool {
        self.handshake_spaces.iter().any(Space::is_open)
    }

    /// Writes the next packet to send to `packet`, and returns whether there was one.
    pub(crate) fn transmit(&mut self, now: Instant, packet: &mut Packet) -> bool {
        while !self.transmit_due(now, packet) {
            // What has left meanwhile has set the timers anew, where anything has.
            if !core::mem::take(&mut self.timers_moved) {
                return false;
            }
            self.on_moved_timers(now);
        }
        true
    }

    fn transmit_due(&mut self, now: Instant, packet: &mut Packet) -> bool {
        if !self.may_have_packet(now) {
            return false;
        }
        let (place, load) = match &self.phase {
            Phase::Handshaking | Phase::Established(_) => match self.next_path(now) {
                Some(next) => next,
                None => return false,
            },
            Phase::Closing { .. } => (self.best_path().unwrap_or(0), Load::OwnFrames),
            Phase::Over(_) => return false,
        };
        let ends = self.paths[place].ends;
        let datagram = datagram_of(packet);
        (datagram.source_port, datagram.destination_port) = (ends.local.port(), ends.remote.port());
        let ecn = &mut self.paths[place].recovery.ecn;
        if ecn.is_on() {
            let in_handshake = self.handshake_spaces.iter().any(Space::is_open);
            ecn.begin_packet(in_handshake);
        }
        let spare = datagram.packets.drain(..).next().map(|packet| packet.frames).unwrap_or_default();
        match &self.phase {
            Phase::Closing { .. } => self.fill_with_close(place, datagram, now),
            _ => self.fill_datagram((place, load), datagram, spare, now),
        }
        if datagram.packets.is_empty() {
            return false;
        }
        let is_eliciting = datagram.packets.iter().any(QuicPacket::is_ack_eliciting);
        let path = &mut self.paths[place];
        if !path.amplification.is_validated {
            path.amplification.sent += u64::from(datagram.length());
        }
        path.counters.datagrams_sent += 1;
        self.idle.on_sent(is_eliciting, now);
        packet.ip = ends.ip_header();
        let ecn = &mut self.paths[place].recovery.ecn;
        if ecn.is_on() {
            packet.ip.ecn = ecn.on_sent();
        }
        true
    }

    /// Bytes of UDP payload in the largest datagram.
    pub(super) fn datagram_size(&self) -> u32 {
        let headers = if self.ends.remote.is_ipv4() { HEADERS_V4 } else { HEADERS_V6 };
        self.config.mtu.saturating_sub(headers).max(LEAST_INITIAL)
    }

    fn fill_datagram(
        &mut self,
        (place, load): (usize, Load),
        datagram: &mut QuicDatagram,
        spare: Vec<Frame>,
        now: Instant,
    ) {
        if self.paths[place].amplification.is_limited() {
            return;
        }
        if self.paths[place].id > 0 {
            return self.fill_on_further_path((place, load), datagram, spare, now);
        }
        let may_validate = self.paths[0].has_own_frames();
        if !self.in_handshake() {
            let size = self.datagram_size();
            datagram.packets.extend(self.build((SpaceId::of_path(0), load), size, spare, now));
            if may_validate {
                pad_if_it_validates(datagram);
            }
            return;
        }
        // The path is known to carry the least size only.
        let (mut room, mut spare, mut has_initial) = (LEAST_INITIAL, Some(spare), false);
        for id in SpaceId::OF_INITIAL_PATH {
            if room < LEAST_ROOM || !self.space(id).is_open() {
                continue;
            }
            let frames = spare.take().unwrap_or_default();
            if let Some(packet) = self.build((id, load), room, frames, now) {
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
        if may_validate {
            pad_if_it_validates(datagram);
        }
    }

    /// A packet of a further path. One that validates the path has the size that every path has to carry (RFC 9000,
    /// section 8.2.1).
    fn fill_on_further_path(
        &mut self,
        (place, load): (usize, Load),
        datagram: &mut QuicDatagram,
        spare: Vec<Frame>,
        now: Instant,
    ) {
        let is_validated = self.paths[place].is_open();
        let size = if is_validated { self.datagram_size() } else { LEAST_INITIAL };
        let Some(packet) = self.build((SpaceId::of_path(place), load), size, spare, now) else { return };
        datagram.packets.push(packet);
        pad_if_it_validates(datagram);
    }

    /// Discards the Initial keys of a client that sends its first Handshake packet.
    fn leave_initial(&mut self, datagram: &QuicDatagram) {
        let has_handshake =
            datagram.packets.iter().any(|packet| matches!(packet.header, PacketHeader::Handshake { .. }));
        if has_handshake && self.space(SpaceId::Initial).is_open() {
            self.discard_space(SpaceId::Initial);
        }
    }

    /// The next packet of a packet number space, of at most `room` bytes, if there is anything to send.
    fn build(
        &mut self,
        (id, load): (SpaceId, Load),
        room: u32,
        mut frames: Vec<Frame>,
        now: Instant,
    ) -> Option<QuicPacket> {
        let has_frames = self.has_frames(id, load);
        let space = self.space(id);
        let is_probe = space.probes > 0;
        let ack_is_due = space.received.due_at().is_some_and(|at| at <= now);
        let recovery = &mut self.paths[id.path()].recovery;
        let may_elicit = is_probe || has_frames && recovery.admits(&self.congestion, now);
        if !has_frames && id.is_data() {
            recovery.on_nothing_to_send(&self.congestion);
        }
        let owes_others = load == Load::Control && self.paths.iter().any(|path| path.owes_ack_elsewhere());
        if !ack_is_due && !may_elicit && !owes_others {
            return None;
        }
        let space = self.space(id);
        let number = space.next_number();
        let encoded = PacketNumber::encode(number, space.sent.largest_acknowledged());
        let header = self.header(id, encoded);
        let mut room = room.checked_sub(header.length() + TAG_LENGTH)?;
        frames.clear();
        let mut sent = SentFrames::new();
        self.add_acks(id, owes_others, &mut room, &mut frames, &mut sent, now);
        if may_elicit {
            self.fill_packet((id, load), room, &mut frames, &mut sent);
            if is_probe && !frames.iter().any(Frame::is_ack_eliciting) {
                frames.push(Frame::Ping);
            }
        }
        if frames.is_empty() {
            return None;
        }
        let mut length = frames.iter().map(Frame::length).sum::<u32>();
        if encoded.length() + length < LEAST_SAMPLED {
            let padding = LEAST_SAMPLED - length - encoded.length();
            frames.push(Frame::Padding(padding));
            length += padding;
        }
        length += header.length() + TAG_LENGTH;
        self.space_mut(id).advance();
        let packet = QuicPacket { header, frames };
        if packet.is_ack_eliciting() {
            let size = self.datagram_size();
            let recovery = &mut self.paths[id.path()].recovery;
            let is_capable = id.is_data() && recovery.ecn.marks();
            let snapshot = if id.is_data() { recovery.snapshot(number, &mut self.congestion, now) } else { None };
            recovery.on_sent(&mut self.congestion, length, size, now);
            self.space_mut(id).sent.push((number, sent, is_capable), snapshot, now);
        }
        Some(packet)
    }

    /// Adds the acknowledgment of the packet's space, and with `with_others` those of abandoned paths.
    fn add_acks(
        &mut self,
        id: SpaceId,
        with_others: bool,
        room: &mut u32,
        frames: &mut Vec<Frame>,
        sent: &mut SentFrames,
        now: Instant,
    ) {
        let is_multipath = self.is_multipath() && self.phase.is_confirmed();
        let others = (0..self.paths.len()).filter(|_| with_others).map(SpaceId::of_path);
        for space in core::iter::once(id).chain(others) {
            let path = &self.paths[space.path()];
            if space != id && !path.owes_ack_elsewhere() {
                continue;
            }
            let path = path.id;
            let received = &mut self.space_mut(space).received;
            let Some(mut ack) = (if received.owes_ack() { received.take_ack(now) } else { None }) else { continue };
            ack.path = Some(path).filter(|_| is_multipath && space.is_data());
            sent.push(SentFrame::Ack { space, path, largest: ack.largest });
            let ack = Frame::Ack(ack);
            *room = room.saturating_sub(ack.length());
            frames.push(ack);
        }
    }

    fn header(&self, id: SpaceId, number: PacketNumber) -> PacketHeader {
        let ids = &self.paths[id.path()].ids;
        let (destination, source, version) = (ids.destination(), ids.source(), VERSION_1);
        match id {
            SpaceId::Initial => {
                let retry = self.protection.as_ref().and_then(|protection| protection.retry.as_ref());
                let token = retry.map_or_else(Box::default, |retry| retry.token.clone());
                PacketHeader::Initial { version, destination, source, token, number }
            }
            SpaceId::Handshake => PacketHeader::Handshake { version, destination, source, number },
            SpaceId::Data(_) => {
                let key_phase = self.protection.as_ref().is_some_and(|protection| protection.key_phase());
                PacketHeader::OneRtt { destination, spin: false, key_phase, number }
            }
        }
    }

    /// Writes the packet that tells the peer that the connection is closed, if that is due.
    fn fill_with_close(&mut self, place: usize, datagram: &mut QuicDatagram, now: Instant) {
        let may_send = !self.paths[place].amplification.is_limited();
        let Some(mut frame) = self.take_close(may_send, now) else { return };
        let spaces = [SpaceId::of_path(place), SpaceId::Handshake, SpaceId::Initial];
        let Some(id) = spaces.into_iter().find(|&id| self.space(id).is_open()) else { return };
        if !id.is_data() {
            frame = super::error::without_application(frame);
        }
        let is_multipath = self.is_multipath() && id.is_data();
        let path = Some(self.paths[place].id).filter(|_| is_multipath);
        let space = self.space_mut(id);
        let encoded = PacketNumber::encode(space.next_number(), space.sent.largest_acknowledged());
        let ack = if space.received.owes_ack() { space.received.take_ack(now) } else { None };
        space.advance();
        let ack = ack.map(|ack| Frame::Ack(AckFrame { path, ..ack }));
        let frames = ack.into_iter().chain([Frame::ConnectionClose(Box::new(frame))]).collect();
        datagram.packets.push(QuicPacket { header: self.header(id, encoded), frames });
        if id == SpaceId::Initial && !self.is_server {
            pad(datagram, LEAST_INITIAL.saturating_sub(datagram.length()));
        }
    }
}

/// Pads a datagram that validates a path to the size that every path has to carry (sections 8.2.1 and 8.2.2).
fn pad_if_it_validates(datagram: &mut QuicDatagram) {
    let validates = |frame: &Frame| matches!(frame, Frame::PathChallenge(_) | Frame::PathResponse(_));
    let missing = LEAST_INITIAL.saturating_sub(datagram.length());
    if missing > 0 && datagram.packets.iter().any(|packet| packet.frames.iter().any(validates)) {
        pad(datagram, missing);
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
