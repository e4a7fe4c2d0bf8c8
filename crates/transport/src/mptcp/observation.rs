//! Samples of the subflows for shared-bottleneck detection, and the use of its results: correlations for the scheduler,
//! groups for congestion control, and a record for studies. A connection that uses none of them has no [`Observation`],
//! which costs one comparison per segment.

use subflow_policy::bottleneck::{BottleneckDetection, BottleneckDetector, PathSample};
use subflow_policy::scheduler::Scheduler;
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::config::Config;

/// One sample of a subflow, with further values for studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRecord {
    /// The subflow's number.
    pub subflow: usize,
    /// The sample passed to the detector.
    pub sample: PathSample,
    /// The RTT from which the sample was computed.
    pub rtt: Duration,
    /// Payload bytes that the peer has acknowledged on the subflow so far.
    pub bytes_acknowledged: u64,
}

/// The state of the observation.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    detection: Option<BottleneckDetection>,
    regroup: Option<Regroup>,
    record: Option<Vec<PathRecord>>,
    /// By subflow.
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Regroup {
    interval: Duration,
    due: Instant,
}

/// The values of a subflow at its latest sample.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rtt_samples: u64,
    bytes_acknowledged: u64,
}

impl Observation {
    /// The observation that `config` requires, if any.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        let bottleneck = config.bottleneck.as_ref();
        if bottleneck.is_none() && !config.record_paths {
            return None;
        }
        let regroup = bottleneck.and_then(|b| b.regroup).map(|interval| Regroup { interval, due: Instant::ZERO });
        Some(Box::new(Self {
            detection: bottleneck.map(|b| b.detection.clone()),
            regroup,
            record: config.record_paths.then(Vec::new),
            seen: Vec::new(),
        }))
    }
}

impl Connection {
    /// The detector, if there is one.
    pub fn detection(&self) -> Option<&BottleneckDetection> {
        self.observation.as_ref()?.detection.as_ref()
    }

    /// The samples of all subflows in the order of time, if [`Config::record_paths`] is set.
    pub fn path_records(&self) -> &[PathRecord] {
        self.observation.as_ref().and_then(|observation| observation.record.as_deref()).unwrap_or(&[])
    }

    /// Observes subflow `index` after it has processed `segment`: passes a new RTT sample on.
    pub(super) fn observe(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        let Some(observation) = &mut self.observation else { return };
        let tcp = &self.subflows[index].tcp;
        if observation.seen.len() <= index {
            observation.seen.resize(index + 1, Seen::default());
        }
        let (rtt, counters, seen) = (tcp.rtt(), tcp.counters(), &mut observation.seen[index]);
        // The timestamp echoed by a duplicate acknowledgment is old and gives no delay.
        let is_new = rtt.samples() > seen.rtt_samples && counters.bytes_acknowledged > seen.bytes_acknowledged;
        let (Some(srtt), Some(latest), true) = (rtt.srtt(), rtt.latest(), is_new) else { return };
        *seen = Seen { rtt_samples: rtt.samples(), bytes_acknowledged: counters.bytes_acknowledged };
        let sample = PathSample {
            at: now,
            srtt,
            one_way_delay: one_way_delay(segment).unwrap_or(latest.as_nanos() as i64),
            sent: counters.data_segments_sent + counters.retransmissions,
            lost: counters.retransmissions,
        };
        if let Some(record) = &mut observation.record {
            let bytes_acknowledged = counters.bytes_acknowledged;
            let subflow = self.subflows[index].number();
            record.push(PathRecord { subflow, sample, rtt: latest, bytes_acknowledged });
        }
        let Some(detection) = &mut observation.detection else { return };
        detection.on_sample(index, &sample);
        if self.scheduler.goes_by_correlations() {
            self.scheduler.on_correlations(detection.correlations());
        }
        if let Some(regroup) = observation.regroup.as_mut().filter(|regroup| regroup.due <= now) {
            regroup.due = now + regroup.interval;
            self.congestion.set_groups(&detection.correlations().groups(self.subflows.len()));
        }
    }

    /// Discards the samples of subflow `index`, because another subflow takes its place.
    pub(super) fn forget_observations(&mut self, index: usize) {
        let Some(observation) = &mut self.observation else { return };
        if let Some(seen) = observation.seen.get_mut(index) {
            *seen = Seen::default();
        }
        let Some(detection) = &mut observation.detection else { return };
        detection.on_replaced(index);
        if self.scheduler.goes_by_correlations() {
            self.scheduler.on_correlations(detection.correlations());
        }
    }
}

/// The time from the transmission of the acknowledged segment to that of its acknowledgment, in nanoseconds, by the
/// clocks of both sides (RFC 7323; one tick is a millisecond here). The echo in a segment without ACK is undefined
/// (section 3.2); an echo of 0 is valid. `None` without timestamps.
pub fn one_way_delay(segment: &TcpSegment) -> Option<i64> {
    let timestamps = segment.options.timestamps.filter(|_| segment.flags.contains(TcpFlags::ACK))?;
    let ticks = timestamps.value.wrapping_sub(timestamps.echo) as i32;
    Some(i64::from(ticks) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::Timestamps;

    use super::*;

    fn delay(value: u32, echo: u32) -> Option<i64> {
        let mut segment = TcpSegment { flags: TcpFlags::ACK, ..TcpSegment::default() };
        segment.options.timestamps = Some(Timestamps { value, echo });
        one_way_delay(&segment)
    }

    #[test]
    fn the_delay_is_the_difference_of_two_clocks_in_milliseconds() {
        assert_eq!(delay(1040, 1000), Some(40_000_000));
        assert_eq!(delay(7, u32::MAX - 2), Some(10_000_000), "the clock wrapped");
        assert_eq!(delay(1000, 5000), Some(-4_000_000_000), "the peer's clock is behind");
        assert_eq!(delay(1000, 0), Some(1_000_000_000), "the clock stood at 0");
        assert_eq!(one_way_delay(&TcpSegment { flags: TcpFlags::ACK, ..TcpSegment::default() }), None);
    }

    #[test]
    fn a_syn_echoes_nothing() {
        let mut syn = TcpSegment { flags: TcpFlags::SYN, ..TcpSegment::default() };
        syn.options.timestamps = Some(Timestamps { value: 1000, echo: 0 });
        assert_eq!(one_way_delay(&syn), None);
    }
}
