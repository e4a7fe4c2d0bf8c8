//! Errors of a store.

use std::io;
use std::path::PathBuf;

use subflow_lab::way_out;

/// The reason why runs cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder contains other things.
    #[error("{}: the folder is not empty and is no store of subflow; choose another one", path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
    },
    /// There is no store.
    #[error("{}: there is no store of subflow; check the path, or do the runs first", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// Another version of the program has written it.
    #[error(
        "{}: the store was written by subflow {found}, this is {} with other results perhaps; finish with that \
         version, or choose another store", path.display(), crate::key::VERSION
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// The other version.
        found: String,
    },
    /// A file of a store is not what was written.
    #[error("{}: the file is damaged ({reason}); remove it, and do the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file with the version is not what was written.
    #[error(
        "{}: the file that makes the folder a store is damaged ({reason}); remove it: the next command writes it anew \
         and keeps the runs", path.display()
    )]
    DamagedMarker {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process works with the journal.
    #[error(
        "{}: another command{} does its runs here; wait for it, or choose another folder for the results",
        path.display(), process.as_ref().map_or(String::new(), |process| format!(" (process {process})"))
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The number of the process, if it is known.
        process: Option<String>,
    },
    /// The path is that of a file.
    #[error("{}: found a file, expected the folder of a store; choose another path", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}{}", path.display(), way_out(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}
