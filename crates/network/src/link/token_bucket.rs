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

/// The state of one or two token buckets (Linux `tbf_dequeue`).
#[derive(Debug)]
pub(crate) struct TokenBucket {
    tokens: Bucket,
    peak: Option<Bucket>,
    /// The time of the last update.
    counted_at: Instant,
}

impl TokenBucket {
    /// Creates full buckets.
    pub(crate) fn new(config: TokenBucketConfig) -> Self {
        Self {
            tokens: Bucket::full(config.rate, config.burst),
            peak: config.peak.map(|peak| Bucket::full(peak.rate, peak.burst)),
            counted_at: Instant::ZERO,
        }
    }

    /// The departure time of a packet of `bytes` that is at the head of the queue from `start` on. A packet larger than
    /// a bucket waits until enough tokens have accumulated; Linux drops it, and scenarios do not allow such buckets.
    pub(crate) fn departure(&mut self, start: Instant, bytes: u32) -> Instant {
        let passed = start.since(self.counted_at);
        self.buckets().for_each(|bucket| bucket.fill(passed, 0));
        let wait = self.buckets().map(|bucket| bucket.wait_for(bytes)).max().unwrap_or_default();
        self.buckets().for_each(|bucket| bucket.take(wait, bytes));
        self.counted_at = start.saturating_add(wait);
        self.counted_at
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        [&mut self.tokens].into_iter().chain(&mut self.peak)
    }

    /// The long-term rate.
    pub(crate) const fn rate(&self) -> Rate {
        self.tokens.rate
    }
}

/// One bucket. A token is 10⁻⁹ bit, so that the tokens of a nanosecond are the rate in bits per second: nothing is
/// rounded.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    size: u64,
    tokens: u64,
}

/// Tokens per byte.
const BYTE: u64 = 8_000_000_000;

impl Bucket {
    fn full(rate: Rate, bytes: u32) -> Self {
        let size = u64::from(bytes).saturating_mul(BYTE);
        Self { rate, size, tokens: size }
    }

    /// Adds the tokens of the time `passed`. The bucket holds its size at most, or `least` where that is more.
    fn fill(&mut self, passed: Duration, least: u64) {
        let come = u128::from(passed.as_nanos()) * u128::from(self.rate.bits_per_second());
        let most = self.size.max(least);
        self.tokens = u64::try_from(u128::from(self.tokens) + come).map_or(most, |tokens| tokens.min(most));
    }

    /// The time until there are enough tokens for a packet of `bytes`.
    fn wait_for(&self, bytes: u32) -> Duration {
        let missing = (u64::from(bytes) * BYTE).saturating_sub(self.tokens);
        Duration::from_nanos(missing.div_ceil(self.rate.bits_per_second()))
    }

    /// Waits for `wait`, then removes the tokens for a packet of `bytes`.
    fn take(&mut self, wait: Duration, bytes: u32) {
        let needed = u64::from(bytes) * BYTE;
        self.fill(wait, needed);
        self.tokens -= needed;
    }
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
        for rate in [Rate::from_mbit(8), Rate::from_mbit(97_111)] {
            let mut bucket = TokenBucket::new(TokenBucketConfig { rate, burst: 1600, peak: None });
            let (mut turn, mut bytes) = (Instant::ZERO, 0u64);
            for n in 0..10_000u32 {
                let size = 40 + n * 37 % 1461;
                turn = bucket.departure(turn, size);
                bytes += u64::from(size);
            }
            assert_eq!(turn, Instant::ZERO + rate.transmission_time(bytes - 1600), "the first 1600 were there");
        }
    }
}
