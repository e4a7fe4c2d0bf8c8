//! Data rates in whole bits per second.

use core::fmt;

use crate::Duration;

/// A data rate in bits per second; never zero on a link that carries traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// Eight bits per byte times 10⁹ nanoseconds per second: bytes times this, divided by bits per second, are nanoseconds.
const BIT_NANOS_PER_BYTE: u64 = 8_000_000_000;

const fn saturate(n: u128) -> u64 {
    if n > u64::MAX as u128 { u64::MAX } else { n as u64 }
}

impl Rate {
    /// A rate of `n` bits per second.
    pub const fn from_bits_per_second(n: u64) -> Self {
        Self(n)
    }
    /// A rate of `n` megabits (10⁶ bits) per second.
    pub const fn from_mbit(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
    /// Megabits per second, for reports.
    pub fn as_mbit(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// The transmission time of `bytes` bytes at this rate, rounded up to a nanosecond; at most [`Duration::MAX`],
    /// which is also the result for rate zero.
    pub const fn transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Every packet and most files use the branch without 128-bit division, which is several times faster.
        if bytes <= u64::MAX / BIT_NANOS_PER_BYTE {
            return Duration::from_nanos((bytes * BIT_NANOS_PER_BYTE).div_ceil(self.0));
        }
        let nanos = (bytes as u128 * BIT_NANOS_PER_BYTE as u128).div_ceil(self.0 as u128);
        Duration::from_nanos(saturate(nanos))
    }
    /// The number of bytes transmitted at this rate in `span`, rounded down; at most `u64::MAX`.
    pub const fn bytes_in(self, span: Duration) -> u64 {
        saturate(self.0 as u128 * span.as_nanos() as u128 / BIT_NANOS_PER_BYTE as u128)
    }
}

/// The times at which packets follow each other at a rate without a pause. Each is rounded up to a nanosecond, and what
/// that is too long by is subtracted from the next: in the long run the rate is exact.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    rate: Rate,
    /// The excess of the times so far, in nanoseconds times bits per second; less than the rate.
    ahead: u128,
}

impl Pacing {
    /// From the first packet on. The rate must not be zero.
    pub const fn new(rate: Rate) -> Self {
        Self { rate, ahead: 0 }
    }

    /// The time from a packet of `bytes` to the next one.
    pub fn time_of(&mut self, bytes: u64) -> Duration {
        let (exact, rate) = (u128::from(bytes) * u128::from(BIT_NANOS_PER_BYTE), u128::from(self.rate.0));
        let nanos = exact.saturating_sub(self.ahead).div_ceil(rate);
        self.ahead = nanos * rate + self.ahead - exact;
        Duration::from_nanos(saturate(nanos))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes the rate in the largest unit that keeps it exact: `50 Mbit/s`, `1500 kbit/s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0 => (0, "bit/s"),
            n if n % 1_000_000_000 == 0 => (n / 1_000_000_000, "Gbit/s"),
            n if n % 1_000_000 == 0 => (n / 1_000_000, "Mbit/s"),
            n if n % 1_000 == 0 => (n / 1_000, "kbit/s"),
            n => (n, "bit/s"),
        };
        write!(f, "{value} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_120_us_at_100_mbit() {
        assert_eq!(Rate::from_mbit(100).transmission_time(1500), Duration::from_micros(120));
    }

    #[test]
    fn sizes_beyond_64_bits_of_bit_nanoseconds_are_exact_too() {
        let edge = u64::MAX / BIT_NANOS_PER_BYTE;
        for bytes in [edge, edge + 1, 3 * edge] {
            assert_eq!(Rate::from_mbit(8).transmission_time(bytes), Duration::from_micros(bytes));
        }
        assert_eq!(Rate::from_bits_per_second(1).transmission_time(u64::MAX), Duration::MAX);
        assert_eq!(Rate::from_bits_per_second(u64::MAX).bytes_in(Duration::MAX), u64::MAX);
    }

    #[test]
    fn times_are_rounded_up() {
        assert_eq!(Rate::from_bits_per_second(3).transmission_time(1), Duration::from_nanos(2_666_666_667));
    }

    #[test]
    fn packets_without_a_pause_take_their_rate_exactly() {
        for rate in [Rate::from_mbit(100_000), Rate::from_mbit(7), Rate::from_bits_per_second(3_000_000_000_001)] {
            let mut pacing = Pacing::new(rate);
            let times = (0..1000).map(|_| pacing.time_of(128).as_nanos());
            assert_eq!(times.sum::<u64>(), rate.transmission_time(128_000).as_nanos(), "{rate}");
        }
    }

    #[test]
    fn rate_times_time_gives_bytes() {
        assert_eq!(Rate::from_mbit(8).bytes_in(Duration::from_millis(10)), 10_000);
    }
}
