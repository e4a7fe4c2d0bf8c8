//! The folder of a store.
//!
//! `subflow-store.json` has the version and the build of the program, and whether the store is the journal of a command,
//! which removes its runs when it has made results of them. The run with the key `abcd…` is in `ab/abcd….run`, in
//! `ab/abcd….invalid.run` while its results are not valid, or in `ab/abcd….failed.run` while it has failed. A file is
//! written under a temporary name, synchronised, and renamed: a process may be killed at any time, and several
//! may write at the same time. `planned.rs` notes beside them of which scenario they are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::key::build;
use crate::record::{Identity, Stored, is_complete};
use crate::{Key, Record, StoreError};
use crate::{PROGRAM_VERSION, RECORD_FORMAT};

pub(crate) const MARKER: &str = "subflow-store.json";
/// The file that the process of a journal locks, and those that do runs for another store share.
pub(crate) const LOCK: &str = "subflow-store.lock";
/// What the names of files have after the key: of valid results, of results that are not valid, and of errors. The
/// first of those that exist is the record of the run.
const KINDS: [&str; 3] = ["", ".invalid", FAILED];
const FAILED: &str = ".failed";
/// What the names of the files of runs end with.
const EXTENSION: &str = ".run";
/// The name of a request to end runs begins so.
pub(crate) const REQUEST: &str = "subflow-stop-";
/// The name of the note of a plan begins and ends so.
pub(crate) const NOTE: [&str; 2] = ["subflow-plan-", ".json"];
/// The names of files that are being written begin so.
const STAGING: &str = ".tmp";

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
    version: String,
    /// What [`build`] returned. Stores of earlier builds lack it.
    #[serde(default)]
    build: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    journal: bool,
}

/// A folder with a file for each run.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    is_journal: bool,
    /// The file that this process has locked, of a journal.
    lock: Option<Arc<File>>,
}

impl Store {
    /// The store at `path`, which is created unless it exists.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::opened(path.into(), false)
    }

    /// The store at `path`, which is created as the journal of a command unless it exists. A journal is that of one
    /// process at a time, until the last clone of the store is dropped or the process ends.
    pub fn open_journal(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let mut store = Self::opened(path.into(), true)?;
        if store.is_journal {
            store.lock = Some(Arc::new(store.locked()?));
        }
        Ok(store)
    }

    /// The journal at `path`, as [`open_journal`](Self::open_journal) opens it. If it is that of another build of the
    /// program, its runs are removed.
    pub fn open_journal_anew(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let other = Self::check(&path);
        if !matches!(other, Err(StoreError::OtherBuild { is_journal: true, .. })) {
            return Self::open_journal(path);
        }
        let mut store = Self { path, is_journal: true, lock: None };
        store.lock = Some(Arc::new(store.locked()?));
        store.clear()?;
        store.write_marker()?;
        Ok(store)
    }

    fn opened(path: PathBuf, is_journal: bool) -> Result<Self, StoreError> {
        if let Some(store) = Self::check(&path)? {
            return Ok(store);
        }
        let store = Self { path, is_journal, lock: None };
        std::fs::create_dir_all(&store.path).map_err(|source| store.failed(&store.path, source))?;
        if store.entries(&store.path)?.iter().any(|entry| !is_own(entry)) {
            return match Self::check(&store.path)? {
                Some(other) => Ok(other), // Another process has made it just now.
                None => Err(StoreError::NotAStore { path: store.path }),
            };
        }
        store.write_marker()?;
        Ok(store)
    }

    fn write_marker(&self) -> Result<(), StoreError> {
        let (version, build) = (PROGRAM_VERSION.to_owned(), build()?.to_owned());
        let marker = Marker { format: RECORD_FORMAT, version, build, journal: self.is_journal };
        self.write(&self.path.join(MARKER), &serde_json::to_vec(&marker).expect("a marker is JSON"))
    }

    /// The store at `path`, which must exist.
    pub fn existing(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        Self::check(&path)?.ok_or(StoreError::Missing { path })
    }

    /// The store at `path`, if the folder is one of this build; an error if it is one of another version or build.
    fn check(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = path.join(MARKER);
        let text = match std::fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) if path.is_file() => return Err(StoreError::NotAFolder { path: path.to_owned() }),
            Err(source) => return Err(StoreError::Io { path: file, source }),
        };
        let marker: Marker = serde_json::from_slice(&text)
            .map_err(|error| StoreError::DamagedMarker { path: file, reason: error.to_string() })?;
        if marker.version == PROGRAM_VERSION && marker.format != RECORD_FORMAT {
            return Err(StoreError::OtherFormat { path: path.to_owned(), found: marker.format });
        }
        if marker.version != PROGRAM_VERSION {
            return Err(StoreError::OtherVersion { path: path.to_owned(), found: marker.version });
        }
        let (own, is_journal) = (build()?, marker.journal);
        if marker.build != own {
            let unknown = || "an unknown one".to_owned();
            let found = Some(marker.build).filter(|build| !build.is_empty()).unwrap_or_else(unknown);
            return Err(StoreError::OtherBuild { path: path.to_owned(), found, own: own.to_owned(), is_journal });
        }
        Ok(Some(Self { path: path.to_owned(), is_journal: marker.journal, lock: None }))
    }

    /// Whether it was created by [`open_journal`](Self::open_journal).
    pub fn is_journal(&self) -> bool {
        self.is_journal
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has the results of this run, and they are valid ([`RunResult::objections`]). A file that was cut, or
    /// emptied, does not count: the run is done again.
    ///
    /// [`RunResult::objections`]: subflow_lab::results::RunResult::objections
    pub fn contains(&self, key: Key) -> bool {
        is_whole(&self.file(key, KINDS[0]))
    }

    /// The record of a run, if there is one.
    pub fn load(&self, key: Key) -> Result<Option<Record>, StoreError> {
        for path in KINDS.map(|kind| self.file(key, kind)) {
            match std::fs::read(&path) {
                Ok(file) => {
                    let record = Record::decode(&file, key);
                    return record.map(Some).map_err(|reason| StoreError::Damaged { path, reason });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) if path.is_dir() => {
                    return Err(StoreError::Damaged { path, reason: "it is a folder, not a file".to_owned() });
                }
                Err(source) => return Err(self.failed(&path, source)),
            }
        }
        Ok(None)
    }

    /// Writes the record of a run, which was encoded as `file`. Results replace an earlier error, and no error replaces
    /// results. Results that are not valid likewise replace no valid ones.
    pub fn save(&self, key: Key, record: &Record, file: &[u8]) -> Result<(), StoreError> {
        let kind = match record {
            Record::Finished(result) if result.objections().is_empty() => 0,
            Record::Finished(_) => 1,
            Record::Failed(_) => 2,
        };
        if KINDS[..kind].iter().any(|better| is_whole(&self.file(key, better))) {
            return Ok(());
        }
        self.write(&self.file(key, KINDS[kind]), file)?;
        self.remove_files(KINDS.iter().filter(|other| **other != KINDS[kind]).map(|other| self.file(key, other)))
    }

    /// Calls `with` for each run that it has a record of, in the order of their keys.
    pub(crate) fn for_each_run(&self, mut with: impl FnMut(Identity, Record)) -> Result<(), StoreError> {
        for (_, path) in self.records()?.into_values() {
            let file = match std::fs::read(&path) {
                Ok(file) => file,
                // A command that has made results of it has just removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(self.failed(&path, source)),
            };
            let stored = Stored::decode(&file).map_err(|reason| StoreError::Damaged { path, reason })?;
            let (run, record) = stored.into_parts();
            with(run, record);
        }
        Ok(())
    }

    /// For the key of each run the best record that it has: the position of its kind in [`KINDS`], and its file.
    fn records(&self) -> Result<BTreeMap<String, (usize, PathBuf)>, StoreError> {
        let mut best: BTreeMap<String, (usize, PathBuf)> = BTreeMap::new();
        for path in self.runs()? {
            let Some((key, kind)) = path.file_name().and_then(|name| name.to_str()).and_then(key_and_kind) else {
                continue;
            };
            let known = best.entry(key.to_owned()).or_insert_with(|| (kind, path.clone()));
            if kind < known.0 {
                *known = (kind, path.clone());
            }
        }
        Ok(best)
    }

    /// For the key of each run whether it has results; without them it has failed.
    pub(crate) fn outcomes(&self) -> Result<BTreeMap<String, bool>, StoreError> {
        Ok(self.records()?.into_iter().map(|(key, (kind, _))| (key, KINDS[kind] != FAILED)).collect())
    }

    /// How many runs it has records of, those that failed included.
    pub fn count(&self) -> Result<usize, StoreError> {
        Ok(self.runs()?.len())
    }

    /// Whether no run was written to it.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.count()? == 0)
    }

    /// Removes these runs, and the folder if nothing else is in it.
    pub fn remove(&self, keys: impl IntoIterator<Item = Key>) -> Result<(), StoreError> {
        self.remove_files(keys.into_iter().flat_map(|key| KINDS.map(|kind| self.file(key, kind))))?;
        self.remove_if_empty()
    }

    /// Removes all runs, and what was noted of their plans.
    pub fn clear(&self) -> Result<(), StoreError> {
        let notes = self.entries(&self.path)?.into_iter().filter(|entry| note_id(entry).is_some());
        self.remove_files(self.runs()?.into_iter().chain(notes))
    }

    fn remove_files(&self, files: impl IntoIterator<Item = PathBuf>) -> Result<(), StoreError> {
        for file in files {
            match std::fs::remove_file(&file) {
                Err(source) if source.kind() != ErrorKind::NotFound => return Err(self.failed(&file, source)),
                _ => {}
            }
        }
        Ok(())
    }

    fn remove_if_empty(&self) -> Result<(), StoreError> {
        let others = self.entries(&self.path)?.into_iter().any(|entry| !is_own(&entry) && !entry.ends_with(MARKER));
        if others || !self.is_empty()? {
            return Ok(());
        }
        for folder in self.entries(&self.path)?.iter().filter(|path| path.is_dir()) {
            // What is left there was never complete: a process was killed while it wrote.
            std::fs::remove_dir_all(folder).map_err(|source| self.failed(folder, source))?;
        }
        std::fs::remove_dir_all(&self.path).map_err(|source| self.failed(&self.path, source))
    }

    /// The files of all runs.
    fn runs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut runs = Vec::new();
        for folder in self.entries(&self.path)?.into_iter().filter(|path| path.is_dir() && is_own(path)) {
            runs.extend(self.entries(&folder)?.into_iter().filter(|file| !is_staging(file)));
        }
        Ok(runs)
    }

    /// What a folder contains.
    pub(crate) fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let entries = std::fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>());
        entries.map_err(|source| self.failed(folder, source))
    }

    fn file(&self, key: Key, kind: &str) -> PathBuf {
        let name = key.to_string();
        self.path.join(&name[..2]).join(format!("{name}{kind}{EXTENSION}"))
    }

    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        replace(path, bytes).map_err(|source| self.failed(path, source))
    }

    pub(crate) fn failed(&self, path: &Path, source: io::Error) -> StoreError {
        StoreError::Io { path: path.to_owned(), source }
    }
}

/// Whether the file of a run is there to its end. What is no file is there, and reading it tells what is wrong.
fn is_whole(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => File::open(path).is_ok_and(|file| is_complete(file, metadata.len())),
        found => found.is_ok(),
    }
}

/// The key in the name of a run's file, and the place of its kind in [`KINDS`].
fn key_and_kind(name: &str) -> Option<(&str, usize)> {
    let name = name.strip_suffix(EXTENSION)?;
    let (key, kind) = name.split_at(name.find('.').unwrap_or(name.len()));
    Some((key, KINDS.iter().position(|known| *known == kind)?))
}

/// Whether an entry of the folder belongs to a store whose marker is missing: the folder of runs whose keys begin alike,
/// the note of a plan, a request to end runs, or what a process that was killed had begun to write.
fn is_own(entry: &Path) -> bool {
    let is_prefix = |name: &str| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_staging(entry)
        || is_request(entry)
        || entry.ends_with(LOCK)
        || note_id(entry).is_some()
        || entry.is_dir() && entry.file_name().and_then(|name| name.to_str()).is_some_and(is_prefix)
}

/// The ID of the plan that an entry of the folder is the note of.
pub(crate) fn note_id(entry: &Path) -> Option<&str> {
    entry.file_name()?.to_str()?.strip_prefix(NOTE[0])?.strip_suffix(NOTE[1])
}

fn is_request(entry: &Path) -> bool {
    entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with(REQUEST))
}

fn is_staging(entry: &Path) -> bool {
    entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with(STAGING))
}

/// Writes a file that is complete or absent, also after a crash of the machine.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().expect("it is in the store");
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(STAGING).tempfile_in(folder)?;
    // The file itself is written to: errors of the temporary one would name a path that is gone when they are read.
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name is durable when the folder is. Systems on which folders cannot be opened have no such call.
    match std::fs::File::open(folder) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}
