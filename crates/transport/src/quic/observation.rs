//! Samples of the paths for shared-bottleneck detection, and the use of its results by scheduler and congestion control.

use subflow_policy::bottleneck::{BottleneckDetector, PathSample};
use subflow_policy::scheduler::Scheduler;
use subflow_quantity::{Duration, Instant};

use super::Connection;

impl Connection {
    /// Observes the path at `place`, of which an acknowledgment has measured the RTT. QUIC has no timestamps: the RTT
    /// stands for the one-way delay.
    #[inline]
    pub(super) fn observe(&mut self, place: usize, rtt: Option<Duration>, now: Instant) {
        if self.multipath.is_some()
            && let Some(latest) = rtt
        {
            self.pass_sample(place, latest, now);
        }
    }

    fn pass_sample(&mut self, place: usize, latest: Duration, now: Instant) {
        let path = &self.paths[place];
        let regroup = self.config.multipath.as_ref().and_then(|multipath| multipath.bottleneck.as_ref()?.regroup);
        let Some(multipath) = self.multipath.as_deref_mut() else { return };
        let (Some(detection), Some(srtt)) = (&mut multipath.detection, path.rtt.srtt()) else { return };
        let sample = PathSample {
            at: now,
            srtt,
            one_way_delay: latest.as_nanos() as i64,
            sent: path.counters.datagrams_sent,
            lost: path.counters.packets_lost,
        };
        detection.on_sample(place, &sample);
        if multipath.scheduling.goes_by_correlations() {
            multipath.scheduling.on_correlations(detection.correlations());
        }
        if let Some(interval) = regroup.filter(|_| multipath.regroup_at <= now) {
            multipath.regroup_at = now + interval;
            self.congestion.set_groups(&detection.correlations().groups(self.paths.len()));
        }
    }

    /// Discards the samples of the path at `place`, because another one takes its place.
    pub(super) fn forget_observations(&mut self, place: usize) {
        let Some(multipath) = self.multipath.as_deref_mut() else { return };
        let Some(detection) = &mut multipath.detection else { return };
        detection.on_replaced(place);
        if multipath.scheduling.goes_by_correlations() {
            multipath.scheduling.on_correlations(detection.correlations());
        }
    }
}
