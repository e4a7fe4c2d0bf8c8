//! What packets carry is kept in a batch when they pass, and recorded for many of them at a time.

use core::ops::Range;

use subflow_quantity::Instant;

use super::record::{DataRecord, Passage};
use super::segments::Segment;
use super::subflows::FourTuple;

/// In place of the index of a subflow: a range that has arrived.
const ARRIVED: u32 = u32::MAX;
/// The size of a batch.
const MOST: usize = 64;

impl DataRecord {
    /// The sender sends a range, which begins with `sequence` on its subflow, in a packet with this 4-tuple. It is
    /// recorded by [`catch_up`](Self::catch_up).
    #[inline(always)]
    pub(super) fn batch_sent(&mut self, tuple: FourTuple<'_>, start: u64, length: u32, sequence: u32, now: Instant) {
        match self.subflows.of_tuple(tuple) {
            Some(subflow) if self.segments.has_room() && self.has_room() => {
                self.batch_sent_on(subflow, start, length, sequence, now);
            }
            _ => self.batch_sent_with_room(tuple, start, length, sequence, now),
        }
    }

    /// The same where something has to be made first. It is the last call of its caller, which then keeps nothing.
    #[cold]
    #[inline(never)]
    fn batch_sent_with_room(&mut self, tuple: FourTuple<'_>, start: u64, length: u32, sequence: u32, now: Instant) {
        let subflow = self.subflow_of_tuple(tuple);
        if !self.has_room() {
            self.make_room();
        }
        self.batch_sent_on(subflow, start, length, sequence, now);
    }

    #[inline]
    fn batch_sent_on(&mut self, subflow: usize, start: u64, length: u32, sequence: u32, now: Instant) {
        let is_first = self.subflows.advance(subflow, sequence, length);
        if start < self.sent {
            let (readable, subflow) = (u64::from(is_first), subflow as u32);
            self.batch.push(Passage { now, start, readable, length, subflow });
        } else {
            self.segments.push(Segment::new(start, length, now, subflow));
            self.sent = start + u64::from(length);
        }
    }

    /// A range has arrived, and the reader can read all data below `readable`. It is recorded by
    /// [`catch_up`](Self::catch_up).
    #[inline]
    pub(super) fn batch_arrived(&mut self, data: Range<u64>, readable: u64, now: Instant) {
        self.known_readable = readable;
        let length = (data.end - data.start) as u32;
        let arrived = Passage { now, start: data.start, readable, length, subflow: ARRIVED };
        if self.has_room() {
            self.batch.push(arrived);
        } else {
            self.batch_with_room(arrived);
        }
    }

    #[cold]
    #[inline(never)]
    fn batch_with_room(&mut self, passage: Passage) {
        self.make_room();
        self.batch.push(passage);
    }

    /// Whether one more passage fits into the batch.
    #[inline]
    fn has_room(&self) -> bool {
        self.batch.len() < self.batch.capacity()
    }

    #[cold]
    fn make_room(&mut self) {
        self.batch.reserve_exact(MOST.saturating_sub(self.batch.len()));
        self.catch_up();
    }

    /// Records the batch. When new data was in it as arrivals are, to record each packet when it passed took 1.0 to 1.6 %
    /// more of the CPU time of a run (`cargo bench -p subflow-lab --bench records`, three scenarios).
    #[inline]
    pub(in crate::simulate) fn catch_up(&mut self) {
        self.record_sent();
        if !self.batch.is_empty() {
            self.record_batch();
        }
    }

    fn record_batch(&mut self) {
        let mut batch = core::mem::take(&mut self.batch);
        for &Passage { now, start, readable, length, subflow } in &batch {
            let range = start..start + u64::from(length);
            match subflow {
                ARRIVED => _ = self.arrive(range, readable, now),
                subflow => {
                    let copied = if readable != 0 { u64::from(length) } else { 0 };
                    self.send_below(subflow as usize, range, copied, now);
                }
            }
        }
        batch.clear();
        self.batch = batch;
    }

    /// Records that the latest ranges were sent.
    #[inline]
    pub(super) fn record_sent(&mut self) {
        for segment in self.segments.new_ones() {
            self.subflows.subflow(segment.subflow()).on_sent(segment.start, segment.end(), segment.sent_at);
        }
    }
}
