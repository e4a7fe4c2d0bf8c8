//! A summary of durations in bounded memory.

use ranked::{Ranked, RankedClasses};
use subflow_quantity::Duration;

mod ranked;

/// Count, mean and quantiles of durations. Count and mean are exact. Quantiles are exact for up to [`Self::MOST_KEPT`]
/// durations, or as many as [`Self::keeping`] says; for more they are within 0.1 % of the exact ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationSummary {
    /// The latest durations in nanoseconds. Adding one is only this: the rest is done with many at a time.
    kept: Vec<u64>,
    /// How many of them there may be. Until then all durations are there, afterwards those that were not classified yet.
    most_kept: usize,
    /// The number of durations in each class from `lowest` on.
    classes: Vec<u64>,
    lowest: usize,
    /// The number of the durations that were classified, and their sum in nanoseconds.
    classified: (u64, u128),
    /// The number of further durations, which are zero.
    zeros: u64,
}

/// The number of durations for which there is room at first.
const FIRST: usize = 64;

/// Durations that are classified at a time.
const MANY: usize = 1 << 8;

impl Default for DurationSummary {
    fn default() -> Self {
        Self::keeping(Self::MOST_KEPT)
    }
}

/// Classes per doubling, as a power of two: the width of a class is 1/512 of its lower bound, and its middle represents
/// its durations.
const CLASS_BITS: u32 = 9;

impl DurationSummary {
    /// The number of durations that are kept exactly (512 KiB).
    pub const MOST_KEPT: usize = 1 << 16;

    /// A summary that keeps up to `most_kept` durations exactly, for where there are many summaries.
    pub fn keeping(most_kept: usize) -> Self {
        Self { kept: Vec::new(), most_kept, classes: Vec::new(), lowest: 0, classified: (0, 0), zeros: 0 }
    }

    /// Adds a duration.
    #[inline]
    pub fn add(&mut self, duration: Duration) {
        if self.kept.len() == self.most_kept {
            self.classify_kept();
        }
        if self.kept.len() == self.kept.capacity() {
            self.grow();
        }
        self.kept.push(duration.as_nanos());
    }

    /// Adds several durations.
    pub fn add_many(&mut self, durations: &[Duration]) {
        if self.kept.len() + durations.len() > self.most_kept {
            return durations.iter().for_each(|&duration| self.add(duration));
        }
        if self.kept.len() + durations.len() > self.kept.capacity() {
            self.grow();
        }
        self.kept.extend(durations.iter().map(|duration| duration.as_nanos()));
    }

    /// A summary of the durations of all of these summaries, which keep as many exactly.
    pub(crate) fn joined<'a>(first: &Self, others: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let kept = first.kept.len() + others.clone().map(|other| other.kept.len()).sum::<usize>();
        let mut all = Self {
            kept: Vec::with_capacity(kept.min(first.most_kept)),
            most_kept: first.most_kept,
            classes: first.classes.clone(),
            ..*first
        };
        all.kept.extend_from_slice(&first.kept);
        others.for_each(|other| all.add_all(other));
        all
    }

    /// Adds `times` durations that are zero. They take no memory, but count among those that are kept exactly.
    pub fn add_zeros(&mut self, times: u64) {
        self.zeros += times;
        if self.kept.len() as u64 + self.zeros > self.most_kept as u64 {
            self.classify_kept();
        }
    }

    /// Makes room for four times as many durations: thousands of them are copied less often than with twice as many.
    #[cold]
    fn grow(&mut self) {
        let more = (3 * self.kept.len()).max(FIRST).min(self.most_kept - self.kept.len());
        self.kept.reserve_exact(more);
    }

    /// Adds all durations of another summary, which keeps as many exactly.
    pub fn add_all(&mut self, other: &Self) {
        self.zeros += other.zeros;
        if other.classes.is_empty() && self.kept.len() + other.kept.len() <= self.most_kept {
            self.kept.extend_from_slice(&other.kept);
            return;
        }
        self.classify_kept();
        self.classified.0 += other.count() - other.zeros;
        self.classified.1 += other.sum();
        other.kept.iter().for_each(|&nanos| self.classify(nanos));
        for (index, &count) in other.classes.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add_to_class(other.lowest + index, count);
        }
    }

    /// Classifies what is kept.
    #[cold]
    fn classify_kept(&mut self) {
        self.classified = (self.count() - self.zeros, self.sum());
        let mut kept = std::mem::take(&mut self.kept);
        kept.iter().for_each(|&nanos| self.classify(nanos));
        kept.clear();
        kept.shrink_to(MANY);
        self.kept = kept;
        self.most_kept = MANY;
    }

    /// Adds a duration to its class.
    #[inline]
    fn classify(&mut self, nanos: u64) {
        let class = class(nanos);
        match self.classes.get_mut(class.wrapping_sub(self.lowest)) {
            Some(count) => *count += 1,
            None => self.add_to_class(class, 1),
        }
    }

    /// Adds durations of a class. Where it is missing, all classes of its doubling are made.
    #[cold]
    fn add_to_class(&mut self, class: usize, times: u64) {
        const DOUBLING: usize = 1 << CLASS_BITS;
        let from = class / DOUBLING * DOUBLING;
        if self.classes.is_empty() {
            self.lowest = from;
        } else if from < self.lowest {
            self.classes.splice(..0, std::iter::repeat_n(0, self.lowest - from));
            self.lowest = from;
        }
        let to = from + DOUBLING - self.lowest;
        if self.classes.len() < to {
            self.classes.resize(to, 0);
        }
        self.classes[class - self.lowest] += times;
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.classified.0 + self.kept.len() as u64 + self.zeros
    }

    /// Their sum in nanoseconds.
    fn sum(&self) -> u128 {
        self.classified.1 + self.kept.iter().map(|&nanos| u128::from(nanos)).sum::<u128>()
    }

    /// The mean in seconds; `None` without durations.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum() as f64 / count as f64 / 1e9)
    }

    /// The `p` quantile in seconds, 0 ≤ p ≤ 1, as defined by [`quantile`](super::quantile); `None` without durations.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantiles([p]).map(|[quantile]| quantile)
    }

    /// Several quantiles, as by [`quantile`](Self::quantile).
    pub fn quantiles<const N: usize>(&self, of: [f64; N]) -> Option<[f64; N]> {
        self.clone().into_quantiles(of)
    }

    /// The same, without a copy of all durations.
    pub(crate) fn into_quantiles<const N: usize>(mut self, of: [f64; N]) -> Option<[f64; N]> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        if !self.classes.is_empty() {
            self.classify_kept();
        }
        let mut kept = Ranked::new(std::mem::take(&mut self.kept));
        let mut classes = RankedClasses::new(&self.classes, self.lowest);
        let mut at_rank = |rank: u64| match rank.checked_sub(self.zeros) {
            None => 0.0,
            Some(rank) => kept.at(rank as usize).map_or_else(|| classes.at(rank), |nanos| nanos as f64) / 1e9,
        };
        Some(of.map(|p| {
            let position = p.clamp(0.0, 1.0) * (count - 1) as f64;
            let (below, above) = (at_rank(position.floor() as u64), at_rank(position.ceil() as u64));
            below + (above - below) * position.fract()
        }))
    }
}

/// The class of a number: below 2⁹ each number has its own class, above that there are 2⁹ classes per doubling.
fn class(nanos: u64) -> usize {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(CLASS_BITS + 1);
    ((shift as usize) << CLASS_BITS) + (nanos >> shift) as usize
}

/// The middle of a class.
fn middle(class: usize) -> f64 {
    let shift = (class >> CLASS_BITS).saturating_sub(1) as u32;
    let lowest = ((class - ((shift as usize) << CLASS_BITS)) as u64) << shift;
    lowest as f64 + ((1u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics;

    /// Irregular durations of very different sizes.
    fn times(n: u64) -> Vec<u64> {
        (0..n).map(|k| 1 + (k * k * 7919) % (1 << (10 + k % 30))).collect()
    }

    fn summary(times: &[u64]) -> DurationSummary {
        let mut summary = DurationSummary::default();
        times.iter().for_each(|&nanos| summary.add(Duration::from_nanos(nanos)));
        summary
    }

    #[test]
    fn classes_follow_each_other_without_gaps() {
        let mut last = 0;
        for nanos in (0..5000).chain([(1 << 40) - 1, 1 << 40, u64::MAX]) {
            let class = class(nanos);
            assert!(class == last || class == last + 1 || nanos > 5000, "{nanos}");
            assert!((middle(class) - nanos as f64).abs() <= nanos as f64 / 1024.0, "{nanos}: {}", middle(class));
            last = class;
        }
        assert!(class(u64::MAX) < 1 << 15);
    }

    #[test]
    fn quantiles_are_exact_as_long_as_all_durations_are_kept() {
        let times = times(DurationSummary::MOST_KEPT as u64);
        let summary = summary(&times);
        let seconds: Vec<f64> = times.iter().map(|&nanos| nanos as f64 / 1e9).collect();
        for p in [0.0, 0.5, 0.95, 1.0] {
            assert_eq!(summary.quantile(p), statistics::quantile(&seconds, p));
        }
    }

    #[test]
    fn with_more_durations_the_mean_is_exact_and_quantiles_are_within_a_thousandth() {
        let times = times(300_000);
        let summary = summary(&times);
        let seconds: Vec<f64> = times.iter().map(|&nanos| nanos as f64 / 1e9).collect();
        assert_eq!(summary.count(), 300_000);
        let exact = times.iter().map(|&nanos| u128::from(nanos)).sum::<u128>() as f64 / 3e5 / 1e9;
        assert_eq!(summary.mean(), Some(exact));
        for p in [0.01, 0.5, 0.95, 0.999] {
            let (ours, exact) = (summary.quantile(p).unwrap_or(0.0), statistics::quantile(&seconds, p).unwrap_or(1.0));
            assert!((ours / exact - 1.0).abs() <= 1e-3, "{p}: {ours}, {exact}");
        }
    }

    #[test]
    fn parts_of_the_durations_make_the_same_summary_together() {
        for n in [100, 3000, 6000, 20_000] {
            let times = times(n);
            let of = |times: &[u64]| {
                let mut summary = DurationSummary::keeping(4096);
                times.iter().for_each(|&nanos| summary.add(Duration::from_nanos(nanos)));
                summary
            };
            let zeros = vec![0; n as usize / 2];
            let whole = of(&[&zeros[..], &times].concat());
            let (one, other) = times.split_at(n as usize / 3);
            let mut last = of(&[]);
            other
                .chunks(700)
                .for_each(|times| last.add_many(&times.iter().map(|&n| Duration::from_nanos(n)).collect::<Vec<_>>()));
            let mut joined = DurationSummary::joined(&of(one), core::iter::once(&last));
            joined.add_zeros(zeros.len() as u64);
            assert_eq!((joined.count(), joined.mean()), (whole.count(), whole.mean()), "{n}");
            let of = [0.0, 0.3, 0.34, 0.5, 0.95, 1.0];
            assert_eq!(joined.quantiles(of), whole.quantiles(of), "{n}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut summary = DurationSummary::default();
        for k in 0..3_000_000u64 {
            summary.add(Duration::from_nanos(k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        }
        assert!(summary.kept.capacity() + summary.classes.capacity() <= 1 << 17);
        assert_eq!(DurationSummary::default().quantile(0.5), None);
        assert_eq!(DurationSummary::default().mean(), None);
    }
}
