//! Which TSNs have arrived: the cumulative one and what lies beyond it (RFC 9260, section 6.2).

use core::ops::RangeInclusive;
use std::collections::VecDeque;

/// Most duplicates that one SACK reports.
const MAX_REPORTED_DUPLICATES: usize = 16;

/// TSNs received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    cumulative: u64,
    /// Disjoint, not adjacent, ascending; all beyond the cumulative TSN + 1.
    beyond: VecDeque<RangeInclusive<u64>>,
    /// Came again since the last SACK.
    pub(crate) duplicates: Vec<u64>,
}

impl Arrivals {
    /// The last TSN before the first hole.
    pub(crate) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The highest TSN that has arrived.
    pub(crate) fn highest(&self) -> u64 {
        self.beyond.back().map_or(self.cumulative, |range| *range.end())
    }

    /// Whether TSNs are missing below the highest.
    pub(crate) fn has_holes(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// What has arrived beyond the first hole.
    pub(crate) fn beyond(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.beyond.iter()
    }

    pub(crate) fn contains(&self, tsn: u64) -> bool {
        let at = self.beyond.partition_point(|range| *range.end() < tsn);
        tsn <= self.cumulative || self.beyond.get(at).is_some_and(|range| range.contains(&tsn))
    }

    /// Notes a TSN that came again.
    pub(crate) fn note_duplicate(&mut self, tsn: u64) {
        if self.duplicates.len() < MAX_REPORTED_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// Adds a TSN that has not arrived before.
    pub(crate) fn insert(&mut self, tsn: u64) {
        if tsn == self.cumulative + 1 {
            self.advance(tsn);
            return;
        }
        let at = self.beyond.partition_point(|range| *range.end() < tsn);
        let joins_last = at > 0 && *self.beyond[at - 1].end() + 1 == tsn;
        let joins_next = self.beyond.get(at).is_some_and(|range| *range.start() == tsn + 1);
        match (joins_last, joins_next) {
            (true, true) => {
                self.beyond[at - 1] = *self.beyond[at - 1].start()..=*self.beyond[at].end();
                self.beyond.remove(at);
            }
            (true, false) => self.beyond[at - 1] = *self.beyond[at - 1].start()..=tsn,
            (false, true) => self.beyond[at] = tsn..=*self.beyond[at].end(),
            (false, false) => self.beyond.insert(at, tsn..=tsn),
        }
    }

    /// Counts everything up to `tsn` as received, and what is continuous with it.
    pub(crate) fn advance(&mut self, tsn: u64) {
        self.cumulative = self.cumulative.max(tsn);
        while let Some(front) = self.beyond.front().filter(|front| *front.start() <= self.cumulative + 1) {
            self.cumulative = self.cumulative.max(*front.end());
            self.beyond.pop_front();
        }
    }

    /// Forgets the highest TSN, which lies beyond a hole: its data is dropped.
    pub(crate) fn renege_highest(&mut self) -> Option<u64> {
        let last = self.beyond.back_mut()?;
        let (start, end) = (*last.start(), *last.end());
        if start == end {
            self.beyond.pop_back();
        } else {
            *last = start..=end - 1;
        }
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn with(tsns: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        tsns.iter().for_each(|&tsn| arrivals.insert(tsn));
        arrivals
    }

    #[test]
    fn holes_close_from_both_sides() {
        let mut arrivals = with(&[1, 3, 5, 7]);
        assert_eq!((arrivals.cumulative(), arrivals.beyond.len()), (1, 3));
        arrivals.insert(4);
        assert_eq!(arrivals.beyond, [3..=5, 7..=7]);
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

    proptest! {
        #[test]
        fn it_knows_what_arrived(tsns in proptest::collection::vec(1u64..60, 0..80), forward in 0u64..60) {
            let (mut arrivals, mut all) = (Arrivals::default(), BTreeSet::new());
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
            let beyond: Vec<u64> = arrivals.beyond().cloned().flatten().collect();
            prop_assert_eq!(beyond, all.range(cumulative + 1..).copied().collect::<Vec<_>>());
        }
    }
}
