//! Results for people and programs: the tables of a summary, which text and pages show, and CSV.
//!
//! | to find | look in |
//! |---|---|
//! | what a summary shows of a metric, and to whom | `summary.rs` |
//! | the tables of a single run | `one_run.rs`; of several runs: `several_runs.rs` |
//! | the summary as text | `text.rs` |
//! | `--format csv` | `csv.rs` |

mod csv;
mod one_run;
mod several_runs;
mod summary;
mod text;

pub use csv::to_csv;
pub use summary::{Reader, Summarised, summary};
pub use text::to_text;
