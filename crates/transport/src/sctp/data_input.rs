//! Received data: what is taken, what is a duplicate, what has no room (RFC 9260, section 6.2).

use subflow_wire::sctp::{DataChunk, ErrorCause, ForwardTsnChunk};

use super::delivery::Delivery;
use super::input::Origin;
use super::reassembly::Arrived;
use super::tsn::unwrap_ssn;
use super::{Association, State};
use crate::tcp::Closed;

/// Most fragments and messages that wait. Those ahead of the cumulative TSN are
/// [`MOST_TSNS_AHEAD`](super::config::MOST_TSNS_AHEAD) at most; behind it wait only the fragments of long messages,
/// which are delivered in parts when there are so many, and messages on whose stream the peer has left one out.
pub(super) const MAX_HELD_PIECES: usize = 1 << 16;

/// A chunk whose data was taken in, for the edge that holds its bytes.
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
            // It counts as received, and its data is of no use (section 6.5).
            self.arrivals.insert(tsn);
            self.report(ErrorCause::InvalidStreamIdentifier { stream: data.stream });
            return;
        }
        self.take(index, tsn, data);
    }

    /// Whether a chunk finds room. One that fills a hole goes before data beyond it, which is dropped where that is
    /// allowed; with NR-SACK the buffer is overdrawn instead, by no more than what is in flight.
    fn has_room_for(&mut self, tsn: u64, length: u64) -> bool {
        if self.reassembly.pieces() >= MAX_HELD_PIECES && !self.deliver_partially() {
            return false;
        }
        if self.receive_window() >= length {
            return true;
        }
        // A buffer with nothing in it takes anything: data larger than the buffer would never arrive.
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
        // The next in order is taken in any case: it makes what waits for it deliverable.
        self.receive_window() >= length || !may_renege || tsn == self.arrivals.cumulative() + 1
    }

    fn take(&mut self, index: usize, tsn: u64, data: &DataChunk) {
        let next = self.reassembly.next_of(data.stream);
        let ssn = if data.unordered { 0 } else { unwrap_ssn(data.stream_sequence, next).unwrap_or(u64::MAX) };
        self.arrivals.insert(tsn);
        self.taken.push(TakenChunk { index, tsn });
        // A number from before the beginning of the stream: its message was passed over.
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

    /// Begins to deliver a message whose end is not there yet. Gives whether there was one.
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
            if self.config.record_deliveries {
                self.deliveries.push_back(delivery);
            }
        }
    }

    /// A packet is behind: what its data asks for.
    pub(super) fn finish_data(&mut self, origin: Origin) {
        if !self.sack.had_data() || self.state.is_closed() {
            return;
        }
        self.schedule_sack(origin.destination, origin.now);
        if self.state == State::ShutdownSent {
            self.on_data_after_shutdown(origin.now);
        }
    }

    /// The peer has given up data (RFC 3758, section 3.6).
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

    /// The application reads from now on, or stops.
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.stream.reading = reading;
        if reading {
            self.stream.read = self.stream.received;
            self.update_window();
        }
    }
}
