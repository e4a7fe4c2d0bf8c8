//! A token bucket filter, as `tc tbf`.

use subflow_quantity::{Duration, Instant, Rate};

/// The parameters of a token bucket filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucketConfig {
    /// The token rate: the long-term rate of packets.
    pub rate: Rate,
    /// The bucket size in bytes: how much may leave at once after a pause. No packet may be larger.
    pub burst: u32,
    /// The rate limit of a burst; without it a burst leaves at once.
    pub peak: Option<Peak>,
}

/// The second bucket, which spaces the packets of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The peak rate, larger than the token rate.
    pub rate: Rate,
    /// The bucket size in bytes: at least the largest packet (tc: `mtu`, `minburst`).
    pub burst: u32,
}

/// The state of one or two token buckets (Linux `tbf_dequeue`). Tokens are stored as the time in which they accumulate.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    config: TokenBucketConfig,
    tokens: Duration,
    peak_tokens: Duration,
    /// The time of the last update.
    counted_at: Instant,
}

impl TokenBucket {
    /// Creates full buckets.
    pub(crate) fn new(config: TokenBucketConfig) -> Self {
        Self {
            config,
            tokens: config.rate.transmission_time(config.burst.into()),
            peak_tokens: config.peak.map_or(Duration::ZERO, |peak| peak.rate.transmission_time(peak.burst.into())),
            counted_at: Instant::ZERO,
        }
    }

    /// The departure time of a packet of `bytes` that is at the head of the queue from `start` on. A packet larger than
    /// a bucket waits until enough tokens have accumulated; Linux drops it, and scenarios do not allow such buckets.
    pub(crate) fn departure(&mut self, start: Instant, bytes: u32) -> Instant {
        let TokenBucketConfig { rate, burst, peak } = self.config;
        let passed = start.since(self.counted_at);
        let (have, need) = (filled(self.tokens, passed, rate, burst), rate.transmission_time(bytes.into()));
        let mut wait = need - have;
        let mut peak_left = Duration::ZERO;
        if let Some(peak) = peak {
            let have = filled(self.peak_tokens, passed, peak.rate, peak.burst);
            let need = peak.rate.transmission_time(bytes.into());
            wait = wait.max(need - have);
            peak_left = filled(have, wait, peak.rate, peak.burst.max(bytes)) - need;
        }
        self.tokens = filled(have, wait, rate, burst.max(bytes)) - need;
        self.peak_tokens = peak_left;
        self.counted_at = start + wait;
        self.counted_at
    }

    /// The long-term time per packet of `bytes`.
    pub(crate) fn typical_time(&self, bytes: u32) -> Duration {
        self.config.rate.transmission_time(bytes.into())
    }
}

/// The tokens of a bucket after the time `passed`, limited by its size.
fn filled(tokens: Duration, passed: Duration, rate: Rate, burst: u32) -> Duration {
    tokens.saturating_add(passed).min(rate.transmission_time(burst.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn bucket(burst: u32, peak: Option<Peak>) -> TokenBucket {
        TokenBucket::new(TokenBucketConfig { rate: Rate::from_mbit(8), burst, peak })
    }

    /// Departures, in microseconds, of packets of 1000 bytes that are queued from the start.
    fn departures(bucket: &mut TokenBucket, n: usize) -> Vec<u64> {
        let mut turn = Instant::ZERO;
        let mut next = || {
            turn = bucket.departure(turn, 1000);
            turn.as_nanos() / 1000
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_burst_leaves_at_once_and_then_the_rate_is_limited() {
        assert_eq!(departures(&mut bucket(3000, None), 6), [0, 0, 0, 1000, 2000, 3000]);
    }

    #[test]
    fn a_pause_fills_the_bucket_up_to_its_size() {
        let mut bucket = bucket(2000, None);
        departures(&mut bucket, 2);
        let later = Instant::from_nanos(1500 * 1000);
        assert_eq!(bucket.departure(later, 1000), later, "there are tokens for 1500 bytes");
        assert_eq!(bucket.departure(later, 1000), Instant::from_nanos(2 * MS), "500 of them are left");
        let much_later = Instant::from_nanos(100 * MS);
        let leave: Vec<_> = (0..3).map(|_| bucket.departure(much_later, 1000)).collect();
        assert_eq!(leave, [much_later, much_later, Instant::from_nanos(101 * MS)]);
    }

    #[test]
    fn a_peak_rate_spaces_the_burst() {
        let peak = Peak { rate: Rate::from_mbit(32), burst: 1000 };
        assert_eq!(departures(&mut bucket(4000, Some(peak)), 7), [0, 250, 500, 750, 1000, 2000, 3000]);
    }

    #[test]
    fn in_the_long_run_it_is_the_rate_whatever_the_sizes() {
        let mut bucket = bucket(1600, None);
        let (mut turn, mut bytes) = (Instant::ZERO, 0u64);
        for n in 0..10_000u32 {
            let size = 40 + n * 37 % 1461;
            turn = bucket.departure(turn, size);
            bytes += u64::from(size);
        }
        let rate = bytes as f64 * 8.0 / turn.as_secs_f64();
        assert!((rate / 8e6 - 1.0).abs() < 1e-3, "{rate}");
    }
}
