//! Partial reliability at the sender: abandoned data and FORWARD-TSN (RFC 3758, section 3.5; RFC 7496, section 3).

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, ForwardTsnChunk, SkippedStream};

use super::Association;
use super::outbound::{SentChunk, Status};

/// How far data was abandoned, and the FORWARD-TSNs sent about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForwardTsnState {
    /// Advanced.Peer.Ack.Point (RFC 3758, section 3.5).
    pub(super) advanced_peer_ack_point: u64,
    /// A FORWARD-TSN is sent with the next packet.
    pub(super) due: bool,
    /// The new cumulative TSN of the last FORWARD-TSN, and when it was sent.
    last_sent: Option<(u64, Instant)>,
}

impl Association {
    /// Whether a chunk is to be abandoned instead of retransmitted.
    fn is_expired(chunk: &SentChunk, now: Instant) -> bool {
        let fragment = &chunk.fragment;
        fragment.expires.is_some_and(|at| at <= now)
            || fragment.most_retransmissions.is_some_and(|most| chunk.transmissions > most)
    }

    /// Abandons a lost chunk, and with it its message, if it is not to be retransmitted (rule A3). Returns whether it
    /// did.
    pub(super) fn abandon_if_expired(&mut self, tsn: u64, now: Instant) -> bool {
        let chunk = self.outbound.chunk(tsn).filter(|chunk| chunk.status == Status::Lost);
        let expired = chunk.is_some_and(|chunk| Self::is_expired(chunk, now));
        if !expired || !self.extensions.forward_tsn {
            return false;
        }
        self.abandon_message(tsn, now);
        true
    }

    /// Drops messages whose lifetime is over and of which nothing was sent, and abandons those of which a part was
    /// sent.
    pub(super) fn expire_messages(&mut self, now: Instant) {
        if !self.extensions.forward_tsn {
            return;
        }
        let dropped = self.messages.drop_expired(now);
        self.free_abandoned(dropped);
    }

    fn abandon_message(&mut self, tsn: u64, now: Instant) {
        let Some(message) = self.outbound.chunk(tsn).map(|chunk| chunk.fragment.message) else { return };
        self.counters.messages_abandoned += 1;
        if let Some((rest, end)) = self.messages.abandon(message) {
            self.free_abandoned(rest);
            // The last fragment, which is never sent, gets its own TSN: otherwise the peer would see the next message
            // begin directly after a fragment that is not the last one, which is a protocol violation.
            let index = self.outbound.chunk(tsn).map_or(0, |chunk| chunk.destination);
            self.assign(end, index, now);
        }
        // The fragments of a message have consecutive TSNs.
        let is_of = |chunk: Option<&SentChunk>| chunk.is_some_and(|chunk| chunk.fragment.message == message);
        let mut first = tsn;
        while is_of(self.outbound.chunk(first - 1)) {
            first -= 1;
        }
        let mut at = first;
        while is_of(self.outbound.chunk(at)) {
            self.abandon_chunk(at);
            at += 1;
        }
    }

    fn abandon_chunk(&mut self, tsn: u64) {
        // Out of flight first, as if it and its copies were lost.
        while self.outbound.chunk(tsn).is_some_and(|chunk| chunk.status == Status::InFlight) {
            self.mark_lost(tsn);
        }
        self.outbound.take_lost(tsn);
        let Some(chunk) = self.outbound.chunk_mut(tsn) else { return };
        let (length, status) = (chunk.length(), chunk.status);
        chunk.status = Status::Abandoned;
        if status != Status::NonRenegable {
            self.free_abandoned(length);
        }
    }

    pub(super) fn free_abandoned(&mut self, bytes: u64) {
        self.counters.bytes_abandoned += bytes;
        self.freed += bytes;
        self.wake_writer();
    }

    /// Advances Advanced.Peer.Ack.Point (rules C1 and C2). If it is then beyond the peer's cumulative TSN, a
    /// FORWARD-TSN is due (rule C3).
    pub(super) fn advance_abandoned_point(&mut self, now: Instant) {
        self.forward_tsn.advanced_peer_ack_point =
            self.forward_tsn.advanced_peer_ack_point.max(self.outbound.cumulative());
        if !self.extensions.forward_tsn {
            return;
        }
        if self.outbound.may_expire() {
            for tsn in self.outbound.lost.all() {
                self.abandon_if_expired(tsn, now);
            }
        }
        while self
            .outbound
            .chunk(self.forward_tsn.advanced_peer_ack_point + 1)
            .is_some_and(|chunk| chunk.status == Status::Abandoned)
        {
            self.forward_tsn.advanced_peer_ack_point += 1;
        }
        if self.forward_is_outstanding() {
            self.forward_tsn.due |= self.has_news_for_peer(now);
            self.keep_timer_running(now);
        }
    }

    /// Whether the last FORWARD-TSN is out of date or was sent at least one round trip ago. Rule C3 asks for one with
    /// every SACK until the peer has advanced, and the peer would answer each of them by a SACK.
    fn has_news_for_peer(&self, now: Instant) -> bool {
        let round_trip = self.destinations[self.current_destination()].rto.srtt();
        self.forward_tsn.last_sent.is_none_or(|(point, at)| {
            self.forward_tsn.advanced_peer_ack_point > point
                || round_trip.is_none_or(|round_trip| now.since(at) >= round_trip)
        })
    }

    /// Whether the peer has not yet acknowledged that data was abandoned.
    pub(super) fn forward_is_outstanding(&self) -> bool {
        self.forward_tsn.advanced_peer_ack_point > self.outbound.cumulative()
    }

    /// A FORWARD-TSN may be lost, so a T3 timer has to run (rule C5).
    pub(super) fn keep_timer_running(&mut self, now: Instant) {
        if self.destinations.iter().any(|destination| destination.t3.is_some()) {
            return;
        }
        let index = self.current_destination();
        self.destinations[index].t3 = Some(self.deadline(now, self.destinations[index].rto.rto()));
    }

    /// The FORWARD-TSN that is due (rule C4).
    pub(super) fn take_forward_tsn(&mut self, now: Instant) -> Option<Chunk> {
        if !core::mem::take(&mut self.forward_tsn.due) || !self.forward_is_outstanding() {
            return None;
        }
        self.counters.forward_tsns_sent += 1;
        self.forward_tsn.last_sent = Some((self.forward_tsn.advanced_peer_ack_point, now));
        let mut streams: Vec<SkippedStream> = Vec::new();
        for tsn in self.outbound.cumulative() + 1..=self.forward_tsn.advanced_peer_ack_point {
            let Some(chunk) = self.outbound.chunk(tsn) else { break };
            if chunk.fragment.unordered {
                continue;
            }
            let skipped = SkippedStream { stream: chunk.fragment.stream, stream_sequence: chunk.fragment.ssn as u16 };
            match streams.iter_mut().find(|known| known.stream == skipped.stream) {
                Some(known) => known.stream_sequence = skipped.stream_sequence,
                None => streams.push(skipped),
            }
        }
        let new_cumulative_tsn = self.local_tsns.wire(self.forward_tsn.advanced_peer_ack_point);
        Some(Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn, streams }))
    }
}
