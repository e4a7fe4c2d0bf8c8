//! Probabilities as exact thresholds on 32 random bits.

use core::fmt;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;

/// A probability in steps of 2⁻³², so that a draw is one integer comparison and the same on every machine.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Probability 0.
    pub const NEVER: Self = Self(0);
    /// Probability 1.
    pub const ALWAYS: Self = Self(1 << 32);

    /// The step nearest to `p`; `None` unless 0 ≤ `p` ≤ 1. A positive `p` never becomes zero.
    pub fn new(p: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        let steps = (p * (1u64 << 32) as f64).round() as u64;
        Some(Self(if p > 0.0 { steps.max(1) } else { 0 }))
    }

    /// The probability as a float, for reports.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / (1u64 << 32) as f64
    }

    /// Whether the event happens, given `draw`, uniform over all 32-bit numbers.
    #[inline]
    pub const fn hits(self, draw: u32) -> bool {
        (draw as u64) < self.0
    }

    /// Draws from `random`, unless the result is certain.
    #[inline]
    pub(crate) fn draw(self, random: &mut Pcg64Mcg) -> bool {
        self.0 != 0 && (self.0 == 1 << 32 || self.hits((random.next_u64() >> 32) as u32))
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_0_to_1_are_probabilities() {
        assert_eq!(Probability::new(-0.1), None);
        assert_eq!(Probability::new(1.1), None);
        assert_eq!(Probability::new(f64::NAN), None);
        assert_eq!(Probability::new(0.0), Some(Probability::NEVER));
        assert_eq!(Probability::new(1.0), Some(Probability::ALWAYS));
    }

    #[test]
    fn the_threshold_is_exact() {
        let half = Probability::new(0.5).unwrap();
        assert!(half.hits(0x7fff_ffff));
        assert!(!half.hits(0x8000_0000));
        assert!(Probability::ALWAYS.hits(u32::MAX));
        assert!(!Probability::NEVER.hits(0));
        assert!(Probability::new(1e-12).unwrap().hits(0), "a tiny probability does not become zero");
    }
}
