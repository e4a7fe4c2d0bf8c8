//! How measured numbers are written: the same everywhere, to six decimals.
//!
//! A millionth is finer than anything measured means, and coarse enough that the last bit of a logarithm, which may
//! differ between machines, does not show.

use serde::Serializer;

const DECIMALS: i32 = 6;

/// The number with six decimals; zero is never negative.
pub fn rounded(x: f64) -> f64 {
    let scale = 10f64.powi(DECIMALS);
    let rounded = (x * scale).round() / scale;
    // Numbers too large to have six decimals overflow above; they have no decimals to lose either.
    if !rounded.is_finite() { x } else { rounded + 0.0 }
}

/// The number as CSV and text write it: as JSON does.
pub fn shown(x: f64) -> String {
    let rounded = rounded(x);
    if rounded.is_finite() {
        serde_json::Number::from_f64(rounded).map_or_else(String::new, |n| n.to_string())
    } else {
        String::new()
    }
}

/// With a fixed number of decimals, for tables that people read.
pub fn fixed(x: f64, decimals: usize) -> String {
    format!("{:.decimals$}", rounded(x))
}

/// For `#[serde(serialize_with)]`.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*x))
}

/// For `#[serde(serialize_with)]`; absent is null.
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
    fn six_decimals_and_no_negative_zero() {
        assert_eq!(rounded(1.0 / 3.0), 0.333333);
        assert!(rounded(-1e-9).is_sign_positive());
        assert_eq!(rounded(1e300), 1e300);
        assert_eq!(shown(9.6483), "9.6483");
        assert_eq!(shown(48.0), "48.0");
        assert_eq!(shown(f64::NAN), "");
    }
}
