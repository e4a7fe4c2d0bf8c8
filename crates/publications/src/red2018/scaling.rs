//! The paper's future work: what detection costs, and how well it does, on 2 to 32 paths.

use subflow_lab::CpuTimer;
use subflow_policy::bottleneck::BottleneckDetector;
use subflow_transport::mptcp::PathRecord;

use super::replay::{VARIANTS, Variant, replay, share_above};
use crate::study::{Row, Sample, Slice};

/// The figures of a detector in a sample: microseconds of CPU for a sample of a path, with all degrees asked for after it, as
/// the scheduler does; the share of pairs without a common bottleneck that are taken to have one, NaN where there is no such
/// pair; and that of pairs with one.
const COST: usize = 0;
const ERRORS: usize = 1;
const HITS: usize = 2;
const OF_DETECTOR: usize = 3;

/// The detectors whose cost and accuracy are compared.
fn variants() -> impl Iterator<Item = Variant> {
    VARIANTS.into_iter().filter(|variant| !variant.is_costly())
}

/// What all detectors say of the records of a run with `paths` subflows over half as many bottlenecks, two on each.
pub(super) fn measure(paths: usize, records: &[PathRecord]) -> Sample {
    variants().flat_map(|variant| of_detector(variant, paths, records)).collect()
}

fn of_detector(variant: Variant, paths: usize, records: &[PathRecord]) -> [f64; OF_DETECTOR] {
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

/// The detectors, with their figures.
pub(super) fn detectors(row: &Row) -> Vec<Slice> {
    let slice = |(index, variant): (usize, Variant)| {
        let samples = |figure: usize| row.samples(OF_DETECTOR * index + figure);
        Slice {
            variables: vec![("of", variant.name.into())],
            figures: vec![
                ("cpu_us_per_sample", samples(COST)),
                ("false_positive_rate", samples(ERRORS)),
                ("true_positive_rate", samples(HITS)),
            ],
        }
    };
    variants().enumerate().map(slice).collect()
}
