//! Decimal numbers, converted to integers without rounding.

/// Why a decimal has no exact integer value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inexact {
    /// It is larger than `u64::MAX`.
    TooLarge,
    /// It is not a whole number.
    TooFine,
}

/// With more decimals, a fraction times a scale below 2⁶¹ could exceed 128 bits.
const MAX_DECIMALS: usize = 20;

/// Whether `text` consists of digits with at most one decimal point between them.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    }
}

/// The number (see [`is_number`]) times `scale`, exactly.
pub(super) fn scaled(number: &str, scale: u64) -> Result<u64, Inexact> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = integer(whole).and_then(|n| n.checked_mul(scale.into())).ok_or(Inexact::TooLarge)?;
    if fraction.len() > MAX_DECIMALS {
        return Err(Inexact::TooFine);
    }
    let numerator = integer(fraction).ok_or(Inexact::TooFine)? * u128::from(scale);
    let denominator = 10u128.pow(fraction.len() as u32);
    if numerator % denominator != 0 {
        return Err(Inexact::TooFine);
    }
    let value = whole.checked_add(numerator / denominator).ok_or(Inexact::TooLarge)?;
    u64::try_from(value).map_err(|_| Inexact::TooLarge)
}

/// The value of a string of digits, if it fits; zero for an empty string.
fn integer(digits: &str) -> Option<u128> {
    digits.bytes().try_fold(0u128, |n, digit| n.checked_mul(10)?.checked_add((digit - b'0').into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact_or_refused() {
        assert_eq!(scaled("0.1", 1_000_000), Ok(100_000));
        assert_eq!(scaled("1.50000000000000000000000000", 10), Ok(15));
        assert_eq!(scaled("0.0009765625", 1 << 10), Ok(1));
        assert_eq!(scaled("0.15", 10), Err(Inexact::TooFine));
        assert_eq!(scaled("0.000000000000000000001", 10), Err(Inexact::TooFine));
    }

    #[test]
    fn the_largest_value_fits_and_the_next_does_not() {
        assert_eq!(scaled("18446744073709551615", 1), Ok(u64::MAX));
        assert_eq!(scaled("18446744073.709551615", 1_000_000_000), Ok(u64::MAX));
        assert_eq!(scaled("18446744073709551616", 1), Err(Inexact::TooLarge));
        assert_eq!(scaled("18446744073.709551616", 1_000_000_000), Err(Inexact::TooLarge));
        assert_eq!(scaled(&"9".repeat(80), 1), Err(Inexact::TooLarge));
    }

    #[test]
    fn only_digits_around_a_point_are_numbers() {
        assert!(["0", "007", "1.5"].into_iter().all(is_number));
        assert!(!["", ".", ".5", "5.", "1,5", "1.2.3", "+1", "1_000", "\u{663}"].into_iter().any(is_number));
    }
}
