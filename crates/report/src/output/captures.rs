//! A folder for captures.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use subflow_lab::capture::CaptureFolder;
use subflow_scenario::sweep::Plan;

use super::directory::Directory;
use super::manifest::Kind;
use super::{Content, OutputError};

/// A folder for captures, checked before the run.
#[derive(Debug)]
pub struct Captures {
    directory: Directory,
    content: Content,
    files: BTreeSet<String>,
}

impl Captures {
    /// Checks that the captures of `plan` may be written to `path`, and creates it unless it exists: it is writable, it
    /// does not contain captures of more runs (unless `force` is set), and no file that subflow did not write has the
    /// name of a capture.
    pub fn prepare(path: impl Into<PathBuf>, plan: &Plan, force: bool) -> Result<Self, OutputError> {
        let directory = Directory::open(path.into(), Kind::Captures)?;
        let content = Content::of_plan(plan);
        if !force {
            directory.check_content(&content)?;
        }
        let files: BTreeSet<String> = CaptureFolder::file_names(plan).collect();
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

    /// Removes the captures of an earlier command, right before the first run.
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
