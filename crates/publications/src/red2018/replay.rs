//! What detectors say of the samples that a run recorded; and the paper's future work: what that costs, and how well they do,
//! on 2 to 32 paths.

use subflow_lab::CpuTimer;
use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, Rfc8382};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_quantity::{Duration, Instant};
use subflow_transport::mptcp::PathRecord;

use crate::study::{Row, Sample, Slice};

/// A detector with parameters, as it stands in tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    detector: &'static str,
    interval: Option<Duration>,
    /// Whether all paths are read at every instant t, and values repeat where no acknowledgment came in between (section
    /// 3.1); otherwise a value is taken when there is a new one.
    polled: bool,
}

const fn variant(name: &'static str, detector: &'static str, interval: Option<Duration>) -> Variant {
    Variant { name, detector, interval, polled: false }
}

const fn polled(name: &'static str, detector: &'static str, interval: Option<Duration>) -> Variant {
    Variant { polled: true, ..variant(name, detector, interval) }
}

const EVERY_10_US: Option<Duration> = Some(Duration::from_micros(10));
const EVERY_10_MS: Option<Duration> = Some(Duration::from_millis(10));
const EVERY_100_MS: Option<Duration> = Some(Duration::from_millis(100));

/// All that are compared. The paper prints t = 0.01 ms, which is probably 0.01 s: at 0.01 ms a window of polled values
/// spans half a millisecond, in which next to no acknowledgment comes. With 10 and 100 ms it spans half a second and
/// five seconds.
pub(super) const VARIANTS: [Variant; 11] = [
    variant("red-cpi", "red-cpi", None),
    variant("mscm", "mscm", EVERY_10_US),
    variant("red-cpi, 10 ms", "red-cpi", EVERY_10_MS),
    variant("mscm, 10 ms", "mscm", None),
    variant("red-cpi, 100 ms", "red-cpi", EVERY_100_MS),
    variant("mscm, 100 ms", "mscm", EVERY_100_MS),
    polled("red-cpi, polled", "red-cpi", EVERY_10_MS),
    polled("mscm, polled", "mscm", EVERY_10_MS),
    polled("red-cpi, polled, 10 us", "red-cpi", EVERY_10_US),
    polled("mscm, polled, 10 us", "mscm", EVERY_10_US),
    variant(RFC8382, "rfc8382", None),
];

/// Readings of sections 3.1 and 5.1 by their place in [`VARIANTS`]: the words for it, RED-CPI, and MSCM. The verdicts
/// follow the first one, windows that are updated independently with the t that is printed; beside it stand instants at
/// which all paths are read.
pub(super) const READINGS: [(&str, usize, usize); 5] = [
    ("a value for each acknowledgment, 0.01 ms apart", 0, 1),
    ("values read every 0.01 s", 6, 7),
    ("values read every 0.01 ms", 8, 9),
    ("a value for each acknowledgment, 0.01 s apart", 2, 3),
    ("a value for each acknowledgment, 0.1 s apart", 4, 5),
];

/// The variant whose degrees are verdicts: its threshold is part of it, not laid on afterwards.
pub(super) const RFC8382: &str = "rfc8382";

pub(super) const ASKED_EVERY: Duration = Duration::from_millis(100);

/// Thresholds c_s of RFC 8382; 0.1 is its own.
pub(super) const SKEWNESS: [f64; 4] = [0.0, 0.1, 0.3, 1.0];

/// What the bounds p_f, p_mad, p_s and p_d of RFC 8382 are multiplied by along its curve; 1 is its own. At 0 only paths
/// with the same statistics are in one group, without bounds all that queue at a bottleneck.
pub(super) const BOUNDS: [f64; 16] =
    [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, f64::INFINITY];

/// The degrees of one pair over a run; NaN where unknown.
pub(super) type Degrees = Vec<f64>;

/// What all detectors say, pair by pair: the [`VARIANTS`], then RFC 8382 by each of [`SKEWNESS`] and of [`BOUNDS`].
pub(super) fn all(records: &[PathRecord], pairs: &[(usize, usize)]) -> Vec<Degrees> {
    let rfc8382 = VARIANTS[VARIANTS.len() - 1];
    let skewed =
        |threshold: f64| rfc8382.build().with("threshold", Value::Fraction(threshold)).expect("it has a threshold");
    let mut all: Vec<Degrees> = VARIANTS.iter().flat_map(|variant| replay(variant.build(), records, pairs)).collect();
    all.extend(SKEWNESS.into_iter().flat_map(|threshold| replay(skewed(threshold), records, pairs)));
    all.extend(replay_within(&BOUNDS, records, pairs).concat());
    all
}

impl Variant {
    fn build(self) -> BottleneckDetection {
        let detector = BottleneckDetection::from_name(self.detector).expect("it is a detector");
        let interval = self.interval.map(|interval| ("interval", Value::Duration(interval)));
        let options = interval.into_iter().chain([("polled", Value::Boolean(self.polled))]);
        options.fold(detector, |detector, (key, value)| detector.with(key, value).expect("every detector has it"))
    }

    /// Whether it reads the paths so often that a study of its cost would take longer than all others.
    fn is_costly(self) -> bool {
        self.polled && self.interval == EVERY_10_US
    }
}

/// Shows `records` to `detector` and notes the degrees of `pairs`.
fn replay(detector: BottleneckDetection, records: &[PathRecord], pairs: &[(usize, usize)]) -> Vec<Degrees> {
    let mut degrees = vec![Degrees::new(); pairs.len()];
    ask_regularly(detector, records, |detector| {
        let correlations = detector.correlations();
        for (degrees, &(a, b)) in degrees.iter_mut().zip(pairs) {
            // In single precision, as the rates on record count degrees against thresholds.
            degrees.push(correlations.between(a, b).map_or(f64::NAN, |degree| f64::from(degree as f32)));
        }
    });
    degrees
}

/// The same of RFC 8382 with each of `scales` laid on the bounds that its grouping has: 1 in one group, 0 not. The
/// statistics are the same ones.
fn replay_within(scales: &[f64], records: &[PathRecord], pairs: &[(usize, usize)]) -> Vec<Vec<Degrees>> {
    let mut degrees = vec![vec![Degrees::new(); pairs.len()]; scales.len()];
    let paths = pairs.iter().map(|pair| pair.0.max(pair.1) + 1).max().unwrap_or(0);
    ask_regularly(Rfc8382::default(), records, |detector| {
        for (degrees, &scale) in degrees.iter_mut().zip(scales) {
            let groups = detector.groups_within(scale, paths);
            for (degrees, &(a, b)) in degrees.iter_mut().zip(pairs) {
                degrees.push(if groups[a].is_some() && groups[a] == groups[b] { 1.0 } else { 0.0 });
            }
        }
    });
    degrees
}

/// Shows `records` to `detector`, and lets `ask` it at regular times from the first record on.
fn ask_regularly<D: BottleneckDetector>(mut detector: D, records: &[PathRecord], mut ask: impl FnMut(&mut D)) {
    let mut ask_at = records.first().map_or(Instant::ZERO, |record| record.sample.at) + ASKED_EVERY;
    for record in records {
        while record.sample.at >= ask_at {
            ask(&mut detector);
            ask_at += ASKED_EVERY;
        }
        detector.on_sample(record.subflow, &record.sample);
    }
}

/// The share of `degrees` at or above `threshold`; what is unknown counts as below.
pub(super) fn share_above<'a>(degrees: impl IntoIterator<Item = &'a [f64]>, threshold: f64) -> Option<f64> {
    let (mut above, mut all) = (0usize, 0usize);
    for degrees in degrees {
        all += degrees.len();
        above += degrees.iter().filter(|degree| **degree >= threshold).count();
    }
    (all > 0).then(|| above as f64 / all as f64)
}

/// The figures of a detector in a sample: microseconds of CPU for a sample of a path, with all degrees asked for after it, as
/// the scheduler does; the share of pairs without a common bottleneck that are taken to have one, NaN where there is no such
/// pair; and that of pairs with one.
const OF_DETECTOR: [&str; 3] = ["cpu_us_per_sample", "false_positive_rate", "true_positive_rate"];

/// The detectors whose cost and accuracy are compared.
fn affordable() -> impl Iterator<Item = Variant> {
    VARIANTS.into_iter().filter(|variant| !variant.is_costly())
}

/// What all detectors say of the records of a run with `paths` subflows over half as many bottlenecks, two on each.
pub(super) fn on_many_paths(paths: usize, records: &[PathRecord]) -> Sample {
    affordable().flat_map(|variant| of_detector(variant, paths, records)).collect()
}

fn of_detector(variant: Variant, paths: usize, records: &[PathRecord]) -> [f64; OF_DETECTOR.len()] {
    let pairs: Vec<(usize, usize)> = (0..paths).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let degrees = replay(variant.build(), records, &pairs);
    let threshold = variant.build().correlations().threshold();
    let rate = |shared: bool| {
        let is_of = |(a, b): (usize, usize)| (a / 2 == b / 2) == shared;
        let of = degrees.iter().zip(&pairs).filter(|(_, pair)| is_of(**pair)).map(|(degrees, _)| degrees.as_slice());
        share_above(of, threshold)
    };
    [cost_us(variant, records), rate(false).unwrap_or(f64::NAN), rate(true).unwrap_or(0.0)]
}

/// At most so many samples are timed.
const TIMED: usize = 100_000;

fn cost_us(variant: Variant, records: &[PathRecord]) -> f64 {
    let mut detector = variant.build();
    let timed = &records[..records.len().min(TIMED)];
    let timer = CpuTimer::start();
    for record in timed {
        detector.on_sample(record.subflow, &record.sample);
        std::hint::black_box(detector.correlations());
    }
    timer.seconds() * 1e6 / timed.len().max(1) as f64
}

pub(super) fn detectors(row: &Row) -> Vec<Slice> {
    let slice = |(index, variant): (usize, Variant)| {
        Slice::of(row, vec![("of", variant.name.into())], &OF_DETECTOR, OF_DETECTOR.len() * index..)
    };
    affordable().enumerate().map(slice).collect()
}

#[cfg(test)]
mod tests {
    use subflow_policy::bottleneck::PathSample;

    use super::*;

    fn record(subflow: usize, at_ms: u64, srtt_ms: u64) -> PathRecord {
        let (at, srtt) = (Instant::ZERO + Duration::from_millis(at_ms), Duration::from_millis(srtt_ms));
        let sample = PathSample { at, srtt, one_way_delay: 0, sent: 0, lost: 0 };
        PathRecord { subflow, sample, rtt: srtt, bytes_acknowledged: 0 }
    }

    #[test]
    fn degrees_are_asked_for_every_100_ms_with_what_came_before() {
        let records: Vec<PathRecord> =
            (0..100).flat_map(|n| [record(0, 10 * n, n), record(1, 10 * n, 5 + n)]).collect();
        let detector = VARIANTS[0].build().with("window", Value::Integer(20)).expect("it has a window");
        let degrees = replay(detector, &records, &[(0, 1)]);
        assert_eq!(degrees[0].len(), 9);
        assert!(degrees[0][0].is_nan(), "ten values fill no window of twenty");
        assert_eq!(degrees[0][2], 1.0);
        assert_eq!(share_above(degrees.iter().map(Vec::as_slice), 0.8), Some(8.0 / 9.0));
    }

    #[test]
    fn readings_of_t_compare_detectors_of_the_same_t() {
        for (words, red, mscm) in READINGS {
            let (red, mscm) = (VARIANTS[red], VARIANTS[mscm]);
            assert_eq!((red.detector, mscm.detector, red.polled), ("red-cpi", "mscm", mscm.polled), "{words}");
            let interval = |variant: Variant| variant.build().options()[2].value.clone();
            assert_eq!(interval(red), interval(mscm), "{words}");
            assert_eq!(red.polled, words.starts_with("values read"), "{words}");
        }
    }

    #[test]
    fn with_its_own_bounds_rfc_8382_says_what_it_says() {
        // Two sawtooths, the second a little higher.
        let tooth = |n: u64, height: u64| n % 100 * height;
        let records: Vec<PathRecord> = (0..4000)
            .flat_map(|n| [(0, tooth(n, 40)), (1, tooth(n, 42)), (2, tooth(n, 90))].map(|path| (n, path)))
            .map(|(n, (subflow, delay))| {
                let mut record = record(subflow, 10 * n, 0);
                record.sample.one_way_delay = delay as i64 * 1000;
                record
            })
            .collect();
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let variant = VARIANTS[VARIANTS.len() - 1];
        let own = replay(variant.build(), &records, &pairs);
        let within = replay_within(&[0.0, 1.0, f64::INFINITY], &records, &pairs);
        let known = |degrees: &Degrees| degrees.iter().map(|degree| degree.max(0.0)).collect::<Degrees>();
        assert_eq!(within[1], own.iter().map(known).collect::<Vec<_>>());
        let together = |scale: usize| {
            pairs.map(|pair| {
                let place = pairs.iter().position(|other| *other == pair).expect("one of them");
                within[scale][place].last() == Some(&1.0)
            })
        };
        assert_eq!([together(0), together(1), together(2)], [[false; 3], [true, false, false], [true; 3]]);
    }
}
