//! Statistics of repeated runs: location, spread, intervals, distributions and their comparison, fairness.

mod bootstrap;
mod distribution;
mod durations;
mod fairness;
mod fieller;
mod holm;
mod interval;
mod kolmogorov_smirnov;
mod location;
mod paired;
mod summary;
mod welch;

pub use bootstrap::{Indices, bootstrap_percentile};
pub use distribution::{BoxPlot, box_plot, cumulative};
pub use durations::DurationSummary;
pub use fairness::jain_index;
pub use fieller::ratio_interval;
pub use holm::holm;
pub use interval::{Interval, mean_interval, median_interval};
pub use kolmogorov_smirnov::{KolmogorovSmirnov, kolmogorov_smirnov};
pub use location::{mean, median, quantile, standard_deviation};
pub use paired::{MeanDifference, paired_difference};
pub use summary::Summary;
pub use welch::welch_difference;
