//! The round-trip time of a path (RFC 9002, section 5), and the timeouts that follow from it (section 6).

use subflow_quantity::{Duration, Instant};

/// The least delay of a timer (section 6.1.2, `kGranularity`).
const GRANULARITY: Duration = Duration::from_millis(1);

/// Smoothed RTT, its variation and its minimum.
#[derive(Clone, Debug)]
pub struct Rtt {
    latest: Duration,
    smoothed: Duration,
    variation: Duration,
    min: Duration,
    first_sample_at: Option<Instant>,
    /// Whether the next sample is the minimum, whatever was measured before.
    restarts_min: bool,
}

impl Rtt {
    /// An estimate without a sample (section 5.3).
    pub(super) fn new(initial: Duration) -> Self {
        Self {
            latest: Duration::ZERO,
            smoothed: initial,
            variation: initial / 2,
            min: Duration::ZERO,
            first_sample_at: None,
            restarts_min: false,
        }
    }

    /// A packet was acknowledged after `latest`, of which its receiver says that it has delayed the acknowledgment by
    /// `ack_delay`.
    pub(super) fn sample(&mut self, latest: Duration, ack_delay: Duration, now: Instant) {
        let latest = latest.max(Duration::from_nanos(1));
        self.latest = latest;
        if self.first_sample_at.is_none() {
            (self.min, self.smoothed, self.variation) = (latest, latest, latest / 2);
            self.first_sample_at = Some(now);
            return;
        }
        self.min = if core::mem::take(&mut self.restarts_min) { latest } else { self.min.min(latest) };
        // The delay of the acknowledgment does not take the sample below the minimum.
        let adjusted = if latest >= self.min + ack_delay { latest - ack_delay } else { latest };
        let deviation = if adjusted > self.smoothed { adjusted - self.smoothed } else { self.smoothed - adjusted };
        self.variation = (self.variation * 3 + deviation) / 4;
        self.smoothed = (self.smoothed * 7 + adjusted) / 8;
    }

    /// The path has changed: the next sample is the minimum (section 5.2).
    pub(super) fn restart_min(&mut self) {
        self.restarts_min = true;
    }

    /// Smoothed RTT, if there was a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.first_sample_at.map(|_| self.smoothed)
    }

    /// The latest sample, if there was one.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.first_sample_at.map(|_| self.latest)
    }

    /// The variation.
    pub(super) fn variation(&self) -> Duration {
        self.variation
    }

    /// The smallest RTT, if there was a sample.
    pub fn min(&self) -> Option<Duration> {
        self.first_sample_at.map(|_| self.min)
    }

    /// When the first sample was taken.
    pub(super) fn first_sample_at(&self) -> Option<Instant> {
        self.first_sample_at
    }

    /// After this time a packet is lost of which a later one was acknowledged (section 6.1.2).
    pub(super) fn loss_delay(&self) -> Duration {
        (self.smoothed.max(self.latest) * 9 / 8).max(GRANULARITY)
    }

    /// The probe timeout without backoff and without the peer's delay of acknowledgments (section 6.2.1).
    pub(super) fn probe_timeout(&self) -> Duration {
        self.smoothed + (self.variation * 4).max(GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn sampled(samples: &[(u64, u64)]) -> Rtt {
        let mut rtt = Rtt::new(ms(333));
        samples.iter().for_each(|&(latest, delay)| rtt.sample(ms(latest), ms(delay), Instant::ZERO));
        rtt
    }

    #[test]
    fn the_first_sample_replaces_the_initial_estimate() {
        let rtt = Rtt::new(ms(333));
        assert_eq!((rtt.srtt(), rtt.probe_timeout()), (None, ms(333 + 2 * 333)));
        let rtt = sampled(&[(100, 20)]);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (ms(100), ms(50), ms(100)));
        assert_eq!((rtt.probe_timeout(), rtt.loss_delay()), (ms(300), Duration::from_micros(112_500)));
    }

    #[test]
    fn later_samples_are_smoothed_without_the_delay_of_the_acknowledgment() {
        let rtt = sampled(&[(100, 0), (140, 20)]);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (ms(102) + ms(1) / 2, ms(42) + ms(1) / 2, ms(100)));
        assert_eq!(sampled(&[(100, 0), (110, 20)]).smoothed, Duration::from_micros(101_250), "not below the minimum");
    }

    #[test]
    fn timers_have_a_granularity() {
        let mut rtt = Rtt::new(ms(333));
        rtt.sample(Duration::from_micros(10), Duration::ZERO, Instant::ZERO);
        assert_eq!((rtt.loss_delay(), rtt.probe_timeout()), (ms(1), ms(1) + Duration::from_micros(10)));
    }
}
