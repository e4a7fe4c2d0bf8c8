//! The detectors by name, with static dispatch. A new one is one file and one line in the table below.

use subflow_quantity::Duration;

use super::{BottleneckDetector, Correlations, Mscm, PathSample, RedCpi, Rfc8382};

/// The parameters of a detector. Each detector's file says how it uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The number of values in a path's statistics (N).
    pub window: u32,
    /// The threshold for a shared bottleneck (φ; `rfc8382`: c_s), 0 to 1.
    pub threshold: f64,
    /// The minimum time between two values of a path (`rfc8382`: T).
    pub interval: Duration,
    /// Whether all paths are read at regular instants, `interval` apart, so that a value is repeated while no new one
    /// has come (`red-cpi`, `mscm`). Otherwise a value is taken only when there is a new one.
    pub polled: bool,
}

impl Parameters {
    /// The smallest window. Fewer values would correlate by chance.
    pub const SMALLEST_WINDOW: u32 = 5;
    /// The largest window.
    pub const LARGEST_WINDOW: u32 = 10_000;
}

/// The catalogue entry of a detector.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DetectorEntry {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence without a full stop.
    pub description: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// The default parameters.
    pub defaults: Parameters,
    new: fn(Parameters) -> BottleneckDetection,
}

impl DetectorEntry {
    /// Creates the detector, without samples.
    pub fn create(&self, parameters: Parameters) -> BottleneckDetection {
        (self.new)(parameters)
    }
}

macro_rules! detectors {
    ($($variant:ident($build:expr): $type:ty, $name:literal, [$($alias:literal),*],
       window $window:literal, threshold $threshold:literal, interval $interval:expr,
       $description:literal, $source:literal;)+) => {
        /// One of the detectors, chosen by name.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum BottleneckDetection {
            $(#[doc = concat!("`", $name, "`.")] $variant($type),)+
        }

        const ALL: &[DetectorEntry] = &[$(DetectorEntry {
            name: $name,
            aliases: &[$($alias),*],
            description: $description,
            source: $source,
            defaults: Parameters { window: $window, threshold: $threshold, interval: $interval, polled: false },
            new: |parameters| BottleneckDetection::$variant(($build)(parameters)),
        }),+];

        impl BottleneckDetection {
            /// Its name in [`BottleneckDetection::all`].
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }

        impl BottleneckDetector for BottleneckDetection {
            fn on_sample(&mut self, path: usize, sample: &PathSample) {
                match self {
                    $(Self::$variant(detector) => detector.on_sample(path, sample),)+
                }
            }
            fn correlations(&mut self) -> &Correlations {
                match self {
                    $(Self::$variant(detector) => detector.correlations(),)+
                }
            }
            fn on_replaced(&mut self, path: usize) {
                match self {
                    $(Self::$variant(detector) => detector.on_replaced(path),)+
                }
            }
        }
    };
}

detectors! {
    RedCpi(RedCpi::new): RedCpi, "red-cpi", [],
        window 50, threshold 0.8, interval Duration::from_micros(10),
        "Spearman's coefficient of the paths' last smoothed RTTs",
        "red2018, section 3.1";
    Mscm(Mscm::new): Mscm, "mscm", [],
        window 50, threshold 0.8, interval Duration::from_millis(10),
        "Pearson's coefficient of the paths' one-way delays at the same times",
        "Liao et al. 2011; red2018, section 5.1";
    Rfc8382(|p| Box::new(Rfc8382::new(p))): Box<Rfc8382>, "rfc8382", ["sbd"],
        window 50, threshold 0.1, interval Duration::from_millis(350),
        "paths grouped by skewness, variability and oscillation of their one-way delays, and by loss",
        "RFC 8382";
}

impl BottleneckDetection {
    /// All detectors, in listing order.
    pub fn all() -> &'static [DetectorEntry] {
        ALL
    }

    /// The entry with this name or alias.
    pub fn entry(name: &str) -> Option<&'static DetectorEntry> {
        ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use subflow_quantity::Instant;

    use super::*;

    #[test]
    fn every_entry_makes_the_detector_it_names() {
        for entry in BottleneckDetection::all() {
            assert_eq!(entry.create(entry.defaults).name(), entry.name);
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(BottleneckDetection::entry(name).map(|found| found.name), Some(entry.name));
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().flat_map(|entry| entry.aliases.iter().chain([&entry.name])).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(BottleneckDetection::entry("spearman").is_none());
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
            for entry in BottleneckDetection::all() {
                let interval = Duration::from_millis(1);
                let parameters = Parameters { window: 5, threshold: 0.5, interval, polled };
                let changed: Vec<_> = before.iter().zip(&other).map(|(&[a, _, c], &b)| [a, b, c]).collect();
                let mut detectors = [&before, &changed].map(|history| {
                    let mut detector = entry.create(parameters);
                    fed(&mut detector, 0, history);
                    detector.correlations();
                    detector.on_replaced(1);
                    for other in [0, 2] {
                        assert_eq!(detector.correlations().between(1, other), None, "{}", entry.name);
                    }
                    fed(&mut detector, history.len() as u64, &after);
                    detector
                });
                let [a, b] = detectors.each_mut().map(|detector| detector.correlations());
                for (x, y) in [(0, 1), (0, 2), (1, 2)] {
                    prop_assert_eq!(a.between(x, y), b.between(x, y), "{}: {} and {}", entry.name, x, y);
                }
            }
        }

        /// For any samples: no panic, every degree is between −1 and 1, and the degree of (a, b) is that of (b, a).
        #[test]
        fn degrees_are_numbers_between_minus_one_and_one(
            samples in vec((0..5usize, 0..1u64 << 40, any::<i64>(), any::<u64>(), any::<u64>()), 0..400),
            polled: bool,
        ) {
            for entry in BottleneckDetection::all() {
                let interval = Duration::from_millis(1);
                let mut detector = entry.create(Parameters { window: 5, threshold: 0.5, interval, polled });
                let mut at = Instant::ZERO;
                for &(path, step, one_way_delay, sent, lost) in &samples {
                    at += Duration::from_nanos(step >> 20);
                    let srtt = Duration::from_nanos(step);
                    detector.on_sample(path, &PathSample { at, srtt, one_way_delay, sent, lost });
                }
                let correlations = detector.correlations();
                for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
                    let degree = correlations.between(a, b);
                    prop_assert!(degree.is_none_or(|c| (-1.0..=1.0).contains(&c)), "{}: {degree:?}", entry.name);
                    prop_assert_eq!(degree, correlations.between(b, a));
                }
            }
        }
    }
}
