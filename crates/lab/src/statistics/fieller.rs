//! The interval of the ratio of two means.
//!
//! Sources: Fieller, Some Problems in Interval Estimation (1954); for unequal variances Tamhane and Logan, Finding the
//! Maximum Safe Dose Level for Heteroscedastic Data (2004), section 2.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Interval;
use super::location::mean;
use super::welch::welch_freedom;

/// Variances of two means and their covariance.
struct Spread {
    first: f64,
    second: f64,
    common: f64,
    /// Degrees of freedom of Student's t.
    freedom: f64,
}

/// The interval of the mean of `second` divided by that of `first`: all ratios `r` for which a t-test does not reject
/// that the mean of `second - r * first` is zero. It contains 1 exactly where the interval of the difference of the
/// means contains 0, because both are the same test: [`paired_difference`](super::paired_difference) if the values are
/// in pairs, otherwise [`welch_difference`](super::welch_difference), whose degrees of freedom hold for all ratios here.
/// `None` below two values, and if the mean of `first` itself cannot be told from zero, where the ratios have no end.
pub fn ratio_interval(first: &[f64], second: &[f64], are_pairs: bool, confidence: f64) -> Option<Interval> {
    let (a, b) = (mean(first)?, mean(second)?);
    let spread = if are_pairs { Spread::of_pairs(first, second)? } else { Spread::of_samples(first, second)? };
    let t = StudentsT::new(0.0, 1.0, spread.freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    // (b - r a)² <= t² (second - 2 r common + r² first), as a quadratic in r.
    let square = a * a - t * t * spread.first;
    let half_linear = a * b - t * t * spread.common;
    let constant = b * b - t * t * spread.second;
    let root = (half_linear * half_linear - square * constant).max(0.0).sqrt();
    (square > 0.0).then(|| Interval {
        low: (half_linear - root) / square,
        high: (half_linear + root) / square,
        confidence,
    })
}

impl Spread {
    fn of_pairs(first: &[f64], second: &[f64]) -> Option<Self> {
        let n = first.len() as f64;
        let common = covariance(first, second)? / n;
        let [first, second] = [first, second].map(|values| covariance(values, values));
        Some(Self { first: first? / n, second: second? / n, common, freedom: n - 1.0 })
    }

    fn of_samples(first: &[f64], second: &[f64]) -> Option<Self> {
        let freedom = welch_freedom(first, second)?;
        let [first, second] = [first, second].map(|values| Some(covariance(values, values)? / values.len() as f64));
        Some(Self { first: first?, second: second?, common: 0.0, freedom })
    }
}

/// The sample covariance of values in pairs; of values with themselves their variance.
fn covariance(first: &[f64], second: &[f64]) -> Option<f64> {
    let (a, b) = (mean(first)?, mean(second)?);
    let sum: f64 = first.iter().zip(second).map(|(x, y)| (x - a) * (y - b)).sum();
    (first.len() > 1).then(|| sum / (first.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{paired_difference, welch_difference};
    use super::*;

    #[test]
    fn three_pairs_have_the_interval_computed_by_hand() {
        // Means 20 and 22, all three (co)variances of the means 1/3, t²/3 = 6.170941:
        // (433.829059 ± sqrt(433.829059² - 393.829059 · 477.829059)) / 393.829059
        let found = ratio_interval(&[19.0, 20.0, 21.0], &[21.0, 22.0, 23.0], true, 0.95).expect("an interval");
        assert!((found.low - 1.088_952).abs() < 1e-6 && (found.high - 1.114_182).abs() < 1e-6, "{found:?}");
        // 2² - t²/3 < 0: the mean of the first cannot be told from zero.
        assert_eq!(ratio_interval(&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0], true, 0.95), None);
        assert_eq!(ratio_interval(&[1.0], &[2.0], true, 0.95), None);
    }

    proptest! {
        #[test]
        fn it_contains_one_where_the_interval_of_the_difference_contains_zero(
            pairs in prop::collection::vec((1.0f64..100.0, 1.0f64..100.0), 2..20),
            are_pairs: bool,
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let test = match are_pairs {
                true => paired_difference(&pairs, 0.95),
                false => welch_difference(&first, &second, 0.95),
            };
            let (Some(test), Some(ratio)) = (test, ratio_interval(&first, &second, are_pairs, 0.95)) else {
                return Ok(());
            };
            prop_assume!((test.p_value - 0.05).abs() > 1e-9);
            prop_assert_eq!(test.low <= 0.0 && 0.0 <= test.high, ratio.low <= 1.0 && 1.0 <= ratio.high);
        }

        #[test]
        fn at_its_ends_the_test_of_pairs_has_the_p_value_of_its_confidence(
            pairs in prop::collection::vec((50.0f64..100.0, 1.0f64..100.0), 5..20),
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let ratio = ratio_interval(&first, &second, true, 0.95).expect("the first mean is far from zero");
            for end in [ratio.low, ratio.high] {
                let scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (end * a, *b)).collect();
                let p_value = paired_difference(&scaled, 0.95).expect("a spread").p_value;
                prop_assert!((p_value - 0.05).abs() < 1e-6, "{p_value}");
            }
        }
    }
}
