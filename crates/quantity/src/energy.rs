//! Power and energy in whole units, so that sums do not depend on their order.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use crate::Duration;

/// A power in whole microwatts.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(u64);

/// What a bit costs, in whole picojoules. One nanojoule per bit is one milliwatt per Mbit/s.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnergyPerBit(u64);

/// An energy in whole femtojoules: a microwatt for a nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Energy(u128);

const FEMTOJOULES_PER_PICOJOULE: u128 = 1_000;

impl Power {
    /// No power.
    pub const ZERO: Self = Self(0);

    /// A power of `n` microwatts.
    pub const fn from_microwatts(n: u64) -> Self {
        Self(n)
    }
    /// Whole microwatts.
    pub const fn as_microwatts(self) -> u64 {
        self.0
    }
    /// The energy that it takes for `span`.
    pub const fn over(self, span: Duration) -> Energy {
        Energy(self.0 as u128 * span.as_nanos() as u128)
    }
}

impl EnergyPerBit {
    /// `n` picojoules for each bit.
    pub const fn from_picojoules(n: u64) -> Self {
        Self(n)
    }
    /// Whole picojoules.
    pub const fn as_picojoules(self) -> u64 {
        self.0
    }
    /// The energy for `bytes`.
    pub const fn of_bytes(self, bytes: u64) -> Energy {
        Energy(self.0 as u128 * FEMTOJOULES_PER_PICOJOULE * 8 * bytes as u128)
    }
}

impl Energy {
    /// No energy.
    pub const ZERO: Self = Self(0);

    /// Whole femtojoules.
    pub const fn as_femtojoules(self) -> u128 {
        self.0
    }
    /// Joules as a float, for reports.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e15
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Energy {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
/// What is left, at least zero.
impl Sub for Energy {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Debug for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes the power in the largest unit that keeps it exact: `1060 mW`, `2 W`.
impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n % 1_000_000 == 0 => write!(f, "{} W", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{} mW", n / 1_000),
            n => write!(f, "{n} uW"),
        }
    }
}

impl fmt::Debug for EnergyPerBit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes the cost in the larger unit that keeps it exact: `52 nJ/bit`, `51970 pJ/bit`.
impl fmt::Display for EnergyPerBit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n % 1_000 == 0 => write!(f, "{} nJ/bit", n / 1_000),
            n => write!(f, "{n} pJ/bit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watt_for_a_second_is_a_joule() {
        assert_eq!(Power::from_microwatts(1_000_000).over(Duration::from_secs(1)).as_joules(), 1.0);
    }

    #[test]
    fn a_nanojoule_per_bit_is_a_milliwatt_per_megabit_per_second() {
        let megabit_for_one_second = EnergyPerBit::from_picojoules(1_000).of_bytes(1_000_000 / 8);
        assert_eq!(megabit_for_one_second, Power::from_microwatts(1_000).over(Duration::from_secs(1)));
    }

    #[test]
    fn each_is_written_in_a_unit_that_keeps_it_exact() {
        let powers = [0, 1_288_040, 1_060_000, 3_000_000].map(|n| Power::from_microwatts(n).to_string());
        assert_eq!(powers, ["0 W", "1288040 uW", "1060 mW", "3 W"]);
        let costs = [51_970, 52_000].map(|n| EnergyPerBit::from_picojoules(n).to_string());
        assert_eq!(costs, ["51970 pJ/bit", "52 nJ/bit"]);
    }
}
