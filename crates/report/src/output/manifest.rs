//! The list of the files that subflow wrote to a folder. Only these are replaced or removed by a later command.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

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

/// What a command has written to a folder.
#[derive(Clone, Debug)]
pub struct Written {
    folder: PathBuf,
    /// What the files contain.
    pub content: Content,
    /// The paths of the files below the folder.
    pub files: BTreeSet<String>,
}

impl Written {
    /// The results in `folder`; `None` if no command has written some there.
    ///
    /// # Errors
    ///
    /// The list of the files is damaged, or is of a later version.
    pub fn read(folder: &Path) -> Result<Option<Self>, OutputError> {
        let manifest = Manifest::read(folder, Kind::Results)?;
        Ok(manifest.map(|Manifest { content, files, .. }| Self { folder: folder.to_owned(), content, files }))
    }

    /// Those of its files that are not there any more.
    pub fn missing(&self) -> Vec<String> {
        self.files.iter().filter(|name| !self.folder.join(name).is_file()).cloned().collect()
    }

    /// The path of one of its files, unless it leads out of the folder by a symbolic link, or is none.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let name = self.files.get(name)?;
        let [folder, file] = [&self.folder, &self.folder.join(name)].map(|path| path.canonicalize().ok());
        file.filter(|file| folder.is_some_and(|folder| file.starts_with(folder)) && file.is_file())
    }
}

/// Whether a path leads to a file below the directory that it is relative to.
pub(super) fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::super::Folder;
    use super::*;

    #[test]
    fn files_are_those_that_a_command_has_written_and_links_lead_nowhere() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("out");
        std::fs::write(root.path().join("secret"), "secret").expect("written");
        assert!(Written::read(root.path()).expect("nothing is wrong").is_none());
        let folder = Folder::prepare(&out, Content::Watched, &[], false).expect("absent");
        let write = |path: &Path, name: &str| std::fs::write(path.join(name), name);
        folder.replace(|path| write(path, "a").and_then(|()| write(path, "b"))).expect("written");
        std::fs::write(out.join("foreign"), "not ours").expect("written");
        let written = Written::read(&out).expect("it can be read").expect("results");
        assert_eq!(written.content, Content::Watched);
        assert!(written.file("a").is_some_and(|file| file.ends_with("out/a")));
        for name in ["foreign", "../secret", "", ".subflow-results"] {
            assert_eq!(written.file(name), None, "{name}");
        }
        #[cfg(unix)]
        {
            std::fs::remove_file(out.join("b")).expect("removed");
            std::os::unix::fs::symlink(root.path().join("secret"), out.join("b")).expect("linked");
            assert_eq!(written.file("b"), None);
        }
    }
}
