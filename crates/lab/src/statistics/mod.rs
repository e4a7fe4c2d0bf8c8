//! Statistics of repeated runs: location, spread, intervals, distributions and their comparison, fairness.

mod descriptive;
mod durations;
mod intervals;
mod kolmogorov_smirnov;
mod mean_difference;
mod summary;

pub(crate) use descriptive::share;
pub use descriptive::{BoxPlot, box_plot, cumulative, jain_index, mean, median, quantile, standard_deviation};
pub use durations::DurationSummary;
pub use intervals::{
    Indices, Interval, bootstrap_percentile, mean_interval, median_interval, ratio_interval, ratio_of_cells_interval,
};
pub use kolmogorov_smirnov::{KolmogorovSmirnov, kolmogorov_smirnov};
pub use mean_difference::{MeanDifference, holm, paired_difference, welch_difference};
pub use summary::Summary;
