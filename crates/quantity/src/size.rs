//! Amounts of data: bytes, packets, and multiples of a bandwidth-delay product.

use core::fmt;

use crate::{Duration, Rate};

/// An amount of data in whole bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// `n` bytes.
    pub const fn from_bytes(n: u64) -> Self {
        Self(n)
    }
    /// Bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes the size in the largest unit that keeps it exact, a decimal unit if possible, else a binary one: `100 MB`,
/// `64 KiB`, `1448 bytes`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 8] = [
            (1_000_000_000_000, "TB"),
            (1_000_000_000, "GB"),
            (1_000_000, "MB"),
            (1_000, "kB"),
            (1 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        let exact = UNITS.iter().find(|(scale, _)| self.0 != 0 && self.0.is_multiple_of(*scale));
        match (exact, self.0) {
            (Some((scale, unit)), n) => write!(f, "{} {unit}", n / scale),
            (None, 1) => f.write_str("1 byte"),
            (None, n) => write!(f, "{n} bytes"),
        }
    }
}

/// A number of packets, such as a queue's limit.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u64);

impl Packets {
    /// `n` packets.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// The number.
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `100 packets`, `1 packet`.
impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packet{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// A multiple of a bandwidth-delay product, in millionths: the length of a queue in units of what is under way without
/// it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdp(u64);

impl Bdp {
    /// One bandwidth-delay product in millionths.
    const ONE: u64 = 1_000_000;

    /// `n` millionths of a bandwidth-delay product.
    pub const fn from_millionths(n: u64) -> Self {
        Self(n)
    }
    /// Millionths of a bandwidth-delay product.
    pub const fn as_millionths(self) -> u64 {
        self.0
    }
    /// The bytes of so many products of `rate` and `round_trip`, rounded down; at most `u64::MAX`.
    pub const fn bytes(self, rate: Rate, round_trip: Duration) -> u64 {
        let bytes = rate.bytes_in(round_trip) as u128 * self.0 as u128 / Self::ONE as u128;
        if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 }
    }
}

impl fmt::Debug for Bdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `1 bdp`, `0.5 bdp`.
impl fmt::Display for Bdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / Self::ONE, self.0 % Self::ONE);
        if fraction == 0 {
            return write!(f, "{whole} bdp");
        }
        let digits = format!("{fraction:06}");
        write!(f, "{whole}.{} bdp", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_uses_the_largest_exact_unit() {
        let printed = [0, 1, 1448, 65_536, 100_000_000, 1_500_000_000].map(|n| Size::from_bytes(n).to_string());
        assert_eq!(printed, ["0 bytes", "1 byte", "1448 bytes", "64 KiB", "100 MB", "1500 MB"]);
    }
}
