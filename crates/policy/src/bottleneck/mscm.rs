//! MSCM: Pearson's correlation coefficient of the paths' one-way delays (Liao, Wang, Zhu, Cheng, "Path selection of
//! concurrent multipath transfer in SCTP", 2011, as described in red2018, sections 2 and 5.1).
//!
//! ```text
//! ρ = (n Σxy − Σx Σy) / √( (n Σx² − (Σx)²) (n Σy² − (Σy)²) )        over the last N instants
//! ρ ≥ φ: the paths share a bottleneck
//! ```
//!
//! The windows are synchronised: when a path has a new delay and the last instant was at least `interval` ago, the
//! detector reads the latest delay of every path, so that values of the same index were current at the same time.
//! Moving the window by one instant changes each sum by two terms: the cost per pair does not depend on N. Delays are
//! whole microseconds relative to the path's first delay, so the sums are exact and do not drift. A coefficient is
//! unknown until both paths have N values, and while one of them is constant.
//!
//! With `polled`, instants are regular, whether or not a path has a new delay, and a delay is repeated until there is a
//! new one.
//!
//! N = 50 is from red2018. With its interval of 0.01 ms a window covers a few milliseconds; the default here is 10 ms.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};

use super::readings::{self, Correlating, Instants, Readings};
use super::{BottleneckDetector, Correlations, PathSample};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// The MSCM detector of one connection.
#[derive(Clone, Debug)]
pub struct Mscm {
    readings: Readings,
    read_at: Option<Instant>,
    instants: Instants,
    paths: Vec<Path>,
    /// Σxy per pair; the pairs of a path with all earlier paths are adjacent.
    products: Vec<i128>,
    correlations: Correlations,
    /// Whether an instant was read after the coefficients were last computed.
    stale: bool,
}

#[derive(Clone, Debug, Default)]
struct Path {
    /// The first delay, the origin of the others.
    first: Option<i64>,
    latest: i64,
    /// The delays read, oldest first.
    window: VecDeque<i64>,
    sum: i128,
    squares: i128,
}

/// Delays are limited to this many microseconds so that the sums cannot overflow.
const MAX_DELAY_US: i64 = 1 << 40;

impl Mscm {
    /// Creates a detector without samples.
    pub fn new(readings: Readings) -> Self {
        Self {
            readings,
            read_at: None,
            instants: Instants::default(),
            paths: Vec::new(),
            products: Vec::new(),
            correlations: Correlations::new(readings.threshold),
            stale: false,
        }
    }

    /// Reads the latest delay of every path that has one.
    fn read(&mut self) {
        self.stale = true;
        let size = self.readings.window as usize;
        for b in 0..self.paths.len() {
            for a in 0..b {
                let (x, y) = (&self.paths[a], &self.paths[b]);
                if x.first.is_none() || y.first.is_none() {
                    continue;
                }
                let product = &mut self.products[b * (b - 1) / 2 + a];
                if x.window.len() == size && y.window.len() == size {
                    *product -= i128::from(x.window[0]) * i128::from(y.window[0]);
                }
                *product += i128::from(x.latest) * i128::from(y.latest);
            }
        }
        self.paths.iter_mut().filter(|path| path.first.is_some()).for_each(|path| path.push(size));
    }

    /// Reads the latest delay of every path that has one so often that its window holds nothing else.
    fn read_whole_windows(&mut self) {
        self.stale = true;
        let size = self.readings.window as usize;
        for b in 0..self.paths.len() {
            for a in (0..b).filter(|&a| self.paths[a].first.is_some() && self.paths[b].first.is_some()) {
                let one = i128::from(self.paths[a].latest) * i128::from(self.paths[b].latest);
                self.products[b * (b - 1) / 2 + a] = size as i128 * one;
            }
        }
        self.paths.iter_mut().filter(|path| path.first.is_some()).for_each(|path| path.fill(size));
    }

    fn coefficient(&self, a: usize, b: usize) -> Option<f64> {
        let size = self.readings.window as usize;
        let (x, y) = (&self.paths[a], &self.paths[b]);
        if x.window.len() < size || y.window.len() < size {
            return None;
        }
        let n = size as i128;
        let product = self.products[b * (b - 1) / 2 + a];
        let covariance = n * product - x.sum * y.sum;
        let scale = (x.spread(n) as f64 * y.spread(n) as f64).sqrt();
        (scale > 0.0).then(|| (covariance as f64 / scale).clamp(-1.0, 1.0))
    }
}

impl Path {
    fn push(&mut self, size: usize) {
        if self.window.len() == size
            && let Some(oldest) = self.window.pop_front()
        {
            self.sum -= i128::from(oldest);
            self.squares -= i128::from(oldest) * i128::from(oldest);
        }
        self.window.push_back(self.latest);
        self.sum += i128::from(self.latest);
        self.squares += i128::from(self.latest) * i128::from(self.latest);
    }

    /// As so many times [`push`](Self::push).
    fn fill(&mut self, size: usize) {
        self.window.clear();
        self.window.resize(size, self.latest);
        self.sum = size as i128 * i128::from(self.latest);
        self.squares = self.sum * i128::from(self.latest);
    }

    /// n Σx² − (Σx)².
    fn spread(&self, n: i128) -> i128 {
        n * self.squares - self.sum * self.sum
    }
}

impl Catalogued for Mscm {
    const DESCRIPTION: Description = Description {
        name: "mscm",
        aliases: &[],
        summary: "Pearson's coefficient of the paths' one-way delays at the same times",
        source: "Liao et al. 2011; red2018, section 5.1",
    };

    const OPTIONS: &'static [Attribute<Self>] = &readings::options();

    fn conflict(&self) -> Option<Conflict> {
        self.readings.conflict()
    }
}

impl Default for Mscm {
    fn default() -> Self {
        Self::new(Readings { window: 50, threshold: 0.8, interval: Duration::from_millis(10), polled: false })
    }
}

impl Correlating for Mscm {
    fn readings(&self) -> Readings {
        self.readings
    }

    fn with_readings(readings: Readings) -> Self {
        Self::new(readings)
    }
}

impl BottleneckDetector for Mscm {
    fn on_sample(&mut self, path: usize, sample: &PathSample) {
        if self.readings.polled {
            let passed = self.instants.passed(sample.at, self.readings.interval, self.readings.window);
            match passed < self.readings.window {
                true => (0..passed).for_each(|_| self.read()),
                false => self.read_whole_windows(),
            }
        }
        let microseconds = sample.one_way_delay / 1000;
        while self.paths.len() <= path {
            self.products.resize(self.products.len() + self.paths.len(), 0);
            self.paths.push(Path::default());
        }
        let path = &mut self.paths[path];
        let first = *path.first.get_or_insert(microseconds);
        path.latest = microseconds.saturating_sub(first).clamp(-MAX_DELAY_US, MAX_DELAY_US);
        let is_due = self.read_at.is_none_or(|at| sample.at.since(at) >= self.readings.interval);
        if is_due && !self.readings.polled {
            self.read_at = Some(sample.at);
            self.read();
        }
    }

    fn correlations(&mut self) -> &Correlations {
        self.correlations.grow(self.paths.len());
        if core::mem::take(&mut self.stale) {
            for b in 0..self.paths.len() {
                for a in 0..b {
                    let coefficient = self.coefficient(a, b);
                    self.correlations.set(a, b, coefficient);
                }
            }
        }
        &self.correlations
    }

    fn on_replaced(&mut self, path: usize) {
        if let Some(former) = self.paths.get_mut(path) {
            *former = Path::default();
            for other in (0..self.paths.len()).filter(|&other| other != path) {
                let (low, high) = (path.min(other), path.max(other));
                self.products[high * (high - 1) / 2 + low] = 0;
            }
        }
        self.correlations.forget(path);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::pearson;
    use super::*;

    fn detector(window: u32, interval_us: u64) -> Mscm {
        Mscm::new(Readings { window, threshold: 0.8, interval: Duration::from_micros(interval_us), polled: false })
    }

    fn sample(at_us: u64, delay_us: i64) -> PathSample {
        PathSample {
            at: Instant::ZERO + Duration::from_micros(at_us),
            srtt: Duration::ZERO,
            one_way_delay: delay_us * 1000,
            sent: 0,
            lost: 0,
        }
    }

    #[test]
    fn values_of_the_same_index_were_current_at_the_same_time() {
        // Path 1 has four times as many samples; only the latest one at each instant counts.
        let mut detector = detector(5, 40);
        for n in 0..200 {
            detector.on_sample(1, &sample(10 * n, 3 * (n as i64 / 4)));
            if n % 4 == 0 {
                detector.on_sample(0, &sample(10 * n, n as i64));
            }
        }
        let degree = detector.correlations().between(0, 1).expect("both vary");
        assert!(degree > 0.99, "{degree}");
    }

    #[test]
    fn polled_paths_repeat_their_delay_until_there_is_a_new_one() {
        let mut polled = Mscm::new(Readings { polled: true, ..detector(5, 10).readings });
        for (path, at_us, delay_us) in [(0, 0, 7), (1, 5, 8), (0, 35, 9), (1, 45, 6), (0, 51, 9)] {
            polled.on_sample(path, &sample(at_us, delay_us));
        }
        // Read at 10, 20, …, 50 us.
        let direct = pearson(&[7.0, 7.0, 7.0, 9.0, 9.0], &[8.0, 8.0, 8.0, 8.0, 6.0]).expect("both vary");
        let degree = polled.correlations().between(0, 1).expect("both windows are full");
        assert!((degree - direct).abs() < 1e-12, "{degree} {direct}");
        // Read at 60 … 200 us, more often than the window has places, and then at 210 us and 220 us.
        polled.on_sample(0, &sample(205, 6));
        polled.on_sample(1, &sample(215, 5));
        polled.on_sample(1, &sample(225, 5));
        let direct = pearson(&[9.0, 9.0, 9.0, 6.0, 6.0], &[6.0, 6.0, 6.0, 6.0, 5.0]).expect("both vary");
        let degree = polled.correlations().between(0, 1).expect("both windows are full");
        assert!((degree - direct).abs() < 1e-12, "{degree} {direct}");
    }

    proptest! {
        /// Pauses of up to 15 readings, windows of 5.
        #[test]
        fn a_window_that_is_filled_at_once_is_as_after_each_reading(
            samples in vec((0..3usize, 0..150u64, 0..9i64), 0..60),
        ) {
            let mut at_once = Mscm::new(Readings { polled: true, ..detector(5, 10).readings });
            let mut each = at_once.clone();
            let mut at_us = 0;
            for (path, pause_us, delay_us) in samples {
                at_us += pause_us;
                let sample = sample(at_us, delay_us);
                let passed = each.instants.passed(sample.at, each.readings.interval, 5);
                (0..passed).for_each(|_| each.read());
                each.on_sample(path, &sample);
                at_once.on_sample(path, &sample);
                prop_assert_eq!(&at_once.products, &each.products);
                for (filled, read) in at_once.paths.iter().zip(&each.paths) {
                    prop_assert_eq!((&filled.window, filled.sum), (&read.window, read.sum));
                    prop_assert_eq!(filled.squares, read.squares);
                }
            }
        }
    }

    #[test]
    fn a_path_that_joins_late_is_unknown_until_it_has_a_window() {
        let mut detector = detector(5, 0);
        (0..20).for_each(|n| detector.on_sample(0, &sample(n, n as i64 % 3)));
        for n in 0..5 {
            assert_eq!(detector.correlations().between(0, 1), None);
            detector.on_sample(1, &sample(20 + n, n as i64));
        }
        assert_eq!(detector.correlations().between(0, 1), None, "path 0 had no samples: it is constant");
    }

    proptest! {
        #[test]
        fn the_incremental_coefficient_equals_the_direct_one(
            instants in vec((0..3usize, -2000..2000i64), 20..120),
            start in -1_000_000..1_000_000_000i64,
        ) {
            let size = 6;
            let mut detector = detector(size, 0);
            let mut read: Vec<Vec<f64>> = vec![Vec::new(); 3];
            let mut latest = [None; 3];
            for (n, &(path, delay)) in instants.iter().enumerate() {
                detector.on_sample(path, &sample(n as u64, start + delay));
                latest[path] = Some(delay as f64);
                read.iter_mut().zip(latest).for_each(|(read, latest)| read.extend(latest));
            }
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                let window = |path: usize| read[path].len().checked_sub(size as usize).map(|from| &read[path][from..]);
                let direct = window(a).zip(window(b)).and_then(|(x, y)| pearson(x, y));
                match (detector.correlations().between(a, b), direct) {
                    (Some(ours), Some(direct)) => prop_assert!((ours - direct).abs() < 1e-9, "{ours} {direct}"),
                    (ours, direct) => prop_assert_eq!(ours, direct),
                }
            }
        }
    }
}
