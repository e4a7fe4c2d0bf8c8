//! The last N values of a path with their ranks.
//!
//! Values come often and ranks may be asked for seldom, so that ranks are brought up to date when they are asked for.
//! For a few new values that is done value by value: a new value increases the ranks of the values above it, and the
//! value that leaves decreases the ranks of the values above it, one pass of N comparisons without a branch. After many
//! new values the window is sorted, in N log N steps. Ranks are stored doubled, so that the mean rank of equal values is
//! an integer and every sum is exact.

use core::ops::Range;

/// A sliding window of ranked values.
#[derive(Clone, Debug)]
pub(crate) struct RankedWindow {
    size: usize,
    /// The window is the last `size` values. Older ones are removed when there are twice as many.
    values: Vec<u64>,
    /// Twice the rank of each value among those of `ranked`; the lowest is 2.
    ranks: Vec<i32>,
    /// The values whose ranks are known: the window as it was at the last [`rank`](Self::rank), or empty if a part of it
    /// was removed since.
    ranked: Range<usize>,
    /// How many values there have been.
    pushed: u64,
}

/// For more new values than these the window is sorted.
const FEW: usize = 16;

impl RankedWindow {
    /// Creates an empty window for `size` values.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, values: Vec::new(), ranks: Vec::new(), ranked: 0..0, pushed: 0 }
    }

    /// Adds a value. If the window is full, removes the oldest one.
    pub(crate) fn push(&mut self, value: u64) {
        self.pushed += 1;
        if self.values.len() == 2 * self.size {
            self.values.drain(..self.size);
            self.ranks.drain(..self.size.min(self.ranks.len()));
            let Range { start, end } = self.ranked;
            self.ranked = match start.checked_sub(self.size) {
                Some(start) => start..end - self.size,
                None => 0..0,
            };
        }
        self.values.push(value);
    }

    /// Brings the ranks up to date.
    pub(crate) fn rank(&mut self) {
        let window = self.window();
        if window.end - self.ranked.end > FEW || self.ranked.is_empty() {
            self.sort();
        } else {
            (self.ranked.end..window.end).for_each(|place| self.rank_next(place));
        }
        self.ranked = window;
    }

    /// Ranks the value at `place`, the first one that is not ranked, in place of the first one of a full window.
    fn rank_next(&mut self, place: usize) {
        let value = self.values[place];
        // If no value leaves, the maximum stands in: no value is above it, so no rank changes.
        let mut leaving = u64::MAX;
        if self.ranked.len() == self.size {
            leaving = self.values[self.ranked.start];
            self.ranked.start += 1;
        }
        let mut own = 2;
        let others = self.ranked.clone();
        for (rank, &other) in self.ranks[others.clone()].iter_mut().zip(&self.values[others]) {
            // 2 if `below` is less than `other`, 1 if they are equal.
            let above = |below: u64| i32::from(below < other) + i32::from(below <= other);
            *rank += above(value) - above(leaving);
            own += 2 - above(value);
        }
        self.ranks.push(own);
        self.ranked.end = place + 1;
    }

    /// Ranks all values of the window.
    fn sort(&mut self) {
        let window = self.window();
        let mut places: Vec<usize> = window.clone().collect();
        places.sort_unstable_by_key(|&place| self.values[place]);
        self.ranks.resize(window.end, 0);
        let mut below = 0;
        for equal in places.chunk_by(|&a, &b| self.values[a] == self.values[b]) {
            let through = below + equal.len();
            equal.iter().for_each(|&place| self.ranks[place] = (below + 1 + through) as i32);
            below = through;
        }
    }

    /// The places of the values in the window.
    fn window(&self) -> Range<usize> {
        self.values.len().saturating_sub(self.size)..self.values.len()
    }

    /// Whether the window is full.
    pub(crate) fn is_full(&self) -> bool {
        self.values.len() >= self.size
    }

    /// How many values there have been.
    pub(super) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Whether the window is full of one value.
    pub(crate) fn is_constant(&self) -> bool {
        let values = &self.values[self.window()];
        self.is_full() && values.iter().all(|value| value == &values[0])
    }

    /// Spearman's coefficient of two full windows of equal size, paired from the oldest value on, with the ranks of the
    /// last [`rank`](Self::rank). `None` if one is not full or is constant.
    pub(crate) fn spearman(&self, other: &Self) -> Option<f64> {
        debug_assert!(self.ranked == self.window() && other.ranked == other.window(), "the ranks are not up to date");
        let (own, others) = (&self.ranks[self.ranked.clone()], &other.ranks[other.ranked.clone()]);
        if own.len() < self.size || others.len() < other.size || self.size != other.size {
            return None;
        }
        // Twice the mean rank of N values.
        let mean = self.size as i32 + 1;
        let (mut xy, mut xx, mut yy) = (0i64, 0i64, 0i64);
        for (x, y) in own.iter().zip(others) {
            let (dx, dy) = (x - mean, y - mean);
            xy += i64::from(dx * dy);
            xx += i64::from(dx * dx);
            yy += i64::from(dy * dy);
        }
        let scale = (xx as f64 * yy as f64).sqrt();
        (scale > 0.0).then(|| (xy as f64 / scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::spearman;
    use super::*;

    fn filled(size: usize, values: &[u64]) -> RankedWindow {
        let mut window = RankedWindow::new(size);
        values.iter().for_each(|&value| window.push(value));
        window.rank();
        window
    }

    #[test]
    fn doubled_ranks_of_ties_are_whole() {
        assert_eq!(filled(4, &[7, 3, 7, 9]).ranks, [5, 2, 5, 8]);
    }

    #[test]
    fn the_ranks_adapt_when_the_oldest_value_leaves() {
        let mut window = filled(3, &[1, 5, 5]);
        window.push(4);
        window.rank();
        assert_eq!(window.ranks[window.ranked.clone()], [5, 5, 2]);
    }

    #[test]
    fn a_window_is_constant_while_all_its_values_are_equal() {
        assert!(!filled(3, &[5, 5]).is_constant(), "it is not full");
        assert!(filled(3, &[1, 5, 5, 5]).is_constant());
        assert!(!filled(3, &[5, 5, 6]).is_constant());
    }

    proptest! {
        /// Values from a small range, so that some are equal; more than the window holds, so that some leave; ranks are
        /// asked for after few and after many values.
        #[test]
        fn the_coefficient_equals_the_direct_one(pairs in vec((0..12u64, 0..12u64, 0..20u32), 0..150)) {
            let size = 24;
            let (mut x, mut y) = (RankedWindow::new(size), RankedWindow::new(size));
            let (mut xs, mut ys) = (Vec::new(), Vec::new());
            for (a, b, rarely) in pairs {
                x.push(a);
                y.push(b);
                xs.push(a as f64);
                ys.push(b as f64);
                if rarely > 0 {
                    continue;
                }
                x.rank();
                y.rank();
                if xs.len() < size {
                    prop_assert_eq!(x.spearman(&y), None);
                    continue;
                }
                match (x.spearman(&y), spearman(&xs[xs.len() - size..], &ys[ys.len() - size..])) {
                    (Some(ours), Some(direct)) => prop_assert!((ours - direct).abs() < 1e-9, "{ours} {direct}"),
                    (ours, direct) => prop_assert_eq!(ours, direct),
                }
            }
        }
    }
}
