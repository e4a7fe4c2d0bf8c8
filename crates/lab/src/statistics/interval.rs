//! Confidence intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::location::{mean, sorted, standard_deviation};

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

#[cfg(test)]
mod tests {
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
}
