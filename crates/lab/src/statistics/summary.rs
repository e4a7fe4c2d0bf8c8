//! The statistics in results of one quantity over repeated runs.

use serde::Serialize;

use super::{mean, mean_interval, median, median_interval, quantile, standard_deviation};
use crate::number;

/// Statistics of one quantity over repeated runs. Those that need more samples than there are, are absent (`null`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of runs with the quantity (an unfinished transfer has no completion time).
    pub n: usize,
    /// Mean.
    #[serde(serialize_with = "number::optional")]
    pub mean: Option<f64>,
    /// Median.
    #[serde(serialize_with = "number::optional")]
    pub median: Option<f64>,
    /// Sample standard deviation.
    #[serde(serialize_with = "number::optional")]
    pub sd: Option<f64>,
    /// Lower end of the 95 % interval of the mean (Student's t).
    #[serde(serialize_with = "number::optional")]
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub ci95_high: Option<f64>,
    /// Lower end of the 95 % interval of the median (order statistics; from six samples on).
    #[serde(serialize_with = "number::optional")]
    pub median_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub median_ci95_high: Option<f64>,
    /// Smallest.
    #[serde(serialize_with = "number::optional")]
    pub min: Option<f64>,
    /// First quartile.
    #[serde(serialize_with = "number::optional")]
    pub q1: Option<f64>,
    /// Third quartile.
    #[serde(serialize_with = "number::optional")]
    pub q3: Option<f64>,
    /// Largest.
    #[serde(serialize_with = "number::optional")]
    pub max: Option<f64>,
}

impl Summary {
    /// The summary of `samples`.
    pub fn of(samples: &[f64]) -> Self {
        let interval = mean_interval(samples, 0.95);
        let of_median = median_interval(samples, 0.95).filter(|interval| interval.confidence >= 0.95);
        Self {
            n: samples.len(),
            mean: mean(samples),
            median: median(samples),
            sd: standard_deviation(samples),
            ci95_low: interval.map(|i| i.low),
            ci95_high: interval.map(|i| i.high),
            median_ci95_low: of_median.map(|i| i.low),
            median_ci95_high: of_median.map(|i| i.high),
            min: quantile(samples, 0.0),
            q1: quantile(samples, 0.25),
            q3: quantile(samples, 0.75),
            max: quantile(samples, 1.0),
        }
    }
}
