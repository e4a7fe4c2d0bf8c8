//! Probabilities as exact decimals, with fast random draws.

use core::fmt;

/// A probability from 0 to 1, exact to 10⁻¹² (ten decimals of a percent).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability {
    /// In units of 10⁻¹².
    trillionths: u64,
    /// The probability times 2⁶³, rounded to the nearest integer. It is compared with a random word shifted right by
    /// one.
    threshold: u64,
}

impl Probability {
    /// Never: 0 %.
    pub const NEVER: Self = Self::new(0);
    /// Always: 100 %.
    pub const ALWAYS: Self = Self::new(Self::ONE);

    const ONE: u64 = 1_000_000_000_000;

    /// `n` times 10⁻¹², or `None` above 1.
    pub const fn from_trillionths(n: u64) -> Option<Self> {
        if n <= Self::ONE { Some(Self::new(n)) } else { None }
    }

    /// The nearest one, or `None` unless `p` is from 0 to 1.
    pub fn nearest(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then(|| Self::new((p * Self::ONE as f64).round() as u64))
    }

    const fn new(trillionths: u64) -> Self {
        let scaled = (trillionths as u128) << 63;
        let threshold = (scaled + Self::ONE as u128 / 2) / Self::ONE as u128;
        Self { trillionths, threshold: threshold as u64 }
    }

    /// The probability in units of 10⁻¹².
    pub const fn as_trillionths(self) -> u64 {
        self.trillionths
    }
    /// The probability as a float from 0 to 1, for formulas and reports.
    pub fn as_f64(self) -> f64 {
        self.trillionths as f64 / Self::ONE as f64
    }
    /// Whether the event happens, given a uniformly random word. It costs one shift and one comparison, is exact for 0
    /// and 1, and otherwise has an error of at most 2⁻⁶³.
    pub const fn hits(self, random: u64) -> bool {
        random >> 1 < self.threshold
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes the exact percentage: `0.5 %`, `100 %`.
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PERCENT: u64 = Probability::ONE / 100;
        let (whole, fraction) = (self.trillionths / PERCENT, self.trillionths % PERCENT);
        if fraction == 0 {
            return write!(f, "{whole} %");
        }
        let decimals = format!("{fraction:010}");
        write!(f, "{whole}.{} %", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_0_never_hits_and_probability_1_always_does() {
        for random in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(!Probability::NEVER.hits(random));
            assert!(Probability::ALWAYS.hits(random));
        }
        assert_eq!(Probability::from_trillionths(1_000_000_000_001), None);
        assert_eq!(
            [0.1, -0.1, 1.1].map(Probability::nearest),
            [Probability::from_trillionths(100_000_000_000), None, None]
        );
        assert_eq!(Probability::nearest(f64::NAN), None);
    }

    #[test]
    fn a_quarter_of_all_words_hit_a_probability_of_one_quarter() {
        let quarter = Probability::from_trillionths(250_000_000_000).unwrap();
        assert!(quarter.hits((1 << 62) - 1));
        assert!(!quarter.hits(1 << 62));
    }

    #[test]
    fn display_is_an_exact_percentage() {
        let printed = [0, 5_000_000_000, 1, 1_000_000_000_000].map(|n| Probability::new(n).to_string());
        assert_eq!(printed, ["0 %", "0.5 %", "0.0000000001 %", "100 %"]);
    }
}
