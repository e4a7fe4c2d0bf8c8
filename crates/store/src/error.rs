//! Errors of a store.

use std::io;
use std::path::PathBuf;

use subflow_lab::remedy;

/// The reason why runs cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder contains other things.
    #[error("{}: the folder is not empty and not a store of subflow; choose another one", path.display())]
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
        "{}: the store was written by subflow {found}, this is {}, which may give different \
         results; finish with that version, or choose another store", path.display(), crate::PROGRAM_VERSION
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// The other version.
        found: String,
    },
    /// Another build of this version has written runs in another format.
    #[error(
        "{}: the runs are stored in format {found}{}, this build of subflow reads format {}; finish with the build that \
         wrote them, or choose another folder", path.display(),
        if *found < 4 { " (Parquet files)" } else { "" }, crate::RECORD_FORMAT
    )]
    OtherFormat {
        /// The folder.
        path: PathBuf,
        /// The number of the other format.
        found: u32,
    },
    /// Another build of this version of the program has written it.
    #[error(
        "{}: the runs were done by another build of subflow ({found}; this is {own}), which may give different \
         results; finish with that build, {}", path.display(),
        if *is_journal { "start again (--force removes the runs), or choose another folder for the results" }
        else { "or choose another store" }
    )]
    OtherBuild {
        /// The folder.
        path: PathBuf,
        /// The other build.
        found: String,
        /// This build.
        own: String,
        /// Whether it is the journal of a command.
        is_journal: bool,
    },
    /// The runs depend on algorithms of which nothing but the name is known.
    #[error(
        "the scenario may use algorithms of another crate, which a store knows only by their names: it could not tell \
         runs with another version of them from these; give the plan an identity for what they do (Plan::identify_by)"
    )]
    Unidentified,
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
        "{}: the file that marks the folder as a store is damaged ({reason}); remove it: the next command writes it \
         again and keeps the runs", path.display()
    )]
    DamagedMarker {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plan of runs cannot be read again.
    #[error(
        "{}: the scenario of these runs cannot be read from their store: {reason}; its results can be made with the \
         scenario's own file (subflow merge)", path.display()
    )]
    UnreadablePlan {
        /// The note of the plan.
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
    #[error("{}: not a folder but a file; choose another path for the store", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}
