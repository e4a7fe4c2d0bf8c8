//! Bootstrap intervals of any statistic, such as a median.
//!
//! A resample takes as many values as there are, with replacement. The spread of the statistic over many resamples is
//! an estimate of its own spread. Random numbers begin with a fixed seed: the same samples always give the same
//! interval.
//!
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.

use super::Interval;
use super::location::quantile;
use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;

/// The number of resamples. Efron and Tibshirani recommend at least 1000 for intervals.
const RESAMPLES: usize = 2000;
/// With fewer values the resamples have too few different ones.
const FEWEST: usize = 5;
/// Any number: the first state of the random numbers.
const STATE: u128 = 0x5eed_0f7e_5a3b_1e50;

/// The values of a resample as indices, for each sample a list.
pub type Indices = Vec<Vec<usize>>;

/// The interval between percentiles of the resamples. `sizes` are the numbers of values of independent samples,
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

    use super::*;

    const A: [f64; 10] = [4.1, 5.0, 3.7, 6.2, 4.9, 5.5, 3.9, 8.4, 4.4, 5.1];
    const B: [f64; 10] = [5.2, 5.9, 4.1, 7.7, 5.0, 7.1, 4.0, 12.6, 5.3, 5.2];

    fn mean_of(values: &[f64], indices: &[usize]) -> f64 {
        indices.iter().map(|&index| values[index]).sum::<f64>() / indices.len() as f64
    }

    /// Whether both ends are those of SciPy up to a 25th of its width: what chance leaves with 2000 resamples.
    fn near(found: Option<Interval>, low: f64, high: f64) -> bool {
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
        assert!(near(found, 0.1, 1.5), "{found:?}");
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
