//! The options of detectors that correlate the last values of paths.

use subflow_quantity::Duration;

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
