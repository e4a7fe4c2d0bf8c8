//! Transmission times.

use core::hint::select_unpredictable;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_policy::queue::Speed;
use subflow_quantity::{Duration, Instant, Rate};

use super::Service;
use super::aggregate::WifiTransmitter;
use super::token_bucket::TokenBucket;
use super::transport_blocks::TransportBlocks;
use crate::capacity_trace::TraceCursor;

/// The transmitter of a link: computes departures from packet sizes and start times.
#[derive(Debug)]
pub(crate) enum Transmitter {
    Unlimited,
    Rate(ConstantRate),
    Trace(Box<TraceCursor>),
    TokenBucket(Box<TokenBucket>),
    Cellular(Box<TransportBlocks>),
    Wifi(Box<WifiTransmitter>),
}

impl Transmitter {
    /// `random` is for those that draw.
    pub(crate) fn new(service: &Service, random: &mut Pcg64Mcg) -> Self {
        match service {
            Service::Unlimited => Self::Unlimited,
            Service::Rate(rate) => Self::Rate(ConstantRate::new(*rate)),
            Service::Trace(trace) => Self::Trace(Box::new(TraceCursor::new(trace.clone()))),
            Service::TokenBucket(config) => Self::TokenBucket(Box::new(TokenBucket::new(*config))),
            Service::Cellular(config) => Self::Cellular(Box::new(TransportBlocks::new(*config, random.next_u64()))),
            Service::Wifi(config) => Self::Wifi(Box::new(WifiTransmitter::new((**config).clone()))),
        }
    }

    /// The departure time of a packet of `bytes` that arrives at `now`, where the packet ahead of it departs at
    /// `before`.
    #[inline(always)]
    pub(crate) fn departure(&mut self, now: Instant, before: Instant, bytes: u32) -> Instant {
        let start = now.max(before);
        match self {
            Self::Rate(rate) => start.saturating_add(rate.occupy(now < before, bytes)),
            other => other.departure_without_rate(now, start, bytes),
        }
    }

    /// The departure of a packet that comes at `now` and is taken at `start`, where there is no constant rate. A cellular
    /// link takes packets while those before are sent again.
    #[inline(never)]
    fn departure_without_rate(&mut self, now: Instant, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Unlimited | Self::Rate(_) => start,
            Self::Trace(cursor) => cursor.departure(start, bytes),
            Self::TokenBucket(bucket) => bucket.departure(start, bytes),
            Self::Cellular(blocks) => blocks.delivery(now, bytes),
            Self::Wifi(wifi) => wifi.ends,
        }
    }

    /// When the transmitter, which is free from `from` on, takes the next packet: at once, but with a capacity trace at
    /// the next opportunity. A token bucket takes a packet and then waits for its tokens, as `tbf_dequeue` of Linux does
    /// with another discipline below it. A cellular link takes it when a block begins, for a packet that comes, or has
    /// waited since, `waiting`. Over a WiFi channel it takes none: the channel does.
    pub(crate) fn takes_next_at(&mut self, waiting: Instant, from: Instant) -> Instant {
        match self {
            Self::Unlimited | Self::Rate(_) | Self::TokenBucket(_) => from,
            Self::Trace(cursor) => cursor.next_opportunity(from),
            Self::Cellular(blocks) => blocks.next_free(waiting),
            Self::Wifi(_) => Instant::MAX,
        }
    }

    /// How fast it transmits.
    pub(crate) fn speed(&self) -> Speed {
        match self {
            Self::Unlimited => Speed::Unlimited,
            Self::Rate(rate) => Speed::Rate(rate.rate),
            Self::Cellular(blocks) => Speed::Rate(blocks.rate()),
            Self::Wifi(wifi) => Speed::Rate(wifi.config.rate),
            Self::TokenBucket(bucket) => Speed::Rate(bucket.rate()),
            Self::Trace(cursor) => Speed::Mean(cursor.trace().mean_bits_per_second()),
        }
    }

    /// All packets that have not left by `now` were dropped.
    pub(crate) fn clear(&mut self, now: Instant) {
        if let Self::Cellular(blocks) = self {
            blocks.clear(now);
        }
    }

    /// The departure time of a packet in transmission that would have needed `left` more with the transmitter `before`.
    /// Traces and token buckets have no constant rate, so when changing to or from one the whole packet of `bytes` is
    /// sent again.
    pub(crate) fn departure_of_rest(&mut self, before: &Self, left: Duration, now: Instant, bytes: u32) -> Instant {
        match (before, self) {
            (Self::Rate(old), Self::Rate(new)) => now.saturating_add(new.occupy_with_rest(left, old.rate)),
            (_, new) => new.departure(now, now, bytes),
        }
    }
}

/// A constant rate, its reciprocal and the rounding of the last departure.
///
/// A packet occupies the link for bytes · 8·10⁹ / rate nanoseconds, which is seldom a whole number. Its departure is
/// rounded up to a nanosecond. The excess is subtracted from the time of the next packet if that one follows without a
/// pause, so that a busy link sends at exactly its rate: at 100 Gbit/s, packets of 128 bytes take 10.24 ns each, not
/// 11.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantRate {
    rate: Rate,
    /// 8·10⁹ · 2²⁰ / rate: nanoseconds per byte in 2⁻²⁰ steps. A whole number of nanoseconds above zero is exact; all
    /// else is too small by less than two steps.
    nanos_per_byte: u64,
    /// The excess of the last departure over the exact one, in nanoseconds times bits per second; less than the rate.
    ahead: i64,
}

/// The highest rate, 4.6 Ebit/s: twice the rate fits into a signed integer. Higher rates are limited to it.
const FASTEST: u64 = 1 << 62;

const FRACTION_BITS: u32 = 20;
const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;
const BITS_PER_BYTE_TIMES_NANOS: u64 = 8_000_000_000;

impl ConstantRate {
    /// `rate` must not be zero: take the link down instead.
    pub(crate) fn new(rate: Rate) -> Self {
        let bits = rate.bits_per_second().min(FASTEST);
        assert!(bits > 0, "the rate of a link is zero; take the link down instead");
        let scaled = u128::from(BITS_PER_BYTE_TIMES_NANOS) << FRACTION_BITS;
        let rounded_down = (scaled / u128::from(bits)) as u64;
        let looks_whole = rounded_down & FRACTION_MASK == 0 && !BITS_PER_BYTE_TIMES_NANOS.is_multiple_of(bits);
        let rate = Rate::from_bits_per_second(bits);
        Self { rate, nanos_per_byte: rounded_down.saturating_sub(looks_whole.into()), ahead: 0 }
    }

    /// The time that a packet of `bytes`, below 2¹⁸, adds to the last departure if it `follows` that one without a
    /// pause, or else to its own arrival. Exact, without a division.
    #[inline]
    pub(crate) fn occupy(&mut self, follows: bool, bytes: u32) -> Duration {
        debug_assert!(bytes < 1 << 18);
        if self.nanos_per_byte & FRACTION_MASK == 0 && self.nanos_per_byte > 0 {
            // Usual rates, as 100 Mbit/s with 80 ns, need no rounding.
            self.ahead = select_unpredictable(follows, self.ahead, 0);
            return Duration::from_nanos(u64::from(bytes) * (self.nanos_per_byte >> FRACTION_BITS));
        }
        let exact = u64::from(bytes) * BITS_PER_BYTE_TIMES_NANOS;
        let rate = self.rate.bits_per_second();
        // The reciprocal is too small by less than 2⁻¹⁹ per byte, in total less than ½ ns. The estimate is therefore
        // the quotient rounded down, or one less, and the remainder is less than twice the rate.
        let mut nanos = ((u128::from(bytes) * u128::from(self.nanos_per_byte)) >> FRACTION_BITS) as u64;
        let mut ahead = select_unpredictable(follows, self.ahead, 0) - (exact - nanos * rate).cast_signed();
        for _ in 0..2 {
            nanos += u64::from(ahead < 0);
            ahead += select_unpredictable(ahead < 0, rate.cast_signed(), 0);
        }
        self.ahead = ahead;
        Duration::from_nanos(nanos)
    }

    /// The same for data that takes `left`, taken as exact, at rate `old` from now on.
    fn occupy_with_rest(&mut self, left: Duration, old: Rate) -> Duration {
        let exact = u128::from(left.as_nanos()) * u128::from(old.bits_per_second());
        let rate = u128::from(self.rate.bits_per_second());
        let nanos = exact.div_ceil(rate);
        self.ahead = (nanos * rate - exact) as i64;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The transmission time of a single packet.
    fn transmission_time(rate: Rate, bytes: u32) -> Duration {
        ConstantRate::new(rate).occupy(false, bytes)
    }

    proptest! {
        #[test]
        fn transmission_times_are_exact(bits in 1u64..2_000_000_000_000, bytes in 0u32..1 << 18) {
            let rate = Rate::from_bits_per_second(bits);
            prop_assert_eq!(transmission_time(rate, bytes), rate.transmission_time(bytes.into()));
        }

        #[test]
        fn transmission_times_are_exact_at_low_and_round_rates(
            bits in 1u64..100_000,
            exponent in 0u32..7,
            bytes in 0u32..2000,
        ) {
            let rate = Rate::from_bits_per_second(bits * 10u64.pow(exponent));
            prop_assert_eq!(transmission_time(rate, bytes), rate.transmission_time(bytes.into()));
        }
    }

    proptest! {
        #[test]
        fn transmission_times_are_exact_at_whole_nanoseconds_per_byte_and_beside(
            nanos in 1u64..100_000_000,
            beside in -1i64..=1,
            bytes in 0u32..1 << 18,
        ) {
            let bits = (BITS_PER_BYTE_TIMES_NANOS / nanos).saturating_add_signed(beside).max(1);
            let rate = Rate::from_bits_per_second(bits);
            prop_assert_eq!(transmission_time(rate, bytes), rate.transmission_time(bytes.into()));
        }

        #[test]
        fn packets_that_follow_each_other_take_no_longer_than_all_their_bytes_at_once(
            bits in prop_oneof![
                1u64..2_000_000_000_000,
                1 << 55..u64::MAX,
                (1u64..10_000).prop_map(|nanos| BITS_PER_BYTE_TIMES_NANOS / nanos),
            ],
            sizes in proptest::collection::vec(0u32..1 << 18, 1..50),
        ) {
            let mut link = ConstantRate::new(Rate::from_bits_per_second(bits));
            let (mut bytes, mut nanos) = (0, 0);
            for size in sizes {
                nanos += link.occupy(bytes > 0, size).as_nanos();
                bytes += u64::from(size);
                let whole = Rate::from_bits_per_second(bits.min(FASTEST)).transmission_time(bytes);
                prop_assert_eq!(nanos, whole.as_nanos());
            }
        }
    }

    #[test]
    fn the_rest_of_a_packet_takes_longer_at_a_lower_rate() {
        let mut slow = ConstantRate::new(Rate::from_mbit(3));
        let rest = slow.occupy_with_rest(Duration::from_nanos(100), Rate::from_mbit(10));
        assert_eq!(rest, Duration::from_nanos(334), "1000/3, rounded up");
        assert_eq!(slow.ahead, 2_000_000, "2/3 ns at 3 Mbit/s");
        let mut whole = ConstantRate::new(Rate::from_mbit(100));
        whole.occupy_with_rest(Duration::from_nanos(1), Rate::from_mbit(1));
        assert_eq!((whole.ahead, whole.occupy(true, 1).as_nanos(), whole.ahead), (99_000_000, 80, 99_000_000));
        assert_eq!((whole.occupy(false, 1).as_nanos(), whole.ahead), (80, 0), "a pause takes the excess away");
    }
}
