//! Results for people and programs: the tables of a summary, which text and pages show, and CSV.
//!
//! | to find | look in |
//! |---|---|
//! | what a summary shows of a metric, and to whom | `shown.rs` |
//! | the tables of a single run | `one_run.rs`; of several runs: `several_runs.rs` |
//! | the summary, and its text | `text.rs` |
//! | `--format csv` | `csv.rs` |

mod csv;
mod one_run;
mod several_runs;
mod shown;
mod text;

pub use csv::to_csv;
pub use shown::{Reader, Summarised};
pub use text::{summary, to_text};
