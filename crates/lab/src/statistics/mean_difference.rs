//! The difference of two means, of pairs or of independent samples, with its interval and test; and the correction for
//! several tests.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::descriptive::{mean, standard_deviation};

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

/// The p-values adjusted for their number (Holm 1979): rejecting those below a level rejects any true hypothesis with
/// at most that probability, however the tests depend on each other.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        least = least.max((p_values.len() - rank) as f64 * p_values[index]).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mean_interval;
    use super::*;

    #[test]
    fn students_own_pairs_have_the_published_values() {
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

    #[test]
    fn students_own_data_as_independent_samples_have_the_published_values() {
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

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn the_smallest_is_multiplied_by_their_number_and_the_order_stays() {
        assert!(near(&holm(&[0.04, 0.01, 0.03, 0.9]), &[0.09, 0.04, 0.09, 0.9]));
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn the_adjusted_values_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), method = "holm")
        assert!(near(&holm(&[0.01, 0.02, 0.03, 0.04, 0.05]), &[0.05, 0.08, 0.09, 0.09, 0.09]));
    }

    proptest! {
        #[test]
        fn adjusting_only_enlarges_and_keeps_the_order_and_the_smallest_is_bonferronis(
            p in prop::collection::vec(0.0f64..=1.0, 1..20),
        ) {
            let adjusted = holm(&p);
            for (i, &a) in adjusted.iter().enumerate() {
                prop_assert!(p[i] <= a && a <= 1.0);
                for (j, &b) in adjusted.iter().enumerate() {
                    prop_assert!(p[i] > p[j] || a <= b);
                }
            }
            let least = (0..p.len()).min_by(|&i, &j| p[i].total_cmp(&p[j])).expect("at least one");
            prop_assert!((adjusted[least] - (p.len() as f64 * p[least]).min(1.0)).abs() < 1e-12);
        }
    }
}
