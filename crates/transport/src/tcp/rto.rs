//! The retransmission timeout: RTO, exponential backoff, and the timeouts in a row (RFC 6298).

use subflow_quantity::Duration;

use super::{Config, RttEstimator};

/// The least RTO after a handshake without an RTT sample (RFC 6298, section 5.7; Linux `tcp_init_metrics`).
const LEAST_AFTER_HANDSHAKE: Duration = Duration::from_secs(3);

/// RTT and RTO. The RTO is needed more often than it changes; therefore it is computed when it does.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionTimeout {
    rtt: RttEstimator,
    /// The RTO before the first sample.
    unsampled: Duration,
    /// Upper bound.
    maximum: Duration,
    base: Duration,
    backed_off: Duration,
    /// The timeout is multiplied by 2 to this power.
    backoff: u32,
    retries: u32,
}

impl RetransmissionTimeout {
    pub(super) fn new(config: &Config) -> Self {
        let base = config.initial_rto.min(config.max_rto);
        Self {
            rtt: RttEstimator::new(config.min_rto),
            unsampled: config.initial_rto,
            maximum: config.max_rto,
            base,
            backed_off: base,
            backoff: 0,
            retries: 0,
        }
    }

    #[inline]
    pub(super) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The RTO without backoff.
    #[inline]
    pub(super) fn base(&self) -> Duration {
        self.base
    }

    /// The RTO with exponential backoff (RFC 6298, section 5.5).
    #[inline]
    pub(super) fn backed_off(&self) -> Duration {
        self.backed_off
    }

    /// Timeouts since the last acknowledgment of new data.
    #[inline]
    pub(super) fn retries(&self) -> u32 {
        self.retries
    }

    /// The timeout of a SYN or SYN/ACK after it was doubled so many times.
    pub(super) fn of_handshake(&self, doubled: u32) -> Duration {
        self.unsampled.saturating_mul(1 << doubled.min(16)).min(self.maximum)
    }

    /// The handshake is complete.
    pub(super) fn on_established(&mut self) {
        self.retries = 0;
        self.unsampled = self.unsampled.max(LEAST_AFTER_HANDSHAKE);
        self.refresh();
    }

    /// Takes an RTT sample, which ends the backoff: `smoothed` for SRTT and RTTVAR, `latest` for congestion control and
    /// RACK. `una` and `nxt` delimit rounds.
    #[inline]
    pub(super) fn sample(&mut self, smoothed: Duration, latest: Duration, una: u64, nxt: u64) {
        self.rtt.sample(smoothed, una, nxt);
        self.rtt.note_latest(latest);
        self.backoff = 0;
        self.refresh();
    }

    /// New data was acknowledged, or the peer has proved that it is alive (RFC 9293, section 3.8.6.1).
    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.retries = 0;
    }

    /// The peer's window is open again.
    pub(super) fn on_window_opened(&mut self) {
        self.backoff = 0;
        self.refresh();
    }

    /// The retransmission timer has expired.
    pub(super) fn on_expired(&mut self) {
        self.retries += 1;
        self.backoff += 1;
        self.refresh();
    }

    /// The timer of the zero-window probe has expired. Its backoff has the bound `most`.
    pub(super) fn on_window_probe_expired(&mut self, most: u32) {
        self.retries += 1;
        self.backoff = (self.backoff + 1).min(most);
        self.refresh();
    }

    #[inline]
    fn refresh(&mut self) {
        self.base = self.rtt.rto().unwrap_or(self.unsampled).min(self.maximum);
        self.backed_off = match self.backoff {
            0 => self.base,
            backoff => self.base.saturating_mul(1u64.checked_shl(backoff).unwrap_or(u64::MAX)).min(self.maximum),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timeout_doubles_the_rto_until_a_sample_ends_the_backoff() {
        let mut timeout = RetransmissionTimeout::new(&Config::default());
        let sample = |timeout: &mut RetransmissionTimeout| {
            timeout.sample(Duration::from_millis(40), Duration::from_millis(40), 1, 10);
        };
        sample(&mut timeout);
        assert_eq!(timeout.backed_off(), Duration::from_millis(240));
        (0..2).for_each(|_| timeout.on_expired());
        assert_eq!((timeout.base(), timeout.backed_off()), (Duration::from_millis(240), Duration::from_millis(960)));
        (0..100).for_each(|_| timeout.on_expired());
        assert_eq!(timeout.backed_off(), Duration::from_secs(120), "the maximum");
        sample(&mut timeout);
        assert_eq!((timeout.backed_off(), timeout.retries()), (timeout.base(), 102));
    }

    #[test]
    fn after_a_handshake_without_a_sample_it_is_three_seconds() {
        let mut timeout = RetransmissionTimeout::new(&Config::default());
        assert_eq!([0, 1, 7, 40].map(|n| timeout.of_handshake(n).as_nanos() / 1_000_000_000), [1, 2, 120, 120]);
        timeout.on_established();
        assert_eq!(timeout.backed_off(), Duration::from_secs(3));
    }
}
