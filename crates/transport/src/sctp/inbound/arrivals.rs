//! Which TSNs have arrived: the cumulative one and those beyond it (RFC 9260, section 6.2).

use core::ops::Range;

use crate::interval_set::IntervalSet;

/// Maximum number of duplicates in a SACK.
const MAX_REPORTED_DUPLICATES: usize = 16;

/// TSNs received.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    cumulative: u64,
    /// Beyond the cumulative TSN + 1.
    beyond: IntervalSet,
    /// Received again since the last SACK.
    duplicates: Vec<u64>,
}

impl Arrivals {
    /// Nothing has arrived. TSNs up to `most_ahead` beyond the cumulative one can be inserted: the set is made for as
    /// many intervals as these can form, every second TSN, so it never drops one that was acknowledged.
    pub(super) fn new(most_ahead: u16) -> Self {
        Self { cumulative: 0, beyond: IntervalSet::new(usize::from(most_ahead) / 2), duplicates: Vec::new() }
    }

    /// The last TSN before the first gap.
    pub(super) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The highest TSN that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.beyond.last().map_or(self.cumulative, |range| range.end - 1)
    }

    /// Whether TSNs are missing below the highest.
    pub(super) fn has_gaps(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// The TSNs beyond the first gap, in ascending ranges.
    pub(super) fn beyond(&self) -> impl Iterator<Item = Range<u64>> {
        self.beyond.iter().map(|(range, ())| range)
    }

    pub(super) fn contains(&self, tsn: u64) -> bool {
        tsn <= self.cumulative || self.beyond.interval_of(tsn).is_some()
    }

    /// Records a TSN that was received again.
    pub(super) fn note_duplicate(&mut self, tsn: u64) {
        if self.duplicates.len() < MAX_REPORTED_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// The TSNs that were received again since the last call.
    pub(super) fn take_duplicates(&mut self) -> impl Iterator<Item = u64> {
        self.duplicates.drain(..)
    }

    /// Adds a TSN that has not arrived before.
    pub(super) fn insert(&mut self, tsn: u64) {
        if tsn == self.cumulative + 1 {
            self.advance(tsn);
            return;
        }
        let insertion = self.beyond.insert(tsn..tsn + 1);
        debug_assert_eq!(insertion.dropped_from, None, "no more intervals than the TSNs ahead can form");
    }

    /// Counts everything up to `tsn` as received, and what follows it without a gap.
    pub(super) fn advance(&mut self, tsn: u64) {
        self.cumulative = self.beyond.advance(self.cumulative.max(tsn) + 1) - 1;
    }

    /// Removes the highest TSN, which is beyond a gap: its data is dropped.
    pub(super) fn renege_highest(&mut self) -> Option<u64> {
        let highest = self.beyond.last()?.end - 1;
        self.beyond.discard_from(highest);
        Some(highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn with(tsns: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::new(100);
        tsns.iter().for_each(|&tsn| arrivals.insert(tsn));
        arrivals
    }

    #[test]
    fn gaps_close_from_both_sides() {
        let mut arrivals = with(&[1, 3, 5, 7]);
        assert_eq!((arrivals.cumulative(), arrivals.beyond.len()), (1, 3));
        arrivals.insert(4);
        assert!(arrivals.beyond().eq([3..6, 7..8]));
        arrivals.insert(2);
        assert_eq!((arrivals.cumulative(), arrivals.highest()), (5, 7));
    }

    #[test]
    fn what_is_dropped_counts_as_missing() {
        let mut arrivals = with(&[3, 4]);
        assert_eq!(arrivals.renege_highest(), Some(4));
        assert!(arrivals.contains(3) && !arrivals.contains(4));
        assert_eq!((arrivals.renege_highest(), arrivals.renege_highest()), (Some(3), None));
    }

    #[test]
    fn every_second_tsn_as_far_ahead_as_is_allowed_has_its_interval() {
        for most_ahead in [1, 2, 3, 100, 101] {
            let mut arrivals = Arrivals::new(most_ahead);
            (2..=u64::from(most_ahead)).step_by(2).for_each(|tsn| arrivals.insert(tsn));
            assert_eq!(arrivals.beyond().count(), usize::from(most_ahead) / 2);
        }
    }

    proptest! {
        #[test]
        fn it_knows_what_arrived(tsns in proptest::collection::vec(1u64..60, 0..80), forward in 0u64..60) {
            let (mut arrivals, mut all) = (Arrivals::new(100), BTreeSet::new());
            for tsn in tsns {
                prop_assert_eq!(arrivals.contains(tsn), !all.insert(tsn));
                if !arrivals.contains(tsn) {
                    arrivals.insert(tsn);
                }
            }
            arrivals.advance(forward);
            all.extend(1..=forward);
            let cumulative = (1..).find(|tsn| !all.contains(tsn)).expect("a hole") - 1;
            prop_assert_eq!(arrivals.cumulative(), cumulative);
            prop_assert_eq!(arrivals.highest(), all.last().copied().unwrap_or(0).max(cumulative));
            let beyond: Vec<u64> = arrivals.beyond().flatten().collect();
            prop_assert_eq!(beyond, all.range(cumulative + 1..).copied().collect::<Vec<_>>());
        }
    }
}
