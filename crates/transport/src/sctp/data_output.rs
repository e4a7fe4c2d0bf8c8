//! Sending data: retransmissions first, then new data (RFC 9260, section 6.1).

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, DataChunk};
use subflow_wire::{Packet, SctpPacket};

use super::Association;
use super::config::MessageOptions;
use super::packet_size::padded;

impl Association {
    /// Writes bytes as messages of the configured size. Returns how many were accepted: none, if the peer does not
    /// accept their stream.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        if self.config.message.stream >= self.peer.streams() {
            return 0;
        }
        let offset = self.stream.written;
        let admitted = self.stream.admit(bytes, self.outbound.freed());
        let (size, options) = (u64::from(self.config.message_size), self.config.message);
        // A message is written as a whole, unless it is larger than the send buffer.
        let is_cut = admitted < bytes && (admitted > size || offset > self.outbound.freed());
        let part = if is_cut { admitted % size } else { 0 };
        if part > 0 {
            self.stream.take_back(part);
        }
        let admitted = admitted - part;
        self.outbound.push(offset, admitted, size, options, self.clock);
        self.on_written(admitted.div_ceil(size));
        admitted
    }

    /// A blocked writer continues as soon as there is space for a message (Linux, `sctp_write_space`).
    pub(super) fn wake_writer(&mut self) {
        let Some(buffer) = self.config.send_buffer.filter(|_| self.stream.is_blocked()) else { return };
        let room = buffer.saturating_sub(self.bytes_outstanding());
        if room >= u64::from(self.config.message_size).min(buffer) {
            self.stream.unblock();
        }
    }

    /// The application has written so many messages.
    fn on_written(&mut self, messages: u64) {
        if self.config.burst_per_message {
            self.bursts.on_written(messages);
        }
    }

    /// Sends one message. Returns `false` and sends nothing if the send buffer has no space for it or the stream does
    /// not exist.
    pub fn send_message(&mut self, bytes: u32, options: MessageOptions) -> bool {
        let outstanding = self.bytes_outstanding();
        let fits = self.config.send_buffer.is_none_or(|buffer| outstanding + u64::from(bytes) <= buffer);
        if !fits || bytes == 0 || options.stream >= self.peer.streams() || self.stream.finished {
            return false;
        }
        let offset = self.stream.written;
        let admitted = self.stream.admit(u64::from(bytes), self.outbound.freed());
        self.outbound.push(offset, admitted, admitted, options, self.clock);
        self.on_written(1);
        true
    }

    /// A packet with data, where some may leave.
    pub(super) fn send_data(&mut self, packet: &mut Packet, now: Instant) -> bool {
        self.expire_messages(now);
        let overdue = self.next_overdue();
        if overdue.is_none()
            && let Some((tsn, index)) = self.next_retransmission(now)
        {
            let length = self.outbound.queue.chunk(tsn).map_or(0, |chunk| chunk.fragment().length);
            if let Some(room) = self.begin_data_packet(packet, index, length, now) {
                self.send_lost(packet, index, room, now);
            }
            return true;
        }
        let Some(index) = overdue.or_else(|| self.next_for_new(now)) else { return false };
        let next = self.next_queued(index).or_else(|| self.outbound.next_length(self.fragmentation_point()));
        if let Some(room) = self.begin_data_packet(packet, index, next.unwrap_or(0), now)
            && let Some(body) = sctp_body(packet)
        {
            self.fill_with_new(body, index, room, now);
            self.make_capable(packet);
        }
        true
    }

    /// Begins a packet for a chunk with `length` bytes of data, and bundles FORWARD-TSN and SACK. Returns the space
    /// that is left; `None` if a SACK that is due does not fit with the data and is sent alone.
    fn begin_data_packet(&mut self, packet: &mut Packet, index: usize, length: u32, now: Instant) -> Option<u32> {
        let mut room = self.room();
        let data = padded(DataChunk::HEADER_LENGTH + length);
        let body = self.begin_packet_to(packet, index);
        // It was cut before a router reported a smaller path MTU.
        body.may_fragment = data > room;
        room = room.max(data);
        if let Some(forward) = self.outbound.take_forward_tsn(&mut self.counters, now) {
            let taken = padded(forward.length());
            if taken + data <= room {
                room -= taken;
                body.chunks.push(forward);
            } else {
                body.chunks.push(forward);
                return None;
            }
        }
        if self.inbound.is_sack_owed() {
            let beside = room.saturating_sub(data);
            let most = if self.inbound.is_sack_due() { room } else { beside };
            // Enough for a SACK without gaps.
            if beside >= 24 || self.inbound.is_sack_due() {
                let sack = self.take_sack(if beside >= 24 { beside } else { most });
                room -= padded(sack.length());
                body.chunks.push(sack);
                return (beside >= 24).then_some(room);
            }
        }
        Some(room)
    }

    fn send_lost(&mut self, packet: &mut Packet, index: usize, mut room: u32, now: Instant) {
        let Some(body) = sctp_body(packet) else { return };
        let mut last = 0;
        let mut fast_of = 0_u64;
        while let Some((tsn, target)) = self.next_retransmission(now) {
            let Some(chunk) = self.outbound.queue.chunk(tsn) else { break };
            let needed = padded(DataChunk::HEADER_LENGTH + chunk.fragment().length);
            if target != index || tsn < last || needed > room {
                break;
            }
            (last, room) = (tsn, room - needed);
            self.bursts.on_retransmitted(needed);
            let (from, fast) = (chunk.destination(), chunk.fast().is_indicated());
            fast_of |= u64::from(fast) << from;
            let counters = &mut self.destinations[index].counters;
            counters.fast_retransmissions += u64::from(fast);
            counters.timeout_retransmissions += u64::from(!fast);
            // Rule 4: T3 starts anew with the earliest outstanding chunk.
            if fast && self.config.fast_retransmission_restarts_timer && self.is_earliest(tsn, index) {
                self.destinations[index].timer.stop();
            }
            body.chunks.push(self.transmit(tsn, index, now));
        }
        if !self.config.single_fast_packet {
            for from in (0..self.destinations.len()).filter(|from| fast_of >> from & 1 == 1) {
                self.destinations[from].burst.on_fast_packet();
            }
        }
    }

    /// Whether nothing sent to a destination before `tsn` is outstanding.
    fn is_earliest(&self, tsn: u64, index: usize) -> bool {
        let outstanding =
            self.outbound.queue.iter().find(|(_, chunk)| chunk.destination() == index && chunk.is_in_flight());
        outstanding.is_none_or(|(first, _)| first > tsn)
    }

    fn fill_with_new(&mut self, body: &mut SctpPacket, index: usize, mut room: u32, now: Instant) {
        let point = self.fragmentation_point();
        let mut first = true;
        loop {
            let queued = self.next_queued(index);
            let Some(length) = queued.or_else(|| self.outbound.next_length(point)) else { return };
            let needed = padded(DataChunk::HEADER_LENGTH + length);
            let may_go_on = match queued {
                _ if first => true,
                Some(_) => self.has_window(index) && self.peer_has_room(u64::from(length)),
                None => self.may_continue(index, length, now),
            };
            if needed > room || !may_go_on {
                return;
            }
            let tsn = match queued {
                Some(_) => self.destinations[index].assigned.pop(),
                None => self.outbound.assign_next(point, index, now).map(|(tsn, _)| tsn),
            };
            let Some(tsn) = tsn else { return };
            room -= needed;
            let is_copy = self.outbound.queue.chunk(tsn).is_some_and(|chunk| chunk.is_in_flight());
            body.chunks.push(if is_copy {
                self.transmit_copy(tsn, index, now)
            } else {
                self.transmit(tsn, index, now)
            });
            first = false;
        }
    }

    /// Data may be bundled with COOKIE ECHO (RFC 9260, section 5.1, D).
    pub(super) fn bundle_with_cookie(&mut self, index: usize, room: u32, body: &mut SctpPacket, now: Instant) {
        let length = self.outbound.next_length(self.fragmentation_point());
        let fits = length.is_some_and(|length| padded(DataChunk::HEADER_LENGTH + length) <= room);
        if fits && self.outbound.queue.is_empty() && self.scheduler.is_none() {
            self.fill_with_new(body, index, room, now);
        }
    }

    /// Data bundled with an unanswered COOKIE ECHO counts as lost.
    pub(super) fn take_back_unanswered(&mut self) {
        let tsns: Vec<u64> = self.outbound.queue.iter().map(|(tsn, _)| tsn).collect();
        tsns.into_iter().for_each(|tsn| self.mark_lost(tsn));
        self.destinations.iter_mut().for_each(|destination| destination.timer.stop());
    }

    /// Records a chunk as sent, and builds it.
    pub(super) fn transmit(&mut self, tsn: u64, index: usize, now: Instant) -> Chunk {
        let length = self.count_move(tsn, index);
        let is_probe = self.peer.window.on_transmit(tsn, length, self.outbound.queue.in_flight());
        self.counters.window_probes += u64::from(is_probe);
        self.outbound.queue.transmit(tsn, index, &mut self.destinations[index].flight, now);
        self.destinations[index].on_data_sent(length, &self.config, now);
        self.outbound.data_chunk(tsn, self.stream.finished)
    }

    /// Records a copy of a chunk in flight as sent, and builds it.
    fn transmit_copy(&mut self, tsn: u64, index: usize, now: Instant) -> Chunk {
        self.count_move(tsn, index);
        let length = self.outbound.queue.transmit_copy(tsn, index, &mut self.destinations[index].flight);
        self.destinations[index].on_data_sent(length, &self.config, now);
        self.outbound.data_chunk(tsn, self.stream.finished)
    }

    /// A chunk leaves for a destination. Returns its length.
    fn count_move(&mut self, tsn: u64, index: usize) -> u64 {
        let Some(chunk) = self.outbound.queue.chunk(tsn) else { return 0 };
        let length = chunk.length();
        if chunk.moves_to(index) {
            let counters = &mut self.destinations[index].counters;
            counters.chunks_moved += 1;
            counters.bytes_moved += length;
        }
        length
    }
}

fn sctp_body(packet: &mut Packet) -> Option<&mut SctpPacket> {
    match &mut packet.body {
        subflow_wire::Body::Sctp(body) => Some(body),
        _ => None,
    }
}
