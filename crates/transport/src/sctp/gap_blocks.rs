//! The gap blocks of a SACK as TSNs, and what is new in them against the SACK before (RFC 9260, section 3.3.4).
//!
//! SACKs repeat themselves: with a gap at the front, each names everything behind it again. What two in a row name alike is
//! settled and passed over, so that a SACK costs what it changes and what is missing, not a look at the whole window.
//!
//! There is one report for each path that SACKs come over. They overtake each other between paths, and one that is old and names
//! less does not say that the peer has dropped anything; one behind another on the same path does, and so does one whose cumulative
//! TSN is the highest so far.

use core::ops::RangeInclusive;

use subflow_wire::sctp::GapBlock;

/// TSNs from one to another, and whether the receiver keeps them for certain (NR-SACK).
type Block = (RangeInclusive<u64>, bool);

/// What the last SACK that came over a path names beyond its cumulative TSN.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapReport {
    /// In the order of where they start.
    blocks: Vec<Block>,
    /// Those of the SACK before.
    before: Vec<Block>,
    /// What both name alike.
    settled: Vec<RangeInclusive<u64>>,
    /// The next SACK is to be compared with nothing.
    distrusted: bool,
}

impl GapReport {
    /// Reads the blocks of a SACK. Those that cannot be are passed over. Gives whether all is to be looked at, since something
    /// that the SACK before named is missing.
    pub(super) fn read(
        &mut self,
        cumulative: u64,
        last_sent: u64,
        gaps: &[GapBlock],
        non_renegable: &[GapBlock],
    ) -> bool {
        core::mem::swap(&mut self.blocks, &mut self.before);
        self.blocks.clear();
        for (block, kept) in gaps.iter().map(|gap| (gap, false)).chain(non_renegable.iter().map(|gap| (gap, true))) {
            let (start, end) = (cumulative + u64::from(block.start), cumulative + u64::from(block.end));
            if block.start >= 1 && start <= end && start <= last_sent {
                self.blocks.push((start..=end.min(last_sent), kept));
            }
        }
        self.blocks.sort_by_key(|(range, _)| *range.start());
        // Blocks of both kinds may overlap.
        let is_simple = gaps.is_empty() || non_renegable.is_empty();
        let trusted = !core::mem::take(&mut self.distrusted);
        let comparable = is_simple && trusted && self.settle(cumulative);
        if !comparable {
            self.settled.clear();
        }
        !comparable
    }

    /// Finds what both SACKs name alike. Gives whether the new one names everything that the old one did.
    fn settle(&mut self, cumulative: u64) -> bool {
        self.settled.clear();
        let mut blocks = self.blocks.iter().peekable();
        for (range, kept) in self.before.iter().filter(|(range, _)| *range.end() > cumulative) {
            let (start, end) = (*range.start().max(&(cumulative + 1)), *range.end());
            while blocks.next_if(|(range, _)| *range.end() < start).is_some() {}
            match blocks.peek() {
                Some((now, kept_now)) if now.contains(&start) && now.contains(&end) => {
                    if kept == kept_now {
                        self.settled.push(start..=end);
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// A TSN is named that was not sent: what is named again has to be looked at again.
    pub(super) fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// Nothing is named.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The highest TSN that is named, or zero.
    pub(super) fn end(&self) -> u64 {
        end(&self.blocks)
    }

    /// What two SACKs in a row name.
    pub(super) fn settled(&self) -> &[RangeInclusive<u64>] {
        &self.settled
    }

    /// TSNs from `first` to `last`, and as far as blocks reach, now or before, that are not settled.
    pub(super) fn unsettled(&self, first: u64, last: u64) -> impl Iterator<Item = Named> {
        let (mut blocks, mut before) = (&self.blocks[..], &self.before[..]);
        let limit = end(&self.blocks).max(end(&self.before)).max(last) + 1;
        outside(self.settled.iter(), first, limit).map(move |tsn| Named {
            tsn,
            now: find(&mut blocks, tsn),
            before: find(&mut before, tsn).is_some(),
        })
    }

    /// TSNs from `first` to below `limit` that no block names.
    pub(super) fn missing(&self, first: u64, limit: u64) -> impl Iterator<Item = u64> {
        outside(self.blocks.iter().map(|(range, _)| range), first, limit)
    }
}

/// A TSN as two SACKs in a row name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) tsn: u64,
    /// Whether the new one does, and whether the receiver keeps it for certain.
    pub(super) now: Option<bool>,
    /// Whether the old one did.
    pub(super) before: bool,
}

fn end(blocks: &[Block]) -> u64 {
    blocks.iter().map(|(range, _)| *range.end()).max().unwrap_or(0)
}

/// Whether a block names `tsn`; blocks below it are left behind. Of blocks that overlap one that keeps counts.
fn find(blocks: &mut &[Block], tsn: u64) -> Option<bool> {
    while blocks.first().is_some_and(|(range, _)| *range.end() < tsn) {
        *blocks = &blocks[1..];
    }
    let over = blocks.iter().take_while(|(range, _)| *range.start() <= tsn);
    over.filter(|(range, _)| range.contains(&tsn)).map(|&(_, kept)| kept).max()
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

    fn reported(report: &GapReport) -> Vec<(u64, Option<bool>)> {
        report.unsettled(1, 0).map(|named| (named.tsn, named.now)).collect()
    }

    #[test]
    fn only_what_is_new_or_missing_is_looked_at() {
        let mut report = GapReport::default();
        assert!(!report.read(0, 20, &blocks(&[(2, 4), (6, 7)]), &[]));
        assert_eq!(reported(&report).len(), 7);
        assert!(!report.read(0, 20, &blocks(&[(2, 4), (6, 9)]), &[]));
        let expected = [(1, None), (5, None), (8, Some(false)), (9, Some(false))];
        assert_eq!(reported(&report), expected);
        assert_eq!(report.missing(1, 12).collect::<Vec<_>>(), [1, 5, 10, 11]);
        // The first gap closes: what was TSN 6 to 9 is named from another cumulative TSN.
        assert!(!report.read(4, 20, &blocks(&[(2, 6)]), &[]));
        let expected = [(5, None, false), (10, Some(false), false)];
        assert!(report.unsettled(5, 0).map(|named| (named.tsn, named.now, named.before)).eq(expected));
    }

    #[test]
    fn after_something_was_dropped_all_is_looked_at() {
        let mut report = GapReport::default();
        report.read(0, 20, &blocks(&[(2, 9)]), &[]);
        assert!(report.read(0, 20, &blocks(&[(2, 5), (8, 9)]), &[]));
        assert_eq!(reported(&report).len(), 9);
        let dropped = report.unsettled(1, 0).filter(|named| named.before && named.now.is_none());
        assert!(dropped.map(|named| named.tsn).eq([6, 7]));
        assert!(report.read(0, 20, &[], &[]));
    }

    #[test]
    fn what_is_kept_from_now_on_is_looked_at_once() {
        let mut report = GapReport::default();
        report.read(0, 20, &blocks(&[(2, 3)]), &[]);
        assert!(!report.read(0, 20, &[], &blocks(&[(2, 3)])));
        assert_eq!(reported(&report), [(1, None), (2, Some(true)), (3, Some(true))]);
        report.read(0, 20, &[], &blocks(&[(2, 3)]));
        assert_eq!(reported(&report), [(1, None)]);
    }

    #[test]
    fn blocks_of_both_kinds_may_overlap() {
        let mut report = GapReport::default();
        for _ in 0..2 {
            assert!(report.read(0, 20, &blocks(&[(2, 6)]), &blocks(&[(4, 5)])));
            let kept: Vec<_> = reported(&report).into_iter().map(|(_, kept)| kept).collect();
            assert_eq!(kept, [None, Some(false), Some(false), Some(true), Some(true), Some(false)]);
        }
    }
}
