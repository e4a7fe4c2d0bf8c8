//! Amounts of data in whole bytes.

use core::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_uses_the_largest_exact_unit() {
        let printed = [0, 1, 1448, 65_536, 100_000_000, 1_500_000_000].map(|n| Size::from_bytes(n).to_string());
        assert_eq!(printed, ["0 bytes", "1 byte", "1448 bytes", "64 KiB", "100 MB", "1500 MB"]);
    }
}
