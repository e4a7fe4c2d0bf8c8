//! The notation of quantities: a number, an optional space, a unit.
//!
//! | type | units | example |
//! |---|---|---|
//! | [`Duration`] | `ns`, `us` or `µs`, `ms`, `s`, `min`, `h` | `"20 ms"` |
//! | [`Rate`] | `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s` and the same as `bps`, `kbps`, `Mbps`, `Gbps`; bytes: `B/s`, `kB/s`, `MB/s`, `GB/s` | `"50 Mbit/s"` |
//! | [`Size`] | `bytes` or `B`; decimal: `kB`, `MB`, `GB`, `TB`; binary: `KiB`, `MiB`, `GiB`, `TiB` | `"100 MB"` |
//! | [`Probability`] | `%` | `"0.5 %"` |
//! | [`Packets`] | `packets` | `"100 packets"` |
//! | [`Bdp`] | `bdp` | `"1 bdp"` |
//! | [`Ratio`] | none: a decimal, or two whole numbers | `"1.2"`, `"1/4"` |
//!
//! Prefixes are powers of 1000, with an `i` of 1024. `Mbps` means megabits and `MB/s` megabytes per second, so
//! 8 Mbit/s, 8 Mbps and 1 MB/s are the same rate. Units are case-sensitive: `m` is not `M`, `b` is not `B`.
//!
//! Numbers are decimal and unsigned: digits, optionally a point and more digits (at most 20 significant ones). They are
//! not converted to floating point: `"0.1 ms"` is 100 000 ns, and a value that is not a whole number of nanoseconds
//! (bits per second, bytes, 10⁻¹² of a probability, packets, 10⁻⁶ bdp) is an error and never rounded. Each type parses what it
//! writes.
//!
//! Parse with [`str::parse`]. The error is a [`NotationError`], to be printed after `file:line:`.
//!
//! ```
//! use subflow_quantity::{Duration, Rate};
//! assert_eq!("1.5 ms".parse(), Ok(Duration::from_micros(1500)));
//! assert_eq!("50 Mbit/s".parse(), Ok(Rate::from_mbit(50)));
//! assert_eq!(
//!     "20".parse::<Duration>().unwrap_err().to_string(),
//!     "\"20\" has no unit: a duration is written in ns, us, ms, s, min or h, for example \"20 ms\""
//! );
//! ```

mod decimal;
mod error;
mod pattern;
#[cfg(test)]
mod tests;

use core::str::FromStr;

pub use error::NotationError;
pub use pattern::Pattern;

use crate::{Bdp, Duration, EnergyPerBit, Packets, Power, Probability, Rate, Ratio, Size};

/// The notation of one kind of quantity.
struct Kind {
    /// Its name with article, for messages.
    name: &'static str,
    /// The spellings of each unit and its value in the finest unit. Messages use the first spelling.
    units: &'static [(&'static [&'static str], u64)],
    /// An example for messages.
    example: &'static str,
    /// The unit of which every value is a whole number.
    finest: &'static str,
    /// The largest value, in the finest unit and as text for messages.
    largest: (u64, &'static str),
}

const DURATION: Kind = Kind {
    name: "a duration",
    units: &[
        (&["ns"], 1),
        // The micro sign and the Greek letter look the same.
        (&["us", "\u{b5}s", "\u{3bc}s"], 1_000),
        (&["ms"], 1_000_000),
        (&["s"], 1_000_000_000),
        (&["min"], 60_000_000_000),
        (&["h"], 3_600_000_000_000),
    ],
    example: "20 ms",
    finest: "nanoseconds",
    largest: (u64::MAX, "18446744073 s"),
};

const RATE: Kind = Kind {
    name: "a rate",
    units: &[
        (&["bit/s", "bps"], 1),
        (&["kbit/s", "kbps"], 1_000),
        (&["Mbit/s", "Mbps"], 1_000_000),
        (&["Gbit/s", "Gbps"], 1_000_000_000),
        (&["B/s"], 8),
        (&["kB/s"], 8_000),
        (&["MB/s"], 8_000_000),
        (&["GB/s"], 8_000_000_000),
    ],
    example: "50 Mbit/s",
    finest: "bits per second",
    largest: (u64::MAX, "18446744073 Gbit/s"),
};

const SIZE: Kind = Kind {
    name: "a size",
    units: &[
        (&["bytes", "byte", "B"], 1),
        (&["kB"], 1_000),
        (&["MB"], 1_000_000),
        (&["GB"], 1_000_000_000),
        (&["TB"], 1_000_000_000_000),
        (&["KiB"], 1 << 10),
        (&["MiB"], 1 << 20),
        (&["GiB"], 1 << 30),
        (&["TiB"], 1 << 40),
    ],
    example: "100 MB",
    finest: "bytes",
    largest: (u64::MAX, "18446744 TB"),
};

const PROBABILITY: Kind = Kind {
    name: "a probability",
    units: &[(&["%"], 10_000_000_000)],
    example: "0.5 %",
    finest: "ten-billionths of a percent",
    largest: (1_000_000_000_000, "100 %"),
};

const PACKETS: Kind = Kind {
    name: "a number of packets",
    units: &[(&["packets", "packet"], 1)],
    example: "100 packets",
    finest: "packets",
    largest: (u64::MAX, "18446744073709551615 packets"),
};

const BDP: Kind = Kind {
    name: "a number of bandwidth-delay products",
    units: &[(&["bdp"], 1_000_000)],
    example: "1 bdp",
    finest: "millionths",
    largest: (u64::MAX, "18446744073709 bdp"),
};

const POWER: Kind = Kind {
    name: "a power",
    units: &[(&["uW", "\u{b5}W", "\u{3bc}W"], 1), (&["mW"], 1_000), (&["W"], 1_000_000)],
    example: "250 mW",
    finest: "microwatts",
    largest: (u64::MAX, "18446744073709 W"),
};

const ENERGY_PER_BIT: Kind = Kind {
    name: "an energy per bit",
    // A milliwatt per Mbit/s is how publications write it.
    units: &[(&["pJ/bit"], 1), (&["nJ/bit", "mW/Mbps"], 1_000), (&["uJ/bit"], 1_000_000)],
    example: "50 nJ/bit",
    finest: "picojoules per bit",
    largest: (u64::MAX, "18446744073709 uJ/bit"),
};

impl FromStr for Duration {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        DURATION.parse(text).map(Self::from_nanos)
    }
}

impl FromStr for Rate {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        RATE.parse(text).map(Self::from_bits_per_second)
    }
}

impl FromStr for Size {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        SIZE.parse(text).map(Self::from_bytes)
    }
}

impl FromStr for Probability {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        let trillionths = PROBABILITY.parse(text)?;
        Ok(Self::from_trillionths(trillionths).expect("the kind's largest value is 1"))
    }
}

impl FromStr for Packets {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        PACKETS.parse(text).map(Self::new)
    }
}

impl FromStr for Bdp {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        BDP.parse(text).map(Self::from_millionths)
    }
}

impl FromStr for Power {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        POWER.parse(text).map(Self::from_microwatts)
    }
}

impl FromStr for EnergyPerBit {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        ENERGY_PER_BIT.parse(text).map(Self::from_picojoules)
    }
}

impl FromStr for Ratio {
    type Err = NotationError;
    fn from_str(text: &str) -> Result<Self, NotationError> {
        const KIND: &str = "a ratio";
        let trimmed = text.trim();
        if let Some(positive) = trimmed.strip_prefix(['-', '\u{2212}'])
            && positive.split('/').all(|part| decimal::is_number(part.trim()))
        {
            return Err(NotationError::Negative { text: text.into(), kind: KIND });
        }
        let not_a_number = || NotationError::NotANumber { text: text.into(), kind: KIND, example: "1/4" };
        let too_large = || NotationError::OutOfRange { text: text.into(), kind: KIND, largest: "1000000 over 1000000" };
        let too_fine = || NotationError::TooFine { text: text.into(), kind: KIND, finest: "millionths" };
        let (numerator, denominator) = match trimmed.split_once('/') {
            Some((numerator, denominator)) => {
                let whole = |part: &str| match decimal::is_number(part.trim()) && !part.contains('.') {
                    true => decimal::scaled(part.trim(), 1).map_err(|_| too_large()),
                    false => Err(not_a_number()),
                };
                (whole(numerator)?, whole(denominator)?)
            }
            None if decimal::is_number(trimmed) => match decimal::scaled(trimmed, Self::LARGEST.into()) {
                Ok(millionths) => reduce(millionths, Self::LARGEST.into()),
                Err(decimal::Inexact::TooFine) => return Err(too_fine()),
                Err(decimal::Inexact::TooLarge) => return Err(too_large()),
            },
            None => return Err(not_a_number()),
        };
        if denominator == 0 {
            return Err(not_a_number());
        }
        match (u32::try_from(numerator), u32::try_from(denominator)) {
            (Ok(numerator), Ok(denominator)) => Self::new(numerator, denominator).ok_or_else(too_large),
            _ => Err(too_large()),
        }
    }
}

/// Removes the common factors of ten from a fraction.
fn reduce(mut numerator: u64, mut denominator: u64) -> (u64, u64) {
    while numerator.is_multiple_of(10) && denominator.is_multiple_of(10) {
        (numerator, denominator) = (numerator / 10, denominator / 10);
    }
    (numerator, denominator)
}

impl Kind {
    /// The value of `text` in the finest unit.
    fn parse(&self, text: &str) -> Result<u64, NotationError> {
        let (number, unit) = split(text);
        if let Some(positive) = number.strip_prefix(['-', '\u{2212}'])
            && decimal::is_number(positive)
        {
            return Err(NotationError::Negative { text: text.into(), kind: self.name });
        }
        if !decimal::is_number(number) {
            return Err(NotationError::NotANumber { text: text.into(), kind: self.name, example: self.example });
        }
        if unit.is_empty() {
            let (kind, units, example) = (self.name, self.unit_list(), self.example);
            return Err(NotationError::MissingUnit { text: text.into(), kind, units, example });
        }
        let Some((_, scale)) = self.units.iter().find(|(spellings, _)| spellings.contains(&unit)) else {
            let (kind, units, meant) = (self.name, self.unit_list(), self.similar_unit(unit));
            return Err(NotationError::UnknownUnit { unit: unit.into(), kind, units, meant });
        };
        match decimal::scaled(number, *scale) {
            Ok(value) if value <= self.largest.0 => Ok(value),
            Ok(_) | Err(decimal::Inexact::TooLarge) => {
                Err(NotationError::OutOfRange { text: text.into(), kind: self.name, largest: self.largest.1 })
            }
            Err(decimal::Inexact::TooFine) => {
                Err(NotationError::TooFine { text: text.into(), kind: self.name, finest: self.finest })
            }
        }
    }

    /// "ns, us, ms, s, min or h".
    fn unit_list(&self) -> String {
        let names: Vec<_> = self.units.iter().map(|(spellings, _)| spellings[0]).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }

    /// The unit that differs from `unit` only in case, but not in b and B: only the author knows whether bits or bytes
    /// are meant.
    fn similar_unit(&self, unit: &str) -> Option<&'static str> {
        let fold = |unit: &str| unit.replace('b', "\u{0}").to_lowercase();
        self.units.iter().flat_map(|(spellings, _)| *spellings).copied().find(|known| fold(known) == fold(unit))
    }
}

/// Splits a quantity where its unit begins: at the first space, letter or percent sign.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let unit = text.find(|c: char| c.is_whitespace() || c.is_alphabetic() || c == '%').unwrap_or(text.len());
    (&text[..unit], text[unit..].trim_start())
}
