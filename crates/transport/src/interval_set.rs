//! A bounded set of intervals: the numbers received beyond a gap (TCP sequence offsets, MPTCP data offsets, SCTP
//! TSNs).
//!
//! # Bound
//!
//! The peer determines the number of intervals: every second byte, sent alone, makes one. A set therefore contains at
//! most as many intervals as stated at its creation. If an insertion exceeds the bound, **the data furthest ahead is
//! dropped**, whether it was in the set before or was just inserted: it is needed last, and the sender will retransmit
//! it. Linux does the same if a packet does not fit into the receive buffer (`tcp_prune_ofo_queue`), where a packet is
//! charged for its descriptor in addition to its payload (`truesize`). The bound should be chosen likewise: the size
//! of the buffer divided by the overhead of a packet. Legitimate traffic does not reach it, because its intervals
//! contain whole packets, and the buffer is full before.
//!
//! An interval takes less than 100 bytes of memory. The time of an operation is logarithmic in the number of
//! intervals, and linear in the number of intervals that an inserted range covers.

use core::ops::Range;
use std::collections::BTreeMap;

/// Disjoint half-open intervals in ascending order, each with a label. Adjacent intervals with equal labels are
/// merged; without labels all adjacent intervals are.
#[derive(Clone, Debug)]
pub(crate) struct IntervalSet<L = ()> {
    /// By their start.
    intervals: BTreeMap<u64, Interval<L>>,
    /// Count of the numbers in all intervals.
    covered: u64,
    /// Maximum number of intervals.
    bound: usize,
}

#[derive(Clone, Copy, Debug)]
struct Interval<L> {
    end: u64,
    label: L,
}

/// Result of an insertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// The first part of the range that the set already contained.
    pub(crate) duplicate: Option<Range<u64>>,
    /// The set was full: it contains nothing from this number on any more.
    pub(crate) dropped_from: Option<u64>,
}

impl IntervalSet {
    /// Adds `range`.
    pub(crate) fn insert(&mut self, range: Range<u64>) -> Insertion {
        self.insert_labelled(range, ())
    }

    /// Removes everything that continues `..next` or lies below, and returns the first number after it.
    pub(crate) fn advance(&mut self, next: u64) -> u64 {
        let mut end = next;
        while let Some((interval, ())) = self.pop_through(end) {
            end = end.max(interval.end);
        }
        end
    }
}

impl<L: Copy + PartialEq> IntervalSet<L> {
    /// An empty set of at most `bound` intervals (at least one).
    pub(crate) fn new(bound: usize) -> Self {
        Self { intervals: BTreeMap::new(), covered: 0, bound: bound.max(1) }
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Count of the numbers in all intervals.
    pub(crate) fn covered(&self) -> u64 {
        self.covered
    }

    /// The intervals in ascending order, with their labels.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Range<u64>, L)> + '_ {
        self.intervals.iter().map(|(&start, interval)| (start..interval.end, interval.label))
    }

    /// The last interval.
    pub(crate) fn last(&self) -> Option<Range<u64>> {
        self.intervals.last_key_value().map(|(&start, interval)| start..interval.end)
    }

    /// The interval that contains `number`.
    pub(crate) fn interval_of(&self, number: u64) -> Option<Range<u64>> {
        let (&start, interval) = self.intervals.range(..=number).next_back()?;
        (number < interval.end).then_some(start..interval.end)
    }

    /// Adds the numbers of `range` that the set does not contain, with `label`. The others keep their labels.
    pub(crate) fn insert_labelled(&mut self, range: Range<u64>, label: L) -> Insertion {
        if range.is_empty() || self.extend_last(&range, label) {
            return Insertion::default();
        }
        let mut cursor = range.start;
        let mut duplicate = None;
        if let Some(held) = self.interval_of(cursor) {
            duplicate = Some(cursor..held.end.min(range.end));
            cursor = held.end;
        }
        while cursor < range.end {
            let next = self.intervals.range(cursor..range.end).next().map(|(&start, held)| start..held.end);
            let gap = cursor..next.as_ref().map_or(range.end, |held| held.start);
            if !gap.is_empty() {
                self.fill(gap.clone(), label);
            }
            cursor = gap.end;
            if let Some(held) = next {
                duplicate.get_or_insert(held.start..held.end.min(range.end));
                cursor = held.end;
            }
        }
        Insertion { duplicate, dropped_from: self.drop_excess() }
    }

    /// The usual case: `range` continues the last interval.
    fn extend_last(&mut self, range: &Range<u64>, label: L) -> bool {
        let Some(mut last) = self.intervals.last_entry() else { return false };
        let held = last.get_mut();
        let extends = held.end == range.start && held.label == label;
        if extends {
            held.end = range.end;
            self.covered += range.end - range.start;
        }
        extends
    }

    /// Adds `gap`, of which the set contains nothing, and merges it with its neighbours.
    fn fill(&mut self, gap: Range<u64>, label: L) {
        self.covered += gap.end - gap.start;
        let mut end = gap.end;
        if let Some(above) = self.intervals.get(&gap.end).copied().filter(|above| above.label == label) {
            self.intervals.remove(&gap.end);
            end = above.end;
        }
        match self.intervals.range_mut(..gap.start).next_back() {
            Some((_, below)) if below.end == gap.start && below.label == label => below.end = end,
            _ => {
                self.intervals.insert(gap.start, Interval { end, label });
            }
        }
    }

    /// Drops the last intervals until the bound holds, and returns the start of the dropped part.
    fn drop_excess(&mut self) -> Option<u64> {
        let mut dropped_from = None;
        while self.intervals.len() > self.bound {
            let (start, interval) = self.intervals.pop_last().expect("there are more than the bound");
            self.covered -= interval.end - start;
            dropped_from = Some(start);
        }
        dropped_from
    }

    /// Removes and returns the first interval if it begins at or below `next`.
    pub(crate) fn pop_through(&mut self, next: u64) -> Option<(Range<u64>, L)> {
        let first = self.intervals.first_entry().filter(|first| *first.key() <= next)?;
        let (start, interval) = first.remove_entry();
        self.covered -= interval.end - start;
        Some((start..interval.end, interval.label))
    }

    /// Removes every number below `start`.
    pub(crate) fn discard_below(&mut self, start: u64) {
        while let Some((interval, label)) = start.checked_sub(1).and_then(|below| self.pop_through(below)) {
            if interval.end > start {
                self.fill(start..interval.end, label);
            }
        }
    }

    /// Removes every number from `end` on.
    pub(crate) fn discard_from(&mut self, end: u64) {
        while let Some(mut last) = self.intervals.last_entry().filter(|last| last.get().end > end) {
            let start = *last.key();
            self.covered -= last.get().end - end.max(start);
            if start < end {
                last.get_mut().end = end;
            } else {
                last.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_that_touch_are_one_and_the_set_advances_over_them() {
        let mut set = IntervalSet::new(10);
        set.insert(10..20);
        set.insert(30..40);
        assert_eq!((set.advance(5), set.covered(), set.len()), (5, 20, 2));
        set.insert(20..30);
        assert_eq!((set.last(), set.interval_of(25), set.interval_of(40)), (Some(10..40), Some(10..40), None));
        assert_eq!((set.advance(10), set.covered()), (40, 0));
        assert!(set.is_empty());
    }

    #[test]
    fn a_full_set_drops_what_lies_furthest_ahead() {
        let mut set = IntervalSet::new(2);
        set.insert(10..20);
        set.insert(50..60);
        assert_eq!(set.insert(70..80).dropped_from, Some(70), "the new one lies furthest ahead");
        assert_eq!(set.insert(30..40).dropped_from, Some(50), "the old one lies furthest ahead");
        assert_eq!(set.insert(20..30), Insertion::default(), "one interval fewer");
        assert_eq!(set.iter().collect::<Vec<_>>(), [(10..40, ())]);
    }

    #[test]
    fn what_was_there_before_is_named_and_keeps_its_label() {
        let mut set = IntervalSet::new(10);
        set.insert_labelled(10..20, 'a');
        assert_eq!(set.insert_labelled(5..30, 'b').duplicate, Some(10..20));
        assert_eq!(set.iter().collect::<Vec<_>>(), [(5..10, 'b'), (10..20, 'a'), (20..30, 'b')]);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(Range<u64>, bool),
        Pop(u64),
        DiscardBelow(u64),
        DiscardFrom(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            12 => (0u64..120, 0u64..30, any::<bool>()).prop_map(|(at, n, label)| Step::Insert(at..at + n, label)),
            1 => (0u64..120).prop_map(Step::Pop),
            1 => (0u64..150).prop_map(Step::DiscardBelow),
            1 => (0u64..150).prop_map(Step::DiscardFrom),
        ]
    }

    /// A set as a list of numbers with their labels.
    type Numbers = BTreeMap<u64, bool>;

    fn intervals(numbers: &Numbers) -> Vec<(Range<u64>, bool)> {
        let mut intervals: Vec<(Range<u64>, bool)> = Vec::new();
        for (&number, &label) in numbers {
            match intervals.last_mut() {
                Some((range, known)) if range.end == number && *known == label => range.end += 1,
                _ => intervals.push((number..number + 1, label)),
            }
        }
        intervals
    }

    fn apply(set: &mut IntervalSet<bool>, numbers: &mut Numbers, step: Step) {
        match step {
            Step::Insert(range, label) => {
                let insertion = set.insert_labelled(range.clone(), label);
                let first = range.clone().find(|number| numbers.contains_key(number));
                assert_eq!(insertion.duplicate.map(|duplicate| duplicate.start), first);
                range.for_each(|number| _ = numbers.entry(number).or_insert(label));
                let excess = intervals(numbers).get(set.bound).map(|(range, _)| range.start);
                assert_eq!(insertion.dropped_from, excess);
                numbers.retain(|&number, _| excess.is_none_or(|from| number < from));
            }
            Step::Pop(next) => {
                let first = intervals(numbers).into_iter().next().filter(|(range, _)| range.start <= next);
                numbers.retain(|number, _| first.as_ref().is_none_or(|(range, _)| !range.contains(number)));
                assert_eq!(set.pop_through(next), first);
            }
            Step::DiscardBelow(start) => {
                set.discard_below(start);
                numbers.retain(|&number, _| number >= start);
            }
            Step::DiscardFrom(end) => {
                set.discard_from(end);
                numbers.retain(|&number, _| number < end);
            }
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_a_list_of_numbers_holds(
            bound in 1usize..8,
            steps in proptest::collection::vec(step(), 0..60),
        ) {
            let (mut set, mut numbers) = (IntervalSet::new(bound), Numbers::new());
            for step in steps {
                apply(&mut set, &mut numbers, step);
                prop_assert_eq!(set.iter().collect::<Vec<_>>(), intervals(&numbers));
                prop_assert_eq!((set.covered(), set.is_empty()), (numbers.len() as u64, numbers.is_empty()));
                prop_assert!(set.len() <= bound);
                for number in 0..160 {
                    let around = intervals(&numbers).into_iter().find(|(range, _)| range.contains(&number));
                    prop_assert_eq!(set.interval_of(number), around.map(|(range, _)| range));
                }
            }
        }
    }
}
