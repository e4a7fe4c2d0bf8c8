//! Errors of folders for results, captures and event logs.

use std::io;
use std::path::PathBuf;

use subflow_lab::remedy;

/// The reason why results, captures or event logs cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The folder exists and was not written by subflow.
    #[error(
        "{}: the folder exists and was not written by subflow; choose another one with {option}, or remove it",
        path.display()
    )]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
    },
    /// The path, or a parent of it, is a file or a broken symbolic link.
    #[error(
        "{}: the path, or a parent of it, is a file or a broken symbolic link; choose another folder with {option}",
        path.display()
    )]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
    },
    /// The folder, or a file in it, cannot be created; found before the run.
    #[error("{}: cannot write to the folder: {source}; choose another one with {option}", path.display())]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file that subflow did not write has the name of one that it would write.
    #[error(
        "{}: the file was not written by subflow and would be overwritten; move it, or choose another folder \
         with {option}",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
    },
    /// A trace of the scenario has the name of a file of the results.
    #[error(
        "the scenario's trace {name} would be written under the name of a file of the results; rename it, or move it \
         to a folder such as traces"
    )]
    TraceName {
        /// Its name in the folder of the results.
        name: String,
    },
    /// The folder contains what the command would not write again.
    #[error(
        "{}: the folder contains {held}, and would contain only {new}; choose another one with {option}, or replace it \
         with --force",
        path.display()
    )]
    HoldsMore {
        /// The folder.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
        /// What it contains.
        held: String,
        /// What the command would write.
        new: String,
    },
    /// The list of the files that subflow wrote cannot be read.
    #[error(
        "{}: cannot read the list of files that subflow wrote to the folder: {reason}; choose another folder \
         with {option}, or remove it",
        path.display()
    )]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// The option for the folder.
        option: &'static str,
        /// The reason.
        reason: String,
    },
    /// A file in the folder cannot be written.
    #[error("{}: cannot write to the folder: {source}{}", path.display(), remedy(source))]
    Io {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}
