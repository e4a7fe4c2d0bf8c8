//! When two swept values are the same, however they are written.

use std::fmt::Display;

use serde_json::Value;
use subflow_quantity::{Bdp, Duration, Packets, Probability, Rate, Size};

/// Text that is the same for equal values: `1.0 %` is `1 %`, `1000 ms` is `1 s`, and `1.0` is `1`. Other text, such as
/// a name, equals itself only.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::String(text) => quantity(text).unwrap_or_else(|| value.to_string()),
        Value::Number(number) => match number.as_f64() {
            // A whole number below 2^53 is exact in both notations.
            Some(x) if x.fract() == 0.0 && x.abs() < 2f64.powi(53) => (x as i64).to_string(),
            _ => number.to_string(),
        },
        Value::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        // The order of entries decides on addresses and on ties.
        Value::Object(entries) => entries.iter().map(|(key, value)| format!("{key:?}={},", canonical(value))).collect(),
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// A quantity as its type writes it. Each type has units of its own.
fn quantity(text: &str) -> Option<String> {
    fn written<T: Display>(quantity: T) -> String {
        quantity.to_string()
    }
    let rate = || text.parse::<Rate>().map(written);
    let size = || text.parse::<Size>().map(written);
    let probability = || text.parse::<Probability>().map(written);
    let packets = || text.parse::<Packets>().map(written);
    let bdp = || text.parse::<Bdp>().map(written);
    text.parse::<Duration>()
        .map(written)
        .or_else(|_| rate())
        .or_else(|_| size())
        .or_else(|_| probability())
        .or_else(|_| packets())
        .or_else(|_| bdp())
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_are_the_same_however_they_are_written() {
        for (one, other) in [
            (json!("1 %"), json!("1.0 %")),
            (json!("1%"), json!("1 %")),
            (json!("1 s"), json!("1000 ms")),
            (json!("8 Mbit/s"), json!("1 MB/s")),
            (json!("1 KiB"), json!("1024 bytes")),
            (json!(1), json!(1.0)),
            (json!({ "up": "1 Mbit/s" }), json!({ "up": "1000 kbit/s" })),
            (json!(["none", "10 ms"]), json!(["none", "0.01 s"])),
        ] {
            assert_eq!(canonical(&one), canonical(&other), "{one} is {other}");
        }
    }

    #[test]
    fn other_values_differ() {
        let values = [
            json!("1 %"),
            json!("1.01 %"),
            json!("1 s"),
            json!("1 packets"),
            json!("1 bdp"),
            json!("1 MB"),
            json!("1 MiB"),
            json!("1"),
            json!(1),
            json!("lia"),
            json!(true),
            json!("true"),
            json!(["1 s"]),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1, "b": 3 }),
        ];
        for (at, one) in values.iter().enumerate() {
            assert!(values[..at].iter().all(|other| canonical(one) != canonical(other)), "{one}");
        }
    }
}
