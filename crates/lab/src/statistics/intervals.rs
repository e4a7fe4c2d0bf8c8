//! Confidence intervals: of a mean, a median, the ratio of two means (Fieller), and any statistic (bootstrap).

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::descriptive::{mean, quantile, sorted, standard_deviation};
use super::mean_difference::welch_freedom;

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The probability that such an interval contains the true value. For a median it is that of the order statistics:
    /// more than requested, or less if there are too few samples.
    pub confidence: f64,
}

/// The interval of the mean by Student's t; `None` below two samples.
pub fn mean_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let (mean, deviation) = (mean(samples)?, standard_deviation(samples)?);
    let n = samples.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = t * deviation / n.sqrt();
    Some(Interval { low: mean - half, high: mean + half, confidence })
}

/// The interval of the median by order statistics: the narrowest symmetric pair with at least this confidence, or the
/// extremes if there is none (95 % takes six samples). `None` below two samples.
///
/// The median lies below the (k + 1)th smallest sample with the probability that at most k of n fair coins show heads.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(samples);
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let mut best = None;
    let mut outside = 0.0;
    for (k, probability) in half_binomial(n).take(n / 2).enumerate() {
        outside += 2.0 * probability;
        if k > 0 && 1.0 - outside < confidence {
            break;
        }
        best = Some(Interval { low: sorted[k], high: sorted[n - 1 - k], confidence: 1.0 - outside });
    }
    best
}

/// The probabilities of 0, 1, 2, … heads among n fair coins, from logarithms so that large n do not underflow early.
fn half_binomial(n: usize) -> impl Iterator<Item = f64> {
    let mut logarithm = -(n as f64) * std::f64::consts::LN_2;
    (0..=n).map(move |k| {
        let probability = logarithm.exp();
        logarithm += ((n - k) as f64 / (k + 1) as f64).ln();
        probability
    })
}

/// Variances of two means and their covariance.
#[derive(Clone, Copy, Debug)]
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
///
/// Sources: Fieller, Some Problems in Interval Estimation (1954); for unequal variances Tamhane and Logan, Finding the
/// Maximum Safe Dose Level for Heteroscedastic Data (2004), section 2.
pub fn ratio_interval(first: &[f64], second: &[f64], are_pairs: bool, confidence: f64) -> Option<Interval> {
    let spread = if are_pairs { Spread::of_pairs(first, second)? } else { Spread::of_samples(first, second)? };
    spread.ratios(mean(first)?, mean(second)?, confidence)
}

/// The same where each mean is that of several cells with equal weights, such as the levels of a factor. The cells of one
/// mean may differ as they like: its error comes from the spread within them. Degrees of freedom are Satterthwaite's over
/// all cells. `None` if a cell has fewer than two values, and if the mean of `first` cannot be told from zero. Without any
/// spread the interval is the ratio itself.
pub fn ratio_of_cells_interval(first: &[&[f64]], second: &[&[f64]], confidence: f64) -> Option<Interval> {
    let of_cells = |cells: &[&[f64]]| mean(&cells.iter().map(|cell| mean(cell)).collect::<Option<Vec<_>>>()?);
    let (a, b, spread) = (of_cells(first)?, of_cells(second)?, Spread::of_cells(first, second)?);
    if spread.first + spread.second == 0.0 && a != 0.0 {
        return Some(Interval { low: b / a, high: b / a, confidence });
    }
    spread.ratios(a, b, confidence)
}

impl Spread {
    /// The ratios `r` of the second mean `b` to the first one `a` that these errors allow: an interval, unless `a` is within
    /// its own error of zero.
    fn ratios(&self, a: f64, b: f64, confidence: f64) -> Option<Interval> {
        let t = StudentsT::new(0.0, 1.0, self.freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
        // (b - r a)² <= t² (second - 2 r common + r² first), as a quadratic in r.
        let square = a * a - t * t * self.first;
        let half_linear = a * b - t * t * self.common;
        let constant = b * b - t * t * self.second;
        let root = (half_linear * half_linear - square * constant).max(0.0).sqrt();
        (square > 0.0).then(|| Interval {
            low: (half_linear - root) / square,
            high: (half_linear + root) / square,
            confidence,
        })
    }

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

    fn of_cells(first: &[&[f64]], second: &[&[f64]]) -> Option<Self> {
        // The variance that a cell adds to that of the mean, and its degrees of freedom.
        let parts = |cells: &[&[f64]]| -> Option<Vec<(f64, f64)>> {
            let part = |values: &&[f64]| {
                let n = values.len() as f64;
                Some((covariance(values, values)? / n / (cells.len() as f64).powi(2), n - 1.0))
            };
            cells.iter().map(part).collect()
        };
        let (first, second) = (parts(first)?, parts(second)?);
        let variance = |parts: &[(f64, f64)]| parts.iter().map(|(variance, _)| variance).sum::<f64>();
        let squares: f64 = first.iter().chain(&second).map(|(variance, freedom)| variance * variance / freedom).sum();
        let (first, second) = (variance(&first), variance(&second));
        Some(Self { first, second, common: 0.0, freedom: (first + second).powi(2) / squares })
    }
}

/// The sample covariance of values in pairs; of values with themselves their variance.
fn covariance(first: &[f64], second: &[f64]) -> Option<f64> {
    let (a, b) = (mean(first)?, mean(second)?);
    let sum: f64 = first.iter().zip(second).map(|(x, y)| (x - a) * (y - b)).sum();
    (first.len() > 1).then(|| sum / (first.len() - 1) as f64)
}

/// The number of resamples. Efron and Tibshirani recommend at least 1000 for intervals.
const RESAMPLES: usize = 2000;
/// With fewer values the resamples have too few different ones.
const FEWEST: usize = 5;
/// Any number: the first state of the random numbers.
const STATE: u128 = 0x5eed_0f7e_5a3b_1e50;

/// The values of a resample as indices, for each sample a list.
pub type Indices = Vec<Vec<usize>>;

/// The bootstrap interval: between percentiles of the resamples, each of which takes as many values as there are, with
/// replacement. The spread of the statistic over many resamples is an estimate of its own spread. Random numbers begin
/// with a fixed seed: the same samples always give the same interval.
///
/// Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.
///
/// `sizes` are the numbers of values of independent samples,
/// `statistic` computes from indices into them. `None` if a sample has fewer than five values, or the statistic is not
/// a number in a resample.
pub fn bootstrap_percentile(sizes: &[usize], confidence: f64, statistic: impl Fn(&Indices) -> f64) -> Option<Interval> {
    let resampled = resampled(sizes, &statistic)?;
    between(&resampled, [0.5 - confidence / 2.0, 0.5 + confidence / 2.0], confidence)
}

/// The statistic of all resamples.
fn resampled(sizes: &[usize], statistic: &impl Fn(&Indices) -> f64) -> Option<Vec<f64>> {
    if sizes.iter().any(|&n| n < FEWEST) {
        return None;
    }
    let mut random = Pcg64Mcg::new(STATE);
    let mut indices: Indices = sizes.iter().map(|&n| vec![0; n]).collect();
    let mut one = || {
        for sample in &mut indices {
            let n = sample.len() as u64;
            // The part below n of a product with n: uniform up to a share of n / 2³².
            sample.iter_mut().for_each(|index| *index = ((u64::from(random.next_u32()) * n) >> 32) as usize);
        }
        Some(statistic(&indices)).filter(|x| x.is_finite())
    };
    (0..RESAMPLES).map(|_| one()).collect()
}

fn between(resampled: &[f64], [low, high]: [f64; 2], confidence: f64) -> Option<Interval> {
    Some(Interval { low: quantile(resampled, low)?, high: quantile(resampled, high)?, confidence })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{paired_difference, welch_difference};
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn the_interval_of_the_mean_of_five_samples_has_t_2_776() {
        let samples = [1.0, 2.0, 3.0, 4.0, 5.0];
        let interval = mean_interval(&samples, 0.95).expect("five samples");
        // 3 ± 2.7764451 · sqrt(2.5) / sqrt(5)
        assert!(near(interval.low, 1.036_757) && near(interval.high, 4.963_243), "{interval:?}");
    }

    #[test]
    fn equal_samples_have_an_interval_of_zero_width() {
        let interval = mean_interval(&[7.0; 4], 0.95).expect("four samples");
        assert_eq!((interval.low, interval.high), (7.0, 7.0));
    }

    #[test]
    fn the_median_of_ten_lies_between_the_second_and_the_ninth() {
        let samples: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = median_interval(&samples, 0.95).expect("ten samples");
        assert_eq!((interval.low, interval.high), (2.0, 9.0));
        assert!(near(interval.confidence, 0.978_515_625), "{interval:?}");
    }

    #[test]
    fn with_five_samples_the_interval_of_the_median_has_less_than_95_percent() {
        let interval = median_interval(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.95).expect("five samples");
        assert_eq!((interval.low, interval.high), (1.0, 5.0));
        assert!(near(interval.confidence, 0.9375));
        assert_eq!(median_interval(&[1.0], 0.95), None);
    }

    #[test]
    fn many_samples_do_not_underflow() {
        let samples: Vec<f64> = (0..2001).map(f64::from).collect();
        let interval = median_interval(&samples, 0.95).expect("many samples");
        // The normal approximation: 1000 ± 1.96 · sqrt(2001) / 2.
        assert!((950.0..=960.0).contains(&interval.low), "{interval:?}");
        assert!(interval.confidence >= 0.95);
    }

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

    #[test]
    fn one_cell_each_is_two_samples_and_levels_of_a_factor_are_no_error() {
        let (a, b) = ([19.0, 20.0, 21.0], [21.0, 22.5, 23.0]);
        let of_samples = ratio_interval(&a, &b, false, 0.95).expect("an interval");
        let of_cells = ratio_of_cells_interval(&[&a], &[&b], 0.95).expect("an interval");
        assert!((of_samples.low - of_cells.low).abs() < 1e-12 && (of_samples.high - of_cells.high).abs() < 1e-12);
        // Two levels, 200 and 20, with gains of 10 % and little spread in each cell. Variances of the means (1 + 0.01) / 4,
        // twice; t of 2.04 degrees of freedom is 4.24; half of the interval by the delta method.
        let (few, many): ([&[f64]; 2], [&[f64]; 2]) =
            ([&[199.0, 201.0], &[19.9, 20.1]], [&[219.0, 221.0], &[21.9, 22.1]]);
        let gain = ratio_of_cells_interval(&few, &many, 0.95).expect("an interval");
        let half = 4.24 * (0.2525 * (1.0 + 1.1 * 1.1_f64)).sqrt() / 110.0;
        assert!(gain.low < 1.1 && gain.high > 1.1 && ((gain.high - gain.low) / 2.0 - half).abs() < 0.002, "{gain:?}");
        let exact = ratio_of_cells_interval(&[&[4.0, 4.0]], &[&[8.0, 8.0]], 0.95).expect("the ratio itself");
        assert_eq!((exact.low, exact.high), (2.0, 2.0));
        assert_eq!(ratio_of_cells_interval(&[few[0], &[20.0]], &many, 0.95), None, "a cell with one value");
        assert_eq!(ratio_of_cells_interval(&[&[1.0, 39.0]], &many, 0.95), None, "the divisor may be zero");
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

    const A: [f64; 10] = [4.1, 5.0, 3.7, 6.2, 4.9, 5.5, 3.9, 8.4, 4.4, 5.1];
    const B: [f64; 10] = [5.2, 5.9, 4.1, 7.7, 5.0, 7.1, 4.0, 12.6, 5.3, 5.2];

    fn mean_of(values: &[f64], indices: &[usize]) -> f64 {
        indices.iter().map(|&index| values[index]).sum::<f64>() / indices.len() as f64
    }

    /// Whether both ends are those of SciPy up to a 25th of its width: what chance leaves with 2000 resamples.
    fn is_near(found: Option<Interval>, low: f64, high: f64) -> bool {
        let off = (high - low) / 25.0;
        found.is_some_and(|found| (found.low - low).abs() < off && (found.high - high).abs() < off)
    }

    #[test]
    fn a_median_has_scipys_percentile_interval() {
        // scipy.stats.bootstrap((b - a,), np.median, n_resamples=400000, method="percentile")
        let differences: Vec<f64> = A.iter().zip(B).map(|(a, b)| b - a).collect();
        let median = |i: &Indices| {
            let taken: Vec<f64> = i[0].iter().map(|&index| differences[index]).collect();
            quantile(&taken, 0.5).unwrap_or(f64::NAN)
        };
        let found = bootstrap_percentile(&[10], 0.95, median);
        assert!(is_near(found, 0.1, 1.5), "{found:?}");
    }

    #[test]
    fn too_few_values_and_divisions_by_zero_have_no_interval() {
        assert_eq!(bootstrap_percentile(&[4], 0.95, |i| mean_of(&A, &i[0])), None);
        assert_eq!(bootstrap_percentile(&[10], 0.95, |i| 1.0 / mean_of(&[0.0; 10], &i[0])), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn an_interval_lies_within_the_values_and_moves_with_their_unit(
            values in prop::collection::vec(-100.0f64..100.0, 5..15),
        ) {
            let of = |values: &[f64]| bootstrap_percentile(&[values.len()], 0.95, |i| mean_of(values, &i[0]));
            let found = of(&values).expect("five values or more");
            let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
            prop_assert!(least - 1e-9 <= found.low && found.low <= found.high && found.high <= most + 1e-9);
            let larger = of(&values.iter().map(|x| 8.0 * x).collect::<Vec<_>>()).expect("as many");
            prop_assert!((larger.low - 8.0 * found.low).abs() < 1e-9 && (larger.high - 8.0 * found.high).abs() < 1e-9);
            prop_assert_eq!(of(&values), Some(found));
        }
    }
}
