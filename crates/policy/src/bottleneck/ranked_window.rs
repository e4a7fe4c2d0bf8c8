//! The last N values of a path with their ranks, updated incrementally.
//!
//! A new value increases the ranks of the values above it, and the value that leaves decreases the ranks of the values
//! above it: one pass of N comparisons without a branch, while sorting takes N log N steps. Ranks are stored doubled,
//! so that the mean rank of equal values is an integer and every sum is exact.

/// A sliding window of ranked values.
#[derive(Clone, Debug)]
pub(crate) struct RankedWindow {
    size: usize,
    /// The window is `values[start..]`, oldest first. The buffer is shifted once every N values.
    start: usize,
    values: Vec<u64>,
    /// Twice the rank of each value; the lowest is 2.
    ranks: Vec<i32>,
    /// How many values there have been.
    pushed: u64,
}

impl RankedWindow {
    /// Creates an empty window for `size` values.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, start: 0, values: Vec::new(), ranks: Vec::new(), pushed: 0 }
    }

    /// Adds a value. If the window is full, removes the oldest one.
    pub(crate) fn push(&mut self, value: u64) {
        self.pushed += 1;
        let leaving = self.is_full().then(|| self.values[self.start]);
        self.start += usize::from(leaving.is_some());
        if self.start == self.size {
            self.values.drain(..self.start);
            self.ranks.drain(..self.start);
            self.start = 0;
        }
        let mut own = 2;
        // If no value leaves, the maximum stands in: no value is above it, so no rank changes.
        let leaving = leaving.unwrap_or(u64::MAX);
        for (rank, &other) in self.ranks[self.start..].iter_mut().zip(&self.values[self.start..]) {
            // 2 if `below` is less than `other`, 1 if they are equal.
            let above = |below: u64| i32::from(below < other) + i32::from(below <= other);
            *rank += above(value) - above(leaving);
            own += 2 - above(value);
        }
        self.values.push(value);
        self.ranks.push(own);
    }

    /// Whether the window is full.
    pub(crate) fn is_full(&self) -> bool {
        self.values.len() - self.start == self.size
    }

    /// How many values there have been.
    pub(super) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Whether the window is full of one value.
    pub(crate) fn is_constant(&self) -> bool {
        self.is_full() && self.ranks[self.start..].iter().all(|&rank| rank == self.size as i32 + 1)
    }

    /// Spearman's coefficient of two full windows of equal size, paired from the oldest value on. `None` if one is not
    /// full or is constant.
    pub(crate) fn spearman(&self, other: &Self) -> Option<f64> {
        if !self.is_full() || !other.is_full() || self.size != other.size {
            return None;
        }
        // Twice the mean rank of N values.
        let mean = self.size as i32 + 1;
        let (mut xy, mut xx, mut yy) = (0i64, 0i64, 0i64);
        for (x, y) in self.ranks[self.start..].iter().zip(&other.ranks[other.start..]) {
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
        window
    }

    #[test]
    fn doubled_ranks_of_ties_are_whole() {
        assert_eq!(filled(4, &[7, 3, 7, 9]).ranks, [5, 2, 5, 8]);
    }

    #[test]
    fn the_ranks_adapt_when_the_oldest_value_leaves() {
        let window = filled(3, &[1, 5, 5, 4]);
        assert_eq!(window.ranks[window.start..], [5, 5, 2]);
    }

    #[test]
    fn a_window_is_constant_while_all_its_values_are_equal() {
        assert!(!filled(3, &[5, 5]).is_constant(), "it is not full");
        assert!(filled(3, &[1, 5, 5, 5]).is_constant());
        assert!(!filled(3, &[5, 5, 6]).is_constant());
    }

    proptest! {
        /// Values from a small range, so that some are equal; more than the window holds, so that some leave.
        #[test]
        fn the_incremental_coefficient_equals_the_direct_one(pairs in vec((0..12u64, 0..12u64), 8..60)) {
            let size = 8;
            let (x, y): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
            let last = |values: &[u64]| values[values.len() - size..].iter().map(|&v| v as f64).collect::<Vec<_>>();
            let incremental = filled(size, &x).spearman(&filled(size, &y));
            match (incremental, spearman(&last(&x), &last(&y))) {
                (Some(ours), Some(direct)) => prop_assert!((ours - direct).abs() < 1e-9, "{ours} {direct}"),
                (ours, direct) => prop_assert_eq!(ours, direct),
            }
        }
    }
}
