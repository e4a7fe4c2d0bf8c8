//! The gap blocks of a SACK as TSNs, and the differences from the previous SACK (RFC 9260, section 3.3.4).
//!
//! SACKs are redundant: while a gap is open, each one reports everything after it again. Blocks that two consecutive
//! SACKs have in common are skipped, so that the cost of a SACK depends on what it changes and on what is missing, not
//! on the size of the window.
//!
//! There is one report for each path on which SACKs arrive. SACKs of different paths may be reordered, so an old one
//! that reports less does not mean that the peer has dropped data. A later one on the same path does, and so does one
//! whose cumulative TSN is the highest so far.

use core::ops::RangeInclusive;

use subflow_wire::sctp::GapBlock;

/// A range of TSNs, and whether the receiver will not drop them (NR-SACK).
type Block = (RangeInclusive<u64>, bool);

/// The bounds for the blocks of a SACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Its cumulative TSN.
    pub(super) cumulative: u64,
    /// The highest TSN that it may report.
    pub(super) last_sent: u64,
    /// The maximum number of blocks; further ones are ignored.
    pub(super) most_blocks: usize,
}

/// What the last SACK on a path reports beyond its cumulative TSN.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapReport {
    /// In ascending order; none overlaps another.
    blocks: Vec<Block>,
    /// Those of the previous SACK.
    before: Vec<Block>,
    /// The TSNs that both report equally.
    unchanged: Vec<RangeInclusive<u64>>,
    /// The next SACK is not compared with the previous one.
    invalidated: bool,
}

impl GapReport {
    /// Reads the blocks of a SACK and ignores invalid ones. Returns whether the whole queue is to be processed, since a
    /// TSN that the previous SACK reported is missing.
    pub(super) fn read(&mut self, bounds: Bounds, gaps: &[GapBlock], non_renegable: &[GapBlock]) -> bool {
        let Bounds { cumulative, last_sent, most_blocks } = bounds;
        core::mem::swap(&mut self.blocks, &mut self.before);
        self.blocks.clear();
        let all = gaps.iter().map(|gap| (gap, false)).chain(non_renegable.iter().map(|gap| (gap, true)));
        for (block, kept) in all.take(most_blocks) {
            let (start, end) = (cumulative + u64::from(block.start), cumulative + u64::from(block.end));
            // The TSN after the cumulative one is missing, or the cumulative TSN would be higher.
            if block.start >= 2 && start <= end && start <= last_sent {
                self.blocks.push((start..=end.min(last_sent), kept));
            }
        }
        self.blocks.sort_by_key(|(range, _)| *range.start());
        if self.blocks.windows(2).any(|pair| pair[0].0.end() >= pair[1].0.start()) {
            make_disjoint(&mut self.blocks);
        }
        // TSNs in non-renegable blocks were reported as renegable before.
        let is_simple = gaps.is_empty() || non_renegable.is_empty();
        let trusted = !core::mem::take(&mut self.invalidated);
        let comparable = is_simple && trusted && self.compare(cumulative);
        if !comparable {
            self.unchanged.clear();
        }
        !comparable
    }

    /// Finds what both SACKs report equally. Returns whether the new one reports everything that the old one did.
    fn compare(&mut self, cumulative: u64) -> bool {
        self.unchanged.clear();
        let mut blocks = self.blocks.iter().peekable();
        for (range, kept) in self.before.iter().filter(|(range, _)| *range.end() > cumulative) {
            let (start, end) = (*range.start().max(&(cumulative + 1)), *range.end());
            while blocks.next_if(|(range, _)| *range.end() < start).is_some() {}
            match blocks.peek() {
                Some((now, kept_now)) if now.contains(&start) && now.contains(&end) => {
                    if kept == kept_now {
                        self.unchanged.push(start..=end);
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The SACK reports a TSN that was not sent: TSNs reported again have to be processed again.
    pub(super) fn invalidate(&mut self) {
        self.invalidated = true;
    }

    /// The memory that it uses, in bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        let blocks = self.blocks.capacity() + self.before.capacity();
        blocks * size_of::<Block>() + self.unchanged.capacity() * size_of::<RangeInclusive<u64>>()
    }

    /// Whether no TSN is reported.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The highest TSN that is reported, or zero.
    pub(super) fn end(&self) -> u64 {
        end(&self.blocks)
    }

    /// What two consecutive SACKs report.
    pub(super) fn unchanged(&self) -> &[RangeInclusive<u64>] {
        &self.unchanged
    }

    /// TSNs from `first` to `last`, and as far as blocks reach, now or before, that are not unchanged.
    pub(super) fn changed_or_missing(&self, first: u64, last: u64) -> impl Iterator<Item = ReportedTsn> {
        let (mut blocks, mut before) = (&self.blocks[..], &self.before[..]);
        let limit = end(&self.blocks).max(end(&self.before)).max(last) + 1;
        outside(self.unchanged.iter(), first, limit).map(move |tsn| ReportedTsn {
            tsn,
            now: find(&mut blocks, tsn),
            before: find(&mut before, tsn).is_some(),
        })
    }

    /// TSNs from `first` to below `limit` that are in no block.
    pub(super) fn missing(&self, first: u64, limit: u64) -> impl Iterator<Item = u64> {
        outside(self.blocks.iter().map(|(range, _)| range), first, limit)
    }
}

/// The reports of two consecutive SACKs on one TSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReportedTsn {
    pub(super) tsn: u64,
    /// Whether the new one reports it, and whether the receiver will not drop it.
    pub(super) now: Option<bool>,
    /// Whether the old one reported it.
    pub(super) before: bool,
}

fn end(blocks: &[Block]) -> u64 {
    blocks.last().map_or(0, |(range, _)| *range.end())
}

/// Splits blocks so that none overlaps another. Where two overlap, the non-renegable one has priority.
fn make_disjoint(blocks: &mut Vec<Block>) {
    let of_kind = |wanted: bool| {
        let mut merged: Vec<RangeInclusive<u64>> = Vec::new();
        for (range, _) in blocks.iter().filter(|&&(_, kept)| kept == wanted) {
            match merged.last_mut().filter(|last| *last.end() >= *range.start()) {
                Some(last) => *last = *last.start()..=*last.end().max(range.end()),
                None => merged.push(range.clone()),
            }
        }
        merged
    };
    let (renegable, kept) = (of_kind(false), of_kind(true));
    blocks.clear();
    for range in renegable {
        let mut start = *range.start();
        for inner in kept.iter().filter(|inner| inner.end() >= range.start() && inner.start() <= range.end()) {
            if start < *inner.start() {
                blocks.push((start..=inner.start() - 1, false));
            }
            start = inner.end() + 1;
        }
        if start <= *range.end() {
            blocks.push((start..=*range.end(), false));
        }
    }
    blocks.extend(kept.into_iter().map(|range| (range, true)));
    blocks.sort_by_key(|(range, _)| *range.start());
}

/// Whether a block contains `tsn`, and whether the receiver will not drop it; blocks below it are skipped.
fn find(blocks: &mut &[Block], tsn: u64) -> Option<bool> {
    while blocks.first().is_some_and(|(range, _)| *range.end() < tsn) {
        *blocks = &blocks[1..];
    }
    blocks.first().filter(|(range, _)| range.contains(&tsn)).map(|&(_, kept)| kept)
}

/// The numbers from `first` to below `limit` outside of `ranges`, which ascend.
fn outside<'a>(
    ranges: impl Iterator<Item = &'a RangeInclusive<u64>>,
    first: u64,
    limit: u64,
) -> impl Iterator<Item = u64> {
    let mut next = first;
    let bounds = ranges.map(|range| (*range.start(), *range.end() + 1)).chain([(limit, limit)]);
    bounds.flat_map(move |(start, end)| {
        let gap = next..start.min(limit);
        next = next.max(end);
        gap
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(ranges: &[(u16, u16)]) -> Vec<GapBlock> {
        ranges.iter().map(|&(start, end)| GapBlock { start, end }).collect()
    }

    /// Up to TSN 20.
    fn after(cumulative: u64) -> Bounds {
        Bounds { cumulative, last_sent: 20, most_blocks: 100 }
    }

    fn reported(report: &GapReport) -> Vec<(u64, Option<bool>)> {
        report.changed_or_missing(1, 0).map(|named| (named.tsn, named.now)).collect()
    }

    #[test]
    fn only_what_is_new_or_missing_is_looked_at() {
        let mut report = GapReport::default();
        assert!(!report.read(after(0), &blocks(&[(2, 4), (6, 7)]), &[]));
        assert_eq!(reported(&report).len(), 7);
        assert!(!report.read(after(0), &blocks(&[(2, 4), (6, 9)]), &[]));
        let expected = [(1, None), (5, None), (8, Some(false)), (9, Some(false))];
        assert_eq!(reported(&report), expected);
        assert_eq!(report.missing(1, 12).collect::<Vec<_>>(), [1, 5, 10, 11]);
        // The first gap closes: what was TSN 6 to 9 is named from another cumulative TSN.
        assert!(!report.read(after(4), &blocks(&[(2, 6)]), &[]));
        let expected = [(5, None, false), (10, Some(false), false)];
        assert!(report.changed_or_missing(5, 0).map(|named| (named.tsn, named.now, named.before)).eq(expected));
    }

    #[test]
    fn after_something_was_dropped_all_is_looked_at() {
        let mut report = GapReport::default();
        report.read(after(0), &blocks(&[(2, 9)]), &[]);
        assert!(report.read(after(0), &blocks(&[(2, 5), (8, 9)]), &[]));
        assert_eq!(reported(&report).len(), 9);
        let dropped = report.changed_or_missing(1, 0).filter(|named| named.before && named.now.is_none());
        assert!(dropped.map(|named| named.tsn).eq([6, 7]));
        assert!(report.read(after(0), &[], &[]));
    }

    #[test]
    fn what_is_kept_from_now_on_is_looked_at_once() {
        let mut report = GapReport::default();
        report.read(after(0), &blocks(&[(2, 3)]), &[]);
        assert!(!report.read(after(0), &[], &blocks(&[(2, 3)])));
        assert_eq!(reported(&report), [(1, None), (2, Some(true)), (3, Some(true))]);
        report.read(after(0), &[], &blocks(&[(2, 3)]));
        assert_eq!(reported(&report), [(1, None)]);
    }

    #[test]
    fn blocks_of_both_kinds_may_overlap() {
        let mut report = GapReport::default();
        for _ in 0..2 {
            assert!(report.read(after(0), &blocks(&[(2, 6)]), &blocks(&[(4, 5)])));
            let kept: Vec<_> = reported(&report).into_iter().map(|(_, kept)| kept).collect();
            assert_eq!(kept, [None, Some(false), Some(false), Some(true), Some(true), Some(false)]);
        }
    }

    #[test]
    fn many_blocks_that_overlap_are_held_as_few() {
        let mut report = GapReport::default();
        let many: Vec<(u16, u16)> =
            (0..1000).map(|n| (2 + n % 7, 9 + n % 7)).chain([(1, 20), (5, 4), (0, 20)]).collect();
        report.read(Bounds { most_blocks: 2000, ..after(0) }, &blocks(&many), &[]);
        assert_eq!(report.blocks, [(2..=15, false)]);
        report.read(Bounds { most_blocks: 2000, ..after(0) }, &blocks(&many), &blocks(&[(3, 3), (12, 40)]));
        assert_eq!(report.blocks, [(2..=2, false), (3..=3, true), (4..=11, false), (12..=20, true)]);
    }

    #[test]
    fn no_more_blocks_are_read_than_a_packet_has_room_for() {
        let mut report = GapReport::default();
        report.read(Bounds { most_blocks: 2, ..after(0) }, &blocks(&[(2, 2), (4, 4), (6, 6)]), &[]);
        assert_eq!(report.end(), 4);
    }
}
