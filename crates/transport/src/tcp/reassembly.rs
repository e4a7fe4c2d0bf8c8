//! Out-of-order data, and the SACK blocks that report it (RFC 2018, RFC 2883).

use core::ops::Range;

use arrayvec::ArrayVec;

use super::receive_window::PACKET_OVERHEAD;
use crate::interval_set::IntervalSet;

/// Intervals that a receiver may hold whatever the size of its buffer.
const MIN_INTERVALS: u64 = 64;

/// Received sequence offsets `start..end`; the first one is offset `data` of the application stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) data: u64,
}

/// The out-of-order queue. The number of intervals is bounded by the number of packets that fit into the receive
/// buffer, as in Linux, where a packet is charged for its descriptor, too. When the queue is full, the data furthest
/// ahead is dropped (see [`interval_set`](crate::interval_set)).
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// Received sequence offsets: the contiguous blocks that SACK reports.
    arrived: IntervalSet,
    /// The same offsets, separated where the application stream is not contiguous. The label is the stream offset
    /// minus the sequence offset, modulo 2^64.
    placed: IntervalSet<u64>,
    /// Blocks to report, the most recent first.
    recent: ArrayVec<Range<u64>, 4>,
}

/// Result of [`Reassembly::insert`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// The part that had been received before, for D-SACK.
    pub(crate) duplicate: Option<Range<u64>>,
    /// The queue was full of data nearer to RCV.NXT: nothing of the run was stored.
    pub(crate) dropped: bool,
}

impl Reassembly {
    /// An empty queue of a receiver whose buffer has at most `buffer` bytes.
    pub(crate) fn new(buffer: u64) -> Self {
        let bound = (buffer / PACKET_OVERHEAD).max(MIN_INTERVALS) as usize;
        Self { arrived: IntervalSet::new(bound), placed: IntervalSet::new(bound), recent: ArrayVec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.arrived.covered()
    }

    /// Number of intervals held.
    pub(crate) fn pieces(&self) -> usize {
        self.placed.len()
    }

    /// Blocks to report, the most recent first.
    pub(crate) fn blocks(&self) -> &[Range<u64>] {
        &self.recent
    }

    /// Stores `run`.
    pub(crate) fn insert(&mut self, run: Run) -> Stored {
        let Run { start, end, data } = run;
        let duplicate = self.arrived.insert(start..end).duplicate;
        let placed = self.placed.insert_labelled(start..end, data.wrapping_sub(start));
        if let Some(from) = placed.dropped_from {
            self.discard_from(from);
        }
        self.report(start);
        Stored { duplicate, dropped: placed.dropped_from.is_some_and(|from| from <= start) }
    }

    /// Drops everything from `end` on.
    pub(crate) fn discard_from(&mut self, end: u64) {
        self.arrived.discard_from(end);
        self.placed.discard_from(end);
        self.recent.retain(|block| {
            block.end = block.end.min(end);
            block.start < block.end
        });
    }

    /// Moves the block that contains `offset` to the front of the report.
    fn report(&mut self, offset: u64) {
        let Some(block) = self.arrived.interval_of(offset) else { return };
        self.recent.retain(|known| known.end < block.start || known.start > block.end);
        if self.recent.is_full() {
            self.recent.pop();
        }
        self.recent.insert(0, block);
    }

    /// Removes and returns data that continues at `next`. The caller repeats the call until it returns `None`.
    pub(super) fn pop_ready(&mut self, next: u64) -> Option<Run> {
        loop {
            let (piece, distance) = self.placed.pop_through(next)?;
            self.arrived.discard_below(piece.end);
            self.recent.retain(|block| block.end > piece.end);
            if piece.end > next {
                return Some(Run { start: next, end: piece.end, data: next.wrapping_add(distance) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, end: u64) -> Run {
        Run { start, end, data: start }
    }

    #[test]
    fn runs_merge_and_the_latest_block_is_reported_first() {
        let mut queue = Reassembly::new(0);
        queue.insert(run(20, 30));
        queue.insert(run(40, 50));
        assert_eq!(queue.blocks(), [40..50, 20..30]);
        queue.insert(run(30, 40));
        assert_eq!(queue.blocks(), std::slice::from_ref(&(20..50)));
        assert_eq!(queue.bytes(), 30);
    }

    #[test]
    fn a_repeated_part_is_named() {
        let mut queue = Reassembly::new(0);
        queue.insert(run(20, 30));
        assert_eq!(queue.insert(run(20, 30)).duplicate, Some(20..30));
        assert_eq!(queue.insert(run(25, 35)).duplicate, Some(25..30));
        assert_eq!(queue.bytes(), 15);
    }

    #[test]
    fn data_that_is_not_contiguous_stays_apart_but_is_one_block() {
        let mut queue = Reassembly::new(0);
        queue.insert(Run { start: 20, end: 30, data: 100 });
        queue.insert(Run { start: 30, end: 40, data: 500 });
        assert_eq!(queue.blocks(), std::slice::from_ref(&(20..40)));
        assert_eq!(queue.pop_ready(20), Some(Run { start: 20, end: 30, data: 100 }));
        assert_eq!(queue.pop_ready(30), Some(Run { start: 30, end: 40, data: 500 }));
        assert!(queue.is_empty() && queue.blocks().is_empty());
    }

    #[test]
    fn what_is_old_already_is_trimmed() {
        let mut queue = Reassembly::new(0);
        queue.insert(run(20, 30));
        assert_eq!(queue.pop_ready(25), Some(Run { start: 25, end: 30, data: 25 }));
    }

    #[test]
    fn a_full_queue_drops_what_lies_furthest_ahead_and_reports_it_no_more() {
        let mut queue = Reassembly::new(0);
        for i in 0..MIN_INTERVALS {
            queue.insert(run(1000 + 10 * i, 1001 + 10 * i));
        }
        let last = 1000 + 10 * (MIN_INTERVALS - 1);
        assert_eq!(queue.insert(run(9000, 9001)), Stored { duplicate: None, dropped: true });
        assert_eq!((queue.pieces() as u64, &queue.blocks()[0]), (MIN_INTERVALS, &(last..last + 1)));
        assert_eq!(queue.insert(run(20, 30)), Stored::default());
        assert_eq!((queue.pieces() as u64, queue.bytes()), (MIN_INTERVALS, MIN_INTERVALS - 1 + 10));
        assert_eq!(queue.blocks(), [20..30, last - 10..last - 9, last - 20..last - 19, last - 30..last - 29]);
    }
}
