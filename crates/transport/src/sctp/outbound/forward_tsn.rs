//! Partial reliability at the sender: data that is given up, and FORWARD-TSN (RFC 3758, section 3.5; RFC 7496, section
//! 3).

use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{Chunk, ForwardTsnChunk, SkippedStream};

use super::Outbound;
use super::sent_chunk::{SentChunk, Status};
use crate::sctp::Counters;
use crate::sctp::destinations::Destinations;

/// How far data was abandoned, and the FORWARD-TSNs sent about it.
#[derive(Clone, Debug, Default)]
pub(super) struct ForwardTsn {
    /// Advanced.Peer.Ack.Point (RFC 3758, section 3.5).
    advanced_peer_ack_point: u64,
    /// One is sent with the next packet.
    due: bool,
    /// The new cumulative TSN of the last one, and when it was sent.
    last_sent: Option<(u64, Instant)>,
}

impl ForwardTsn {
    /// Whether the last one is out of date or was sent at least one round trip ago. Rule C3 asks for one with every
    /// SACK until the peer has advanced, and the peer would answer each of them by a SACK.
    fn has_news(&self, round_trip: Option<Duration>, now: Instant) -> bool {
        self.last_sent.is_none_or(|(point, at)| {
            self.advanced_peer_ack_point > point || round_trip.is_none_or(|round_trip| now.since(at) >= round_trip)
        })
    }
}

impl Outbound {
    /// Whether a chunk is lost, and is to be abandoned instead of retransmitted (rule A3).
    #[inline]
    pub(in crate::sctp) fn is_expired(&self, tsn: u64, now: Instant) -> bool {
        let chunk = self.queue.chunk(tsn).filter(|chunk| chunk.status() == Status::Lost);
        chunk.is_some_and(|chunk| {
            let fragment = chunk.fragment();
            fragment.expires.is_some_and(|at| at <= now)
                || fragment.most_retransmissions.is_some_and(|most| chunk.transmissions() > most)
        })
    }

    /// The chunks of the same message as a chunk, which have consecutive TSNs.
    pub(in crate::sctp) fn message_around(&self, tsn: u64) -> impl Iterator<Item = (u64, &SentChunk)> {
        let message = self.queue.chunk(tsn).map(|chunk| chunk.fragment().message);
        let of_message = move |tsn| self.queue.chunk(tsn).filter(|chunk| Some(chunk.fragment().message) == message);
        let mut first = tsn;
        while of_message(first - 1).is_some() {
            first -= 1;
        }
        (first..).map_while(move |tsn| Some((tsn, of_message(tsn)?)))
    }

    /// Abandons the message of a chunk: those of its chunks that have TSNs, and what is left of it.
    pub(in crate::sctp) fn abandon_message(
        &mut self,
        tsn: u64,
        destinations: &mut Destinations,
        counters: &mut Counters,
        now: Instant,
    ) {
        let Some(chunk) = self.queue.chunk(tsn) else { return };
        let (message, index) = (chunk.fragment().message, chunk.destination());
        counters.messages_abandoned += 1;
        let mut freed = 0;
        if let Some((rest, end)) = self.messages.abandon(message) {
            freed += rest;
            // The last fragment, which is never sent, gets its own TSN: otherwise the peer would see the next message
            // begin directly after a fragment that is not the last one, which is a protocol violation.
            self.queue.assign(end, index, now);
        }
        let tsns: Vec<u64> = self.message_around(tsn).map(|(tsn, _)| tsn).collect();
        for tsn in tsns {
            freed += self.queue.abandon(tsn, destinations);
        }
        self.free_abandoned(freed, counters);
    }

    /// Drops messages whose lifetime is over and of which nothing was sent.
    #[inline]
    pub(in crate::sctp) fn drop_expired(&mut self, counters: &mut Counters, now: Instant) {
        let dropped = self.messages.drop_expired(now);
        self.free_abandoned(dropped, counters);
    }

    /// Drops unsent messages for the stream `first` and those above, which the peer does not accept.
    pub(in crate::sctp) fn drop_streams_from(&mut self, first: u16, counters: &mut Counters) {
        let dropped = self.messages.drop_streams_from(first);
        self.free_abandoned(dropped, counters);
    }

    #[inline]
    fn free_abandoned(&mut self, bytes: u64, counters: &mut Counters) {
        counters.bytes_abandoned += bytes;
        self.freed += bytes;
    }

    /// Advances Advanced.Peer.Ack.Point (rules C1 and C2). Returns whether it is then beyond the peer's cumulative TSN.
    #[inline]
    pub(in crate::sctp) fn advance_peer_ack_point(&mut self) -> bool {
        let mut point = self.forward_tsn.advanced_peer_ack_point.max(self.queue.cumulative());
        while self.queue.chunk(point + 1).is_some_and(|chunk| chunk.status() == Status::Abandoned) {
            point += 1;
        }
        self.forward_tsn.advanced_peer_ack_point = point;
        self.awaits_forward()
    }

    /// Whether the peer has not yet acknowledged that data was abandoned.
    #[inline]
    pub(in crate::sctp) fn awaits_forward(&self) -> bool {
        self.forward_tsn.advanced_peer_ack_point > self.queue.cumulative()
    }

    /// The peer has not advanced yet: a FORWARD-TSN is due, if it has something new to say or the last one may be lost
    /// (rule C3).
    pub(in crate::sctp) fn schedule_forward_tsn(&mut self, round_trip: Option<Duration>, now: Instant) {
        self.forward_tsn.due |= self.forward_tsn.has_news(round_trip, now);
    }

    /// T3 expired with nothing in flight: the last FORWARD-TSN was lost, and another is due, unless the peer has
    /// advanced. Returns whether it is.
    pub(in crate::sctp) fn repeat_forward_tsn(&mut self) -> bool {
        self.forward_tsn.due = self.awaits_forward();
        self.forward_tsn.due
    }

    /// The FORWARD-TSN that is due (rule C4).
    #[inline]
    pub(in crate::sctp) fn take_forward_tsn(&mut self, counters: &mut Counters, now: Instant) -> Option<Chunk> {
        if !core::mem::take(&mut self.forward_tsn.due) || !self.awaits_forward() {
            return None;
        }
        counters.forward_tsns_sent += 1;
        let point = self.forward_tsn.advanced_peer_ack_point;
        self.forward_tsn.last_sent = Some((point, now));
        Some(self.forward_to(point))
    }

    /// A FORWARD-TSN with this new cumulative TSN.
    fn forward_to(&self, point: u64) -> Chunk {
        let mut streams: Vec<SkippedStream> = Vec::new();
        for (_, chunk) in self.queue.iter().take_while(|&(tsn, _)| tsn <= point) {
            let fragment = chunk.fragment();
            if fragment.unordered {
                continue;
            }
            let skipped = SkippedStream { stream: fragment.stream, stream_sequence: fragment.ssn as u16 };
            match streams.iter_mut().find(|known| known.stream == skipped.stream) {
                Some(known) => known.stream_sequence = skipped.stream_sequence,
                None => streams.push(skipped),
            }
        }
        Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn: self.tsns.wire(point), streams })
    }
}
