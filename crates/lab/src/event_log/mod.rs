//! Event logs: for each run a file of JSON lines with what its connections did and what their algorithms saw. Names and
//! members are those of [qlog](https://datatracker.ietf.org/doc/draft-ietf-quic-qlog-main-schema/) where it has them.
//!
//! | concern | file |
//! |---|---|
//! | which events there are, and their members | `events.rs` |
//! | the events of applications | `acts.rs` |
//! | JSON without copies, and RTTs that stay the same | `line.rs` |
//! | the file, and the first error of writing it | `stream.rs` |
//! | names of subflows | `names.rs` |

mod acts;
mod events;
mod line;
mod names;
mod stream;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

pub(crate) use acts::Act;
pub(crate) use events::{EventLog, Place, Sending};
use subflow_scenario::sweep::Plan;

/// The folder that the event logs of all runs are written to.
#[derive(Clone, Debug)]
pub struct EventFolder {
    directory: PathBuf,
    is_whole: bool,
}

impl EventFolder {
    /// Event logs in `directory`, which exists. A log has its name from the start, and what happened until then.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), is_whole: false }
    }

    /// The same, but a log has its name ([`file_name`](Self::file_name)) once it is complete and on the disk, and until
    /// then that of its part ([`part_name`](Self::part_name)).
    pub fn of_whole_logs(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), is_whole: true }
    }

    /// The name of the event log of `run`.
    pub fn file_name(run: usize) -> String {
        format!("{run}.jsonl")
    }

    /// The name of an event log that is not complete.
    pub fn part_name(run: usize) -> String {
        format!("{run}.jsonl.part")
    }

    /// The names of all event logs of `plan`.
    pub fn file_names(plan: &Plan) -> impl Iterator<Item = String> + '_ {
        plan.jobs().into_iter().map(|job| Self::file_name(job.run))
    }

    /// Makes of the event log `from` that of the same run with another number, in this folder.
    ///
    /// # Errors
    ///
    /// It cannot be read or written, or is no event log.
    pub fn renumber(&self, from: &Path, run: usize) -> io::Result<()> {
        let mut old = BufReader::new(File::open(from)?);
        let mut first = String::new();
        old.read_line(&mut first)?;
        let mut header: serde_json::Value = serde_json::from_str(&first)?;
        header["trace"]["run"] = run.into();
        let part = self.directory.join(Self::part_name(run));
        let mut new = File::create(&part)?;
        writeln!(new, "{header}")?;
        io::copy(&mut old, &mut new)?;
        new.sync_all()?;
        std::fs::rename(part, self.directory.join(Self::file_name(run)))
    }

    /// The file to write the log of `run` to, and what it is called in the end.
    fn paths(&self, run: usize) -> (PathBuf, Option<PathBuf>) {
        let path = self.directory.join(Self::file_name(run));
        match self.is_whole {
            true => (self.directory.join(Self::part_name(run)), Some(path)),
            false => (path, None),
        }
    }
}
