//! How the data of a flow reaches its reader: on which subflow each range was sent, when it arrived, and for which
//! subflow the reader had to wait. It is recorded from the packets, so that hosts do no work for it.

use core::ops::Range;
use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_transport::tcp::Ends;

use super::carriers::{Carriers, Way};
use super::delays::FlowDelays;
use crate::event_log::Sending;
use crate::results::{Sequence, SequenceKind};

/// The record of one flow. Ranges count the bytes of the application's stream.
#[derive(Clone, Debug, Default)]
pub(super) struct DataPath {
    /// Ranges sent that cannot be read yet, in the order of the stream. The first has not arrived.
    pending: VecDeque<Piece>,
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
}

/// A range as it was sent first. It counts as arrived with its last byte. There is one for each packet on its way: its
/// size counts.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    sent_at: Instant,
    /// [`NEVER`] until then.
    arrived_at: Instant,
    /// Index of the subflow that carried it last.
    carrier: u32,
    /// Whether any of it was sent again. Then nobody can tell which transmission has arrived.
    repeated: bool,
}

const NEVER: Instant = Instant::MAX;

impl Piece {
    #[inline]
    fn length(&self) -> u64 {
        self.end - self.start
    }

    #[inline]
    fn carrier(&self) -> usize {
        self.carrier as usize
    }

    #[inline]
    fn has_arrived(&self) -> bool {
        self.arrived_at != NEVER
    }
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
        let carrier = self.carriers.of_way(way).unwrap_or_else(|| self.carrier_of_way(way));
        self.on_sent(carrier, start, end, now)
    }

    #[cold]
    fn carrier_of_way(&mut self, way: Way<'_>) -> usize {
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
        let piece = Piece { start, end, sent_at: now, arrived_at: NEVER, carrier: carrier as u32, repeated: false };
        self.pending.push_back(piece);
        self.sent = end;
        let carrier = self.carriers.carrier(carrier);
        carrier.sequence = end;
        carrier.mark(SequenceKind::Sent, start, now);
        Sending::New
    }

    fn on_repeated(&mut self, carrier: usize, start: u64, end: u64, now: Instant) -> Sending {
        self.settle(now);
        let mut sending = Sending::Retransmission;
        let first = self.position(start);
        for piece in self.pending.range_mut(first..).take_while(|piece| piece.start < end) {
            if piece.carrier() != carrier {
                self.since_sample.repeated_elsewhere += piece.end.min(end) - piece.start.max(start);
                sending = Sending::Copy;
            }
            piece.carrier = carrier as u32;
            piece.repeated = true;
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
        self.settle(now);
        let first = self.position(start);
        if first > 0 {
            self.hold(first, end, now);
        }
        let arrived_to = if first == 0 { end } else { 0 };
        let mut readable: Option<Range<u64>> = None;
        while let Some(piece) = self.pending.front() {
            let (start, end, delay) = (piece.start, piece.end, now - piece.sent_at);
            let waited = if piece.has_arrived() {
                self.held -= piece.length();
                now - piece.arrived_at
            } else if end <= arrived_to {
                if !piece.repeated {
                    self.delays.on_arrived(piece.carrier(), delay);
                }
                Duration::ZERO
            } else {
                break;
            };
            self.pending.pop_front();
            self.since_sample.pieces += 1;
            self.since_sample.delay += delay;
            self.since_sample.waited += waited;
            self.delays.on_readable(delay, waited);
            readable = Some(readable.map_or(start, |earlier| earlier.start)..end);
        }
        if let Some(readable) = &readable {
            let sequence = self.readable.get_or_insert_with(|| Sequence::new("", SequenceKind::Readable));
            sequence.push(now, readable.end);
        }
        readable
    }

    /// Data up to `end` has arrived, from the piece `first` on, which is not the first of all: it waits.
    fn hold(&mut self, first: usize, end: u64, now: Instant) {
        for piece in self.pending.range_mut(first..).take_while(|piece| piece.end <= end) {
            if !piece.has_arrived() {
                piece.arrived_at = now;
                self.held += piece.length();
                if !piece.repeated {
                    self.delays.on_arrived(piece.carrier(), now - piece.sent_at);
                }
            }
        }
    }

    /// The sender has measured an RTT on a subflow.
    pub(super) fn on_rtt(&mut self, ends: Ends, sample: Duration) {
        let carrier = self.carrier(ends);
        self.delays.on_rtt(carrier, sample);
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
        while let Some(piece) = self.pending.front().filter(|piece| piece.end <= read) {
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

    /// The index of the first piece that ends above `offset`. Pieces mostly are as long as the first one.
    #[inline]
    fn position(&self, offset: u64) -> usize {
        let Some(front) = self.pending.front().filter(|front| offset >= front.end) else { return 0 };
        let expected = ((offset - front.start) / (front.end - front.start)) as usize;
        match self.pending.get(expected) {
            Some(piece) if piece.start <= offset && offset < piece.end => expected,
            _ => self.pending.partition_point(|piece| piece.end <= offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use subflow_wire::{Ecn, IpHeader};

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ends(port: u16) -> Ends {
        Ends { local: SocketAddr::from(([10, 0, 0, 1], port)), remote: SocketAddr::from(([10, 0, 0, 2], 80)) }
    }

    fn sample(path: &mut DataPath, read: u64, now: Instant) -> (DataSample, Vec<CarrierSample>) {
        (path.sample(read, now), path.take_carrier_samples().collect())
    }

    #[test]
    fn the_reader_waits_for_the_subflow_that_carries_the_missing_data() {
        let mut path = DataPath::default();
        path.on_range_sent(ends(1), 0, 1000, at(0));
        path.on_range_sent(ends(2), 1000, 3000, at(0));
        path.on_range_arrived(1000, 3000, at(10));
        let (waiting, carriers) = sample(&mut path, 0, at(30));
        assert_eq!((waiting.held, waiting.outstanding, waiting.delays), (2000, 3000, None));
        assert_eq!(carriers.iter().map(|c| c.blocked).collect::<Vec<_>>(), [at(20) - at(0), Duration::ZERO]);
        path.on_range_arrived(0, 1000, at(40));
        let (read, carriers) = sample(&mut path, 3000, at(40));
        // 40 ms from sending to reading for both; one of them waited for 30 ms after its arrival.
        assert_eq!(read.delays, Some([Duration::from_millis(40), Duration::from_millis(15)]));
        assert_eq!((read.held, read.outstanding), (0, 0));
        assert_eq!((carriers[0].blocked, carriers[1].sequence), (Duration::from_millis(10), 3000));
    }

    #[test]
    fn packets_are_told_apart_also_where_the_numbers_made_of_their_ports_are_equal() {
        let [source, destination] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
        let ip = IpHeader { source, destination, hop_limit: 64, ecn: Ecn::default() };
        let way = |source_port| Way { ip: &ip, source_port, destination_port: 80 };
        let mut path = DataPath::default();
        for (turn, port) in [1, 17, 1, 33, 17].into_iter().enumerate() {
            let start = 1000 * turn as u64;
            path.on_packet_sent(way(port), start, start + 1000, at(0));
        }
        assert_eq!(path.carriers(), [ends(1), ends(17), ends(33)]);
        let sequences: Vec<u64> = path.take_carrier_samples().map(|carrier| carrier.sequence).collect();
        assert_eq!(sequences, [3000, 5000, 4000]);
    }

    #[test]
    fn data_that_was_repeated_elsewhere_blocks_where_it_is_now() {
        let mut path = DataPath::default();
        path.on_range_sent(ends(1), 0, 1000, at(0));
        path.on_range_sent(ends(2), 1000, 2000, at(0));
        path.on_range_arrived(1000, 2000, at(10));
        path.on_range_sent(ends(1), 0, 1000, at(20));
        path.on_range_sent(ends(2), 0, 1000, at(30));
        let (sample, carriers) = sample(&mut path, 0, at(50));
        assert_eq!(sample.repeated_elsewhere, 1000);
        assert_eq!(
            carriers.iter().map(|c| (c.blocked - Duration::ZERO).as_nanos() / 1_000_000).collect::<Vec<_>>(),
            [20, 20]
        );
    }

    #[test]
    fn what_happens_to_data_is_kept_by_subflow() {
        let mut path = DataPath::default();
        path.on_range_sent(ends(1), 0, 1000, at(0));
        path.on_range_sent(ends(2), 1000, 2000, at(1));
        path.on_range_arrived(1000, 2000, at(11));
        path.on_lost(ends(1), 0, at(12));
        path.on_range_sent(ends(1), 0, 1000, at(12));
        path.on_timeout(ends(1), at(20));
        path.on_range_sent(ends(2), 0, 1000, at(20));
        path.on_range_arrived(0, 1000, at(30));
        let kept = path.take_sequences().into_iter().map(|(ends, sequence)| {
            let point = sequence.points()[0];
            (ends.map(|ends| ends.local.port()), sequence.kind, (point.time_s * 1e3) as u64, point.offset)
        });
        let expected = [
            (Some(1), SequenceKind::Sent, 0, 0),
            (Some(1), SequenceKind::Retransmitted, 12, 0),
            (Some(1), SequenceKind::Lost, 12, 0),
            (Some(1), SequenceKind::TimedOut, 20, 0),
            (Some(2), SequenceKind::Sent, 1, 1000),
            (Some(2), SequenceKind::Copied, 20, 0),
            (None, SequenceKind::Readable, 30, 2000),
        ];
        assert_eq!(kept.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_was_cut_on_the_way_is_forgotten_once_it_is_read() {
        let mut path = DataPath::default();
        path.on_range_sent(ends(1), 0, 1000, at(0));
        path.on_range_sent(ends(1), 1000, 2000, at(0));
        path.on_range_arrived(0, 500, at(10));
        path.on_range_arrived(500, 900, at(11));
        path.on_range_arrived(1000, 2000, at(12));
        assert_eq!(path.sample(0, at(12)).held, 1000);
        let sample = path.sample(2000, at(13));
        assert_eq!((sample.held, sample.outstanding), (0, 0));
    }
}
