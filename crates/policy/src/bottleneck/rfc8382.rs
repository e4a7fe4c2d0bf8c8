//! Shared-bottleneck detection by summary statistics of one-way delays (RFC 8382).
//!
//! Every `T` each path is summed up (section 3.2); paths that queue at a bottleneck are grouped by the likeness of their
//! statistics (section 3.3). With n counting back from the last whole `T`:
//!
//! | statistic | formula | over |
//! |---|---|---|
//! | E_T(OWD) | mean one-way delay of a `T` | `T` |
//! | mean_delay | mean of E_T(OWD) | M |
//! | skew_est | Σ (samples below mean_delay − samples above it) / samples, weighted | M |
//! | var_est | Σ \|OWD − E_T−1(OWD)\| / samples, weighted | M |
//! | freq_est | crossings of mean_delay ± p_v·var_est by E_T(OWD), per `T` | N |
//! | pkt_loss | lost / sent | N |
//!
//! **Weights** (section 4.1): 1 for the last F of the M intervals, falling linearly to 1/(M − F + 1) for the oldest.
//! **Oscillation noise** (section 4.2): while a path queues at no bottleneck its intervals are left out of var_est, and
//! its crossings are not counted.
//!
//! **A path queues at a bottleneck** (section 3.3.1) where `skew_est < c_s`, or `skew_est < c_h` and it did so before, or
//! `pkt_loss > p_l`. These are divided step by step: sorted by freq_est where neighbours differ by p_f or more; by var_est
//! (p_mad of the larger); by skew_est (p_s); and by pkt_loss (p_d of the larger) where it is above p_l.
//!
//! Parameters (section 2.2): T = 350 ms, N = 50, M = 30, F = 20, c_s = 0.1, c_h = 0.3, p_f = 0.1, p_mad = 0.1,
//! p_s = 0.15, p_d = 0.1, p_v = 0.7, p_l = 0.05. Here `interval` is T, `window` is N (M and F keep their shares of it),
//! `threshold` is c_s (c_h stays 0.2 above it). The degree of a pair is 1 in one group and 0 otherwise, and unknown
//! before M intervals have passed. An interval without samples of a path leaves its means as they were.
//!
//! Counting costs a few steps a sample. Statistics are computed once in T: N steps a path, and a sort of the paths for
//! each step of the grouping.

mod grouping;
mod statistics;

use subflow_quantity::{Duration, Instant};

use super::{BottleneckDetector, Correlations, Parameters, PathSample};
use statistics::{PathStatistics, Shape};

pub use statistics::Summary;

/// Hysteresis of the test by skewness: c_h − c_s.
const HYSTERESIS: f64 = 0.2;

/// The detector of RFC 8382 for one connection.
#[derive(Clone, Debug)]
pub struct Rfc8382 {
    shape: Shape,
    /// c_s.
    threshold: f64,
    interval: Duration,
    /// When the present interval ends.
    ends_at: Option<Instant>,
    /// Whole intervals so far.
    intervals: u64,
    paths: Vec<PathStatistics>,
    correlations: Correlations,
}

impl Rfc8382 {
    /// A detector without samples.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            shape: Shape::of(parameters.window as usize),
            threshold: parameters.threshold,
            interval: parameters.interval.max(Duration::from_nanos(1)),
            ends_at: None,
            intervals: 0,
            paths: Vec::new(),
            // Degrees are 0 or 1.
            correlations: Correlations::new(1.0),
        }
    }

    /// The statistics of a path after the last whole interval; `None` before its first.
    pub fn summary(&self, path: usize) -> Option<Summary> {
        self.paths.get(path)?.summary()
    }

    /// The group of each of `paths` after the last whole interval if p_f, p_mad, p_s and p_d were `scale` times as large: what
    /// the detector would say if it were less particular, or more. `None` where a path queues at no bottleneck, or is not
    /// known well enough yet.
    pub fn groups_within(&self, scale: f64, paths: usize) -> Vec<Option<usize>> {
        let mut groups = grouping::groups(&self.known(), scale);
        groups.resize(paths, None);
        groups
    }

    /// What there is of each path once M intervals have passed.
    fn known(&self) -> Vec<Option<Summary>> {
        let known = |path: &PathStatistics| path.intervals() >= self.shape.short as u64;
        self.paths.iter().map(|path| path.summary().filter(|_| known(path))).collect()
    }

    /// Ends the intervals that are over at `now`.
    fn close_intervals(&mut self, now: Instant) {
        let mut ends_at = *self.ends_at.get_or_insert(now + self.interval);
        if now < ends_at {
            return;
        }
        // After a long silence nothing is left of the past: more steps than it lasts would change nothing.
        let mut steps = 2 * self.shape.long;
        while ends_at <= now {
            ends_at += self.interval;
            if steps > 0 {
                steps -= 1;
                self.intervals += 1;
                self.paths.iter_mut().for_each(|path| path.close_interval(self.shape, self.threshold, HYSTERESIS));
            } else {
                ends_at = now + self.interval;
            }
        }
        self.ends_at = Some(ends_at);
        self.group();
    }

    fn group(&mut self) {
        let summaries = self.known();
        let groups = grouping::groups(&summaries, 1.0);
        self.correlations.grow(self.paths.len());
        for b in 0..self.paths.len() {
            for a in 0..b {
                let both = summaries[a].is_some() && summaries[b].is_some();
                let together = groups[a].is_some() && groups[a] == groups[b];
                self.correlations.set(a, b, both.then_some(if together { 1.0 } else { 0.0 }));
            }
        }
    }
}

impl BottleneckDetector for Rfc8382 {
    fn on_sample(&mut self, path: usize, sample: &PathSample) {
        self.close_intervals(sample.at);
        if self.paths.len() <= path {
            self.paths.resize_with(path + 1, PathStatistics::default);
        }
        self.paths[path].on_sample(sample);
    }

    fn correlations(&mut self) -> &Correlations {
        self.correlations.grow(self.paths.len());
        &self.correlations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A detector of short memory, told delays in milliseconds of each path every 10 ms.
    fn told(seconds: u64, delays: &[fn(u64) -> f64]) -> Rfc8382 {
        let interval = Duration::from_millis(100);
        let mut detector = Rfc8382::new(Parameters { window: 20, threshold: 0.1, interval });
        for step in 0..seconds * 100 {
            let at = Instant::ZERO + Duration::from_millis(10 * step);
            for (path, delay) in delays.iter().enumerate() {
                let one_way_delay = (delay(step) * 1e6) as i64;
                let sample = PathSample { at, srtt: Duration::ZERO, one_way_delay, sent: step, lost: 0 };
                detector.on_sample(path, &sample);
            }
        }
        detector
    }

    /// A queue that fills over two seconds and empties at once: delays are skewed towards its end.
    fn sawtooth(step: u64) -> f64 {
        20.0 + (step % 200) as f64 / 4.0
    }
    /// The same queue by another way in.
    fn delayed_sawtooth(step: u64) -> f64 {
        65.0 + sawtooth(step)
    }
    /// Another queue: faster, and shallow.
    fn fast_sawtooth(step: u64) -> f64 {
        20.0 + (step % 30) as f64 / 6.0
    }
    /// Nothing waits but for a packet in ten.
    fn idle(step: u64) -> f64 {
        if step % 10 == 3 { 22.0 } else { 20.0 }
    }

    #[test]
    fn paths_through_one_queue_are_grouped_whatever_their_delay() {
        let mut detector = told(20, &[sawtooth, delayed_sawtooth, fast_sawtooth]);
        let correlations = detector.correlations();
        assert_eq!(correlations.between(0, 1), Some(1.0));
        assert_eq!(correlations.between(0, 2), Some(0.0));
        assert_eq!(correlations.groups(3), [0, 0, 2]);
    }

    #[test]
    fn the_rfcs_bounds_are_those_of_scale_1() {
        let mut detector = told(20, &[sawtooth, delayed_sawtooth, fast_sawtooth]);
        let groups = detector.groups_within(1.0, 3);
        let correlations = detector.correlations();
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert_eq!(correlations.between(a, b), Some(if groups[a] == groups[b] { 1.0 } else { 0.0 }));
        }
        let anything = detector.groups_within(f64::INFINITY, 4);
        assert_eq!(anything, [Some(0), Some(0), Some(0), None], "the fourth was never told of");
    }

    #[test]
    fn paths_without_a_queue_are_in_no_group_however_alike() {
        let mut detector = told(20, &[idle, idle]);
        assert!(detector.summary(0).expect("it was told").skew > 0.5);
        assert_eq!(detector.correlations().between(0, 1), Some(0.0));
    }

    #[test]
    fn nothing_is_known_before_m_intervals() {
        assert_eq!(told(1, &[sawtooth, sawtooth]).correlations().between(0, 1), None);
    }

    #[test]
    fn a_long_silence_is_soon_caught_up_with() {
        let mut detector = told(5, &[sawtooth, sawtooth]);
        let at = Instant::ZERO + Duration::from_secs(1_000_000_000);
        detector.on_sample(0, &PathSample { at, srtt: Duration::ZERO, one_way_delay: 1, sent: 0, lost: 0 });
        assert!(detector.intervals < 200, "{}", detector.intervals);
    }
}
