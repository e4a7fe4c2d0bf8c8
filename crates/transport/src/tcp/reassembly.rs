//! Data that arrived ahead of a hole, and the SACK blocks that report it (RFC 2018, RFC 2883).

use core::ops::Range;
use std::collections::VecDeque;

use arrayvec::ArrayVec;

/// Received bytes `start..end`, which belong at `data` in the application stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) data: u64,
}

/// The out-of-order queue: disjoint runs by sequence. Neighbours are merged where their data is contiguous too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    runs: VecDeque<Run>,
    /// Blocks to report, the latest first, as sequence ranges.
    recent: ArrayVec<Range<u64>, 4>,
    bytes: u64,
}

impl Reassembly {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Blocks to report, the latest first.
    pub(crate) fn blocks(&self) -> &[Range<u64>] {
        &self.recent
    }

    /// Stores `run`. Returns the part of it that was here already, for D-SACK.
    pub(crate) fn insert(&mut self, run: Run) -> Option<Range<u64>> {
        let Run { start, end, data } = run;
        let first = self.runs.partition_point(|held| held.end < start);
        let mut at = first;
        let mut cursor = start;
        let mut duplicate = None;
        while cursor < end {
            match self.runs.get(at) {
                Some(held) if held.start <= cursor => {
                    if held.end > cursor && duplicate.is_none() {
                        duplicate = Some(cursor..held.end.min(end));
                    }
                    cursor = cursor.max(held.end);
                }
                next => {
                    let stop = next.map_or(end, |held| held.start.min(end));
                    self.runs.insert(at, Run { start: cursor, end: stop, data: data + (cursor - start) });
                    self.bytes += stop - cursor;
                    cursor = stop;
                }
            }
            at += 1;
        }
        self.merge(first.saturating_sub(1), at);
        self.report(start, end);
        duplicate
    }

    fn merge(&mut self, from: usize, to: usize) {
        let mut i = from;
        let mut last = to.min(self.runs.len().saturating_sub(1));
        while i < last {
            let next = &self.runs[i + 1];
            let held = &self.runs[i];
            if held.end == next.start && held.data + (held.end - held.start) == next.data {
                self.runs[i].end = next.end;
                self.runs.remove(i + 1);
                last -= 1;
            } else {
                i += 1;
            }
        }
    }

    /// Puts the block around `start..end` to the front.
    fn report(&mut self, start: u64, end: u64) {
        let mut block = start..end;
        let at = self.runs.partition_point(|run| run.end < start);
        for run in self.runs.iter().skip(at) {
            if run.start > block.end {
                break;
            }
            block = block.start.min(run.start)..block.end.max(run.end);
        }
        for run in self.runs.iter().take(at).rev() {
            if run.end < block.start {
                break;
            }
            block.start = run.start;
        }
        self.recent.retain(|known| known.end < block.start || known.start > block.end);
        if self.recent.is_full() {
            self.recent.pop();
        }
        self.recent.insert(0, block);
    }

    /// Takes out what continues at `next`; call until it returns `None`.
    pub(crate) fn pop_ready(&mut self, next: u64) -> Option<Run> {
        loop {
            let front = self.runs.front()?;
            if front.start > next {
                return None;
            }
            let mut run = self.runs.pop_front().expect("it was there");
            self.bytes -= run.end - run.start;
            self.recent.retain(|block| block.end > run.end);
            if run.end > next {
                run.data += next - run.start;
                run.start = next;
                return Some(run);
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
        let mut queue = Reassembly::default();
        queue.insert(run(20, 30));
        queue.insert(run(40, 50));
        assert_eq!(queue.blocks(), [40..50, 20..30]);
        queue.insert(run(30, 40));
        assert_eq!(queue.blocks(), std::slice::from_ref(&(20..50)));
        assert_eq!(queue.bytes(), 30);
    }

    #[test]
    fn a_repeated_part_is_named() {
        let mut queue = Reassembly::default();
        queue.insert(run(20, 30));
        assert_eq!(queue.insert(run(20, 30)), Some(20..30));
        assert_eq!(queue.insert(run(25, 35)), Some(25..30));
        assert_eq!(queue.bytes(), 15);
    }

    #[test]
    fn data_that_is_not_contiguous_stays_apart_but_is_one_block() {
        let mut queue = Reassembly::default();
        queue.insert(Run { start: 20, end: 30, data: 100 });
        queue.insert(Run { start: 30, end: 40, data: 500 });
        assert_eq!(queue.blocks(), std::slice::from_ref(&(20..40)));
        assert_eq!(queue.pop_ready(20), Some(Run { start: 20, end: 30, data: 100 }));
        assert_eq!(queue.pop_ready(30), Some(Run { start: 30, end: 40, data: 500 }));
        assert!(queue.is_empty() && queue.blocks().is_empty());
    }

    #[test]
    fn what_is_old_already_is_trimmed() {
        let mut queue = Reassembly::default();
        queue.insert(run(20, 30));
        assert_eq!(queue.pop_ready(25), Some(Run { start: 25, end: 30, data: 25 }));
    }
}
