//! Comparison of results: points of a sweep with a baseline, one result with another, and intervals with a width. What
//! can be compared is declared in `results/metrics/`, and the differences themselves are in `results/differences.rs`.
//!
//! | to find | look in |
//! |---|---|
//! | two groups of runs: pairs, difference, ratio, intervals | `difference.rs` |
//! | the runs of two groups that are compared, and those that lack the metric | `samples.rs` |
//! | points of a sweep and a chosen value | `baseline.rs` |
//! | two results, point by point | `points.rs`; with notes and what became worse: `two_results.rs` |
//! | bounds on what may become worse | `bound.rs` |
//! | whether intervals are narrow enough | `precision.rs` |
//! | points of a sweep that came out the same | `same.rs`; why, as far as results prove it: `why_same.rs` |
//! | the table of differences as text | `text.rs` |

mod baseline;
mod bound;
mod difference;
mod points;
mod precision;
mod same;
mod samples;
mod text;
mod two_results;
mod why_same;

pub use bound::{Bound, Regression};
pub use points::{NothingToCompare, PointDifferences, compare};
pub use precision::{Precision, Widest};
pub use same::SameResults;
pub use text::{differences_to_text, explanations};
pub use two_results::{Asked, Comparison, Side};
