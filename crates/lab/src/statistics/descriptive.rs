//! Descriptive statistics: mean, standard deviation, quantiles, box plots, cumulative distributions, and Jain's index.
//! Samples must not contain NaN.

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

/// The five numbers of a box plot, and the outliers beyond its whiskers (Tukey: more than 1.5 interquartile ranges
/// away).
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// The smallest sample that is not an outlier.
    pub whisker_low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// The largest sample that is not an outlier.
    pub whisker_high: f64,
    /// The outliers in ascending order.
    pub outliers: Vec<f64>,
}

/// The box plot of samples; `None` without samples.
pub fn box_plot(samples: &[f64]) -> Option<BoxPlot> {
    let (q1, median, q3) = (quantile(samples, 0.25)?, quantile(samples, 0.5)?, quantile(samples, 0.75)?);
    let reach = 1.5 * (q3 - q1);
    let inside = |x: &f64| (q1 - reach..=q3 + reach).contains(x);
    let (within, outliers): (Vec<f64>, Vec<f64>) = sorted(samples).into_iter().partition(inside);
    // Quartiles are within the whiskers, but interpolated ones may lie between two samples.
    let whisker_low = within.first().copied().unwrap_or(q1);
    let whisker_high = within.last().copied().unwrap_or(q3);
    Some(BoxPlot { whisker_low, q1, median, q3, whisker_high, outliers })
}

/// The steps of the empirical distribution function: each distinct sample with the share of samples up to it.
pub fn cumulative(samples: &[f64]) -> Vec<(f64, f64)> {
    let sorted = sorted(samples);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (index, &x) in sorted.iter().enumerate() {
        let share = (index + 1) as f64 / sorted.len() as f64;
        match steps.last_mut() {
            Some(step) if step.0 == x => step.1 = share,
            _ => steps.push((x, share)),
        }
    }
    steps
}

/// Jain's index (Jain, Chiu, Hawe 1984): (Σx)² / (n Σx²), 1 for equal shares, 1/n if one has all. `None` if all shares
/// are zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares > 0.0 { Some(sum * sum / (shares.len() as f64 * squares)) } else { None }
}

/// The share of those that are true; `None` of none.
pub(crate) fn share(judged: impl Iterator<Item = bool>) -> Option<f64> {
    let (met, all) = judged.fold((0_u64, 0_u64), |(met, all), is_met| (met + u64::from(is_met), all + 1));
    (all > 0).then(|| met as f64 / all as f64)
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

    #[test]
    fn an_outlier_is_outside_the_whiskers() {
        let plot = box_plot(&[1.0, 2.0, 3.0, 4.0, 5.0, 100.0]).expect("samples");
        assert_eq!((plot.q1, plot.median, plot.q3), (2.25, 3.5, 4.75));
        assert_eq!((plot.whisker_low, plot.whisker_high), (1.0, 5.0));
        assert_eq!(plot.outliers, [100.0]);
        assert_eq!(box_plot(&[]), None);
    }

    #[test]
    fn a_distribution_ends_at_one() {
        assert_eq!(cumulative(&[3.0, 1.0, 1.0, 2.0]), [(1.0, 0.5), (2.0, 0.75), (3.0, 1.0)]);
        assert!(cumulative(&[]).is_empty());
    }

    #[test]
    fn the_index_is_1_for_equal_shares_and_1_of_n_if_one_has_all() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }
}
