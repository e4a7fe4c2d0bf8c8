//! Received data: which chunks are accepted, duplicate or dropped for lack of space (RFC 9260, section 6.2).

use subflow_wire::sctp::{DataChunk, ErrorCause, ForwardTsnChunk};

use super::delivery::Delivery;
use super::input::Origin;
use super::reassembly::Arrived;
use super::tsn::unwrap_ssn;
use super::{Association, State};
use crate::tcp::Closed;

/// The maximum number of fragments and messages that wait. Those ahead of the cumulative TSN are at most
/// [`MOST_TSNS_AHEAD`](super::config::MOST_TSNS_AHEAD); below it only fragments of long messages wait, which are
/// partially delivered when there are too many, and messages of streams in which the peer has omitted an earlier
/// message.
pub(super) const MAX_HELD_PIECES: usize = 1 << 16;

/// A chunk whose data was accepted, for the edge that stores its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenChunk {
    /// Its place among all chunks of the packet.
    pub index: usize,
    /// Its number, counted from 1 for the peer's initial TSN, as in [`Delivery::tsns`].
    pub tsn: u64,
}

impl Association {
    pub(super) fn on_data(&mut self, index: usize, data: &DataChunk) {
        if !self.state.may_receive_data() {
            return;
        }
        if data.payload.length == 0 {
            self.abort_with(vec![ErrorCause::NoUserData { tsn: data.tsn }], Closed::Aborted);
            return;
        }
        self.counters.data_chunks_received += 1;
        let Some(tsn) = self.remote_tsns.unwrap(data.tsn, self.arrivals.cumulative()) else { return };
        if tsn == 0 || self.arrivals.contains(tsn) {
            self.counters.duplicates_received += 1;
            self.arrivals.note_duplicate(tsn);
            self.sack.note_data(true);
            return;
        }
        if tsn - self.arrivals.cumulative() > u64::from(self.config.most_tsns_ahead) {
            self.sack.note_data(true);
            return;
        }
        if !self.has_room_for(tsn, u64::from(data.payload.length)) {
            self.sack.note_data(true);
            return;
        }
        self.sack.note_data(data.immediate);
        if data.stream >= self.inbound_streams {
            // It counts as received, and its data is discarded (section 6.5).
            self.arrivals.insert(tsn);
            self.report(ErrorCause::InvalidStreamIdentifier { stream: data.stream });
            return;
        }
        self.take(index, tsn, data);
    }

    /// Whether there is space for a chunk. A chunk that fills a gap has priority over data beyond it, which is dropped
    /// if that is allowed; with NR-SACK the buffer's limit is exceeded instead, by at most the data in flight.
    fn has_room_for(&mut self, tsn: u64, length: u64) -> bool {
        if self.reassembly.pieces() >= MAX_HELD_PIECES && !self.deliver_partially() {
            return false;
        }
        if self.receive_window() >= length {
            return true;
        }
        // An empty buffer accepts any chunk: otherwise data larger than the buffer would never arrive.
        if self.reassembly.held() + self.stream.unread() == 0 {
            return true;
        }
        // Where the application reads, a message that can begin need not wait for its end.
        while self.reassembly.held() > 0 && self.deliver_partially() {
            if self.receive_window() >= length {
                return true;
            }
        }
        if tsn > self.arrivals.highest() {
            return false;
        }
        let may_renege = self.config.reneging && !self.extensions.nr_sack;
        while may_renege && self.receive_window() < length && self.arrivals.highest() > tsn {
            let highest = self.arrivals.highest();
            if !self.reassembly.drop_chunk(highest) {
                break;
            }
            self.arrivals.renege_highest();
            self.counters.reneged += 1;
        }
        // The next chunk in order is always accepted: it makes the data that waits for it deliverable.
        self.receive_window() >= length || !may_renege || tsn == self.arrivals.cumulative() + 1
    }

    fn take(&mut self, index: usize, tsn: u64, data: &DataChunk) {
        let next = self.reassembly.next_of(data.stream);
        let ssn = if data.unordered { 0 } else { unwrap_ssn(data.stream_sequence, next).unwrap_or(u64::MAX) };
        self.arrivals.insert(tsn);
        self.taken.push(TakenChunk { index, tsn });
        // A sequence number from before the beginning of the stream: its message was skipped.
        if ssn == u64::MAX {
            return;
        }
        let arrived = Arrived {
            stream: data.stream,
            ssn,
            unordered: data.unordered,
            payload_protocol: data.protocol_identifier,
            begins: data.begin,
            ends: data.end,
            length: u64::from(data.payload.length),
        };
        let mut out = core::mem::take(&mut self.scratch.deliveries);
        if let Err(violation) = self.reassembly.insert(tsn, arrived, &mut out) {
            self.abort_with(vec![violation.cause()], Closed::Aborted);
        }
        self.deliver(&mut out);
        self.scratch.deliveries = out;
        if self.reassembly.held() >= self.config.partial_delivery_point {
            self.deliver_partially();
        }
    }

    /// Begins the partial delivery of a message whose end has not arrived. Returns whether there was such a message.
    fn deliver_partially(&mut self) -> bool {
        let mut out = core::mem::take(&mut self.scratch.deliveries);
        let begun = self.stream.reading && self.reassembly.begin_partial(&mut out);
        self.deliver(&mut out);
        self.scratch.deliveries = out;
        begun
    }

    fn deliver(&mut self, out: &mut Vec<Delivery>) {
        for delivery in out.drain(..) {
            self.stream.on_received(delivery.bytes);
            match self.delivered.last_mut() {
                Some((_, last)) if *last + 1 == delivery.tsns.0 => *last = delivery.tsns.1,
                _ => self.delivered.push(delivery.tsns),
            }
            if self.config.record_deliveries {
                self.deliveries.push_back(delivery);
            }
        }
    }

    /// A packet has been processed: handles the acknowledgment of its data.
    pub(super) fn finish_data(&mut self, origin: Origin) {
        if !self.sack.had_data() || self.state.is_closed() {
            return;
        }
        self.schedule_sack(origin.destination, origin.now);
        if self.state == State::ShutdownSent {
            self.on_data_after_shutdown(origin.now);
        }
    }

    /// The peer has abandoned data (RFC 3758, section 3.6).
    pub(super) fn on_forward_tsn(&mut self, forward: &ForwardTsnChunk) {
        if !self.extensions.forward_tsn || !self.state.may_receive_data() {
            return;
        }
        let Some(tsn) = self.remote_tsns.unwrap(forward.new_cumulative_tsn, self.arrivals.cumulative()) else { return };
        self.sack.note_data(true);
        let ahead = tsn.saturating_sub(self.arrivals.cumulative());
        if ahead == 0 || ahead > u64::from(u16::MAX) {
            return;
        }
        let passed = |skipped: &subflow_wire::sctp::SkippedStream| {
            let next = self.reassembly.next_of(skipped.stream);
            let ssn = unwrap_ssn(skipped.stream_sequence, next)?;
            (skipped.stream < self.inbound_streams).then_some((skipped.stream, ssn))
        };
        let streams: Vec<(u16, u64)> = forward.streams.iter().filter_map(passed).collect();
        self.arrivals.advance(tsn);
        let mut out = core::mem::take(&mut self.scratch.deliveries);
        self.reassembly.forward(tsn, &streams, &mut out);
        self.deliver(&mut out);
        self.scratch.deliveries = out;
    }

    /// The application has read the first `total` bytes that were delivered, and reads no more by itself.
    pub(crate) fn set_bytes_read(&mut self, total: u64) {
        self.stream.set_bytes_read(total);
        self.update_window();
    }

    /// The application reads from now on, or stops.
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.stream.reading = reading;
        if reading {
            self.stream.read = self.stream.received;
            self.update_window();
        }
    }
}
