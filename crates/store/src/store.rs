//! The folder of a store.
//!
//! `subflow-store.json` has the version. The run with the key `abcd…` is in `ab/abcd….parquet`, or in
//! `ab/abcd….failed.parquet` while it has failed. A file is written under a temporary name, synchronised, and renamed:
//! a process may be killed at any time, and several may write at the same time.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::key::{FORMAT, VERSION};
use crate::{Key, Record, StoreError};

const MARKER: &str = "subflow-store.json";
/// The names of files that are being written begin so.
const STAGING: &str = ".tmp";

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
    version: String,
}

/// A folder with a file for each run.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// The store at `path`, which is created unless it exists.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self { path: path.into() };
        if store.check()? {
            return Ok(store);
        }
        std::fs::create_dir_all(&store.path).map_err(|source| store.failed(&store.path, source))?;
        let entries = std::fs::read_dir(&store.path).map_err(|source| store.failed(&store.path, source))?;
        // What a process that was killed here had begun is no content.
        if entries.flatten().any(|entry| !entry.file_name().to_string_lossy().starts_with(STAGING)) && !store.check()? {
            return Err(StoreError::NotAStore { path: store.path });
        }
        let marker = Marker { format: FORMAT, version: VERSION.to_owned() };
        store.write(&store.path.join(MARKER), &serde_json::to_vec(&marker).expect("a marker is JSON"))?;
        Ok(store)
    }

    /// The store at `path`, which must exist.
    pub fn existing(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self { path: path.into() };
        if store.check()? { Ok(store) } else { Err(StoreError::Missing { path: store.path }) }
    }

    /// Whether the folder is a store of this version; an error if it is one of another version.
    fn check(&self) -> Result<bool, StoreError> {
        let path = self.path.join(MARKER);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(self.failed(&path, source)),
        };
        let marker: Marker =
            serde_json::from_slice(&text).map_err(|error| StoreError::Damaged { path, reason: error.to_string() })?;
        if (marker.format, marker.version.as_str()) != (FORMAT, VERSION) {
            return Err(StoreError::OtherVersion { path: self.path.clone(), found: marker.version });
        }
        Ok(true)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has the results of this run.
    pub fn contains(&self, key: Key) -> bool {
        self.file(key, "").exists()
    }

    /// The record of a run, if there is one.
    pub fn load(&self, key: Key) -> Result<Option<Record>, StoreError> {
        for path in [self.file(key, ""), self.file(key, ".failed")] {
            match std::fs::read(&path) {
                Ok(file) => {
                    let record = Record::decode(file, key);
                    return record.map(Some).map_err(|reason| StoreError::Damaged { path, reason });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(self.failed(&path, source)),
            }
        }
        Ok(None)
    }

    /// Writes the record of a run, which was encoded as `file`. Results replace an earlier error, and no error replaces
    /// results.
    pub fn save(&self, key: Key, record: &Record, file: &[u8]) -> Result<(), StoreError> {
        match record {
            Record::Failed(_) if self.contains(key) => Ok(()),
            Record::Failed(_) => self.write(&self.file(key, ".failed"), file),
            Record::Finished(_) => {
                self.write(&self.file(key, ""), file)?;
                match std::fs::remove_file(self.file(key, ".failed")) {
                    Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(&self.path, error)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Whether no run was written to it.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        let list = |path: &Path| std::fs::read_dir(path).map_err(|source| self.failed(path, source));
        for entry in list(&self.path)?.flatten().filter(|entry| entry.path().is_dir()) {
            let is_run = |name: std::ffi::OsString| !name.to_string_lossy().starts_with(STAGING);
            if list(&entry.path())?.flatten().any(|file| is_run(file.file_name())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the store with all runs in it.
    pub fn remove(self) -> Result<(), StoreError> {
        std::fs::remove_dir_all(&self.path).map_err(|source| self.failed(&self.path, source))
    }

    fn file(&self, key: Key, kind: &str) -> PathBuf {
        let name = key.to_string();
        self.path.join(&name[..2]).join(format!("{name}{kind}.parquet"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        replace(path, bytes).map_err(|source| self.failed(path, source))
    }

    fn failed(&self, path: &Path, source: io::Error) -> StoreError {
        StoreError::Io { path: path.to_owned(), source }
    }
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
