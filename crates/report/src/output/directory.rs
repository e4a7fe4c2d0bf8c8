//! A directory for files of a command, checked before the run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{Kind, Manifest};
use super::{Content, OutputError};

/// The names of folders in which a command collects its files before it moves them into place begin so.
pub(super) const STAGING: &str = ".subflow-staging-";

/// An existing, writable directory, and the list of files that subflow wrote there before. Directories that were
/// created for it are removed when it is dropped, if nothing has been written to them.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    kind: Kind,
    previous: Option<Manifest>,
    /// The directories that did not exist, the outermost first.
    created: Vec<PathBuf>,
}

impl Directory {
    /// Creates `path` unless it exists, and tries to write there. A symbolic link to a directory is followed.
    pub(super) fn open(path: PathBuf, kind: Kind) -> Result<Self, OutputError> {
        let option = kind.option();
        let unwritable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                OutputError::NotAFolder { path: path.clone(), option }
            }
            _ => OutputError::Unwritable { path: path.clone(), option, source },
        };
        let missing = path.ancestors().take_while(|ancestor| is_missing(ancestor)).map(Path::to_owned);
        let mut created: Vec<PathBuf> = missing.collect();
        created.reverse();
        let mut directory = Self { path: path.clone(), kind, previous: None, created };
        std::fs::create_dir_all(&path).map_err(unwritable)?;
        let probe = tempfile::Builder::new().prefix(".subflow-probe-").tempfile_in(&path);
        probe.and_then(tempfile::NamedTempFile::close).map_err(unwritable)?;
        directory.previous = Manifest::read(&path, kind)?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The files that subflow wrote here before.
    pub(super) fn previous(&self) -> Option<&Manifest> {
        self.previous.as_ref()
    }

    /// Whether the directory is empty or was written by subflow. What a command that was killed had staged counts as
    /// written by subflow.
    pub(super) fn is_ours(&self) -> io::Result<bool> {
        let has_manifest = |kind: Kind| self.path.join(kind.file_name()).exists();
        if [Kind::Results, Kind::Captures, Kind::Events, Kind::Programs].into_iter().any(has_manifest) {
            return Ok(true);
        }
        for entry in std::fs::read_dir(&self.path)? {
            if !entry?.file_name().to_string_lossy().starts_with(STAGING) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fails if the directory contains more than `new`, which would replace it.
    pub(super) fn check_content(&self, new: &Content) -> Result<(), OutputError> {
        match self.previous.as_ref().map(|previous| &previous.content) {
            Some(held) if !new.covers(held) => Err(OutputError::HoldsMore {
                path: self.path.clone(),
                option: self.kind.option(),
                held: held.beside(new),
                new: new.beside(held),
            }),
            _ => Ok(()),
        }
    }

    /// Fails if a file that subflow did not write has one of these names, or if a symbolic link leads one of them out
    /// of the directory.
    pub(super) fn check_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), OutputError> {
        match names.into_iter().find_map(|name| self.foreign_at(name)) {
            Some(path) => Err(OutputError::Foreign { path, option: self.kind.option() }),
            None => Ok(()),
        }
    }

    /// What stands in the way of writing the file `name`.
    fn foreign_at(&self, name: &str) -> Option<PathBuf> {
        let parents = Path::new(name).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        let link = parents.map(|parent| self.path.join(parent)).find(|parent| parent.is_symlink());
        let is_ours = self.previous.as_ref().is_some_and(|previous| previous.files.contains(name));
        let file = self.path.join(name);
        link.or_else(|| (!is_ours && file.symlink_metadata().is_ok()).then_some(file))
    }

    /// Replaces the manifest.
    pub(super) fn write_manifest(&self, content: &Content, files: BTreeSet<String>) -> io::Result<()> {
        self.write_manifest_with_keys(content, files, BTreeMap::new())
    }

    /// The same, with what identifies the runs of files that are complete if they are there.
    pub(super) fn write_manifest_with_keys(
        &self,
        content: &Content,
        files: BTreeSet<String>,
        keys: BTreeMap<String, String>,
    ) -> io::Result<()> {
        Manifest { content: content.clone(), files, keys }.write(&self.path, self.kind)
    }

    /// The manifest as it is now.
    pub(super) fn manifest(&self) -> Result<Option<Manifest>, OutputError> {
        Manifest::read(&self.path, self.kind)
    }

    /// Removes the empty directories of these files.
    pub(super) fn remove_empty(&self, files: &BTreeSet<String>) {
        let parents = files.iter().flat_map(|name| Path::new(name).ancestors().skip(1));
        let parents: BTreeSet<&Path> = parents.filter(|parent| !parent.as_os_str().is_empty()).collect();
        for parent in parents.into_iter().rev() {
            // This fails for a directory that is not empty, which stays.
            let _ = std::fs::remove_dir(self.path.join(parent));
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        for path in self.created.iter().rev() {
            // This fails for a directory that is not empty, which stays.
            let _ = std::fs::remove_dir(path);
        }
    }
}

fn is_missing(path: &Path) -> bool {
    let missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    !path.as_os_str().is_empty() && path.symlink_metadata().is_err_and(missing)
}
