//! The difference of the means of two independent samples.

use super::MeanDifference;
use super::location::{mean, standard_deviation};

/// The mean of `second` less that of `first` by Welch's t-test, which does not assume equal variances (Welch 1947,
/// with the degrees of freedom of Satterthwaite 1946). `None` if a sample has fewer than two values, and if all values
/// of each are equal: there is no spread to judge the difference by.
pub fn welch_difference(first: &[f64], second: &[f64], confidence: f64) -> Option<MeanDifference> {
    if [first, second].iter().all(|samples| samples.iter().all(|x| *x == samples[0])) {
        return None;
    }
    let difference = mean(second)? - mean(first)?;
    let [a, b] = variances(first, second)?;
    MeanDifference::of_t(difference, (a + b).sqrt(), welch_freedom(first, second)?, confidence)
}

/// The degrees of freedom of that test (Satterthwaite 1946); `None` if a sample has fewer than two values.
pub(super) fn welch_freedom(first: &[f64], second: &[f64]) -> Option<f64> {
    let [a, b] = variances(first, second)?;
    let part = |variance: f64, n: usize| variance * variance / (n - 1) as f64;
    Some((a + b).powi(2) / (part(a, first.len()) + part(b, second.len())))
}

/// The variances of both means.
fn variances(first: &[f64], second: &[f64]) -> Option<[f64; 2]> {
    let variance = |samples: &[f64]| Some(standard_deviation(samples)?.powi(2) / samples.len() as f64);
    Some([variance(first)?, variance(second)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::paired::SLEEP;
    use super::*;

    #[test]
    fn students_own_data_have_the_published_values() {
        // R: t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p-value = 0.07939,
        // 95 percent confidence interval: -3.3654832 0.2054832; R takes the first less the second.
        let (first, second): (Vec<f64>, Vec<f64>) = SLEEP.into_iter().unzip();
        let found = welch_difference(&first, &second, 0.95).expect("ten each");
        assert!((found.difference - 1.58).abs() < 1e-12);
        assert!((found.low + 0.205_483_2).abs() < 1e-7 && (found.high - 3.365_483_2).abs() < 1e-7, "{found:?}");
        assert!((found.p_value - 0.079_39).abs() < 5e-6, "{found:?}");
    }

    #[test]
    fn equal_values_have_neither_interval_nor_test_and_one_value_is_too_few() {
        assert_eq!(welch_difference(&[1.0, 1.0], &[4.0, 4.0], 0.95), None);
        assert_eq!(welch_difference(&[0.1; 3], &[0.1; 7], 0.95), None);
        assert!(welch_difference(&[1.0, 1.0], &[4.0, 4.1], 0.95).is_some());
        assert_eq!(welch_difference(&[1.0, 1.0], &[4.0], 0.95), None);
    }

    proptest! {
        #[test]
        fn exchanging_the_samples_changes_the_sign_only(
            first in prop::collection::vec(-100.0f64..100.0, 2..20),
            second in prop::collection::vec(-100.0f64..100.0, 2..20),
        ) {
            let there = welch_difference(&first, &second, 0.95).expect("two or more");
            let back = welch_difference(&second, &first, 0.95).expect("two or more");
            prop_assert!((there.low + back.high).abs() < 1e-9 && (there.high + back.low).abs() < 1e-9);
            prop_assert!((there.p_value - back.p_value).abs() < 1e-12);
        }
    }
}
