//! The statistics of one path (RFC 8382, sections 3.2 and 4).

use std::collections::VecDeque;

use super::super::PathSample;

/// p_v: the least distance, in units of var_est, at which a mean counts as above or below mean_delay.
const CROSSING_DISTANCE: f64 = 0.7;
/// p_l: a higher loss alone indicates a bottleneck.
pub(super) const HIGH_LOSS: f64 = 0.05;

/// How many intervals each statistic covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// N.
    pub(super) long: usize,
    /// M.
    pub(super) short: usize,
    /// F: how many of the M intervals have full weight.
    flat: usize,
}

impl Shape {
    /// M and F in the RFC's proportion: 30 and 20 of 50.
    pub(super) fn of(long: usize) -> Self {
        Self { long, short: (long * 3 / 5).max(1), flat: (long * 2 / 5).max(1) }
    }

    /// The weight of the interval that is `age` intervals old, relative to the last one.
    fn weight(self, age: usize) -> f64 {
        let falling = (self.short - self.flat + 1) as f64;
        let left = self.short.saturating_sub(age.max(self.flat - 1)) as f64;
        left.min(falling) / falling
    }
}

/// The statistics of a path after a completed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// skew_est, −1 to 1. It is low if most delays are above their mean.
    pub skew: f64,
    /// var_est, in nanoseconds.
    pub variability: f64,
    /// freq_est, in crossings per interval.
    pub frequency: f64,
    /// pkt_loss.
    pub loss: f64,
    /// Whether the path queues at a bottleneck.
    pub bottleneck: bool,
}

/// One completed interval of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    samples: u64,
    /// E_T(OWD); for an interval without samples, that of the interval before.
    mean: f64,
    /// Samples below mean_delay minus those above it.
    skew_base: i64,
    /// Σ |OWD − E_T−1(OWD)|; `None` while the path does not queue at a bottleneck.
    variability_base: Option<f64>,
    crossed: bool,
    sent: u64,
    lost: u64,
}

/// The samples of a path, summed by interval.
#[derive(Clone, Debug, Default)]
pub(super) struct PathStatistics {
    /// Completed intervals, the last one first.
    past: VecDeque<Interval>,
    intervals: u64,
    /// Samples of the current interval.
    samples: u64,
    /// Σ (OWD − origin).
    sum: f64,
    skew_base: i64,
    variability_base: f64,
    /// The first delay. Sums are relative to it so that they stay small.
    origin: Option<i64>,
    /// The counters after the latest sample and at the end of the last interval.
    counted: (u64, u64),
    counted_before: (u64, u64),
    /// mean_delay after the last interval.
    mean_delay: Option<f64>,
    /// On which side of mean_delay the means last were at a significant distance; above is `true`.
    side: Option<bool>,
    summary: Option<Summary>,
}

impl PathStatistics {
    pub(super) fn summary(&self) -> Option<Summary> {
        self.summary
    }

    /// Completed intervals since the first sample.
    pub(super) fn intervals(&self) -> u64 {
        self.intervals
    }

    pub(super) fn on_sample(&mut self, sample: &PathSample) {
        let origin = *self.origin.get_or_insert(sample.one_way_delay);
        let delay = sample.one_way_delay.saturating_sub(origin) as f64;
        self.samples += 1;
        self.sum += delay;
        if let Some(mean_delay) = self.mean_delay {
            self.skew_base += i64::from(delay < mean_delay) - i64::from(delay > mean_delay);
        }
        if let Some(before) = self.past.front() {
            self.variability_base += (delay - before.mean).abs();
        }
        self.counted = (sample.sent, sample.lost);
    }

    /// Completes the current interval.
    pub(super) fn close_interval(&mut self, shape: Shape, threshold: f64, hysteresis: f64) {
        if self.origin.is_none() {
            return;
        }
        self.intervals += 1;
        let before = self.past.front().map_or(0.0, |interval| interval.mean);
        let mean = if self.samples > 0 { self.sum / self.samples as f64 } else { before };
        let was_bottleneck = self.summary.is_some_and(|summary| summary.bottleneck);
        let crossed = was_bottleneck && self.crosses(mean);
        self.past.push_front(Interval {
            samples: self.samples,
            mean,
            skew_base: self.skew_base,
            variability_base: was_bottleneck.then_some(self.variability_base),
            crossed,
            sent: self.counted.0.saturating_sub(self.counted_before.0),
            lost: self.counted.1.saturating_sub(self.counted_before.1),
        });
        self.past.truncate(shape.long);
        self.counted_before = self.counted;
        (self.samples, self.sum, self.skew_base, self.variability_base) = (0, 0.0, 0, 0.0);
        let means = self.past.iter().take(shape.short);
        self.mean_delay = Some(means.clone().map(|interval| interval.mean).sum::<f64>() / means.len() as f64);
        self.summary = Some(self.summarise(shape, threshold, if was_bottleneck { hysteresis } else { 0.0 }));
    }

    /// Whether `mean` is on the other side of mean_delay than the means before it, at a significant distance.
    fn crosses(&mut self, mean: f64) -> bool {
        let (Some(mean_delay), Some(summary)) = (self.mean_delay, self.summary) else { return false };
        let far = CROSSING_DISTANCE * summary.variability;
        let side = match () {
            () if mean > mean_delay + far => true,
            () if mean < mean_delay - far => false,
            () => return false,
        };
        self.side.replace(side).is_some_and(|before| before != side)
    }

    fn summarise(&self, shape: Shape, threshold: f64, hysteresis: f64) -> Summary {
        let (mut skew, mut samples, mut variability, mut varied) = (0.0, 0.0, 0.0, 0.0);
        for (age, interval) in self.past.iter().take(shape.short).enumerate() {
            let weight = shape.weight(age);
            let weighted = weight * interval.samples as f64;
            skew += weight * interval.skew_base as f64;
            samples += weighted;
            if let Some(base) = interval.variability_base {
                variability += weight * base;
                varied += weighted;
            }
        }
        let total = |count: fn(&Interval) -> u64| self.past.iter().map(|interval| count(interval) as f64).sum::<f64>();
        let ratio = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        // Without a sample in M intervals there is no sign of a queue.
        let skew = if samples > 0.0 { skew / samples } else { 1.0 };
        let loss = ratio(total(|interval| interval.lost), total(|interval| interval.sent));
        Summary {
            skew,
            variability: ratio(variability, varied),
            frequency: self.past.iter().filter(|interval| interval.crossed).count() as f64 / shape.long as f64,
            loss,
            bottleneck: skew < threshold + hysteresis || loss > HIGH_LOSS,
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant};

    use super::*;

    /// M = 3 and F = 2 of N = 5.
    const SHAPE: Shape = Shape { long: 5, short: 3, flat: 2 };

    /// The statistics after intervals with these delays in nanoseconds.
    fn after(intervals: &[&[i64]]) -> Summary {
        let mut path = PathStatistics::default();
        for delays in intervals {
            for &one_way_delay in *delays {
                let (sent, lost) = (path.counted.0 + 10, path.counted.1 + u64::from(one_way_delay > 1000));
                let sample = PathSample { at: Instant::ZERO, srtt: Duration::ZERO, one_way_delay, sent, lost };
                path.on_sample(&sample);
            }
            path.close_interval(SHAPE, 0.1, 0.2);
        }
        path.summary().expect("there was an interval")
    }

    #[test]
    fn the_oldest_intervals_have_less_weight() {
        let rfc = Shape::of(50);
        assert_eq!((rfc.short, rfc.flat), (30, 20));
        let weights = [0, 19, 20, 21, 29].map(|age| (rfc.weight(age) * 11.0).round() as u32);
        assert_eq!(weights, [11, 11, 10, 9, 1]);
    }

    #[test]
    fn skewness_counts_samples_on_either_side_of_the_mean_so_far() {
        // Relative to the first delay: mean 0, then 4; the third interval has 3 samples above (0+4)/2 = 2 and one
        // below. Weighted: interval 3: −2 of 4, interval 2: −2 of 2 (all above 0), interval 1 (weight 1/2): 0 of 2.
        let summary = after(&[&[10, 10], &[14, 14], &[11, 15, 15, 15]]);
        assert!((summary.skew - (-2.0 - 2.0) / (4.0 + 2.0 + 1.0)).abs() < 1e-12, "{summary:?}");
    }

    #[test]
    fn variability_is_measured_from_the_mean_of_the_interval_before_and_only_at_a_bottleneck() {
        // The first interval leaves skew 0 < c_s: a bottleneck. The second one's samples are 4 and 8 away from its
        // mean.
        let summary = after(&[&[10, 10], &[14, 18]]);
        assert!(summary.bottleneck);
        assert_eq!(summary.variability, 6.0);
        // Skewed to the right: most samples below their mean, no bottleneck, and then no variability either.
        let right: [&[i64]; 6] = [
            &[10, 10, 10, 90],
            &[10, 10, 10, 90],
            &[10, 10, 10, 90],
            &[10, 10, 10, 90],
            &[10, 10, 10, 90],
            &[10, 10, 10, 90],
        ];
        let summary = after(&right);
        assert!(!summary.bottleneck && summary.skew == 0.5 && summary.variability == 0.0, "{summary:?}");
    }

    #[test]
    fn only_crossings_at_a_significant_distance_count() {
        // Means relative to the first: 0, 100, −100, 100: the third and fourth cross by far more than var_est.
        let swinging = after(&[&[0, 0], &[100, 101], &[-100, -99], &[100, 101]]);
        assert!(swinging.frequency > 0.0, "{swinging:?}");
        let still = after(&[&[0, 40], &[10, 31], &[-1, 42], &[20, 19]]);
        assert_eq!(still.frequency, 0.0);
    }

    #[test]
    fn high_loss_is_a_bottleneck_by_itself() {
        let lossless = after(&[&[10, 10, 10, 900], &[10, 10, 10, 900], &[10, 10, 10, 900], &[10, 10, 10, 900]]);
        assert!(!lossless.bottleneck && lossless.loss == 0.0, "{lossless:?}");
        let lossy = [10, 10, 1900, 1900, 10, 10, 1900];
        let summary = after(&[&lossy, &lossy, &lossy, &lossy]);
        assert!((summary.loss - 3.0 / 70.0).abs() < 1e-12, "{summary:?}");
    }
}
