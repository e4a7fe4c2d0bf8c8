//! The difference of two means whose samples belong together in pairs.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::location::{mean, standard_deviation};

/// The difference of two means, with its interval and a test of whether it is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// The second mean less the first.
    pub difference: f64,
    /// Lower bound of its confidence interval.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The two-sided p-value: the probability of a difference that is at least as far from zero, if the means are
    /// equal.
    pub p_value: f64,
}

/// Differences that are closer than this share of the values are equal: one subtraction and one sum of decimals.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The mean of second less first by the paired t-test (Student 1908): an interval and a test of the mean of the
/// differences within pairs. What both of a pair have in common, such as a seed, does not widen it. `None` below two
/// pairs, and if all differences are equal: without a spread there is nothing to judge their mean by.
pub fn paired_difference(pairs: &[(f64, f64)], confidence: f64) -> Option<MeanDifference> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
    let largest = pairs.iter().fold(0.0f64, |largest, (a, b)| largest.max(a.abs()).max(b.abs()));
    let ends =
        differences.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    if ends.1 - ends.0 <= ROUNDING * largest {
        return None;
    }
    let (mean, deviation) = (mean(&differences)?, standard_deviation(&differences)?);
    let n = differences.len() as f64;
    MeanDifference::of_t(mean, deviation / n.sqrt(), n - 1.0, confidence)
}

impl MeanDifference {
    /// A difference whose ratio to its standard error has Student's t distribution. `None` without such an error.
    pub(super) fn of_t(difference: f64, standard_error: f64, freedom: f64, confidence: f64) -> Option<Self> {
        if standard_error == 0.0 {
            return None;
        }
        let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let half = t.inverse_cdf(0.5 + confidence / 2.0) * standard_error;
        let p_value = 2.0 * t.cdf(-(difference / standard_error).abs());
        Some(Self { difference, low: difference - half, high: difference + half, p_value })
    }
}

/// The additional sleep in hours of ten patients with two drugs (Student 1908), R's data set `sleep`.
#[cfg(test)]
pub(super) const SLEEP: [(f64, f64); 10] = [
    (0.7, 1.9),
    (-1.6, 0.8),
    (-0.2, 1.1),
    (-1.2, 0.1),
    (-0.1, -0.1),
    (3.4, 4.4),
    (3.7, 5.5),
    (0.8, 1.6),
    (0.0, 4.6),
    (2.0, 3.4),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mean_interval;
    use super::*;

    #[test]
    fn students_own_data_have_the_published_values() {
        // R: t.test(Pair(extra.2, extra.1) ~ 1): t = 4.0621, df = 9, p = 0.002833, 0.7001142 to 2.4598858
        let found = paired_difference(&SLEEP, 0.95).expect("ten pairs");
        assert!((found.difference - 1.58).abs() < 1e-12);
        assert!((found.low - 0.700_114_2).abs() < 1e-7 && (found.high - 2.459_885_8).abs() < 1e-7, "{found:?}");
        assert!((found.p_value - 0.002_833).abs() < 5e-7, "{found:?}");
    }

    #[test]
    fn differences_that_are_all_equal_have_neither_interval_nor_test() {
        assert_eq!(paired_difference(&[(1.0, 3.0), (5.0, 7.0)], 0.95), None);
        assert_eq!(paired_difference(&[(1.0, 1.0), (5.0, 5.0)], 0.95), None);
        // 0.3 - 0.1 and 0.4 - 0.2 differ in the last bit; so do equal values and their mean.
        assert_eq!(paired_difference(&[(0.1, 0.3), (0.2, 0.4)], 0.95), None);
        assert_eq!(paired_difference(&[(9.553_21, 9.543_66); 7], 0.95), None);
        // The last decimal of a measured number is a difference.
        assert!(paired_difference(&[(90_000.0, 90_000.1), (90_000.0, 90_000.100_001)], 0.95).is_some());
        assert_eq!(paired_difference(&[(1.0, 3.0)], 0.95), None);
    }

    proptest! {
        #[test]
        fn the_interval_excludes_zero_where_the_test_rejects(
            pairs in prop::collection::vec((-100.0f64..100.0, -100.0f64..100.0), 2..30),
            common in -1000.0f64..1000.0,
        ) {
            let found = paired_difference(&pairs, 0.95).expect("two pairs or more");
            prop_assume!((found.p_value - 0.05).abs() > 1e-9);
            prop_assert_eq!(found.p_value < 0.05, found.low > 0.0 || found.high < 0.0);
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
            let interval = mean_interval(&differences, 0.95).expect("two or more");
            prop_assert!((interval.low - found.low).abs() < 1e-9 && (interval.high - found.high).abs() < 1e-9);
            // What both have in common has no effect.
            let moved: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a + common, b + common)).collect();
            let moved = paired_difference(&moved, 0.95).expect("two pairs or more");
            prop_assert!((moved.low - found.low).abs() < 1e-6 && (moved.high - found.high).abs() < 1e-6);
        }
    }
}
