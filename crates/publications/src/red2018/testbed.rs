//! What is measured of a run of the testbed: figures of each path, then of the connection, then lists of samples; and what
//! is counted second by second. Figures 8 to 10 are of these.

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{mean, quantile};
use subflow_quantity::{Duration, Instant};
use subflow_transport::mptcp::PathRecord;

use super::replay;
use super::{PAIRS, PATHS};
use crate::study::{DUPLICATE_ACKS, RETRANSMISSIONS, Row, Sample, Slice, by_second};

/// The figures of a path, in their order: metrics of the paper's file.
const OF_PATH: [&str; 7] = [
    "rtt_median_ms",
    "rtt_p95_ms",
    "rtt_max_ms",
    "throughput_mean_mbps",
    "throughput_min_mbps",
    "throughput_max_mbps",
    "copies",
];
/// Those of the connection, which follow those of the paths.
const OF_CONNECTION: [&str; 4] = ["goodput_mbps", "duplicate_acks", "retransmissions", "copies"];

const FIGURES: usize = OF_PATH.len() * PATHS.len() + OF_CONNECTION.len();

pub(super) fn paths_and_connection(row: &Row) -> Vec<Slice> {
    let slice =
        |of: &str, metrics: &[&'static str], first: usize| Slice::of(row, vec![("of", of.into())], metrics, first..);
    let path = |(index, path): (usize, &&str)| slice(path, &OF_PATH[..], OF_PATH.len() * index);
    let connection = slice("connection", &OF_CONNECTION, OF_PATH.len() * PATHS.len());
    let samples = (0..PATHS.len()).map(|place| samples(row, place));
    PATHS.iter().enumerate().map(path).chain([connection]).chain(samples).collect()
}

/// What is counted so far at the end of each second: metrics of the paper's file, and their series.
const COUNTS: [(&str, &str); 2] = [("duplicate ACKs", DUPLICATE_ACKS), ("retransmissions", RETRANSMISSIONS)];

/// The sample of a run in which they are counted: list after list.
pub(super) fn counted_so_far(result: &RunResult) -> Sample {
    let so_far = |(_, metric): &(&str, &str)| {
        let values = by_second(result, result.duration_s as usize, metric, |name| name == "data");
        values.into_iter().map(|values| values.iter().sum::<f64>())
    };
    COUNTS.iter().flat_map(so_far).collect()
}

pub(super) fn seconds(row: &Row) -> Vec<Slice> {
    let number = row.runs.first().map_or(0, Vec::len) / COUNTS.len();
    let second = |second: usize| {
        let variables = vec![("second", (second + 1).into()), ("of", format!("until {} s", second + 1).into())];
        Slice::of(row, variables, &COUNTS.map(|(metric, _)| metric), (second..).step_by(number))
    };
    (0..number).map(second).collect()
}

/// All samples of a path in all runs, which figures 8a to 8d are of.
fn samples(row: &Row, place: usize) -> Slice {
    let pooled = |first: usize| {
        let lists = row.runs.iter().flat_map(|run| list(run, first + place));
        thinned(&lists.copied().collect::<Vec<f64>>())
    };
    Slice {
        variables: vec![("slice", "samples".into()), ("of", PATHS[place].into())],
        figures: vec![("rtt", pooled(RTTS)), ("throughput", pooled(THROUGHPUTS))],
    }
}

/// Evenly spaced quantiles instead of all samples: a figure shows no more.
pub(super) fn thinned(samples: &[f64]) -> Vec<f64> {
    (0..=200).filter_map(|step| quantile(samples, f64::from(step) / 200.0)).collect()
}

/// The lists of a sample, each behind its length: RTTs by path in milliseconds, one in 100 ms; what the peer acknowledged
/// on each path, in Mbit/s, second by second; and of the plain redundant scheduler the degrees by detector and pair.
const RTTS: usize = 0;
const THROUGHPUTS: usize = PATHS.len();
const DEGREES: usize = 2 * PATHS.len();

/// A list of a sample; empty where it has none.
fn list(sample: &Sample, wanted: usize) -> &[f64] {
    let mut rest = sample.get(FIGURES..).unwrap_or_default();
    for place in 0.. {
        let Some((length, lists)) = rest.split_first() else { break };
        let (list, behind) = lists.split_at(*length as usize);
        if place == wanted {
            return list;
        }
        rest = behind;
    }
    &[]
}

/// What a detector said of each pair in a run; NaN where unknown.
pub(super) fn degrees(sample: &Sample, detector: usize) -> [&[f64]; 3] {
    [0, 1, 2].map(|pair| list(sample, DEGREES + PAIRS.len() * detector + pair))
}

pub(super) fn measure(result: &RunResult) -> Sample {
    let flow = &result.flows[0];
    let (mut sample, mut rtts, mut throughputs) = (Sample::new(), Vec::new(), Vec::new());
    let copies = |path: usize| flow.subflows.get(path).map_or(0.0, |subflow| subflow.copies as f64);
    for path in 0..PATHS.len() {
        let ((rtt, largest), throughput) = (rtts_ms(result, path), throughput_mbps(result, path));
        let figures = [
            quantile(&rtt, 0.5),
            quantile(&rtt, 0.95),
            (!rtt.is_empty()).then_some(largest),
            mean(&throughput),
            quantile(&throughput, 0.0),
            quantile(&throughput, 1.0),
            Some(copies(path)),
        ];
        sample.extend(figures.map(|figure| figure.unwrap_or(f64::NAN)));
        rtts.push(rtt);
        throughputs.push(throughput);
    }
    let copies = (0..PATHS.len()).map(copies).sum();
    sample.extend([flow.goodput_mbps, flow.duplicate_acks as f64, flow.retransmissions as f64, copies]);
    let degrees = match flow.scheduler.as_deref() {
        Some("redundant") => replay::all(&result.paths[0], &PAIRS.map(|(_, a, b, _)| (a, b))),
        _ => Vec::new(),
    };
    for list in rtts.into_iter().chain(throughputs).chain(degrees) {
        sample.push(list.len() as f64);
        sample.extend(list);
    }
    sample
}

fn of(result: &RunResult, path: usize) -> impl Iterator<Item = &PathRecord> {
    result.paths[0].iter().filter(move |record| record.subflow == path)
}

/// RTTs of a path, and the largest of all that were measured, in milliseconds.
fn rtts_ms(result: &RunResult, path: usize) -> (Vec<f64>, f64) {
    let (mut rtts, mut largest, mut next) = (Vec::new(), 0.0_f64, Instant::ZERO);
    for record in of(result, path) {
        let rtt_ms = record.rtt.as_secs_f64() * 1e3;
        largest = largest.max(rtt_ms);
        if record.sample.at >= next {
            rtts.push(rtt_ms);
            next = record.sample.at + Duration::from_millis(100);
        }
    }
    (rtts, largest)
}

fn throughput_mbps(result: &RunResult, path: usize) -> Vec<f64> {
    let end = Instant::ZERO + Duration::from_secs_f64(result.duration_s);
    let known = of(result, path).map(|record| (record.sample.at, record.bytes_acknowledged));
    let (mut throughput, mut so_far, mut before) = (Vec::new(), 0, 0);
    let mut second = Instant::ZERO + Duration::from_secs(1);
    for (at, bytes) in known.chain([(end, 0)]) {
        while at >= second {
            throughput.push((so_far - before) as f64 * 8e-6);
            before = so_far;
            second += Duration::from_secs(1);
        }
        so_far = bytes;
    }
    throughput
}
