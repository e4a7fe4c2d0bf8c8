//! Writes measured numbers in the same way everywhere: with up to six decimals.
//!
//! This is finer than the precision of any measurement, and coarse enough to hide the last bit of a logarithm, which
//! may differ between machines.

use serde::Serializer;

const DECIMALS: i32 = 6;

/// The number rounded to six decimals, without negative zero.
pub fn rounded(x: f64) -> f64 {
    let scale = 10f64.powi(DECIMALS);
    let rounded = (x * scale).round() / scale;
    // The product above overflows only for numbers so large that they have no decimals.
    if !rounded.is_finite() { x } else { rounded + 0.0 }
}

/// The number as text, as in JSON; empty for NaN.
pub fn shown(x: f64) -> String {
    let rounded = rounded(x);
    if rounded.is_finite() {
        serde_json::Number::from_f64(rounded).map_or_else(String::new, |n| n.to_string())
    } else {
        String::new()
    }
}

/// The number with a fixed number of decimals, for tables.
pub fn fixed(x: f64, decimals: usize) -> String {
    format!("{:.decimals$}", rounded(x))
}

/// For `#[serde(serialize_with)]`. Formats that people do not read, in which results are stored, get the exact number.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = if serializer.is_human_readable() { rounded(*x) } else { *x };
    serializer.serialize_f64(shown)
}

/// For `#[serde(skip_serializing_if)]`.
pub fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// For `#[serde(serialize_with)]`; `None` becomes null.
pub fn optional<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match x {
        Some(x) => serialize(x, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_decimals_and_zero_is_not_negative() {
        assert_eq!(rounded(1.0 / 3.0), 0.333333);
        assert!(rounded(-1e-9).is_sign_positive());
        assert_eq!(rounded(1e300), 1e300);
        assert_eq!(shown(9.6483), "9.6483");
        assert_eq!(shown(48.0), "48.0");
        assert_eq!(shown(f64::NAN), "");
    }
}
