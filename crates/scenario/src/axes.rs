//! `[axes]`: the titles and units that the axes of the report's figures have.

use subflow_policy::catalogue::Choice;

/// What an axis is called, and the unit of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisWords {
    /// The axis: what the report calls it, or a swept path.
    pub of: String,
    /// Its title without the unit, if it has another one.
    pub title: Option<String>,
    /// Its unit, if it has another one.
    pub unit: Option<AxisUnit>,
}

/// A unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisUnit {
    /// Its name.
    pub name: &'static str,
    magnitude: Magnitude,
}

/// A unit as a multiple of the smallest one of its quantity, so that factors between units are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Magnitude {
    quantity: Quantity,
    multiple: u64,
}

/// What units measure. Values of one quantity can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// In nanoseconds.
    Time,
    /// In bits per second.
    Rate,
    /// In bytes.
    Data,
    /// In per cent.
    Share,
    /// In milliwatts.
    Power,
    /// In millijoules.
    Energy,
}

const fn time(nanoseconds: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Time, multiple: nanoseconds }
}

const fn rate(bits_per_second: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Rate, multiple: bits_per_second }
}

const fn data(bytes: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Data, multiple: bytes }
}

const fn share(per_cent: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Share, multiple: per_cent }
}

const fn power(milliwatts: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Power, multiple: milliwatts }
}

const fn energy(millijoules: u64) -> Magnitude {
    Magnitude { quantity: Quantity::Energy, multiple: millijoules }
}

/// The units of axes.
pub(crate) const AXIS_UNITS: [Choice<Magnitude>; 26] = [
    Choice::new("ns", time(1), "nanoseconds"),
    Choice::new("us", time(1_000), "microseconds"),
    Choice::new("ms", time(1_000_000), "milliseconds"),
    Choice::new("s", time(1_000_000_000), "seconds"),
    Choice::new("min", time(60_000_000_000), "minutes"),
    Choice::new("bit/s", rate(1), "bits per second"),
    Choice::new("kbit/s", rate(1_000), "kilobits per second"),
    Choice::new("Mbit/s", rate(1_000_000), "megabits per second"),
    Choice::new("Gbit/s", rate(1_000_000_000), "gigabits per second"),
    Choice::new("B/s", rate(8), "bytes per second"),
    Choice::new("kB/s", rate(8_000), "kilobytes per second"),
    Choice::new("MB/s", rate(8_000_000), "megabytes per second"),
    Choice::new("bytes", data(1), "bytes"),
    Choice::new("B", data(1), "bytes"),
    Choice::new("kB", data(1_000), "kilobytes"),
    Choice::new("MB", data(1_000_000), "megabytes"),
    Choice::new("GB", data(1_000_000_000), "gigabytes"),
    Choice::new("KiB", data(1 << 10), "1024 bytes"),
    Choice::new("MiB", data(1 << 20), "1024 KiB"),
    Choice::new("GiB", data(1 << 30), "1024 MiB"),
    Choice::new("%", share(1), "per cent"),
    Choice::new("1", share(100), "fractions of 1"),
    Choice::new("mW", power(1), "milliwatts"),
    Choice::new("W", power(1_000), "watts"),
    Choice::new("mJ", energy(1), "millijoules"),
    Choice::new("J", energy(1_000), "joules"),
];

/// The axes of the report's figures, with the units that they have where the scenario gives none. A test of the report
/// compares them with its figures.
pub const AXES: [(&str, &[&str]); 36] = [
    ("time", &["s"]),
    ("goodput", &["Mbit/s"]),
    ("time to completion", &["s"]),
    ("retransmissions", &[""]),
    ("timeouts", &[""]),
    ("reinjected data", &["bytes"]),
    ("mean time", &["ms"]),
    ("median time", &["ms"]),
    ("95th percentile", &["ms"]),
    ("99th percentile", &["ms"]),
    ("startup", &["s"]),
    ("time of stalls", &["s"]),
    ("mean bit rate", &["Mbit/s"]),
    ("changes of quality", &[""]),
    ("Jain's index", &[""]),
    ("energy", &["J"]),
    ("energy per MB", &["J/MB"]),
    ("utilisation", &["%"]),
    ("share of samples", &[""]),
    ("delay", &["ms"]),
    ("delay after arrival", &["ms"]),
    ("share of the time", &["%"]),
    ("sent up to", &["MB"]),
    ("position in the stream", &["MB"]),
    ("waiting data", &["kB"]),
    ("window", &["kB"]),
    ("in use", &["kB"]),
    ("copies", &["Mbit/s"]),
    ("congestion window", &["packets"]),
    ("threshold", &["packets"]),
    ("pacing rate", &["Mbit/s"]),
    ("estimate", &["Mbit/s", "ms"]),
    ("smoothed RTT", &["ms"]),
    ("in flight", &["kB"]),
    ("queue length", &["packets"]),
    ("power", &["mW"]),
];

impl AxisUnit {
    /// The unit with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let choice = AXIS_UNITS.iter().find(|choice| choice.description.name == name)?;
        Some(Self { name: choice.description.name, magnitude: choice.value })
    }

    /// What values in `unit` are multiplied by to be in this one; `None` if `unit` is of another quantity.
    pub fn factor_from(&self, unit: &str) -> Option<f64> {
        let from = Self::of(unit)?.magnitude;
        (from.quantity == self.magnitude.quantity).then(|| from.multiple as f64 / self.magnitude.multiple as f64)
    }
}

/// The units that an axis with this name has where the scenario gives none; `None` for a swept path.
pub(crate) fn own_units(name: &str) -> Option<&'static [&'static str]> {
    AXES.iter().find(|(known, _)| *known == name).map(|(_, units)| *units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_within_a_quantity_only() {
        let factor = |to: &str, from: &str| AxisUnit::of(to).expect("a unit").factor_from(from);
        assert_eq!(factor("kbit/s", "Mbit/s"), Some(1000.0));
        assert_eq!(factor("MB/s", "Mbit/s"), Some(0.125));
        assert_eq!((factor("min", "s"), factor("us", "ms")), (Some(1.0 / 60.0), Some(1000.0)));
        assert_eq!(factor("1", "%"), Some(0.01));
        assert_eq!((factor("ms", "Mbit/s"), factor("%", ""), AxisUnit::of("furlongs")), (None, None, None));
    }
}
