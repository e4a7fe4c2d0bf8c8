//! A folder for results.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::commit::commit;
use super::directory::{Directory, STAGING};
use super::manifest::Kind;
use super::{Content, OutputError};

/// A folder for results, checked before the run.
#[derive(Debug)]
pub struct Folder {
    directory: Directory,
    content: Content,
    force: bool,
}

impl Folder {
    /// Checks that `content` may be written to `path`, and creates it unless it exists: it is writable, it is empty or
    /// was written by subflow, it does not contain more than `content` (unless `force` is set), and no file that
    /// subflow did not write has one of the `names` that will be written.
    pub fn prepare(
        path: impl Into<PathBuf>,
        content: Content,
        names: &[&str],
        force: bool,
    ) -> Result<Self, OutputError> {
        let directory = Directory::open(path.into(), Kind::Results)?;
        let folder = Self { directory, content, force };
        if !folder.directory.is_ours().map_err(|source| folder.failed(source))? {
            return Err(OutputError::NotOurs { path: folder.path().to_owned(), option: Kind::Results.option() });
        }
        if !force {
            folder.directory.check_content(&folder.content)?;
        }
        folder.directory.check_names(names.iter().copied())?;
        Ok(folder)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Replaces the results of an earlier command by those that `fill` writes to the directory it is called with. If
    /// anything fails, the old ones stay. Other files always stay.
    pub(super) fn replace(&self, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), OutputError> {
        self.replace_by(&self.content, fill)
    }

    /// The same, where what there is to write turned out to be `content`, which may be less than was asked for.
    pub(super) fn replace_by(
        &self,
        content: &Content,
        fill: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        if !self.force {
            self.directory.check_content(content)?;
        }
        // This is in the folder so that files can be renamed into place. It is removed when it is dropped.
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(self.path());
        let staging = staging.map_err(|source| self.failed(source))?;
        let _lock = lock(staging.path());
        let [new, old] = ["new", "old"].map(|name| staging.path().join(name));
        let filled = std::fs::create_dir(&new).and_then(|()| fill(&new)).and_then(|()| files_below(&new));
        let files = filled.map_err(|source| self.failed(source))?;
        self.directory.check_names(files.iter().map(String::as_str))?;
        commit(&self.directory, content, [&new, &old], files).map_err(|source| self.failed(source))?;
        self.remove_left_over(staging.path()).map_err(|source| self.failed(source))
    }

    /// Removes what commands that were killed had staged, now that there are results in its place.
    fn remove_left_over(&self, own: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(self.path())? {
            let entry = entry?;
            let is_staging = entry.file_name().to_string_lossy().starts_with(STAGING) && entry.file_type()?.is_dir();
            // Another command may be writing there.
            if is_staging && entry.path() != own && lock(&entry.path()).is_some() {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns when the results are on the disk, so that what they were made of may be removed.
    pub fn sync(&self) -> Result<(), OutputError> {
        let files = self.directory.manifest()?.map(|manifest| manifest.files).unwrap_or_default();
        let parents = files.iter().flat_map(|name| Path::new(name).ancestors().skip(1)).map(Path::to_owned);
        let folders: BTreeSet<PathBuf> = parents.collect();
        let is_opened = |path: &&Path| cfg!(unix) || !path.is_dir();
        let all = files.iter().map(Path::new).chain(folders.iter().map(PathBuf::as_path));
        let mut all = all.map(|name| self.path().join(name));
        all.try_for_each(|path| match is_opened(&path.as_path()) {
            true => std::fs::File::open(path).and_then(|file| file.sync_all()),
            false => Ok(()),
        })
        .map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Io { path: self.path().to_owned(), source }
    }
}

/// The lock of a staging directory; `None` if a process has it, or the system has no such locks.
fn lock(directory: &Path) -> Option<std::fs::File> {
    let directory = std::fs::File::open(directory).ok()?;
    directory.try_lock().ok()?;
    Some(directory)
}

/// The paths of all files below `root`, relative to it.
fn files_below(root: &Path) -> io::Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                directories.push(path);
            } else {
                files.insert(path.to_str().ok_or_else(|| io::Error::other("a file name is not UTF-8"))?.to_owned());
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(path: &Path, count: usize) -> Result<Folder, OutputError> {
        let content = Content::Runs { scenario: "album".to_owned(), count, extent: None };
        Folder::prepare(path, content, &["report.html"], false)
    }

    fn write(path: &Path, name: &str) -> io::Result<()> {
        std::fs::write(path.join(name), name)
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    const MANIFEST: &str = Kind::Results.file_name();

    #[test]
    fn new_results_replace_all_old_ones() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("deep/out");
        prepare(&out, 1).expect("absent").replace(|path| write(path, "old")).expect("written");
        prepare(&out, 1).expect("ours").replace(|path| write(path, "new")).expect("written");
        assert_eq!(names(&out), [MANIFEST, "new"]);
        assert_eq!(names(&root.path().join("deep")), ["out"], "nothing is left over");
    }

    #[test]
    fn a_failure_leaves_the_old_results() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("out");
        prepare(&out, 1).expect("absent").replace(|path| write(path, "old")).expect("written");
        let failed = prepare(&out, 1).expect("ours").replace(|path| {
            write(path, "half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.expect_err("fails").to_string().contains("disk full"));
        assert_eq!(names(&out), [MANIFEST, "old"]);
    }

    #[test]
    fn a_failure_while_files_are_moved_moves_them_back() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let out = root.path().join("out");
        prepare(&out, 1).expect("absent").replace(|path| write(path, "old")).expect("written");
        // The new results need a directory of this name; this is found only while files are moved.
        write(&out, "figures").expect("written");
        let failed = prepare(&out, 1).expect("ours").replace(|path| {
            write(path, "a-new-one")?;
            std::fs::create_dir(path.join("figures"))?;
            write(path, "figures/1.svg")
        });
        assert!(failed.is_err());
        assert_eq!(names(&out), [MANIFEST, "figures", "old"]);
        assert_eq!(std::fs::read(out.join("old")).expect("a file"), b"old");
        prepare(&out, 1).expect("ours").replace(|path| write(path, "new")).expect("written");
        assert_eq!(names(&out), [MANIFEST, "figures", "new"]);
    }

    #[test]
    fn a_folder_of_a_command_that_was_killed_is_used_again() {
        let root = tempfile::tempdir().expect("a temporary folder");
        for name in ["killed", "other"] {
            std::fs::create_dir(root.path().join(format!("{STAGING}{name}"))).expect("made");
        }
        let other = lock(&root.path().join(format!("{STAGING}other"))).expect("nobody has it");
        prepare(root.path(), 1).expect("ours").replace(|path| write(path, "new")).expect("written");
        assert_eq!(names(root.path()), [MANIFEST, &format!("{STAGING}other"), "new"], "the other one is at work");
        drop(other);
        let folder = prepare(root.path(), 1).expect("ours");
        folder.replace(|path| write(path, "new")).expect("written");
        folder.sync().expect("there is a disk");
        assert_eq!(names(root.path()), [MANIFEST, "new"]);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_lead_no_file_out_of_the_folder() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let (out, victim) = (root.path().join("out"), root.path().join("victim"));
        prepare(&out, 1).expect("absent").replace(|path| write(path, "old")).expect("written");
        write(root.path(), "victim").expect("written");
        std::os::unix::fs::symlink(&victim, out.join(format!("{MANIFEST}.new"))).expect("linked");
        prepare(&out, 1).expect("ours").replace(|path| write(path, "new")).expect("written");
        std::os::unix::fs::symlink(root.path(), out.join("figures")).expect("linked");
        let result = prepare(&out, 1).expect("ours").replace(|path| {
            std::fs::create_dir(path.join("figures"))?;
            write(path, "figures/victim")
        });
        assert!(matches!(result, Err(OutputError::Foreign { .. })));
        assert_eq!(std::fs::read(&victim).expect("a file"), b"victim");
    }

    #[test]
    fn a_folder_for_which_nothing_is_written_is_removed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        drop(prepare(&root.path().join("deep/out"), 1).expect("absent"));
        assert_eq!(names(root.path()), [""; 0]);
        std::fs::create_dir(root.path().join("out")).expect("made");
        drop(prepare(&root.path().join("out"), 1).expect("empty"));
        assert_eq!(names(root.path()), ["out"], "it was there before");
    }

    #[test]
    fn a_folder_that_subflow_did_not_write_is_not_changed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        write(root.path(), "thesis.tex").expect("written");
        assert!(matches!(prepare(root.path(), 1), Err(OutputError::NotOurs { .. })));
        for file in ["thesis.tex", "thesis.tex/results"] {
            assert!(matches!(prepare(&root.path().join(file), 1), Err(OutputError::NotAFolder { .. })));
        }
        assert_eq!(names(root.path()), ["thesis.tex"]);
    }

    #[test]
    fn more_results_and_foreign_files_are_found_before_the_run() {
        let root = tempfile::tempdir().expect("a temporary folder");
        prepare(root.path(), 5).expect("empty").replace(|path| write(path, "old")).expect("written");
        assert!(matches!(prepare(root.path(), 4), Err(OutputError::HoldsMore { .. })));
        write(root.path(), "report.html").expect("written");
        assert!(matches!(prepare(root.path(), 5), Err(OutputError::Foreign { .. })));
        assert_eq!(names(root.path()), [MANIFEST, "old", "report.html"]);
    }
}
