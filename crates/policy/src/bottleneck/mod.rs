//! Shared-bottleneck detection: which subflows of a connection queue at the same link.
//!
//! A detector gets what a sender knows about each path ([`PathSample`]): smoothed RTTs, one-way delays, losses. It
//! returns a degree of correlation for each pair of paths ([`Correlations`]). Two paths count as sharing a bottleneck
//! if their degree reaches the detector's threshold. The scheduler `red-diversity` sends no copies over such pairs, and
//! with `coupling = "shared-bottleneck"` congestion control couples only such paths
//! ([`Controller::set_groups`](crate::congestion::Controller::set_groups)).
//!
//! Each detector is one file with its formula, source and tests. [`BottleneckDetection`] lists them by name.

mod correlations;
pub mod mscm;
pub(crate) mod ranked_window;
mod readings;
pub mod red_cpi;
pub mod rfc8382;

pub use correlations::{Correlations, pearson, spearman};
pub use mscm::Mscm;
pub use readings::{LARGEST_WINDOW, Readings, SMALLEST_WINDOW};
pub use red_cpi::RedCpi;
pub use rfc8382::Rfc8382;

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{catalogue, dispatch};

/// What the sender learned about a path from one acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// When the acknowledgment arrived.
    pub at: Instant,
    /// The smoothed RTT, updated by it (RFC 6298).
    pub srtt: Duration,
    /// The one-way delay of the acknowledged data in nanoseconds, relative to an origin that is constant during the
    /// connection, so that the clocks need not agree. On a path without timestamps, its latest RTT.
    pub one_way_delay: i64,
    /// Segments sent on the path so far.
    pub sent: u64,
    /// Segments lost on the path so far, as far as the sender knows.
    pub lost: u64,
}

/// A detector for one connection.
pub trait BottleneckDetector {
    /// Processes a sample of a path. A path is known from its first sample on. Times never decrease.
    fn on_sample(&mut self, path: usize, sample: &PathSample);

    /// The degrees of all pairs, from all samples so far.
    fn correlations(&mut self) -> &Correlations;

    /// Another path takes the number `path`: it is unknown until its first sample.
    fn on_replaced(&mut self, path: usize);
}

// The types of all detectors, in the order of lists. See `catalogue/list.rs`.
macro_rules! detectors {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! { [RedCpi Mscm Rfc8382] [] $($arguments)* }
    };
}

detectors! { catalogue!
    /// One of the detectors, chosen by name.
    BottleneckDetection
}

impl BottleneckDetector for BottleneckDetection {
    fn on_sample(&mut self, path: usize, sample: &PathSample) {
        detectors!(dispatch! self, detector => detector.on_sample(path, sample))
    }

    fn correlations(&mut self) -> &Correlations {
        detectors!(dispatch! self, detector => detector.correlations())
    }

    fn on_replaced(&mut self, path: usize) {
        detectors!(dispatch! self, detector => detector.on_replaced(path))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use subflow_quantity::{Duration, Instant};

    use super::*;
    use crate::catalogue::{Catalogue, Value};

    /// Every detector with a window of five values, a threshold of a half and an interval of a millisecond.
    fn detectors(polled: bool) -> Vec<BottleneckDetection> {
        let tuned = |mut detector: BottleneckDetection| {
            for (key, value) in [
                ("window", Value::Integer(5)),
                ("threshold", Value::Fraction(0.5)),
                ("interval", Value::Duration(Duration::from_millis(1))),
                ("polled", Value::Boolean(polled)),
            ] {
                detector = detector.with(key, value).expect("every detector has it");
            }
            detector
        };
        BottleneckDetection::prototypes().into_iter().map(tuned).collect()
    }

    /// The detector after such samples of paths 0 to 2: a round of them every millisecond.
    fn fed(detector: &mut BottleneckDetection, from_ms: u64, rounds: &[[u64; 3]]) {
        for (round, delays) in rounds.iter().enumerate() {
            let at = Instant::ZERO + Duration::from_millis(from_ms + round as u64);
            for (path, &delay) in delays.iter().enumerate() {
                let srtt = Duration::from_micros(delay);
                detector
                    .on_sample(path, &PathSample { at, srtt, one_way_delay: delay as i64 * 1000, sent: 1, lost: 0 });
            }
        }
    }

    proptest! {
        /// What a replaced path has been like changes no degree.
        #[test]
        fn a_path_in_the_place_of_another_inherits_nothing(
            before in vec([1..99u64, 1..99, 1..99], 0..30),
            other in vec(1..99u64, 30),
            after in vec([1..99u64, 1..99, 1..99], 0..30),
            polled: bool,
        ) {
            for prototype in detectors(polled) {
                let changed: Vec<_> = before.iter().zip(&other).map(|(&[a, _, c], &b)| [a, b, c]).collect();
                let mut detectors = [&before, &changed].map(|history| {
                    let mut detector = prototype.clone();
                    fed(&mut detector, 0, history);
                    detector.correlations();
                    detector.on_replaced(1);
                    for other in [0, 2] {
                        assert_eq!(detector.correlations().between(1, other), None, "{}", prototype.name());
                    }
                    fed(&mut detector, history.len() as u64, &after);
                    detector
                });
                let [a, b] = detectors.each_mut().map(|detector| detector.correlations());
                for (x, y) in [(0, 1), (0, 2), (1, 2)] {
                    prop_assert_eq!(a.between(x, y), b.between(x, y), "{}: {} and {}", prototype.name(), x, y);
                }
            }
        }

        /// For any samples: no panic, every degree is between −1 and 1, and the degree of (a, b) is that of (b, a).
        #[test]
        fn degrees_are_numbers_between_minus_one_and_one(
            samples in vec((0..5usize, 0..1u64 << 40, any::<i64>(), any::<u64>(), any::<u64>()), 0..400),
            polled: bool,
        ) {
            for mut detector in detectors(polled) {
                let name = detector.name().to_owned();
                let mut at = Instant::ZERO;
                for &(path, step, one_way_delay, sent, lost) in &samples {
                    at += Duration::from_nanos(step >> 20);
                    let srtt = Duration::from_nanos(step);
                    detector.on_sample(path, &PathSample { at, srtt, one_way_delay, sent, lost });
                }
                let correlations = detector.correlations();
                for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
                    let degree = correlations.between(a, b);
                    prop_assert!(degree.is_none_or(|c| (-1.0..=1.0).contains(&c)), "{name}: {degree:?}");
                    prop_assert_eq!(degree, correlations.between(b, a));
                }
            }
        }
    }
}
