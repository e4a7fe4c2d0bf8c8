//! A folder for results.

use std::io;
use std::path::{Path, PathBuf};

/// The file that marks a folder as one of ours, to be replaced by newer results.
const MARK: &str = ".subflow-results";

/// Why results cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The folder holds something else.
    #[error(
        "{}: the folder exists and was not written by subflow; choose another one with --out, or remove it",
        .0.display()
    )]
    NotOurs(PathBuf),
    /// The path is a file.
    #[error("{}: expected a folder for the results, found a file here or above; choose another one with --out", .0.display())]
    NotAFolder(PathBuf),
    /// The operating system refused.
    #[error("{}: cannot write the results: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// A folder that may be written: absent, empty, or full of results of ours.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Checks that results may go to `path`. Nothing is written yet, so that bad news comes before the work.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let path = path.into();
        let failed = |source| OutputError::Io { path: path.clone(), source };
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { path }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(OutputError::NotAFolder(path)),
            Err(error) => Err(failed(error)),
            Ok(metadata) if !metadata.is_dir() => Err(OutputError::NotAFolder(path)),
            Ok(_) => {
                let empty = std::fs::read_dir(&path).map_err(failed)?.next().is_none();
                let ours = path.join(MARK).exists();
                if empty || ours { Ok(Self { path }) } else { Err(OutputError::NotOurs(path)) }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills a new folder by `fill` and puts it in place of the old one. If anything fails, the old one stays.
    pub fn replace(&self, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), OutputError> {
        self.replaced(fill).map_err(|source| OutputError::Io { path: self.path.clone(), source })
    }

    fn replaced(&self, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let parent = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent)?;
        // In the same parent, so that putting it in place is a rename; removed when dropped on failure.
        let fresh = tempfile::Builder::new().prefix(".subflow-").tempdir_in(parent)?;
        fill(fresh.path())?;
        std::fs::write(
            fresh.path().join(MARK),
            "results of subflow; a new run with the same --out replaces this folder\n",
        )?;
        make_readable(fresh.path())?;

        if self.path.exists() {
            let old = tempfile::Builder::new().prefix(".subflow-old-").tempdir_in(parent)?;
            let aside = old.path().join("results");
            std::fs::rename(&self.path, &aside)?;
            if let Err(error) = std::fs::rename(fresh.path(), &self.path) {
                std::fs::rename(&aside, &self.path)?;
                return Err(error);
            }
        } else {
            std::fs::rename(fresh.path(), &self.path)?;
        }
        // It is in place under another name now: nothing is left to remove.
        let _ = fresh.keep();
        Ok(())
    }
}

/// Temporary folders are private; results are as readable as any new folder.
#[cfg(unix)]
fn make_readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn new_results_replace_old_ones_whole() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("deep/out");
        Folder::new(&out).expect("absent").replace(|path| std::fs::write(path.join("old"), "1")).expect("written");
        Folder::new(&out).expect("ours").replace(|path| std::fs::write(path.join("new"), "2")).expect("written");
        assert_eq!(names(&out), [MARK, "new"]);
        assert_eq!(names(&root.path().join("deep")), ["out"], "nothing is left over");
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("out");
        Folder::new(&out).expect("absent").replace(|path| std::fs::write(path.join("old"), "1")).expect("written");
        let failed = Folder::new(&out).expect("ours").replace(|path| {
            std::fs::write(path.join("half"), "2")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.expect_err("fails").to_string().contains("disk full"));
        assert_eq!(names(&out), [MARK, "old"]);
        assert_eq!(names(root.path()), ["out"], "nothing is left over");
    }

    #[test]
    fn somebody_elses_folder_is_left_alone() {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(root.path().join("thesis.tex"), "x").expect("written");
        assert!(matches!(Folder::new(root.path()), Err(OutputError::NotOurs(_))));
        for file in ["thesis.tex", "thesis.tex/results"] {
            assert!(matches!(Folder::new(root.path().join(file)), Err(OutputError::NotAFolder(_))));
        }
    }
}
