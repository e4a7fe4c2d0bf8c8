//! How the data of a flow reaches its reader: on which subflow each range was sent, when it arrived, and for which
//! subflow the reader had to wait. It is recorded from the packets, so that hosts do no work for it.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};
use subflow_transport::tcp::Ends;

use super::carriers::{Carriers, Way};
use super::delays::FlowDelays;
use super::pieces::{Piece, Pieces};
use crate::event_log::Sending;
use crate::results::{Sequence, SequenceKind};

/// The record of one flow. Ranges count the bytes of the application's stream.
#[derive(Clone, Debug, Default)]
pub(super) struct DataPath {
    /// Ranges sent that cannot be read yet, in the order of the stream. The first has not arrived.
    pending: Pieces,
    /// The end of the data sent so far.
    sent: u64,
    /// Bytes that arrived and cannot be read yet.
    held: u64,
    /// The subflows that have carried data.
    carriers: Carriers,
    /// The time up to which is counted how long data waits for subflows.
    settled_at: Instant,
    since_sample: SinceSample,
    /// Since measuring began.
    delays: FlowDelays,
    /// What its reader could read.
    readable: Option<Sequence>,
    /// What happened last and is not in the record yet.
    noted: Vec<noted::Passage>,
}

/// What became readable since the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct SinceSample {
    pieces: u32,
    delay: Duration,
    waited: Duration,
    repeated_elsewhere: u64,
}

/// The state of a flow's data at a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DataSample {
    /// Bytes that arrived and wait for earlier data.
    pub(super) held: u64,
    /// Bytes sent that cannot be read yet.
    pub(super) outstanding: u64,
    /// The mean time from the first transmission until the data could be read, and the part of it after the arrival;
    /// of what became readable since the last sample.
    pub(super) delays: Option<[Duration; 2]>,
    /// Bytes sent again on another subflow since the last sample.
    pub(super) repeated_elsewhere: u64,
}

/// A subflow at a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CarrierSample {
    /// How long arrived data waited for data that this subflow carried last, since the last sample.
    pub(super) blocked: Duration,
    /// The end of the new data that was sent on it last.
    pub(super) sequence: u64,
}

impl DataPath {
    /// The sender sends a range this way.
    #[inline]
    pub(super) fn on_packet_sent(&mut self, way: Way<'_>, start: u64, end: u64, now: Instant) -> Sending {
        let carrier = self.carrier_of_way(way);
        self.on_sent(carrier, start, end, now)
    }

    #[inline]
    fn carrier_of_way(&mut self, way: Way<'_>) -> usize {
        self.carriers.of_way(way).unwrap_or_else(|| self.remember_way(way))
    }

    #[cold]
    fn remember_way(&mut self, way: Way<'_>) -> usize {
        let carrier = self.carrier(way.ends());
        self.carriers.remember(way, carrier);
        carrier
    }

    /// The sender sends a range on the subflow with these ends.
    pub(super) fn on_range_sent(&mut self, ends: Ends, start: u64, end: u64, now: Instant) -> Sending {
        let carrier = self.carrier(ends);
        self.on_sent(carrier, start, end, now)
    }

    #[inline]
    fn on_sent(&mut self, carrier: usize, start: u64, end: u64, now: Instant) -> Sending {
        if start < self.sent {
            return self.on_repeated(carrier, start, end, now);
        }
        self.pending.push(Piece::new(start, (end - start) as u32, now, carrier));
        self.sent = end;
        self.record_sent();
        Sending::New
    }

    fn on_repeated(&mut self, carrier: usize, start: u64, end: u64, now: Instant) -> Sending {
        self.settle(now);
        let mut sending = Sending::Retransmission;
        let first = self.pending.position(start);
        for piece in self.pending.from(first).iter_mut().take_while(|piece| piece.start < end) {
            if piece.carrier() != carrier {
                self.since_sample.repeated_elsewhere += piece.end().min(end) - piece.start.max(start);
                sending = Sending::Copy;
            }
            piece.repeat_on(carrier);
        }
        let kind = if sending == Sending::Copy { SequenceKind::Copied } else { SequenceKind::Retransmitted };
        self.carriers.carrier(carrier).mark(kind, start, now);
        sending
    }

    /// The sender considers the data from `start` lost, which this subflow carried.
    pub(super) fn on_lost(&mut self, ends: Ends, start: u64, now: Instant) {
        let carrier = self.carrier(ends);
        self.carriers.carrier(carrier).mark(SequenceKind::Lost, start, now);
    }

    /// The retransmission timer of a subflow has expired.
    pub(super) fn on_timeout(&mut self, ends: Ends, now: Instant) {
        self.catch_up();
        let carrier = self.carrier(ends);
        let oldest = self.pending.iter().find(|piece| piece.carrier() == carrier);
        let offset = oldest.map_or(self.sent, |piece| piece.start);
        self.carriers.carrier(carrier).mark(SequenceKind::TimedOut, offset, now);
    }

    /// Takes what has happened, with the ends of the subflow it happened on; `None` is the reader.
    pub(super) fn take_sequences(&mut self) -> Vec<(Option<Ends>, Sequence)> {
        let of_reader = self.readable.take().map(|sequence| (None, sequence));
        let of_subflows = self.carriers.take_sequences().map(|(ends, sequence)| (Some(ends), sequence));
        of_subflows.chain(of_reader).collect()
    }

    /// A range has arrived. Returns the range that can be read now.
    pub(super) fn on_range_arrived(&mut self, start: u64, end: u64, now: Instant) -> Option<Range<u64>> {
        let from = self.pending.front()?.start;
        self.arrive(start, end, now).map(|to| from..to)
    }

    /// The same, but returns only the end of the range.
    #[inline(always)]
    fn arrive(&mut self, start: u64, end: u64, now: Instant) -> Option<u64> {
        match self.pending.front() {
            // Most data is what the reader waits for, as it was sent.
            Some(&next) if (next.start, next.end(), next.is_repeated()) == (start, end, false) => {
                self.settle(now);
                self.pending.pop_front();
                self.read(&next, now, Duration::ZERO);
                let end = if self.held > 0 { self.read_on(end, now) } else { end };
                self.mark_readable(end, now);
                Some(end)
            }
            _ => self.arrive_otherwise(start, end, now),
        }
    }

    /// Reads what has arrived behind `end`. Returns the end of it.
    #[inline]
    fn read_on(&mut self, mut end: u64, now: Instant) -> u64 {
        while let Some(&piece) = self.pending.front().filter(|piece| piece.has_arrived()) {
            self.held -= piece.length();
            self.pending.pop_front();
            self.read(&piece, now, now - piece.arrived_at);
            end = piece.end();
        }
        end
    }

    #[inline(never)]
    fn arrive_otherwise(&mut self, start: u64, end: u64, now: Instant) -> Option<u64> {
        self.settle(now);
        let first = self.pending.position(start);
        if first > 0 {
            self.hold(first, end, now);
        }
        let arrived_to = if first == 0 { end } else { 0 };
        let mut readable = None;
        while let Some(&piece) = self.pending.front() {
            let waited = if piece.has_arrived() {
                self.held -= piece.length();
                now - piece.arrived_at
            } else if piece.end() <= arrived_to {
                Duration::ZERO
            } else {
                break;
            };
            self.pending.pop_front();
            self.read(&piece, now, waited);
            readable = Some(piece.end());
        }
        if let Some(end) = readable {
            self.mark_readable(end, now);
        }
        readable
    }

    /// A piece can be read, and has waited for earlier data.
    #[inline(always)]
    fn read(&mut self, piece: &Piece, now: Instant, waited: Duration) {
        let delay = now - piece.sent_at;
        match piece.has_arrived() || piece.is_repeated() {
            true => self.delays.on_readable(delay, waited),
            false => self.delays.on_read_at_once(piece.carrier(), delay),
        }
        self.since_sample.pieces += 1;
        self.since_sample.delay += delay;
        self.since_sample.waited += waited;
    }

    #[inline]
    fn mark_readable(&mut self, end: u64, now: Instant) {
        self.readable.get_or_insert_with(|| Sequence::new("", SequenceKind::Readable)).push(now, end);
    }

    /// Data up to `end` has arrived, from the piece `first` on, which is not the first of all: it waits.
    fn hold(&mut self, first: usize, end: u64, now: Instant) {
        for piece in self.pending.from(first).iter_mut().take_while(|piece| piece.end() <= end) {
            if !piece.has_arrived() {
                piece.arrived_at = now;
                self.held += piece.length();
                if !piece.is_repeated() {
                    self.delays.on_arrived(piece.carrier(), now - piece.sent_at);
                }
            }
        }
    }

    /// The sender has measured RTTs on a subflow.
    pub(super) fn on_rtts(&mut self, ends: Ends, samples: &[Duration]) {
        let carrier = self.carrier(ends);
        self.delays.on_rtts(carrier, samples);
    }

    /// Measuring begins: earlier delays do not count.
    pub(super) fn begin_delays(&mut self) {
        self.delays = FlowDelays::default();
        self.carriers.ends().iter().for_each(|ends| self.delays.add_subflow(*ends));
    }

    /// The delays since measuring began.
    pub(super) fn delays(&self) -> &FlowDelays {
        &self.delays
    }

    /// The subflows that have carried data, as seen by the sender.
    pub(super) fn carriers(&self) -> &[Ends] {
        self.carriers.ends()
    }

    /// Whether data has arrived that cannot be read yet: its time of waiting passes also where nothing happens.
    pub(super) fn is_waiting(&self) -> bool {
        self.held > 0
    }

    /// Takes a sample at `now`. The application has received all data below `read`.
    pub(super) fn sample(&mut self, read: u64, now: Instant) -> DataSample {
        self.settle(now);
        self.forget(read);
        let SinceSample { pieces, delay, waited, repeated_elsewhere } = core::mem::take(&mut self.since_sample);
        let mean = |sum: Duration| sum / u64::from(pieces);
        DataSample {
            held: self.held,
            outstanding: self.pending.front().map_or(0, |oldest| self.sent - oldest.start),
            delays: (pieces > 0).then(|| [mean(delay), mean(waited)]),
            repeated_elsewhere,
        }
    }

    /// The part of the [`sample`](Self::sample) for each of the [`carriers`](Self::carriers).
    pub(super) fn take_carrier_samples(&mut self) -> impl Iterator<Item = CarrierSample> + '_ {
        self.carriers
            .iter_mut()
            .map(|carrier| CarrierSample { blocked: core::mem::take(&mut carrier.blocked), sequence: carrier.sequence })
    }

    /// Drops what is kept of the data below `read`: what was cut into other pieces on the way never arrives as it was
    /// sent.
    pub(super) fn forget(&mut self, read: u64) {
        while let Some(piece) = self.pending.front().filter(|piece| piece.end() <= read) {
            self.held -= if piece.has_arrived() { piece.length() } else { 0 };
            self.pending.pop_front();
        }
    }

    fn carrier(&mut self, ends: Ends) -> usize {
        self.carriers.of_ends(ends).unwrap_or_else(|| self.add_carrier(ends))
    }

    #[cold]
    fn add_carrier(&mut self, ends: Ends) -> usize {
        self.delays.add_subflow(ends);
        self.carriers.add(ends)
    }

    /// Counts the time since the last call for the subflow that carries what is missing, if later data has arrived.
    #[inline]
    fn settle(&mut self, now: Instant) {
        if let (Some(missing), true) = (self.pending.front(), self.held > 0) {
            self.carriers.carrier(missing.carrier()).blocked += now - self.settled_at;
        }
        self.settled_at = now;
    }
}

mod noted;
#[cfg(test)]
mod tests;
