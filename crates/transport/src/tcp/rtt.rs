//! Round-trip time and retransmission timeout (RFC 6298, with Linux's variance: `tcp_rtt_estimator`).

use subflow_quantity::Duration;

/// SRTT, RTTVAR and the RTO that follows from them. Nanoseconds; `srtt8` holds 8·SRTT, the deviations 4·RTTVAR.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt8: u64,
    /// 4 times the mean deviation.
    mdev: u64,
    /// Largest `mdev` of this round.
    mdev_max: u64,
    /// The variance term of the RTO: follows increases of `mdev_max` immediately and decreases slowly, down to the
    /// minimum.
    rttvar: u64,
    /// The round ends when this offset is acknowledged.
    round_end: u64,
    samples: u64,
    latest: Option<Duration>,
    min: Option<Duration>,
    minimum_variance: u64,
}

impl RttEstimator {
    /// An estimator without samples; `min_rto` bounds the variance term from below.
    pub fn new(min_rto: Duration) -> Self {
        Self {
            srtt8: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            samples: 0,
            latest: None,
            min: None,
            minimum_variance: min_rto.as_nanos(),
        }
    }

    /// Processes a sample; `una` and `nxt` delimit rounds.
    pub fn sample(&mut self, rtt: Duration, una: u64, nxt: u64) {
        self.samples += 1;
        let m = rtt.as_nanos().max(1);
        if self.srtt8 == 0 {
            self.srtt8 = m << 3;
            self.mdev = m << 1;
            self.rttvar = self.mdev.max(self.minimum_variance);
            self.mdev_max = self.rttvar;
            self.round_end = nxt;
            return;
        }
        let error = m as i64 - (self.srtt8 >> 3) as i64;
        self.srtt8 = (self.srtt8 as i64 + error).max(1) as u64;
        // A decrease of the RTT changes the deviation with an eighth of the gain, so as not to inflate the RTO
        // (Linux).
        let mut change = error.abs() - (self.mdev >> 2) as i64;
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev = (self.mdev as i64 + change).max(0) as u64;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.round_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.round_end = nxt;
            self.mdev_max = self.minimum_variance;
        }
    }

    /// Sets the RTT of the segment acknowledged last, which congestion control and RACK use.
    pub fn note_latest(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// Smoothed RTT.
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt8 != 0).then(|| Duration::from_nanos(self.srtt8 >> 3))
    }

    /// RTTVAR as in RFC 6298 (a quarter of the RTO's variance term).
    pub fn variation(&self) -> Duration {
        Duration::from_nanos(self.mdev >> 2)
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The latest raw sample.
    pub fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The smallest sample.
    pub fn min(&self) -> Option<Duration> {
        self.min
    }

    /// SRTT + variance term; `None` before the first sample.
    pub fn rto(&self) -> Option<Duration> {
        (self.srtt8 != 0).then(|| Duration::from_nanos((self.srtt8 >> 3) + self.rttvar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_srtt_and_a_variance_of_at_least_the_minimum() {
        let mut rtt = RttEstimator::new(Duration::from_millis(200));
        rtt.sample(Duration::from_millis(40), 1, 10);
        assert_eq!(rtt.srtt(), Some(Duration::from_millis(40)));
        assert_eq!(rtt.rto(), Some(Duration::from_millis(240)));
    }

    #[test]
    fn a_steady_rtt_keeps_the_rto_at_srtt_plus_200_ms() {
        let mut rtt = RttEstimator::new(Duration::from_millis(200));
        for i in 1..200 {
            rtt.sample(Duration::from_millis(100), i * 10, i * 10 + 10);
        }
        let rto = rtt.rto().unwrap();
        assert!(rto >= Duration::from_millis(300) && rto < Duration::from_millis(301), "{rto}");
    }

    #[test]
    fn a_jump_of_the_rtt_raises_the_rto_at_once() {
        let mut rtt = RttEstimator::new(Duration::from_millis(200));
        for i in 1..50 {
            rtt.sample(Duration::from_millis(100), i * 10, i * 10 + 10);
        }
        rtt.sample(Duration::from_millis(1100), 500, 510);
        assert!(rtt.rto().unwrap() > Duration::from_millis(1100));
    }
}
