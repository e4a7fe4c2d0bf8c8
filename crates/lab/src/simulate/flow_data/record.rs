//! How the data of a flow reaches its reader: on which subflow each range was sent, when it arrived, and for which
//! subflow the reader had to wait. It is recorded from the packets, and from how far the receiver can read; hosts do no
//! work for it.
//!
//! With MPTCP, data is assigned to subflows in the order of the stream, and each subflow sends it when it may: data is
//! sent for the first time in any order, and until then it is a hole like any other.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::Carriers;
use subflow_transport::tcp::Ends;

use super::chunks::{SentChunks, Transmission};
use super::delays::FlowDelays;
use super::segments::{Fragments, Segment, Segments};
use super::subflows::{FourTuple, Subflows};
use crate::event_log::Sending;
use crate::results::{Sequence, SequenceKind};

/// The record of one flow. Ranges count the bytes of the application's stream.
#[derive(Clone, Debug, Default)]
pub(in crate::simulate) struct DataRecord {
    /// Ranges sent that cannot be read yet, in the order of the stream.
    pub(super) segments: Segments,
    /// The largest end of data sent so far.
    pub(super) sent: u64,
    /// All data below can be read; if messages are delivered out of order, also data beyond.
    pub(super) readable: u64,
    /// The same as the receiver reported it last: the record may not be up to date.
    pub(super) known_readable: u64,
    /// Bytes of segments that have arrived and cannot be read, and of `fragments`.
    pub(super) arrived: u64,
    pub(super) fragments: Fragments,
    /// The chunks that were sent, if they are SCTP's.
    pub(super) chunks: SentChunks,
    /// The subflows that carried the data, if it is in frames of QUIC.
    carriers: Carriers,
    /// Whether messages may be delivered before earlier ones, or earlier ones never.
    pub(super) is_unordered: bool,
    /// The subflows that have carried data.
    pub(super) subflows: Subflows,
    /// The time up to which is counted how long data waits for subflows.
    pub(super) settled_at: Instant,
    pub(super) since_sample: SinceSample,
    /// Since measuring began.
    pub(super) delays: FlowDelays,
    /// What its reader could read.
    pub(super) sequence: Option<Sequence>,
    /// What happened last and is not in the record yet.
    pub(super) batch: Vec<Passage>,
}

/// A range that was sent below the end of what was sent before, or has arrived. There are so few that they stay in the
/// first-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) now: Instant,
    pub(super) start: u64,
    /// Of one that has arrived: the end of the data that can be read. Of one that was sent: whether its subflow had not
    /// carried it before.
    pub(super) readable: u64,
    pub(super) length: u32,
    /// The index of the subflow it was sent on; one beyond all of them if it has arrived.
    pub(super) subflow: u32,
}

/// What became readable since the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SinceSample {
    pub(super) segments: u32,
    pub(super) delay: Duration,
    pub(super) waited: Duration,
    repeated_elsewhere: u64,
}

/// The state of a flow's data at a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::simulate) struct DataSample {
    /// Bytes that arrived and wait for earlier data.
    pub(in crate::simulate) out_of_order: u64,
    /// From the first byte that cannot be read yet to the last one sent.
    pub(in crate::simulate) outstanding: u64,
    /// The mean time from the first transmission until the data could be read, and the part of it after the arrival;
    /// of what became readable since the last sample.
    pub(in crate::simulate) delays: Option<[Duration; 2]>,
    /// Bytes sent again on another subflow since the last sample.
    pub(in crate::simulate) repeated_elsewhere: u64,
}

/// A subflow at a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::simulate) struct SubflowSample {
    /// How long arrived data waited for data that this subflow carried last, since the last sample.
    pub(in crate::simulate) blocked: Duration,
    /// The end of the new data that was sent on it last.
    pub(in crate::simulate) sequence: u64,
}

impl DataRecord {
    /// Nothing is recorded yet of a flow. `is_unordered`: messages may be delivered before earlier ones, or earlier ones
    /// never.
    pub(super) fn new(is_unordered: bool) -> Self {
        Self { is_unordered, ..Self::default() }
    }

    #[inline]
    pub(super) fn subflow_of_tuple(&mut self, tuple: FourTuple<'_>) -> usize {
        self.subflows.of_tuple(tuple).unwrap_or_else(|| self.remember_tuple(tuple))
    }

    #[cold]
    fn remember_tuple(&mut self, tuple: FourTuple<'_>) -> usize {
        let subflow = self.subflow_of(tuple.ends());
        self.subflows.remember(tuple, subflow);
        subflow
    }

    /// A TCP sender sends a range, which begins with `sequence` on its subflow.
    pub(super) fn on_sent(&mut self, subflow: usize, data: Range<u64>, sequence: u32, now: Instant) -> Sending {
        let length = data.end - data.start;
        let is_first = self.subflows.advance(subflow, sequence, length as u32);
        match data.start < self.sent {
            true => self.send_below(subflow, data, if is_first { length } else { 0 }, now),
            false => self.send_new(subflow, data, now),
        }
    }

    /// A QUIC sender sends a range.
    pub(super) fn on_frame_sent(&mut self, subflow: usize, data: Range<u64>, now: Instant) -> Sending {
        let moved = self.carriers.carry(data.clone(), subflow as u32);
        match data.start < self.sent {
            true => self.send_below(subflow, data, moved, now),
            false => self.send_new(subflow, data, now),
        }
    }

    /// A range is sent behind what was sent before.
    fn send_new(&mut self, subflow: usize, data: Range<u64>, now: Instant) -> Sending {
        self.segments.push(Segment::new(data.start, (data.end - data.start) as u32, now, subflow));
        self.sent = data.end;
        self.record_sent();
        Sending::New
    }

    /// A range is sent below the end of what was sent before: again, or in a gap that was left. `copied` bytes of it are a
    /// copy of what other subflows carried: all of it if the subflow has not carried it before, and of QUIC, which has one
    /// numbering for all paths, what another path carried last.
    pub(super) fn send_below(&mut self, subflow: usize, data: Range<u64>, copied: u64, now: Instant) -> Sending {
        self.settle(now);
        let mut sending = if copied > 0 { Sending::Copy } else { Sending::Retransmission };
        let mut at = data.start.max(self.readable);
        let mut index = self.segments.position(at);
        while at < data.end {
            match self.segments.from(index).first_mut() {
                Some(segment) if segment.start <= at => {
                    segment.repeat_on(subflow);
                    at = segment.end();
                }
                next => {
                    let end = next.map_or(data.end, |segment| segment.start.min(data.end));
                    self.insert(index, subflow, at..end, now);
                    sending = Sending::New;
                    at = end;
                }
            }
            index += 1;
        }
        self.mark_repeated(subflow, data.start, (sending, copied), now);
        sending
    }

    /// A chunk of SCTP is sent.
    pub(super) fn on_chunk_sent(&mut self, subflow: usize, data: Range<u64>, tsn: u32, now: Instant) -> Sending {
        self.settle(now);
        let ends = self.subflows.ends();
        let is_same = |one: usize, other: usize| ends[one].remote == ends[other].remote;
        let sending = match self.chunks.on_sent(tsn, data.end, subflow, is_same) {
            Transmission::First => Sending::New,
            Transmission::SameDestination => Sending::Retransmission,
            Transmission::OtherDestination => Sending::Copy,
        };
        match sending {
            Sending::New => self.insert(self.segments.position(data.start), subflow, data.clone(), now),
            _ => self.segments.within(data.clone()).for_each(|segment| segment.repeat_on(subflow)),
        }
        self.mark_repeated(subflow, data.start, (sending, data.end - data.start), now);
        sending
    }

    /// New data is sent that is not behind all other, maybe.
    fn insert(&mut self, index: usize, subflow: usize, data: Range<u64>, now: Instant) {
        let segment = Segment::new(data.start, (data.end - data.start) as u32, now, subflow);
        self.segments.insert(index, segment);
        self.sent = self.sent.max(data.end);
        self.subflows.subflow(subflow).on_sent(data.start, data.end, now);
    }

    /// What is sent at `offset` is no new data, maybe; if it is a copy, of `copied` bytes.
    fn mark_repeated(&mut self, subflow: usize, offset: u64, (sending, copied): (Sending, u64), now: Instant) {
        let kind = match sending {
            Sending::New => return,
            Sending::Retransmission => SequenceKind::Retransmitted,
            Sending::Copy => {
                self.since_sample.repeated_elsewhere += copied;
                SequenceKind::Copied
            }
        };
        self.subflows.subflow(subflow).mark(kind, offset, now);
    }

    /// SCTP's sender sends no chunk again up to this TSN.
    pub(in crate::simulate) fn forget_chunks_through(&mut self, tsn: u32) {
        self.chunks.forget_through(tsn);
    }

    /// QUIC's sender sends no data again below this offset of its only stream.
    pub(in crate::simulate) fn forget_frames_below(&mut self, offset: u64) {
        self.carriers.forget_below(offset);
    }

    /// The sender considers the data from `start` lost, which this subflow carried.
    pub(super) fn on_lost(&mut self, ends: Ends, start: u64, now: Instant) {
        let subflow = self.subflow_of(ends);
        self.subflows.subflow(subflow).mark(SequenceKind::Lost, start, now);
    }

    /// The retransmission timer of a subflow has expired.
    pub(super) fn on_timeout(&mut self, ends: Ends, now: Instant) {
        self.catch_up();
        let subflow = self.subflow_of(ends);
        let oldest = self.segments.iter().find(|segment| segment.subflow() == subflow && !segment.is_done());
        let offset = oldest.map_or(self.sent, |segment| segment.start);
        self.subflows.subflow(subflow).mark(SequenceKind::TimedOut, offset, now);
    }

    /// Takes what has happened, with the ends of the subflow it happened on; `None` is the reader.
    pub(in crate::simulate) fn take_sequences(&mut self) -> Vec<(Option<Ends>, Sequence)> {
        let of_reader = self.sequence.take().map(|sequence| (None, sequence));
        let of_subflows = self.subflows.take_sequences().map(|(ends, sequence)| (Some(ends), sequence));
        of_subflows.chain(of_reader).collect()
    }

    /// The sender has measured RTTs on a subflow.
    pub(in crate::simulate) fn on_rtts(&mut self, ends: Ends, samples: &[Duration]) {
        let subflow = self.subflow_of(ends);
        self.delays.on_rtts(subflow, samples);
    }

    /// Measuring begins: earlier delays do not count.
    pub(in crate::simulate) fn begin_delays(&mut self) {
        self.delays = FlowDelays::default();
        self.subflows.ends().iter().for_each(|ends| self.delays.add_subflow(*ends));
    }

    /// The delays since measuring began.
    pub(in crate::simulate) fn delays(&self) -> &FlowDelays {
        &self.delays
    }

    /// The subflows that have carried data, as seen by the sender.
    pub(in crate::simulate) fn subflow_ends(&self) -> &[Ends] {
        self.subflows.ends()
    }

    /// Whether data has arrived that cannot be read yet: its time of waiting passes also where nothing happens.
    pub(in crate::simulate) fn is_waiting(&self) -> bool {
        self.arrived > 0
    }

    /// Takes a sample at `now`.
    pub(in crate::simulate) fn sample(&mut self, now: Instant) -> DataSample {
        self.settle(now);
        let SinceSample { segments, delay, waited, repeated_elsewhere } = core::mem::take(&mut self.since_sample);
        let mean = |sum: Duration| sum / u64::from(segments);
        DataSample {
            out_of_order: self.out_of_order(),
            outstanding: self.sent - self.first_unread().min(self.sent),
            delays: (segments > 0).then(|| [mean(delay), mean(waited)]),
            repeated_elsewhere,
        }
    }

    /// The first byte that cannot be read yet. Messages that were dropped before they were sent do not count.
    fn first_unread(&self) -> u64 {
        match self.is_unordered {
            true => self.segments.front().map_or(self.sent, |front| front.start),
            false => self.readable,
        }
    }

    /// The part of the [`sample`](Self::sample) for each subflow that has [carried data](Self::subflow_ends).
    pub(in crate::simulate) fn take_subflow_samples(&mut self) -> impl Iterator<Item = SubflowSample> + '_ {
        self.subflows
            .iter_mut()
            .map(|subflow| SubflowSample { blocked: core::mem::take(&mut subflow.blocked), sequence: subflow.sequence })
    }

    pub(super) fn subflow_of(&mut self, ends: Ends) -> usize {
        self.subflows.of_ends(ends).unwrap_or_else(|| self.add_subflow(ends))
    }

    #[cold]
    fn add_subflow(&mut self, ends: Ends) -> usize {
        self.delays.add_subflow(ends);
        self.subflows.add(ends)
    }
}
