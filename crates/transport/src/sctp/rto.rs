//! Round-trip time and retransmission timeout of one destination (RFC 9260, section 6.3).

use subflow_quantity::Duration;

use super::config::RtoLimits;

/// RTO.Alpha as a power of two: 1/8.
const ALPHA_SHIFT: u32 = 3;
/// RTO.Beta as a power of two: 1/4.
const BETA_SHIFT: u32 = 2;

/// SRTT, RTTVAR and the RTO that follows from them.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    limits: RtoLimits,
    /// Smoothed RTT and its variation, in nanoseconds.
    estimate: Option<(u64, u64)>,
    latest: Option<Duration>,
    min: Option<Duration>,
    rto: Duration,
}

impl RtoEstimator {
    /// An estimator without samples: the RTO is RTO.Initial (rule C1).
    pub fn new(limits: RtoLimits) -> Self {
        Self { limits, estimate: None, latest: None, min: None, rto: limits.initial }
    }

    /// Processes a measurement (rules C2, C3, G1, C6, C7). It ends the back-off of the RTO.
    pub fn sample(&mut self, rtt: Duration) {
        let r = rtt.as_nanos().max(1);
        let (srtt, variation) = match self.estimate {
            None => (r, r / 2),
            Some((srtt, variation)) => (
                srtt - (srtt >> ALPHA_SHIFT) + (r >> ALPHA_SHIFT),
                variation - (variation >> BETA_SHIFT) + (srtt.abs_diff(r) >> BETA_SHIFT),
            ),
        };
        let variation = variation.max(self.limits.granularity.as_nanos());
        self.estimate = Some((srtt, variation));
        self.latest = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.rto = self.bounded(Duration::from_nanos(srtt.saturating_add(variation.saturating_mul(4))));
    }

    /// A timeout: the RTO doubles, up to RTO.Max (section 6.3.3, rule E2).
    pub fn back_off(&mut self) {
        self.rto = self.bounded(Duration::from_nanos(self.rto.as_nanos().saturating_mul(2)));
    }

    fn bounded(&self, rto: Duration) -> Duration {
        rto.max(self.limits.min).min(self.limits.max)
    }

    /// The retransmission timeout.
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// Smoothed RTT.
    pub fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|(srtt, _)| Duration::from_nanos(srtt))
    }

    /// RTTVAR.
    pub fn variation(&self) -> Duration {
        Duration::from_nanos(self.estimate.map_or(0, |(_, variation)| variation))
    }

    /// The latest measurement.
    pub fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The smallest measurement.
    pub fn min(&self) -> Option<Duration> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn estimator(min: u64) -> RtoEstimator {
        let limits = RtoLimits { initial: ms(3000), min: ms(min), max: ms(60_000), granularity: ms(1) };
        RtoEstimator::new(limits)
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rto = estimator(1);
        assert_eq!(rto.rto(), ms(3000));
        rto.sample(ms(100));
        assert_eq!((rto.srtt(), rto.variation(), rto.rto()), (Some(ms(100)), ms(50), ms(300)));
    }

    #[test]
    fn later_samples_move_it_by_an_eighth_and_a_quarter() {
        let mut rto = estimator(1);
        rto.sample(ms(80));
        rto.sample(ms(160));
        // SRTT = 80 + 80/8; RTTVAR = 40 - 10 + 80/4.
        assert_eq!((rto.srtt(), rto.variation(), rto.rto()), (Some(ms(90)), ms(50), ms(290)));
    }

    #[test]
    fn it_stays_within_its_limits_and_forgets_its_backing_off() {
        let mut rto = estimator(1000);
        rto.sample(ms(20));
        assert_eq!(rto.rto(), ms(1000));
        for _ in 0..10 {
            rto.back_off();
        }
        assert_eq!(rto.rto(), ms(60_000));
        rto.sample(ms(20));
        assert_eq!(rto.rto(), ms(1000));
    }
}
