//! What detectors that correlate the last values of paths have in common: their options, and the instants at which they
//! read, whether or not there is a new value in between (red2018, section 3.1: "read at every instant t").

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Attribute, Conflict};

/// The smallest window. Fewer values would correlate by chance.
pub const SMALLEST_WINDOW: u32 = 5;
/// The largest window.
pub const LARGEST_WINDOW: u32 = 10_000;

/// Which values of a path are correlated with those of others, and from which degree on two paths share a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readings {
    /// The number of values of a path that are correlated (N).
    pub window: u32,
    /// The degree from which on two paths share a bottleneck (φ), 0 to 1.
    pub threshold: f64,
    /// The minimum time between two values of a path.
    pub interval: Duration,
    /// Whether all paths are read at regular instants, `interval` apart, so that a value is repeated while no new one
    /// has come. Otherwise a value is taken only when there is a new one.
    pub polled: bool,
}

impl Readings {
    /// Without an interval paths would be polled without end.
    pub(super) fn conflict(&self) -> Option<Conflict> {
        let is_endless = self.polled && self.interval == Duration::ZERO;
        is_endless.then(|| Conflict { key: "interval", expected: "above zero where polled is true".to_owned() })
    }
}

/// A detector that correlates readings.
pub(super) trait Correlating: Sized + 'static {
    fn readings(&self) -> Readings;

    /// A detector without samples.
    fn with_readings(readings: Readings) -> Self;

    fn change(&mut self, change: impl FnOnce(&mut Readings)) {
        let mut readings = self.readings();
        change(&mut readings);
        *self = Self::with_readings(readings);
    }
}

/// The options of such a detector.
pub(super) const fn options<T: Correlating>() -> [Attribute<T>; 4] {
    [
        Attribute::integer(
            "window",
            WINDOW_DOC,
            [SMALLEST_WINDOW as u64, LARGEST_WINDOW as u64],
            |detector: &T| detector.readings().window.into(),
            |detector, window| detector.change(|readings| readings.window = window as u32),
        ),
        Attribute::fraction(
            "threshold",
            "the threshold of a shared bottleneck: the coefficient φ",
            |detector: &T| detector.readings().threshold,
            |detector, threshold| detector.change(|readings| readings.threshold = threshold),
        ),
        Attribute::duration(
            "interval",
            "the minimum time between two values of a path",
            |detector: &T| detector.readings().interval,
            |detector, interval| detector.change(|readings| readings.interval = interval),
        ),
        Attribute::flag(
            "polled",
            POLLED_DOC,
            |detector: &T| detector.readings().polled,
            |detector, polled| detector.change(|readings| readings.polled = polled),
        ),
    ]
}

/// The meaning of the size of a window, which every detector has.
pub(super) const WINDOW_DOC: &str = "the number of values in the statistics of a path (N)";

/// The meaning of `polled`.
pub(super) const POLLED_DOC: &str = "whether all paths are read at regular instants, an interval apart, so that a \
                                     value is repeated while there is no new one";

/// The instants at which the values of all paths are read. The first one is an interval after the first sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Instants {
    next: Option<Instant>,
}

impl Instants {
    /// The number of instants since the last call that lie before `now`, but not more than `most`: as many readings of
    /// the same value fill a window, and further ones change nothing.
    pub(super) fn passed(&mut self, now: Instant, interval: Duration, most: u32) -> u32 {
        let interval = interval.max(Duration::from_nanos(1));
        let next = *self.next.get_or_insert(now + interval);
        if now <= next {
            return 0;
        }
        let passed = (now.since(next).as_nanos() - 1) / interval.as_nanos() + 1;
        self.next = Some(next + Duration::from_nanos(passed.saturating_mul(interval.as_nanos())));
        passed.min(most.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn instants_are_an_interval_apart_whenever_samples_come() {
        let (mut instants, interval) = (Instants::default(), Duration::from_millis(10));
        let passed: Vec<u32> =
            [3, 4, 13, 14, 14, 22, 45, 53, 54].map(|ms| instants.passed(at(ms), interval, 50)).to_vec();
        // They are at 13, 23, 33, 43 and 53 ms; one at the time of the sample still has the former value.
        assert_eq!(passed, [0, 0, 0, 1, 0, 0, 3, 0, 1]);
    }

    #[test]
    fn a_long_pause_fills_a_window_and_no_more() {
        let mut instants = Instants::default();
        assert_eq!(instants.passed(at(0), Duration::from_micros(10), 50), 0);
        assert_eq!(instants.passed(at(10_000), Duration::from_micros(10), 50), 50);
        assert_eq!(instants.passed(at(10_000), Duration::from_micros(10), 50), 0);
    }
}
