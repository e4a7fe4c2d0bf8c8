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
//! intervals, and linear in the number of intervals that an inserted range covers. What arrives in order behind a
//! single gap extends the last interval in constant time, and takes no memory.

use core::ops::Range;
use std::collections::BTreeMap;

/// Disjoint half-open intervals in ascending order, each with a label. Adjacent intervals with equal labels are
/// merged; without labels all adjacent intervals are.
#[derive(Clone, Debug)]
pub(crate) struct IntervalSet<L = ()> {
    /// All but the last, by their start.
    lower: BTreeMap<u64, Interval<L>>,
    /// The last one and its start; `None` only if the set is empty. It is kept beside the map because most
    /// insertions extend it.
    last: Option<(u64, Interval<L>)>,
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
        Self { lower: BTreeMap::new(), last: None, covered: 0, bound: bound.max(1) }
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        self.lower.len() + usize::from(self.last.is_some())
    }

    /// Count of the numbers in all intervals.
    pub(crate) fn covered(&self) -> u64 {
        self.covered
    }

    /// The intervals in ascending order, with their labels.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Range<u64>, L)> + '_ {
        let lower = self.lower.iter().map(|(&start, interval)| (start..interval.end, interval.label));
        lower.chain(self.last.map(|(start, interval)| (start..interval.end, interval.label)))
    }

    /// The last interval.
    pub(crate) fn last(&self) -> Option<Range<u64>> {
        self.last.as_ref().map(|(start, interval)| *start..interval.end)
    }

    /// The interval that contains `number`.
    pub(crate) fn interval_of(&self, number: u64) -> Option<Range<u64>> {
        let (start, interval) = match &self.last {
            Some((start, interval)) if *start <= number => (*start, interval),
            _ => self.lower.range(..=number).next_back().map(|(&start, interval)| (start, interval))?,
        };
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
            let next = self.first_within(cursor..range.end);
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
    #[inline]
    fn extend_last(&mut self, range: &Range<u64>, label: L) -> bool {
        let Some((_, held)) = &mut self.last else { return false };
        let extends = held.end == range.start && held.label == label;
        if extends {
            held.end = range.end;
            self.covered += range.end - range.start;
        }
        extends
    }

    /// The first interval that begins within `range`.
    pub(crate) fn first_within(&self, range: Range<u64>) -> Option<Range<u64>> {
        let lower = self.lower.range(range.clone()).next().map(|(&start, held)| start..held.end);
        lower.or_else(|| self.last().filter(|last| range.contains(&last.start)))
    }

    /// Adds `gap`, of which the set contains nothing, and merges it with its neighbours.
    fn fill(&mut self, gap: Range<u64>, label: L) {
        self.covered += gap.end - gap.start;
        let end = self.take_if(gap.end, label).map_or(gap.end, |above| above.end);
        if let Some((_, last)) = self.last.as_mut().filter(|(start, _)| *start < gap.start) {
            if last.end == gap.start && last.label == label {
                last.end = end;
            } else {
                self.push(gap.start, Interval { end, label });
            }
            return;
        }
        match self.lower.range_mut(..gap.start).next_back() {
            Some((_, below)) if below.end == gap.start && below.label == label => {
                below.end = end;
                // The interval above was the last one and is part of this one now.
                if self.last.is_none() {
                    self.last = self.lower.pop_last();
                }
            }
            _ if self.last.is_none() => self.last = Some((gap.start, Interval { end, label })),
            _ => {
                self.lower.insert(gap.start, Interval { end, label });
            }
        }
    }

    /// Removes the interval that begins at `start` if it has `label`. The caller restores `last`.
    fn take_if(&mut self, start: u64, label: L) -> Option<Interval<L>> {
        match self.last {
            Some((last, interval)) if last == start && interval.label == label => {
                self.last.take().map(|(_, held)| held)
            }
            _ if self.lower.get(&start).is_some_and(|held| held.label == label) => self.lower.remove(&start),
            _ => None,
        }
    }

    /// Adds an interval above all others.
    fn push(&mut self, start: u64, interval: Interval<L>) {
        if let Some((start, below)) = self.last.replace((start, interval)) {
            self.lower.insert(start, below);
        }
    }

    /// Removes and returns the last interval.
    fn pop_last(&mut self) -> Option<(u64, Interval<L>)> {
        let next = self.lower.pop_last();
        core::mem::replace(&mut self.last, next)
    }

    /// Drops the last intervals until the bound holds, and returns the start of the dropped part.
    fn drop_excess(&mut self) -> Option<u64> {
        let mut dropped_from = None;
        while self.len() > self.bound {
            let (start, interval) = self.pop_last().expect("there are more than the bound");
            self.covered -= interval.end - start;
            dropped_from = Some(start);
        }
        dropped_from
    }

    /// Removes and returns the first interval if it begins at or below `next`.
    pub(crate) fn pop_through(&mut self, next: u64) -> Option<(Range<u64>, L)> {
        let (start, interval) = match self.lower.first_entry() {
            Some(first) if *first.key() <= next => first.remove_entry(),
            Some(_) => return None,
            None => self.last.take_if(|(start, _)| *start <= next)?,
        };
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
        while let Some((start, last)) = self.last.as_mut().filter(|(_, last)| last.end > end) {
            let start = *start;
            self.covered -= last.end - end.max(start);
            if start < end {
                last.end = end;
            } else {
                self.pop_last();
            }
        }
    }
}

#[cfg(test)]
mod tests;
