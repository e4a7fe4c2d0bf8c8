//! Replaces old files by new ones: all of them, or none.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::Content;
use super::directory::Directory;

/// Moves the files of an earlier command from `directory` to `old`, and `files` from `new` to `directory`. If anything
/// fails, every file is moved back. If the process is killed meanwhile, every file is in one of the three directories.
pub(super) fn commit(
    directory: &Directory,
    content: &Content,
    [new, old]: [&Path; 2],
    files: BTreeSet<String>,
) -> io::Result<()> {
    let (held, previous) = match directory.previous() {
        Some(previous) => (&previous.content, previous.files.clone()),
        None => (content, BTreeSet::new()),
    };
    // Until all files are in place, the manifest lists those of both commands.
    directory.write_manifest(held, previous.union(&files).cloned().collect())?;
    let root = directory.path();
    let mut moves = Moves::default();
    for name in previous.iter().filter(|name| root.join(name).symlink_metadata().is_ok()) {
        moves.rename(root.join(name), old.join(name))?;
    }
    for name in &files {
        moves.rename(new.join(name), root.join(name))?;
    }
    directory.write_manifest(content, files)?;
    moves.keep();
    directory.remove_empty(&previous);
    Ok(())
}

/// Renamed files. They are renamed back when this is dropped.
#[derive(Default)]
struct Moves(Vec<[PathBuf; 2]>);

impl Moves {
    fn rename(&mut self, from: PathBuf, to: PathBuf) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::rename(&from, &to)?;
        self.0.push([from, to]);
        Ok(())
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for Moves {
    fn drop(&mut self) {
        for [from, to] in self.0.drain(..).rev() {
            // A file that cannot be moved back stays; the cause has been reported already.
            let _ = std::fs::rename(to, from);
        }
    }
}
