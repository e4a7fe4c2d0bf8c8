//! Which subflows of a connection queue at the same link: the detectors of `subflow_policy` over what acknowledgments show.

use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, PathSample};
use subflow_policy::catalogue::Catalogue;
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use crate::tcp::Half;

/// One tick of Linux's timestamps, in nanoseconds. Where it is another, delays have another unit, which the detectors,
/// who compare delays with each other, do not notice.
const TICK: i64 = 1_000_000;

/// The detectors of the data of one end, from its second subflow with data on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detection {
    first: Option<usize>,
    detectors: Vec<BottleneckDetection>,
    paths: usize,
}

/// What a detector says of two subflows.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckRow {
    /// The number of the connection.
    pub connection: usize,
    /// `client` or `server`: whose data it is about.
    pub sender: &'static str,
    /// The numbers of the subflows in the connection, from 1 on.
    pub subflows: [usize; 2],
    /// The name of the detector.
    pub detector: &'static str,
    /// The degree of correlation, −1 to 1.
    pub degree: f64,
    /// The degree from which on two subflows share a bottleneck.
    pub threshold: f64,
    /// Whether they do.
    pub is_shared: bool,
}

impl Detection {
    /// A segment arrives at `time`, and with it `half`'s data on a subflow is acknowledged.
    pub(crate) fn acknowledged(&mut self, subflow: usize, half: &Half, segment: &TcpSegment, time: u64) {
        let (Some(srtt), true) = (half.round_trips.smoothed(), half.data_packets > 0) else { return };
        let first = *self.first.get_or_insert(subflow);
        if self.detectors.is_empty() {
            if first == subflow {
                return;
            }
            self.detectors = BottleneckDetection::prototypes();
        }
        self.paths = self.paths.max(subflow + 1);
        let timestamps = segment.options.timestamps.filter(|_| segment.flags.contains(TcpFlags::ACK));
        let ticks = timestamps.map(|it| it.value.wrapping_sub(it.echo).cast_signed());
        let sample = PathSample {
            at: Instant::ZERO + Duration::from_nanos(time),
            srtt: Duration::from_nanos(srtt),
            one_way_delay: ticks.map_or(srtt.cast_signed(), |ticks| i64::from(ticks) * TICK),
            sent: half.data_packets,
            lost: half.retransmissions.segments,
        };
        self.detectors.iter_mut().for_each(|detector| detector.on_sample(subflow, &sample));
    }

    /// What the detectors say, by pairs of subflows in the order of the connection.
    pub(crate) fn verdicts(&self) -> Vec<([usize; 2], &'static str, f64, f64)> {
        let mut verdicts = Vec::new();
        for mut detector in self.detectors.iter().cloned() {
            let name = detector.description().map_or("", |description| description.name);
            let correlations = detector.correlations();
            let pairs = (0..self.paths).flat_map(|b| (0..b).map(move |a| [a, b]));
            verdicts.extend(
                pairs.filter_map(|[a, b]| Some(([a, b], name, correlations.between(a, b)?, correlations.threshold()))),
            );
        }
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subflows_whose_round_trips_rise_together_share_a_bottleneck() {
        let mut detection = Detection::default();
        for nth in 0..400_u64 {
            let queue = (nth / 20 % 7) * 3_000_000;
            for (subflow, other) in [(0, 0), (1, 0), (2, (nth * nth / 31 % 11) * 3_000_000)] {
                let mut half = Half::default();
                half.round_trips.add(40_000_000 + if subflow == 2 { other } else { queue });
                half.data_packets = nth + 1;
                let segment = TcpSegment { flags: TcpFlags::ACK, ..Default::default() };
                detection.acknowledged(subflow, &half, &segment, nth * 10_000_000);
            }
        }
        let verdicts = detection.verdicts();
        let degree = |pair: [usize; 2]| {
            let found = verdicts.iter().find(|(subflows, name, ..)| *subflows == pair && *name == "red-cpi");
            found.map(|(_, _, degree, threshold)| degree >= threshold)
        };
        assert_eq!((degree([0, 1]), degree([0, 2])), (Some(true), Some(false)), "{verdicts:?}");
    }
}
