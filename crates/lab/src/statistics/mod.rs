//! Statistics of repeated runs: location, spread, intervals, distributions and their comparison, fairness.

mod distribution;
mod durations;
mod fairness;
mod interval;
mod location;
mod summary;
mod two_samples;

pub use distribution::{BoxPlot, box_plot, cumulative};
pub use durations::DurationSummary;
pub use fairness::jain_index;
pub use interval::{Interval, mean_interval, median_interval};
pub use location::{mean, median, quantile, standard_deviation};
pub use summary::Summary;
pub use two_samples::{KolmogorovSmirnov, holm, kolmogorov_smirnov};
