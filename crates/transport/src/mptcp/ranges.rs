//! A set of data-level ranges: what arrived ahead of a hole.

use core::ops::Range;
use std::collections::VecDeque;

/// Disjoint, non-adjacent ranges in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: VecDeque<Range<u64>>,
    bytes: u64,
}

impl RangeSet {
    /// Bytes in the set.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `range`.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        let first = self.ranges.partition_point(|held| held.end < range.start);
        let mut merged = range;
        let mut last = first;
        while let Some(held) = self.ranges.get(last).filter(|held| held.start <= merged.end) {
            self.bytes -= held.end - held.start;
            merged = merged.start.min(held.start)..merged.end.max(held.end);
            last += 1;
        }
        self.bytes += merged.end - merged.start;
        if last > first {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        } else {
            self.ranges.insert(first, merged);
        }
    }

    /// Takes out what lies at or below `next` and returns the offset up to which data is now continuous.
    pub(crate) fn advance(&mut self, next: u64) -> u64 {
        let mut end = next;
        while let Some(front) = self.ranges.front().filter(|front| front.start <= end) {
            self.bytes -= front.end - front.start;
            end = end.max(front.end);
            self.ranges.pop_front();
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_merge_and_advance() {
        let mut set = RangeSet::default();
        set.insert(10..20);
        set.insert(30..40);
        assert_eq!((set.advance(5), set.bytes()), (5, 20));
        set.insert(20..30);
        assert_eq!((set.advance(10), set.bytes()), (40, 0));
        assert!(set.is_empty());
    }

    proptest! {
        #[test]
        fn it_holds_what_was_put_in(ranges in proptest::collection::vec((0u64..200, 1u64..30), 0..40)) {
            let mut set = RangeSet::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (start, length) in ranges {
                set.insert(start..start + length);
                bytes.extend(start..start + length);
            }
            prop_assert_eq!(set.bytes(), bytes.len() as u64);
            let expected = (0..).find(|byte| !bytes.contains(byte)).unwrap();
            prop_assert_eq!(set.advance(0), expected);
        }
    }
}
