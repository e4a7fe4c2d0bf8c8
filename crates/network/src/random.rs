//! Random numbers: one stream per component, all from one seed, and draws with a given probability.
//!
//! A component's stream depends only on the seed and on the component's name, so adding or removing another component
//! does not change its random numbers.

use core::fmt;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Probability as ExactProbability;

/// The random stream of the component named `name` in the run with `seed`.
///
/// Names are hashed with 64-bit FNV-1a and mixed with the seed by SplitMix64. Neither must change, because results
/// depend on them.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut state = seed ^ splitmix64(fnv1a(name.as_bytes()));
    let mut bytes = [0; 16];
    for half in bytes.chunks_exact_mut(8) {
        state = state.wrapping_add(GOLDEN_GAMMA);
        half.copy_from_slice(&splitmix64(state).to_le_bytes());
    }
    Pcg64Mcg::from_seed(bytes)
}

/// SplitMix64's increment (Steele, Lea, Flood 2014).
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64.
const fn splitmix64(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a with the 64-bit offset basis and prime.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

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

/// The step nearest to it. One above zero never becomes zero.
impl From<ExactProbability> for Probability {
    fn from(probability: ExactProbability) -> Self {
        Self::new(probability.as_f64()).unwrap_or(Self::ALWAYS)
    }
}

/// The decimal nearest to it.
impl From<Probability> for ExactProbability {
    fn from(probability: Probability) -> Self {
        Self::nearest(probability.as_f64()).unwrap_or(Self::ALWAYS)
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use rand_core::RngCore;

    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_stream_depends_on_seed_and_name() {
        let first = |seed, name| stream(seed, name).next_u64();
        assert_eq!(first(1, "link/wifi/loss"), first(1, "link/wifi/loss"));
        assert_ne!(first(1, "link/wifi/loss"), first(2, "link/wifi/loss"));
        assert_ne!(first(1, "link/wifi/loss"), first(1, "link/lte/loss"));
    }

    #[test]
    fn consecutive_seeds_give_independent_streams() {
        let mean = (0..1000).map(|seed| (stream(seed, "x").next_u64() >> 32) as f64).sum::<f64>() / 1000.0;
        assert!((mean / 2f64.powi(32) - 0.5).abs() < 0.03, "{mean}");
    }

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
