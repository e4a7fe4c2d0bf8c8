//! Box plots and cumulative distributions.

use super::location::{quantile, sorted};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
