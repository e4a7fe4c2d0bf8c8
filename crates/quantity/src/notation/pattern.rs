//! The notation as regular expressions, for schemas and editors.

use super::{BDP, DURATION, ENERGY_PER_BIT, Kind, PACKETS, POWER, PROBABILITY, RATE, SIZE};
use crate::{Bdp, Duration, EnergyPerBit, Packets, Power, Probability, Rate, Ratio, Size};

/// A type whose notation is a regular language.
pub trait Pattern {
    /// A regular expression of ECMA 262 that matches each text that the type parses. It also matches values that are
    /// too large or too fine, which only the parser finds.
    fn pattern() -> String;
}

impl Kind {
    fn pattern(&self) -> String {
        let spellings: Vec<&str> = self.units.iter().flat_map(|(spellings, _)| spellings.iter().copied()).collect();
        format!(r"^\s*{NUMBER}\s*({})\s*$", spellings.join("|"))
    }
}

/// Digits with at most one decimal point between them.
const NUMBER: &str = r"[0-9]+(\.[0-9]+)?";

impl Pattern for Duration {
    fn pattern() -> String {
        DURATION.pattern()
    }
}

impl Pattern for Rate {
    fn pattern() -> String {
        RATE.pattern()
    }
}

impl Pattern for Size {
    fn pattern() -> String {
        SIZE.pattern()
    }
}

impl Pattern for Probability {
    fn pattern() -> String {
        PROBABILITY.pattern()
    }
}

impl Pattern for Packets {
    fn pattern() -> String {
        PACKETS.pattern()
    }
}

impl Pattern for Bdp {
    fn pattern() -> String {
        BDP.pattern()
    }
}

impl Pattern for Power {
    fn pattern() -> String {
        POWER.pattern()
    }
}

impl Pattern for EnergyPerBit {
    fn pattern() -> String {
        ENERGY_PER_BIT.pattern()
    }
}

impl Pattern for Ratio {
    fn pattern() -> String {
        format!(r"^\s*({NUMBER}|[0-9]+\s*/\s*[0-9]+)\s*$")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_every_spelling_of_every_unit() {
        assert_eq!(Probability::pattern(), r"^\s*[0-9]+(\.[0-9]+)?\s*(%)\s*$");
        let duration = Duration::pattern();
        for unit in ["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "min", "h"] {
            assert!(duration.contains(&format!("|{unit}")) || duration.contains(&format!("({unit}")), "{unit}");
        }
    }
}
