//! A folder for files that runs write themselves: captures, event logs, what programs print.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use subflow_lab::capture::CaptureFolder;
use subflow_lab::event_log::EventFolder;
use subflow_lab::program_output;
use subflow_scenario::sweep::Plan;

use super::directory::Directory;
use super::manifest::Kind;
use super::{Content, OutputError};

/// A folder for captures, event logs or what programs print, checked before the run.
#[derive(Debug)]
pub struct RunFiles {
    pub(super) directory: Directory,
    content: Content,
    files: BTreeSet<String>,
}

impl RunFiles {
    /// Checks that the captures of `plan` may be written to `path`, and creates it unless it exists: it is writable, it
    /// does not contain captures of more runs (unless `force` is set), and no file that subflow did not write has the
    /// name of a capture.
    pub fn for_captures(path: impl Into<PathBuf>, plan: &Plan, force: bool) -> Result<Self, OutputError> {
        Self::prepare_for(Kind::Captures, path.into(), plan, force, CaptureFolder::file_names(plan).collect())
    }

    /// The same for event logs. To keep those of an earlier command, call [`keep_logs`](Self::keep_logs) instead of
    /// [`begin`](Self::begin); `plan` is then the largest one that it is called with.
    pub fn for_events(path: impl Into<PathBuf>, plan: &Plan, force: bool) -> Result<Self, OutputError> {
        Self::prepare_for(Kind::Events, path.into(), plan, force, EventFolder::file_names(plan).collect())
    }

    /// The same for what programs print.
    pub fn for_programs(path: impl Into<PathBuf>, plan: &Plan, force: bool) -> Result<Self, OutputError> {
        Self::prepare_for(Kind::Programs, path.into(), plan, force, program_output::file_names(plan).collect())
    }

    fn prepare_for(
        kind: Kind,
        path: PathBuf,
        plan: &Plan,
        force: bool,
        files: BTreeSet<String>,
    ) -> Result<Self, OutputError> {
        let directory = Directory::open(path, kind)?;
        let content = Content::of_run_files(plan);
        if !force {
            directory.check_content(&content)?;
        }
        directory.check_names(files.iter().map(String::as_str))?;
        Ok(Self { directory, content, files })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The number of files that will be written.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Removes the files of an earlier command, right before the first run.
    pub fn begin(&self) -> Result<(), OutputError> {
        self.clear().map_err(|source| OutputError::Io { path: self.path().to_owned(), source })
    }

    fn clear(&self) -> io::Result<()> {
        let previous = self.directory.previous().map(|previous| previous.files.clone()).unwrap_or_default();
        self.directory.write_manifest(&self.content, previous.union(&self.files).cloned().collect())?;
        for name in &previous {
            match std::fs::remove_file(self.path().join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.directory.write_manifest(&self.content, self.files.clone())
    }
}
