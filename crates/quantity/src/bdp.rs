//! Numbers of bandwidth-delay products.

use core::fmt;

use crate::{Duration, Rate};

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
