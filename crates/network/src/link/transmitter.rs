//! Transmission times.

use subflow_quantity::{Duration, Instant, Rate};

use super::Service;
use super::token_bucket::TokenBucket;
use crate::capacity_trace::TraceCursor;

/// The transmitter of a link: computes departures from packet sizes and start times.
#[derive(Debug)]
pub(crate) enum Transmitter {
    Unlimited,
    Rate(ConstantRate),
    Trace(Box<TraceCursor>),
    TokenBucket(Box<TokenBucket>),
}

impl Transmitter {
    pub(crate) fn new(service: &Service) -> Self {
        match service {
            Service::Unlimited => Self::Unlimited,
            Service::Rate(rate) => Self::Rate(ConstantRate::new(*rate)),
            Service::Trace(trace) => Self::Trace(Box::new(TraceCursor::new(trace.clone()))),
            Service::TokenBucket(config) => Self::TokenBucket(Box::new(TokenBucket::new(*config))),
        }
    }

    /// The departure time of a packet of `bytes` that is at the head of the queue from `start` on.
    #[inline]
    pub(crate) fn departure(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Unlimited => start,
            Self::Rate(rate) => start + rate.transmission_time(bytes),
            Self::Trace(cursor) => cursor.departure(start, bytes),
            Self::TokenBucket(bucket) => bucket.departure(start, bytes),
        }
    }

    /// The transmission time of `bytes`; the mean if it varies.
    pub(crate) fn typical_time(&self, bytes: u32) -> Duration {
        match self {
            Self::Unlimited => Duration::ZERO,
            Self::Rate(rate) => rate.transmission_time(bytes),
            Self::TokenBucket(bucket) => bucket.typical_time(bytes),
            Self::Trace(cursor) => {
                Duration::from_secs_f64(f64::from(bytes) * 8.0 / cursor.trace().mean_bits_per_second())
            }
        }
    }

    /// The departure time of a packet in transmission that would have needed `left` more with the transmitter `before`.
    /// Traces and token buckets have no constant rate, so when changing to or from one the whole packet of `bytes` is
    /// sent again.
    pub(crate) fn departure_of_rest(&mut self, before: &Self, left: Duration, now: Instant, bytes: u32) -> Instant {
        match (before, self) {
            (Self::Rate(old), Self::Rate(new)) => now + new.time_for_rest(left, old.rate),
            (_, new) => new.departure(now, bytes),
        }
    }
}

/// A constant rate with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantRate {
    rate: Rate,
    /// ⌊8·10⁹ · 2²⁰ / rate⌋: nanoseconds per byte in 2⁻²⁰ steps.
    nanos_per_byte: u64,
}

const FRACTION_BITS: u32 = 20;
const BITS_PER_BYTE_TIMES_NANOS: u64 = 8_000_000_000;

impl ConstantRate {
    /// `rate` must not be zero: take the link down instead.
    pub(crate) fn new(rate: Rate) -> Self {
        let bits = rate.bits_per_second();
        assert!(bits > 0, "the rate of a link is zero; take the link down instead");
        let scaled = u128::from(BITS_PER_BYTE_TIMES_NANOS) << FRACTION_BITS;
        Self { rate, nanos_per_byte: (scaled / u128::from(bits)) as u64 }
    }

    /// The exact [`Rate::transmission_time`] of `bytes` below 2¹⁸, without a division.
    #[inline]
    pub(crate) fn transmission_time(self, bytes: u32) -> Duration {
        debug_assert!(bytes < 1 << 18);
        let exact = u64::from(bytes) * BITS_PER_BYTE_TIMES_NANOS;
        // The reciprocal is too small by less than 2⁻²⁰ per byte, in total less than ¼ ns. The estimate is therefore
        // the quotient rounded down, or one less, and the quotient rounded up is at most two more.
        let mut nanos = ((u128::from(bytes) * u128::from(self.nanos_per_byte)) >> FRACTION_BITS) as u64;
        let rate = self.rate.bits_per_second();
        nanos += u64::from(nanos.wrapping_mul(rate) < exact);
        nanos += u64::from(nanos.wrapping_mul(rate) < exact);
        Duration::from_nanos(nanos)
    }

    /// The time for data that takes `left` at rate `old`, rounded up.
    fn time_for_rest(self, left: Duration, old: Rate) -> Duration {
        let product = u128::from(left.as_nanos()) * u128::from(old.bits_per_second());
        Duration::from_nanos(product.div_ceil(u128::from(self.rate.bits_per_second())) as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn transmission_times_are_exact(bits in 1u64..2_000_000_000_000, bytes in 0u32..1 << 18) {
            let rate = Rate::from_bits_per_second(bits);
            prop_assert_eq!(ConstantRate::new(rate).transmission_time(bytes), rate.transmission_time(bytes.into()));
        }

        #[test]
        fn transmission_times_are_exact_at_low_and_round_rates(
            bits in 1u64..100_000,
            exponent in 0u32..7,
            bytes in 0u32..2000,
        ) {
            let rate = Rate::from_bits_per_second(bits * 10u64.pow(exponent));
            prop_assert_eq!(ConstantRate::new(rate).transmission_time(bytes), rate.transmission_time(bytes.into()));
        }
    }

    #[test]
    fn the_rest_of_a_packet_takes_longer_at_a_lower_rate() {
        let slow = ConstantRate::new(Rate::from_mbit(3));
        let rest = slow.time_for_rest(Duration::from_nanos(100), Rate::from_mbit(10));
        assert_eq!(rest, Duration::from_nanos(334), "1000/3, rounded up");
    }
}
