//! Mean, median, quantiles, standard deviation. Samples must not contain NaN.

/// The arithmetic mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    if samples.is_empty() { None } else { Some(samples.iter().sum::<f64>() / samples.len() as f64) }
}

/// The sample standard deviation (divisor n − 1); `None` below two samples.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples).filter(|_| samples.len() > 1)?;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt())
}

/// The median; for an even number of samples the mean of the two middle ones.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The `p` quantile, 0 ≤ p ≤ 1, with linear interpolation between order statistics (Hyndman and Fan's type 7, the
/// default of R and NumPy).
pub fn quantile(samples: &[f64], p: f64) -> Option<f64> {
    let sorted = sorted(samples);
    let position = p.clamp(0.0, 1.0) * (sorted.len().checked_sub(1)? as f64);
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

/// The samples in ascending order.
pub(super) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_sample_has_the_published_values() {
        let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&samples), Some(5.0));
        assert_eq!(median(&samples), Some(4.5));
        assert!((standard_deviation(&samples).expect("eight samples") - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn quantiles_agree_with_r() {
        // R: quantile(c(1, 2, 4, 8, 16), c(0.1, 0.25, 0.75, 0.9))
        let samples = [16.0, 1.0, 8.0, 2.0, 4.0];
        for (p, expected) in [(0.1, 1.4), (0.25, 2.0), (0.75, 8.0), (0.9, 12.8)] {
            assert!((quantile(&samples, p).expect("samples") - expected).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn too_few_samples_have_no_value() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
    }
}
