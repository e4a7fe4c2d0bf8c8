//! The list of the files that subflow wrote to a folder. Only these are replaced or removed by a later command.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::{Content, OutputError};

/// Several kinds of files may share a folder; each has its own manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Results,
    Captures,
    Events,
    Programs,
}

impl Kind {
    /// The name of the manifest's file.
    pub(super) const fn file_name(self) -> &'static str {
        match self {
            Self::Results => ".subflow-results",
            Self::Captures => ".subflow-captures",
            Self::Events => ".subflow-events",
            Self::Programs => ".subflow-programs",
        }
    }

    /// The option that names the folder.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Results => "--out",
            Self::Captures => "--pcap",
            Self::Events => "--events",
            Self::Programs => "--out",
        }
    }
}

/// What subflow wrote to a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// What the files contain.
    pub(super) content: Content,
    /// Their paths below the folder.
    pub(super) files: BTreeSet<String>,
    /// Of files that are complete if they are there, what identifies the run that wrote them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) keys: BTreeMap<String, String>,
}

impl Manifest {
    /// Reads the manifest of `directory`; `None` if there is none.
    pub(super) fn read(directory: &Path, kind: Kind) -> Result<Option<Self>, OutputError> {
        let path = directory.join(kind.file_name());
        let bad = |reason: String| OutputError::BadManifest { path: path.clone(), option: kind.option(), reason };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(bad(error.to_string())),
        };
        let manifest: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        match manifest.files.iter().find(|name| !is_below(Path::new(name))) {
            Some(name) => Err(bad(format!("found {name:?}, expected the path of a file in the folder"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Writes the manifest of `directory`: the old one or the new one is there at any time.
    pub(super) fn write(&self, directory: &Path, kind: Kind) -> io::Result<()> {
        let path = directory.join(kind.file_name());
        let fresh = directory.join(format!("{}.new", kind.file_name()));
        // An earlier command may have been killed here, and a symbolic link of this name must not be followed.
        match std::fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = std::fs::File::create_new(&fresh)?;
        file.write_all((serde_json::to_string_pretty(self)? + "\n").as_bytes())?;
        std::fs::rename(&fresh, &path)
    }
}

/// Whether a path leads to a file below the directory that it is relative to.
pub(super) fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
