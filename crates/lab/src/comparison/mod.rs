//! Comparison of results: points of a sweep with a baseline, one result with another, and intervals with a width.
//!
//! | to find | look in |
//! |---|---|
//! | what is compared: names, units, which direction is better | `metric.rs` |
//! | two groups of runs: pairs, difference, ratio, intervals | `difference.rs` |
//! | points of a sweep and a chosen value | `baseline.rs` |
//! | two results | `two_results.rs`; with notes and what became worse: `report.rs` |
//! | the runs of two groups that are compared, and those that lack the metric | `samples.rs` |
//! | bounds on what may become worse | `bound.rs` |
//! | whether intervals are narrow enough | `precision.rs` |
//! | points of a sweep that came out the same | `same.rs`; why, as far as results prove it: `why_same.rs` |
//! | the table of differences as text | `text.rs` |

mod baseline;
mod bound;
mod difference;
mod metric;
mod precision;
mod report;
mod same;
mod samples;
mod text;
mod two_results;
mod why_same;

pub use baseline::{Baseline, at_point, word};
pub use bound::{Bound, Regression};
pub use difference::{Difference, Pairing};
pub use metric::{Better, Measured, Metric};
pub use precision::{Precision, Widest};
pub use report::{Asked, Comparison, Side};
pub use same::SameResults;
pub use text::{differences_to_text, explanations};
pub use two_results::{Compared, NothingToCompare, compare};

/// What cannot be compared, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// What was found and expected.
    pub message: String,
    /// The way out.
    pub help: String,
}
