//! Durations of which a few are asked for by their rank.

use super::middle;

/// The numbers of durations in classes, of which a few are asked for by their rank, lower ones first.
pub(super) struct RankedClasses<'a> {
    counts: &'a [u64],
    lowest: usize,
    /// The class that was looked for last, and the number of durations in those below it.
    class: usize,
    below: u64,
}

impl<'a> RankedClasses<'a> {
    /// Of these classes, of which the first has the number `lowest`.
    pub(super) fn new(counts: &'a [u64], lowest: usize) -> Self {
        Self { counts, lowest, class: 0, below: 0 }
    }

    /// The duration of this rank, counted from 0 in ascending order, in nanoseconds: the middle of its class.
    pub(super) fn at(&mut self, rank: u64) -> f64 {
        if rank < self.below {
            (self.class, self.below) = (0, 0);
        }
        while self.class + 1 < self.counts.len() && self.below + self.counts[self.class] <= rank {
            self.below += self.counts[self.class];
            self.class += 1;
        }
        middle(self.lowest + self.class)
    }
}

/// Numbers of which a few are asked for by their rank, lower ones first. That takes less time than to sort all of them.
pub(super) struct Ranked {
    numbers: Vec<u64>,
    /// So many of the lowest numbers are in front, the highest of them last.
    lowest: usize,
}

impl Ranked {
    /// Of these numbers, in any order.
    pub(super) fn new(numbers: Vec<u64>) -> Self {
        Self { numbers, lowest: 0 }
    }

    /// The number of this rank, counted from 0 in ascending order, if there are so many.
    pub(super) fn at(&mut self, rank: usize) -> Option<u64> {
        if rank >= self.numbers.len() {
            return None;
        }
        if rank == self.lowest {
            let rest = &mut self.numbers[rank..];
            let lowest =
                (1..rest.len()).fold(0, |lowest, number| if rest[number] < rest[lowest] { number } else { lowest });
            rest.swap(0, lowest);
            self.lowest = rank + 1;
        } else if rank + 1 != self.lowest {
            let from = if rank < self.lowest { 0 } else { self.lowest };
            self.numbers[from..].select_nth_unstable(rank - from);
            self.lowest = rank + 1;
        }
        Some(self.numbers[rank])
    }
}
