//! Ratios, used as parameters of formulas.

use core::fmt;

/// A ratio of two integers such as 1/4, in lowest terms, so that formulas with it are exact.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };
    /// The largest numerator and denominator.
    pub const LARGEST: u32 = 1_000_000;

    /// `numerator / denominator` in lowest terms; `None` for a denominator of zero or numbers above [`Self::LARGEST`].
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if denominator == 0 || numerator > Self::LARGEST || denominator > Self::LARGEST {
            return None;
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The numerator.
    pub const fn numerator(self) -> u32 {
        self.numerator
    }
    /// The denominator; never zero.
    pub const fn denominator(self) -> u32 {
        self.denominator
    }
    /// The ratio as a float, for reports.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

const fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let cross = |a: Self, b: Self| u64::from(a.numerator) * u64::from(b.denominator);
        cross(*self, *other).cmp(&cross(*other, *self))
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `1/4`, and `2` for 2/1.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_in_lowest_terms_and_in_order() {
        let ratio = |a, b| Ratio::new(a, b).unwrap();
        assert_eq!(ratio(2, 8), ratio(1, 4));
        assert_eq!([ratio(2, 8), ratio(4, 2), Ratio::ZERO].map(|r| r.to_string()), ["1/4", "2", "0"]);
        assert!(ratio(1, 3) < ratio(1, 2) && ratio(5, 4) > Ratio::ONE);
        assert_eq!((Ratio::new(1, 0), Ratio::new(Ratio::LARGEST + 1, 1)), (None, None));
    }
}
