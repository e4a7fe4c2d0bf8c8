//! Random draws that are the same on every machine.

use rand_core::RngCore;
use subflow_quantity::Duration;

/// A random number above 0, at most 1, with 53 random bits.
pub(crate) fn uniform(rng: &mut impl RngCore) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A random whole number below `of`, which is above 0: the high half of the product with 64 random bits.
pub(crate) fn below(of: u64, rng: &mut impl RngCore) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(of)) >> 64) as u64
}

/// A whole number below `count` for each of `parts` equal parts, at the same random place in all of them: all numbers
/// are equally probable, and different if there are at least as many as parts.
pub(crate) fn one_in_each(parts: u64, count: u64, rng: &mut impl RngCore) -> Vec<u64> {
    let place = u128::from(below(count, rng));
    (0..parts).map(|part| ((u128::from(part) * u128::from(count) + place) / u128::from(parts)) as u64).collect()
}

/// Fisher and Yates.
pub(crate) fn shuffle(places: &mut [u64], rng: &mut impl RngCore) {
    for last in (1..places.len()).rev() {
        places.swap(last, below(last as u64 + 1, rng) as usize);
    }
}

/// A draw of the standard normal distribution (Box and Muller 1958).
pub(crate) fn standard_normal(rng: &mut impl RngCore) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(rng)));
    radius * libm::cos(core::f64::consts::TAU * uniform(rng))
}

/// A length of time that is always the same, or drawn anew each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Always this long.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

impl Period {
    /// A length of time by the distribution.
    pub fn draw(self, rng: &mut impl RngCore) -> Duration {
        match self {
            Self::Constant(span) => span,
            Self::Exponential(mean) => {
                // Inverse transform; libm's logarithm is the same on every machine.
                Duration::from_secs_f64(-libm::log(uniform(rng)) * mean.as_secs_f64())
            }
        }
    }

    /// Its mean.
    pub fn mean(self) -> Duration {
        match self {
            Self::Constant(duration) | Self::Exponential(duration) => duration,
        }
    }
}
