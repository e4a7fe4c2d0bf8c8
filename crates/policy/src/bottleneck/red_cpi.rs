//! RED-CPI: correlated path identification by Spearman's coefficient (Felix et al., "RED: um escalonador redundante com
//! seleção de caminhos não-correlacionados para o MPTCP", 2018; red2018 in the code).
//!
//! ```text
//! c = cov(K_i, K_j) / (σ(K_i) σ(K_j))        K: the ranks of a path's last N smoothed RTTs; ties share the mean rank
//! c ≥ φ: the paths share a bottleneck
//! ```
//!
//! Section 3.1, eqs 1 to 3; N = 50 and φ = 0.8 from section 5.1. The windows are not synchronised: each path adds its
//! smoothed RTT when it has a new one, and the k-th oldest value of one path is paired with the k-th oldest of the
//! other. The window of a fast path therefore covers less time than that of a slow one. `interval` is the minimum time
//! between two values (in the paper 0.01 ms, shorter than the time between acknowledgments, so that each of them
//! counts); a longer interval makes the windows cover the same time. With `polled`, the smoothed RTT of every path is
//! read at regular instants, `interval` apart, as the paper describes it ("read at every instant t", "the value of SRTT
//! repeats many times").
//!
//! (The printed t is 0.01 ms. A window of fifty such readings lasts half a millisecond, in which next to no path has a
//! new value, so that the coefficient is mostly undefined; 0.01 s is probably meant.)
//!
//! The coefficient is undefined if a window is not full or holds one value N times; the pair is then unknown. (The
//! authors' kernel module differs: see [`RedModule`](crate::scheduler::RedModule).)
//!
//! Ranks and coefficients are computed on demand, for the windows and pairs that changed: a coefficient costs N steps,
//! the ranks of a window N for each of a few new values, N log N for many (`RankedWindow`).

use subflow_quantity::{Duration, Instant};

use super::ranked_window::RankedWindow;
use super::readings::{self, Correlating, Instants, Readings};
use super::{BottleneckDetector, Correlations, PathSample};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// The RED-CPI detector of one connection.
#[derive(Clone, Debug)]
pub struct RedCpi {
    readings: Readings,
    paths: Vec<Path>,
    instants: Instants,
    correlations: Correlations,
}

#[derive(Clone, Debug)]
struct Path {
    window: RankedWindow,
    /// When its last value was taken.
    taken_at: Option<Instant>,
    /// Its smoothed RTT in nanoseconds, for readings at regular instants.
    latest: Option<u64>,
    /// The number of values that the computed coefficients include.
    known: u64,
}

impl Path {
    fn new(size: usize) -> Self {
        Self { window: RankedWindow::new(size), taken_at: None, latest: None, known: 0 }
    }
}

impl RedCpi {
    /// Creates a detector without samples.
    pub fn new(readings: Readings) -> Self {
        Self {
            readings,
            paths: Vec::new(),
            instants: Instants::default(),
            correlations: Correlations::new(readings.threshold),
        }
    }

    /// Reads all paths at the instants before `now`.
    fn poll(&mut self, now: Instant) {
        let passed = self.instants.passed(now, self.readings.interval, self.readings.window);
        for path in &mut self.paths {
            let Some(latest) = path.latest else { continue };
            (0..passed).for_each(|_| path.window.push(latest));
        }
    }
}

impl Catalogued for RedCpi {
    const DESCRIPTION: Description = Description {
        name: "red-cpi",
        aliases: &[],
        summary: "Spearman's coefficient of the paths' last smoothed RTTs",
        source: "red2018, section 3.1",
    };

    const OPTIONS: &'static [Attribute<Self>] = &readings::options();

    fn conflict(&self) -> Option<Conflict> {
        self.readings.conflict()
    }
}

impl Default for RedCpi {
    fn default() -> Self {
        Self::new(Readings { window: 50, threshold: 0.8, interval: Duration::from_micros(10), polled: false })
    }
}

impl Correlating for RedCpi {
    fn readings(&self) -> Readings {
        self.readings
    }

    fn with_readings(readings: Readings) -> Self {
        Self::new(readings)
    }
}

impl BottleneckDetector for RedCpi {
    fn on_sample(&mut self, path: usize, sample: &PathSample) {
        let size = self.readings.window as usize;
        while self.paths.len() <= path {
            self.paths.push(Path::new(size));
        }
        if self.readings.polled {
            self.poll(sample.at);
            self.paths[path].latest = Some(sample.srtt.as_nanos());
            return;
        }
        let path = &mut self.paths[path];
        if path.taken_at.is_none_or(|at| sample.at.since(at) >= self.readings.interval) {
            path.taken_at = Some(sample.at);
            path.window.push(sample.srtt.as_nanos());
        }
    }

    fn correlations(&mut self) -> &Correlations {
        self.correlations.grow(self.paths.len());
        self.paths.iter_mut().for_each(|path| path.window.rank());
        for b in 0..self.paths.len() {
            for a in 0..b {
                let (path, other) = (&self.paths[b], &self.paths[a]);
                if path.window.pushed() > path.known || other.window.pushed() > other.known {
                    self.correlations.set(a, b, path.window.spearman(&other.window));
                }
            }
        }
        self.paths.iter_mut().for_each(|path| path.known = path.window.pushed());
        &self.correlations
    }

    fn on_replaced(&mut self, path: usize) {
        if let Some(former) = self.paths.get_mut(path) {
            *former = Path::new(self.readings.window as usize);
        }
        self.correlations.forget(path);
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn detector(window: u32, interval_us: u64) -> RedCpi {
        RedCpi::new(Readings { window, threshold: 0.8, interval: Duration::from_micros(interval_us), polled: false })
    }

    fn sample(at_us: u64, srtt_us: u64) -> PathSample {
        PathSample {
            at: Instant::ZERO + Duration::from_micros(at_us),
            srtt: Duration::from_micros(srtt_us),
            one_way_delay: 0,
            sent: 0,
            lost: 0,
        }
    }

    #[test]
    fn paths_whose_rtts_rise_together_share_a_bottleneck_and_one_whose_rtt_falls_does_not() {
        let mut detector = detector(5, 0);
        for n in 0..5 {
            detector.on_sample(0, &sample(10 * n, 100 + n));
            detector.on_sample(1, &sample(10 * n, 900 + n * n));
            detector.on_sample(2, &sample(10 * n, 500 - n));
        }
        let correlations = detector.correlations();
        assert_eq!(correlations.between(0, 1), Some(1.0));
        assert_eq!(correlations.between(0, 2), Some(-1.0));
        assert_eq!(correlations.groups(3), [0, 0, 2]);
    }

    #[test]
    fn a_pair_is_unknown_until_both_windows_are_full() {
        let mut detector = detector(5, 0);
        for n in 0..5 {
            detector.on_sample(0, &sample(n, n));
            assert_eq!(detector.correlations().between(0, 1), None);
        }
        (0..5).for_each(|n| detector.on_sample(1, &sample(9, n)));
        assert_eq!(detector.correlations().between(0, 1), Some(1.0));
    }

    #[test]
    fn polled_paths_repeat_their_value_until_there_is_a_new_one() {
        let polled = Readings { polled: true, ..detector(6, 10).readings };
        let mut polled = RedCpi::new(polled);
        for (path, at_us, srtt_us) in [(0, 0, 7), (1, 5, 8), (0, 35, 9), (1, 55, 6), (0, 61, 9)] {
            polled.on_sample(path, &sample(at_us, srtt_us));
        }
        // Read at 10, 20, …, 60 us: 7 7 7 9 9 9 and 8 8 8 8 8 6, with the ranks 2 2 2 5 5 5 and 4 4 4 4 4 1. The sum
        // of the products of their distances from 3.5 is -4.5, those of their squares are 13.5 and 7.5.
        let degree = polled.correlations().between(0, 1).expect("both windows are full");
        assert!((degree - -4.5 / (13.5f64 * 7.5).sqrt()).abs() < 1e-12, "{degree}");
    }

    #[test]
    fn values_closer_than_the_interval_are_left_out() {
        let mut detector = detector(5, 100);
        for n in 0..10 {
            detector.on_sample(0, &sample(50 * n, n));
        }
        assert!(detector.paths[0].window.is_full());
        assert_eq!(detector.paths[0].window.pushed(), 5);
    }
}
