//! A lock on a name, for as long as a process runs: a file in a folder of root's, which only root can open.
//!
//! The kernel lets go of it when the process ends, however it ends. The file that a killed process leaves does no harm:
//! whoever comes next locks it and removes it in the end. A name that needs no rights, such as a Unix socket's in the
//! abstract name space, would let any user keep the place.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::file_lock::try_lock;
use crate::state_folder::{in_state_folder, is_current, remove_empty_state_folder};

/// The lock. Dropped, it removes its file.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
    path: PathBuf,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum NoLock {
    /// A process has it: this one, if that is known.
    Taken(Option<u32>),
    /// The file cannot be used.
    Failed(io::Error),
}

impl StateLock {
    /// Takes the lock of this file, at once or not at all. Of a process that was killed it waits for the end.
    pub fn take(path: &Path) -> Result<Self, NoLock> {
        // Who can open the file can lock it: nobody else may, from its first moment on.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        loop {
            let mut file = in_state_folder(|| options.open(path)).map_err(NoLock::Failed)?;
            if !try_lock(&file).map_err(NoLock::Failed)? {
                return Err(NoLock::Taken(owner(&mut file)));
            }
            // Another process may have removed it between the two.
            if !is_current(&file, path) {
                continue;
            }
            let noted = file.set_permissions(Permissions::from_mode(0o600)).and_then(|()| file.set_len(0));
            noted.and_then(|()| write!(file, "{}", std::process::id())).map_err(NoLock::Failed)?;
            return Ok(Self { _file: file, path: path.to_owned() });
        }
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        remove_empty_state_folder();
    }
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> Option<PathBuf> {
        if !rustix::process::geteuid().is_root() {
            subflow_prerequisite::Prerequisite::Kernel.missing("only root locks a file in /run");
            return None;
        }
        Some(Path::new(crate::STATE_FOLDER).join(format!("test-{name}-{}", std::process::id())))
    }

    #[test]
    fn a_lock_is_had_once_and_says_by_whom_and_leaves_no_file() {
        let Some(path) = path("lock") else { return };
        let lock = StateLock::take(&path).expect("nobody has it");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "who can open it can lock it");
        let refusal = StateLock::take(&path).expect_err("it is taken");
        assert!(matches!(refusal, NoLock::Taken(Some(owner)) if owner == std::process::id()), "{refusal:?}");
        drop(lock);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_a_killed_process_left_is_taken_over() {
        let Some(path) = path("left") else { return };
        in_state_folder(|| fs::write(&path, "123456789")).expect("root may");
        let lock = StateLock::take(&path).expect("nobody holds it");
        assert_eq!(fs::read_to_string(&path).ok(), Some(std::process::id().to_string()));
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        drop(lock);
        assert!(!path.exists());
    }
}
