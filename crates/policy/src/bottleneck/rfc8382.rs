//! Shared-bottleneck detection by summary statistics of one-way delays (RFC 8382).
//!
//! After every interval `T` the detector computes statistics of each path (section 3.2) and groups the paths that queue
//! at a bottleneck by the similarity of their statistics (section 3.3):
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
//! **Oscillation noise** (section 4.2): while a path does not queue at a bottleneck, var_est leaves its intervals out
//! and its crossings are not counted.
//!
//! **A path queues at a bottleneck** (section 3.3.1) if `skew_est < c_s`, or `skew_est < c_h` and it queued at one
//! before, or `pkt_loss > p_l`. These paths are divided into groups in four steps. Each step sorts a group by one
//! statistic and divides it where neighbours differ too much: by freq_est (p_f or more), by var_est (p_mad of the
//! larger one), by skew_est (p_s), and by pkt_loss where it is above p_l (p_d of the larger one).
//!
//! Parameters (section 2.2): T = 350 ms, N = 50, M = 30, F = 20, c_s = 0.1, c_h = 0.3, p_f = 0.1, p_mad = 0.1, p_s =
//! 0.15, p_d = 0.1, p_v = 0.7, p_l = 0.05. Here `interval` is T, `window` is N (M and F scale with it), `threshold` is
//! c_s (c_h is 0.2 above it). The degree of a pair is 1 if both are in one group, else 0, and unknown before M
//! intervals have passed. An interval without samples does not change the means of a path.
//!
//! A sample costs a few steps. Statistics are computed once per T: N steps per path, and one sort of the paths for each
//! step of the grouping.

mod grouping;
mod statistics;

use subflow_quantity::{Duration, Instant};

use super::readings::{LARGEST_WINDOW, POLLED_DOC, SMALLEST_WINDOW, WINDOW_DOC};
use super::{BottleneckDetector, Correlations, PathSample};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};
use statistics::{PathStatistics, Shape};

pub use statistics::Summary;

/// Hysteresis of the skewness test: c_h − c_s.
const HYSTERESIS: f64 = 0.2;

/// The parameters of RFC 8382, section 2.2, that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// N, the number of intervals that the statistics of a path cover. M and F are smaller in the same ratio.
    pub window: u32,
    /// c_s, the threshold of the skewness.
    pub threshold: f64,
    /// T, the length of an interval, above zero.
    pub interval: Duration,
}

/// The values of the RFC.
impl Default for Parameters {
    fn default() -> Self {
        Self { window: 50, threshold: 0.1, interval: Duration::from_millis(350) }
    }
}

/// The detector of RFC 8382 for one connection.
#[derive(Clone, Debug)]
pub struct Rfc8382 {
    parameters: Parameters,
    /// Whether polling was asked for, which this detector does not have.
    polled: bool,
    shape: Shape,
    /// When the current interval ends.
    ends_at: Option<Instant>,
    /// Completed intervals so far.
    intervals: u64,
    paths: Vec<PathStatistics>,
    correlations: Correlations,
}

impl Rfc8382 {
    /// Creates a detector without samples.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            polled: false,
            shape: Shape::of(parameters.window as usize),
            ends_at: None,
            intervals: 0,
            paths: Vec::new(),
            // Degrees are 0 or 1.
            correlations: Correlations::new(1.0),
        }
    }

    fn interval(&self) -> Duration {
        self.parameters.interval.max(Duration::from_nanos(1))
    }

    /// The statistics of a path after its last completed interval; `None` before the first one.
    pub fn summary(&self, path: usize) -> Option<Summary> {
        self.paths.get(path)?.summary()
    }

    /// The group of each of `paths` paths after the last completed interval if p_f, p_mad, p_s and p_d were `scale`
    /// times as large: a larger scale groups more paths. `None` for a path that does not queue at a bottleneck or has
    /// too few samples.
    pub fn groups_within(&self, scale: f64, paths: usize) -> Vec<Option<usize>> {
        let mut groups = grouping::groups(&self.known(), scale);
        groups.resize(paths, None);
        groups
    }

    /// The statistics of each path; `None` until M intervals have passed.
    fn known(&self) -> Vec<Option<Summary>> {
        let known = |path: &PathStatistics| path.intervals() >= self.shape.short as u64;
        self.paths.iter().map(|path| path.summary().filter(|_| known(path))).collect()
    }

    /// Completes the intervals that have ended by `now`.
    fn close_intervals(&mut self, now: Instant) {
        let mut ends_at = *self.ends_at.get_or_insert(now + self.interval());
        if now < ends_at {
            return;
        }
        // After a long time without samples the whole memory has been replaced: more steps would change nothing.
        let mut steps = 2 * self.shape.long;
        while ends_at <= now {
            ends_at += self.interval();
            if steps > 0 {
                steps -= 1;
                self.intervals += 1;
                self.paths
                    .iter_mut()
                    .for_each(|path| path.close_interval(self.shape, self.parameters.threshold, HYSTERESIS));
            } else {
                ends_at = now + self.interval();
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

impl Catalogued for Rfc8382 {
    const DESCRIPTION: Description = Description {
        name: "rfc8382",
        aliases: &["sbd"],
        summary: "paths grouped by skewness, variability and oscillation of their one-way delays, and by loss",
        source: "RFC 8382",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "window",
            WINDOW_DOC,
            [SMALLEST_WINDOW as u64, LARGEST_WINDOW as u64],
            |own| own.parameters.window.into(),
            |own, window| {
                let parameters = Parameters { window: window as u32, ..own.parameters };
                *own = Self { polled: own.polled, ..Self::new(parameters) };
            },
        ),
        Attribute::fraction(
            "threshold",
            "the threshold of the skewness c_s",
            |own| own.parameters.threshold,
            |own, threshold| own.parameters.threshold = threshold,
        ),
        Attribute::duration(
            "interval",
            "the base interval T, above zero",
            |own| own.parameters.interval,
            |own, interval| own.parameters.interval = interval,
        ),
        // A sweep over detectors may say that none of them is polled.
        Attribute::flag("polled", POLLED_DOC, |own| own.polled, |own, on| own.polled = on),
    ];

    fn conflict(&self) -> Option<Conflict> {
        let conflict = |key, expected: &str| Some(Conflict { key, expected: expected.to_owned() });
        match (self.polled, self.parameters.interval == Duration::ZERO) {
            (true, _) => conflict("polled", "false: rfc8382 is not polled, as red-cpi and mscm can be"),
            (_, true) => conflict("interval", "a duration above zero"),
            (false, false) => None,
        }
    }
}

impl Default for Rfc8382 {
    fn default() -> Self {
        Self::new(Parameters::default())
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

    fn on_replaced(&mut self, path: usize) {
        if let Some(former) = self.paths.get_mut(path) {
            *former = PathStatistics::default();
        }
        self.correlations.forget(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A detector with a short memory that gets each path's delay, in milliseconds, every 10 ms.
    fn fed(seconds: u64, delays: &[fn(u64) -> f64]) -> Rfc8382 {
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

    /// A queue that fills during two seconds and then empties at once.
    fn sawtooth(step: u64) -> f64 {
        20.0 + (step % 200) as f64 / 4.0
    }
    /// The same queue, reached with a longer delay.
    fn delayed_sawtooth(step: u64) -> f64 {
        65.0 + sawtooth(step)
    }
    /// Another queue: faster and shorter.
    fn fast_sawtooth(step: u64) -> f64 {
        20.0 + (step % 30) as f64 / 6.0
    }
    /// Only one packet in ten waits.
    fn idle(step: u64) -> f64 {
        if step % 10 == 3 { 22.0 } else { 20.0 }
    }

    #[test]
    fn paths_through_one_queue_are_grouped_whatever_their_delay() {
        let mut detector = fed(20, &[sawtooth, delayed_sawtooth, fast_sawtooth]);
        let correlations = detector.correlations();
        assert_eq!(correlations.between(0, 1), Some(1.0));
        assert_eq!(correlations.between(0, 2), Some(0.0));
        assert_eq!(correlations.groups(3), [0, 0, 2]);
    }

    #[test]
    fn scale_1_gives_the_bounds_of_the_rfc() {
        let mut detector = fed(20, &[sawtooth, delayed_sawtooth, fast_sawtooth]);
        let groups = detector.groups_within(1.0, 3);
        let correlations = detector.correlations();
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert_eq!(correlations.between(a, b), Some(if groups[a] == groups[b] { 1.0 } else { 0.0 }));
        }
        let anything = detector.groups_within(f64::INFINITY, 4);
        assert_eq!(anything, [Some(0), Some(0), Some(0), None], "the fourth path has no samples");
    }

    #[test]
    fn paths_without_a_queue_are_in_no_group_even_if_they_are_alike() {
        let mut detector = fed(20, &[idle, idle]);
        assert!(detector.summary(0).expect("it has samples").skew > 0.5);
        assert_eq!(detector.correlations().between(0, 1), Some(0.0));
    }

    #[test]
    fn nothing_is_known_before_m_intervals() {
        assert_eq!(fed(1, &[sawtooth, sawtooth]).correlations().between(0, 1), None);
    }

    #[test]
    fn a_long_time_without_samples_costs_a_bounded_number_of_steps() {
        let mut detector = fed(5, &[sawtooth, sawtooth]);
        let at = Instant::ZERO + Duration::from_secs(1_000_000_000);
        detector.on_sample(0, &PathSample { at, srtt: Duration::ZERO, one_way_delay: 1, sent: 0, lost: 0 });
        assert!(detector.intervals < 200, "{}", detector.intervals);
    }
}
