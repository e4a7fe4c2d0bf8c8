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

/// The number with a fixed number of decimals, for tables. What rounds to zero has no sign.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", rounded(x));
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| b"0.".contains(&byte)) => digits.to_owned(),
        _ => text,
    }
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

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!([fixed(-0.0004, 3), fixed(-0.4, 0), fixed(-0.0, 2)], ["0.000", "0", "0.00"]);
        assert_eq!([fixed(-0.0006, 3), fixed(-10.0, 0), fixed(0.0004, 3)], ["-0.001", "-10", "0.000"]);
        assert_eq!([fixed(f64::NAN, 2), fixed(f64::NEG_INFINITY, 2)], ["NaN", "-inf"]);
    }
}
