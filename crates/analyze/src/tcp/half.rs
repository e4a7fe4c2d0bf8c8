//! What one end of a connection sent, and what of it was acknowledged.
//!
//! Sequence numbers are extended to 64 bits: the low 32 bits are those of the segments.

use subflow_wire::tcp::{SackBlock, TcpFlags, TcpSegment};

use super::episodes::Episodes;
use super::estimates::Estimates;
use super::flight::Flight;
use super::recovery::{Again, Cause, Evidence, Retransmissions};
use super::rtt::RoundTrips;
use crate::over_time::OverTime;
use crate::ranges::Ranges;

/// The upper half of the first extended sequence number, so that earlier ones exist.
const ORIGIN: u64 = 1 << 32;

/// What a segment sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// No sequence number.
    Nothing,
    /// Data, SYN or FIN, from this extended sequence number on, for the first time.
    New(u64),
    /// What was captured before, and why it is sent again.
    Again(Cause),
}

/// One end's half of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    pub(crate) first_time: Option<u64>,
    pub(crate) packets: u64,
    /// Packets with data.
    pub(crate) data_packets: u64,
    /// Bytes of data in all of them.
    pub(crate) bytes: u64,
    pub(crate) retransmissions: Retransmissions,
    /// Segments that fill a hole: they were retransmitted, or reordered, before the point of capture.
    pub(crate) out_of_order: u64,
    /// When the first of the present holes appeared.
    hole_since: Option<u64>,
    /// How long there were holes, in nanoseconds.
    pub(crate) holes_time: u64,
    /// When the last new data was captured.
    pub(crate) last_new: Option<u64>,
    /// When data was acknowledged last.
    pub(crate) last_acknowledged: Option<u64>,
    pub(crate) round_trips: RoundTrips,
    pub(crate) most_in_flight: u64,
    /// How long the peer's window had no room for another segment, in nanoseconds.
    window_limited: u64,
    /// How long nothing was in flight after the first data and before the FIN, in nanoseconds.
    pub(crate) idle: u64,
    pub(crate) window_scale: Option<u8>,
    /// Whether its SYN, if that was captured, permits SACK.
    pub(crate) permits_sack: Option<bool>,
    pub(crate) has_finished: bool,
    pub(crate) over_time: OverTime,
    pub(crate) estimates: Estimates,
    pub(crate) episodes: Episodes,
    initial: Option<u64>,
    first: Option<u64>,
    next: u64,
    acknowledged: Option<u64>,
    finish: Option<u64>,
    sent: Ranges,
    /// The largest segment.
    pub(crate) largest: u64,
    /// The peer's window, if it is known how that is scaled, and the last field of it.
    peer_window: Option<u64>,
    last_window: Option<u16>,
    in_flight: Flight,
    evidence: Evidence,
    last_look: Option<u64>,
}

impl Half {
    pub(crate) fn initial_sequence(&self) -> Option<u32> {
        self.initial.map(|initial| initial as u32)
    }

    /// The position of an extended sequence number behind the SYN: 1 is the first byte of data, as in MPTCP's mappings.
    pub(crate) fn relative(&self, sequence: u64) -> Option<u64> {
        self.initial.and_then(|initial| sequence.checked_sub(initial))
    }

    /// The position of a sequence number in the data: 0 is the first byte that was captured, or the one behind the SYN.
    pub(crate) fn position(&self, sequence: u32) -> u64 {
        self.extended(sequence).saturating_sub(self.first.unwrap_or(0))
    }

    /// Bytes of data that have reached the peer: those that it acknowledged, or without acknowledgments those captured.
    pub(crate) fn delivered(&self) -> u64 {
        let Some(first) = self.first else { return 0 };
        let captured = self.sent.total();
        let Some(acknowledged) = self.acknowledged else { return captured };
        let end = self.finish.map_or(acknowledged, |finish| acknowledged.min(finish));
        end.saturating_sub(first)
    }

    /// Whether acknowledgments of what it sent were captured.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged.is_some()
    }

    /// How long the peer's window had no room, in nanoseconds, if it is known how that is scaled.
    pub(crate) fn window_limited(&self) -> Option<u64> {
        self.peer_window.map(|_| self.window_limited)
    }

    /// Bytes of data that were acknowledged and are not in the capture.
    pub(crate) fn missing(&self) -> u64 {
        let Some(first) = self.first else { return 0 };
        let end = self.acknowledged.unwrap_or(self.next).min(self.finish.unwrap_or(u64::MAX));
        end.saturating_sub(first).saturating_sub(self.sent.known(first, end))
    }

    /// `has_sack` if its peer has not declined SACK.
    pub(super) fn send(&mut self, segment: &TcpSegment, has_sack: bool, time: u64) -> Sending {
        self.look(time);
        self.packets += 1;
        self.first_time.get_or_insert(time);
        self.estimates.sent(segment, self.packets, time);
        let has = |flag| segment.flags.contains(flag);
        if has(TcpFlags::RST) {
            return Sending::Nothing;
        }
        if has(TcpFlags::SYN) && self.bytes == 0 && self.initial.is_some_and(|it| it as u32 != segment.sequence) {
            self.begin_anew();
        }
        let start = self.extended(segment.sequence);
        if has(TcpFlags::SYN) {
            self.initial.get_or_insert(start);
            self.window_scale = segment.options.syn.window_scale;
            self.permits_sack = Some(segment.options.syn.sack_permitted);
        }
        let length = u64::from(segment.payload.length);
        let data = start + u64::from(has(TcpFlags::SYN));
        let end = data + length + u64::from(has(TcpFlags::FIN));
        self.first.get_or_insert(data);
        if end == start {
            return Sending::Nothing;
        }
        if has(TcpFlags::FIN) {
            self.finish = Some(data + length);
            self.has_finished = true;
        }
        if length > 0 {
            self.data_packets += 1;
            self.bytes += length;
            self.largest = self.largest.max(length);
            self.over_time.sent(time, length);
        }
        let value = segment.options.timestamps.map(|timestamps| timestamps.value);
        let can_be_probe = has_sack && self.permits_sack != Some(false) && !has(TcpFlags::SYN);
        self.classify((start, end), (data, data + length), (value, can_be_probe), time)
    }

    /// Another initial sequence number, before any data: that of a server without memory of its first SYN/ACK.
    fn begin_anew(&mut self) {
        let Self { first_time, packets, retransmissions, last_look, .. } = *self;
        *self = Self { first_time, packets, retransmissions, last_look, ..Self::default() };
    }

    fn classify(
        &mut self,
        (start, end): (u64, u64),
        (data, data_end): (u64, u64),
        (value, can_be_probe): (Option<u32>, bool),
        time: u64,
    ) -> Sending {
        let unacknowledged = self.acknowledged.unwrap_or(self.first.unwrap_or(start));
        // A byte that is acknowledged already probes the peer (RFC 9293, section 3.8.4).
        if end <= unacknowledged && end - start == 1 && data_end > data {
            return Sending::Again(Cause::Other);
        }
        let is_known = start < self.next && (data_end == data || self.sent.known(data, data_end) > 0);
        if is_known && self.packets > 1 {
            self.retransmissions.bytes += data_end - data;
            let [is_repeated, is_overtaken] = self.in_flight.was(start);
            let next = self.next;
            let again =
                Again { start, end, unacknowledged, next, value, can_be_probe, is_repeated, is_overtaken, time };
            let before = self.retransmissions;
            let cause = self.evidence.classify(&again, &self.round_trips, &mut self.retransmissions);
            self.estimates.sent_again(self.next, self.largest, [&before, &self.retransmissions]);
            if matches!(cause, Cause::Fast | Cause::Other) && data_end > data {
                self.episodes.again(start, self.next, self.round_trips.wait());
            }
            self.in_flight.sent_again(start, end, time);
            if self.sent.insert(data, data_end) == 0 && end <= self.next {
                return Sending::Again(cause);
            }
        } else if start < self.next {
            self.out_of_order += 1;
            self.sent.insert(data, data_end);
        } else {
            self.evidence.sent(self.next <= unacknowledged, time);
            self.sent.insert(data, data_end);
        }
        self.advance(end, data_end > data, time);
        Sending::New(data)
    }

    /// Data up to `end` was captured for the first time.
    fn advance(&mut self, end: u64, is_data: bool, time: u64) {
        if end > self.next {
            self.next = end;
            self.in_flight.sent(end, time);
        }
        if is_data {
            self.last_new = Some(time);
        }
        match (self.sent.has_holes(), self.hole_since) {
            (true, None) => self.hole_since = Some(time),
            (false, Some(since)) => {
                self.holes_time += time.saturating_sub(since);
                self.hole_since = None;
            }
            _ => {}
        }
        let flight = self.flight();
        self.most_in_flight = self.most_in_flight.max(flight);
        self.over_time.in_flight(time, flight);
        if is_data && let Some(window) = self.estimates.sent_new(flight, self.round_trips.smoothed(), time) {
            self.over_time.window(time, window);
        }
    }

    /// An acknowledgment of the peer, with its window shifted by `shift`, if that is known.
    pub(super) fn acknowledge(&mut self, segment: &TcpSegment, shift: Option<u8>, time: u64) {
        if self.first.is_none() {
            return;
        }
        self.look(time);
        self.estimates.received(segment, time);
        let acknowledged = self.extended(segment.acknowledgment);
        let before = self.acknowledged;
        let is_update = self.last_window.replace(segment.window).is_some_and(|last| last != segment.window);
        self.peer_window = shift.map(|shift| u64::from(segment.window) << shift);
        self.read_sack(&segment.options.sack, acknowledged, time);
        match before {
            Some(before) if acknowledged < before => return,
            Some(before) if acknowledged == before => {
                let is_bare = segment.payload.length == 0 && !segment.flags.contains(TcpFlags::FIN);
                let has_sack = !segment.options.sack.is_empty();
                if is_bare && !is_update && !has_sack && self.next > acknowledged {
                    self.evidence.duplicate(time);
                }
                return;
            }
            _ => {}
        }
        let data_before = before.unwrap_or(acknowledged).max(self.first.unwrap_or(0));
        let data_end = acknowledged.min(self.finish.unwrap_or(u64::MAX));
        self.acknowledged = Some(acknowledged);
        if data_end > data_before {
            self.last_acknowledged = Some(time);
            self.over_time.acknowledged(time, data_end - data_before);
        }
        let echo = segment.options.timestamps.map(|timestamps| timestamps.echo);
        let arrived = self.in_flight.acknowledged(acknowledged, self.round_trips.minimum, time);
        self.add_round_trip(arrived.newest, time);
        self.evidence.progressed(acknowledged, echo, arrived.has_original, time);
        self.estimates.progressed(acknowledged, time);
    }

    /// A sample of a segment that was sent at a time, if there is one.
    fn add_round_trip(&mut self, sent: Option<u64>, time: u64) {
        let Some(sent) = sent else { return };
        let sample = time.saturating_sub(sent);
        self.round_trips.add(sample);
        self.over_time.round_trip(time, sample);
    }

    /// A first block that is acknowledged, or part of the second, is a D-SACK (RFC 2883, section 4).
    fn read_sack(&mut self, blocks: &[SackBlock], acknowledged: u64, time: u64) {
        let extended = |block: &SackBlock| (self.extended(block.left), self.extended(block.right));
        let ranges: arrayvec::ArrayVec<(u64, u64), 4> = blocks.iter().map(extended).collect();
        let Some(&(left, right)) = ranges.first() else { return };
        let is_in_second = ranges.get(1).is_some_and(|&(start, end)| left >= start && right <= end);
        let is_duplicate = right <= acknowledged || is_in_second;
        if is_duplicate {
            self.retransmissions.spurious += 1;
            self.evidence.arrived_twice();
        }
        for &(start, end) in &ranges[usize::from(is_duplicate)..] {
            if end > acknowledged && end <= self.next {
                self.evidence.sacked(end, time);
                let newest = self.in_flight.sacked(start, end, self.round_trips.minimum, time);
                self.add_round_trip(newest, time);
                self.estimates.sacked(start.max(acknowledged), end);
            }
        }
    }

    /// Whether another half begins near where this one ends: it may be the next part of the same capture.
    pub(crate) fn is_continued_by(&self, next: &Self) -> bool {
        const NEAR: u32 = 1 << 20;
        let Some(first) = next.first.filter(|_| self.first.is_some()) else { return false };
        (first as u32).wrapping_sub(self.next as u32).cast_signed().unsigned_abs() < NEAR
    }

    /// Bytes that were sent and are not acknowledged.
    pub(crate) fn flight(&self) -> u64 {
        let acknowledged = self.acknowledged.unwrap_or(self.first.unwrap_or(self.next));
        self.next.saturating_sub(acknowledged)
    }

    /// Adds the time since the last look to what kept the sender from sending.
    fn look(&mut self, time: u64) {
        if let Some(last) = self.last_look.replace(time)
            && self.bytes > 0
            && !self.has_finished
        {
            let passed = time.saturating_sub(last);
            let flight = self.flight();
            if flight == 0 {
                self.idle += passed;
            }
            if flight > 0 && self.peer_window.is_some_and(|window| flight + self.largest > window) {
                self.window_limited += passed;
            } else {
                self.estimates.waited(flight, self.largest, passed);
            }
        }
    }

    /// The extended form of a sequence number, near the last one.
    pub(crate) fn extended(&self, sequence: u32) -> u64 {
        let reference = if self.first.is_some() { self.next.max(self.first.unwrap_or(0)) } else { 0 };
        if reference == 0 { ORIGIN | u64::from(sequence) } else { extend(reference, sequence) }
    }
}

/// The number nearest to `reference` whose low 32 bits are `low`.
pub(crate) fn extend(reference: u64, low: u32) -> u64 {
    let distance = low.wrapping_sub(reference as u32).cast_signed();
    reference.saturating_add_signed(i64::from(distance))
}
