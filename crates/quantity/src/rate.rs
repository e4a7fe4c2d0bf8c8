//! Data rates in whole bits per second.

use core::fmt;

use crate::Duration;

/// A data rate in bits per second; never zero on a link that carries traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

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
    /// How long `bytes` bytes occupy a link of this rate, rounded up to a nanosecond; [`Duration::MAX`] at rate zero.
    pub const fn transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        Duration::from_nanos((bytes * 8 * 1_000_000_000).div_ceil(self.0))
    }
    /// Bytes that this rate carries in `span`, rounded down.
    pub const fn bytes_in(self, span: Duration) -> u64 {
        (self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000) as u64
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
    fn rate_times_time_gives_bytes() {
        assert_eq!(Rate::from_mbit(8).bytes_in(Duration::from_millis(10)), 10_000);
    }
}
