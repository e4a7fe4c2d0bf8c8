//! The detectors of shared bottlenecks for one connection of the kernel.
//!
//! The kernel's lists contain smoothed RTTs, but neither single RTTs nor one-way delays. `red-cpi` goes by smoothed RTTs
//! and runs as it is. `rfc8382` gets them in the place of one-way delays. `mscm` is defined by one-way delays at the
//! same times and does not run.

use subflow_linux::netlink::SubflowSocket;
use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, Parameters, PathSample};
use subflow_quantity::{Duration, Instant};

use super::report::{Detection, Pair};

const NAMES: [&str; 2] = ["red-cpi", "rfc8382"];

/// The detectors of a connection. A path has the number of its subflow.
pub(super) struct Detectors(Vec<(&'static str, BottleneckDetection)>);

impl Detectors {
    /// Detectors without samples, for figures that are read at this interval.
    pub(super) fn new(interval: Duration) -> Self {
        let entries = NAMES.into_iter().filter_map(BottleneckDetection::entry);
        let created = entries.map(|entry| {
            let parameters = match entry.name {
                // All paths are read at the same times.
                "red-cpi" => Parameters { interval, polled: true, ..entry.defaults },
                _ => entry.defaults,
            };
            (entry.name, entry.create(parameters))
        });
        Self(created.collect())
    }

    /// Takes what the kernel says of a path on which data was acknowledged since the last time.
    pub(super) fn sample(&mut self, path: usize, at: Instant, subflow: &SubflowSocket) {
        let info = &subflow.info;
        let sample = PathSample {
            at,
            srtt: info.srtt,
            one_way_delay: info.srtt.as_nanos() as i64,
            sent: info.data_segments_sent,
            lost: info.retransmissions,
        };
        self.0.iter_mut().for_each(|(_, detector)| detector.on_sample(path, &sample));
    }

    /// Another subflow takes the number of a path.
    pub(super) fn replace(&mut self, path: usize) {
        self.0.iter_mut().for_each(|(_, detector)| detector.on_replaced(path));
    }

    /// What the detectors say of these paths.
    pub(super) fn report(&mut self, paths: &[usize]) -> Vec<Detection> {
        self.0.iter_mut().map(|(name, detector)| detection(name, detector, paths)).collect()
    }
}

fn detection(name: &'static str, detector: &mut BottleneckDetection, paths: &[usize]) -> Detection {
    let correlations = detector.correlations();
    let mut pairs = Vec::new();
    for (position, &a) in paths.iter().enumerate() {
        for &b in &paths[position + 1..] {
            let degree = correlations.between(a, b);
            let shared = degree.map(|_| correlations.share(a, b));
            pairs.push(Pair { subflows: [a, b], degree: degree.map(|d| (d * 1e3).round() / 1e3), shared });
        }
    }
    Detection { detector: name, threshold: correlations.threshold(), pairs }
}
