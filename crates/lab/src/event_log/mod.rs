//! Event logs: for each run a file of JSON lines with what its connections did and what their algorithms saw. Names and
//! members are those of [qlog](https://datatracker.ietf.org/doc/draft-ietf-quic-qlog-main-schema/) where it has them.
//!
//! | concern | file |
//! |---|---|
//! | which events there are, and their members | `events.rs` |
//! | JSON without copies | `line.rs` |
//! | the file, and the first error of writing it | `stream.rs` |
//! | names of subflows | `names.rs` |
//! | RTTs that stay the same | `rtts.rs` |

mod events;
mod line;
mod names;
mod rtts;
mod stream;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub(crate) use events::{EventLog, Place, Sending};
use subflow_scenario::sweep::Plan;

/// The folder that the event logs of all runs are written to.
#[derive(Clone, Debug)]
pub struct EventFolder(PathBuf);

impl EventFolder {
    /// Event logs in `directory`, which exists.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// The name of the event log of `run`.
    pub fn file_name(run: usize) -> String {
        format!("{run}.jsonl")
    }

    /// The names of all event logs of `plan`.
    pub fn file_names(plan: &Plan) -> impl Iterator<Item = String> + '_ {
        plan.jobs().into_iter().map(|job| Self::file_name(job.run))
    }

    fn path(&self, run: usize) -> PathBuf {
        Path::new(&self.0).join(Self::file_name(run))
    }
}
