//! Swept quantities as numbers, for tables: each kind of quantity in one unit, however the scenario writes it.

use std::collections::BTreeMap;

use serde_json::Value;
use subflow_quantity::{Bdp, Duration, Packets, Probability, Rate, Size};

/// A kind of quantity, and the unit that tables have its numbers in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A rate, in Mbit/s.
    Rate,
    /// A duration, in ms.
    Duration,
    /// A size, in bytes.
    Size,
    /// A probability, in percent.
    Probability,
    /// A number of packets.
    Packets,
    /// A number of bandwidth-delay products.
    Bdp,
}

impl Measure {
    /// All of them, in the order of their columns.
    pub const ALL: [Self; 6] = [Self::Rate, Self::Duration, Self::Size, Self::Probability, Self::Packets, Self::Bdp];

    /// What the name of a column in this unit ends with, after an underscore.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Rate => "mbps",
            Self::Duration => "ms",
            Self::Size => "bytes",
            Self::Probability => "percent",
            Self::Packets => "packets",
            Self::Bdp => "bdp",
        }
    }

    /// The unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rate => "Mbit/s",
            Self::Duration => "ms",
            Self::Size => "bytes",
            Self::Probability => "%",
            Self::Packets => "packets",
            Self::Bdp => "bdp",
        }
    }

    /// The number of a quantity of this kind in its unit; `None` if `text` is no such quantity.
    fn number(self, text: &str) -> Option<f64> {
        Some(match self {
            Self::Rate => text.parse::<Rate>().ok()?.as_mbit(),
            Self::Duration => text.parse::<Duration>().ok()?.as_nanos() as f64 / 1e6,
            Self::Size => text.parse::<Size>().ok()?.as_bytes() as f64,
            Self::Probability => text.parse::<Probability>().ok()?.as_trillionths() as f64 / 1e10,
            Self::Packets => text.parse::<Packets>().ok()?.count() as f64,
            Self::Bdp => text.parse::<Bdp>().ok()?.as_millionths() as f64 / 1e6,
        })
    }
}

/// The values of one swept path as numbers: for each kind of quantity among them, the number of each value, which is
/// `None` for a value of another kind and for other values, such as names. Among probabilities, `"none"` is 0 %.
pub fn measures(values: &[Option<&Value>]) -> Vec<(Measure, Vec<Option<f64>>)> {
    // Tables have a value in many rows: each is read once.
    let mut known: BTreeMap<&str, [Option<f64>; Measure::ALL.len()]> = BTreeMap::new();
    let texts: Vec<Option<&str>> = values.iter().map(|value| value.and_then(Value::as_str)).collect();
    for text in texts.iter().flatten() {
        known.entry(text).or_insert_with(|| Measure::ALL.map(|measure| measure.number(text)));
    }
    let is_there = |index: usize| known.values().any(|numbers| numbers[index].is_some());
    let there: Vec<usize> = (0..Measure::ALL.len()).filter(|index| is_there(*index)).collect();
    if let Some(none) = known.get_mut("none") {
        none[Measure::Probability as usize] = Some(0.0);
    }
    let of = |index: usize| texts.iter().map(|text| known[(*text)?][index]).collect();
    there.into_iter().map(|index| (Measure::ALL[index], of(index))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(values: &Value) -> Vec<(&'static str, Vec<Option<f64>>)> {
        let values: Vec<Option<&Value>> = values.as_array().expect("a list").iter().map(Some).collect();
        measures(&values).into_iter().map(|(measure, numbers)| (measure.suffix(), numbers)).collect()
    }

    #[test]
    fn each_kind_of_quantity_has_one_unit() {
        for (values, suffix, expected) in [
            (json!(["500 kbit/s", "20 Mbit/s", "1 MB/s"]), "mbps", [0.5, 20.0, 8.0]),
            (json!(["500 us", "0.01 s", "2 min"]), "ms", [0.5, 10.0, 120_000.0]),
            (json!(["1 byte", "1.5 kB", "1 KiB"]), "bytes", [1.0, 1500.0, 1024.0]),
            (json!(["none", "0.1 %", "10 %"]), "percent", [0.0, 0.1, 10.0]),
            (json!(["1 packet", "10 packets", "100 packets"]), "packets", [1.0, 10.0, 100.0]),
            (json!(["0.5 bdp", "1 bdp", "2 bdp"]), "bdp", [0.5, 1.0, 2.0]),
        ] {
            assert_eq!(of(&values), [(suffix, expected.map(Some).to_vec())], "{values}");
        }
    }

    #[test]
    fn names_numbers_and_tables_are_no_quantities() {
        assert_eq!(of(&json!(["lia", "cubic"])), []);
        assert_eq!(of(&json!(["none", "red"])), [], "a queue's name");
        assert_eq!(of(&json!([1, 2.5, true, { "up": "1 Mbit/s" }, ["1 s"]])), []);
        assert_eq!(measures(&[]), []);
    }

    #[test]
    fn quantities_of_several_kinds_have_a_column_each() {
        let expected = [("ms", vec![Some(50.0), None, None]), ("packets", vec![None, Some(100.0), None])];
        assert_eq!(of(&json!(["50 ms", "100 packets", "none"])), expected);
    }
}
