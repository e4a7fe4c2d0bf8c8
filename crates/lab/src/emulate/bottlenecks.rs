//! The detectors of shared bottlenecks for one connection of a kernel, of this machine or of a host.
//!
//! The kernel's lists contain smoothed RTTs, but neither single RTTs nor one-way delays. `red-cpi` goes by smoothed RTTs
//! and runs as it is. The others are defined by one-way delays, which captured acknowledgments have. Without a capture
//! `rfc8382` gets smoothed RTTs in their place, and `mscm`, which compares the delays of single packets, does not run.

use subflow_linux::{Captured, SubflowInfo};
use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, PathSample};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_quantity::{Duration, Instant};

use crate::results::{Detection, Pair};

const BY_SMOOTHED_RTTS: &str = "red-cpi";
const BY_EITHER: &str = "rfc8382";
const BY_DELAYS: &str = "mscm";

/// The detectors of a connection. A path has the number of its subflow.
pub struct Detectors {
    polled: Vec<BottleneckDetection>,
    captured: Vec<BottleneckDetection>,
}

impl Detectors {
    /// Detectors without samples, for figures that are read at this interval, and for captured delays if there are any.
    pub fn new(interval: Duration, captures: bool) -> Self {
        // All paths are read at the same times.
        let options = [("interval", Value::Duration(interval)), ("polled", Value::Boolean(true))];
        let polled = BottleneckDetection::from_name(BY_SMOOTHED_RTTS).map(|detector| {
            options.into_iter().fold(detector, |detector, (key, value)| {
                detector.with(key, value).expect("a detector by smoothed RTTs has these options")
            })
        });
        let create = |name| BottleneckDetection::from_name(name);
        let (without, with): (&[&str], &[&str]) =
            if captures { (&[], &[BY_EITHER, BY_DELAYS]) } else { (&[BY_EITHER], &[]) };
        Self {
            polled: polled.into_iter().chain(without.iter().copied().filter_map(create)).collect(),
            captured: with.iter().copied().filter_map(create).collect(),
        }
    }

    /// Takes what the kernel says of a path on which data was acknowledged since the last time.
    pub fn sample(&mut self, path: usize, at: Instant, subflow: &SubflowInfo) {
        let sample = sample(at, subflow, subflow.srtt.as_nanos() as i64);
        self.polled.iter_mut().for_each(|detector| detector.on_sample(path, &sample));
    }

    /// Takes an acknowledgment of data on a path, of which the kernel said this last.
    pub fn capture(&mut self, path: usize, captured: &Captured, subflow: &SubflowInfo) {
        let sample = sample(captured.at, subflow, captured.one_way_delay);
        self.captured.iter_mut().for_each(|detector| detector.on_sample(path, &sample));
    }

    /// Another subflow takes the number of a path.
    pub fn replace(&mut self, path: usize) {
        self.all().for_each(|detector| detector.on_replaced(path));
    }

    /// What the detectors say of these paths.
    pub fn report(&mut self, paths: &[usize]) -> Vec<Detection> {
        self.all().map(|detector| detection(detector, paths)).collect()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut BottleneckDetection> {
        self.polled.iter_mut().chain(&mut self.captured)
    }
}

fn sample(at: Instant, subflow: &SubflowInfo, one_way_delay: i64) -> PathSample {
    let SubflowInfo { srtt, data_segments_sent: sent, retransmissions: lost, .. } = *subflow;
    PathSample { at, srtt, one_way_delay, sent, lost }
}

fn detection(detector: &mut BottleneckDetection, paths: &[usize]) -> Detection {
    let name = detector.description().expect("every detector is in the catalogue").name;
    let correlations = detector.correlations();
    let mut pairs = Vec::new();
    for (position, &a) in paths.iter().enumerate() {
        for &b in &paths[position + 1..] {
            let degree = correlations.between(a, b);
            let shared = degree.map(|_| correlations.share(a, b));
            pairs.push(Pair { subflows: [a, b], degree: degree.map(|d| (d * 1e3).round() / 1e3), shared });
        }
    }
    Detection { detector: name.to_owned(), threshold: correlations.threshold(), pairs }
}
