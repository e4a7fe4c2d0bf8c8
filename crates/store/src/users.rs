//! Which process does runs for a store, and how another one asks it to end: by a file in the folder, which
//! [`fill`](crate::fill) looks for before each run. That needs no rights beyond those of writing to the folder, and works
//! where the folder is shared between machines, as far as the numbers of their processes differ.
//!
//! The file is `subflow-stop-N` for the process with number N. Whoever finds that of its own process removes it, so a
//! request is for those runs only that go on when it is made.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::store::{LOCK, REQUEST};
use crate::{Store, StoreError};

impl Store {
    /// The file that is locked while a process works with the journal. It contains the number of the process.
    pub(crate) fn locked(&self) -> Result<File, StoreError> {
        let path = self.path().join(LOCK);
        let failed = |source| self.failed(&path, source);
        let mut file = open_lock(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                self.forget_stop();
                write_own_number(&mut file).map_err(failed)?;
            }
            Err(TryLockError::WouldBlock) => {
                let process = std::fs::read_to_string(&path).ok().filter(|process| !process.is_empty());
                return Err(StoreError::InUse { path: self.path().to_owned(), process });
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        Ok(file)
    }

    /// Notes that this process does runs for the store, until the file is dropped. Several processes may at the same time,
    /// unless it is a journal, which its own process has locked. `None` where the file system has no locks.
    pub(crate) fn used(&self) -> Option<File> {
        if self.is_journal() {
            return None;
        }
        let mut file = open_lock(&self.path().join(LOCK)).ok()?;
        file.lock_shared().ok()?;
        self.forget_stop();
        // The number is that of the process that began last.
        write_own_number(&mut file).ok()?;
        Some(file)
    }

    /// The number of the process that works with the journal, or that began last to do runs for a store that the user has
    /// named; empty if it is not known, `None` if there is none. A command that begins to use a journal in the same
    /// instant may be told that it is in use.
    pub fn user(&self) -> Option<String> {
        let path = self.path().join(LOCK);
        let file = File::open(&path).ok()?;
        let tried = if self.is_journal() { file.try_lock_shared() } else { file.try_lock() };
        match tried {
            Err(TryLockError::WouldBlock) => Some(std::fs::read_to_string(&path).unwrap_or_default()),
            _ => None,
        }
    }

    /// Asks the process that does runs for this store, as [`user`](Store::user) tells it, to end when one of the runs that
    /// it does has ended; what is finished stays. Returns its number, or `None` if there is none, or its number is not
    /// known.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_stop(&self) -> Result<Option<String>, StoreError> {
        let is_number = |process: &String| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
        let Some(process) = self.user().filter(is_number) else { return Ok(None) };
        self.write(&self.request_to(&process), b"")?;
        Ok(Some(process))
    }

    /// Whether this process was asked to end its runs.
    pub(crate) fn is_stop_requested(&self) -> bool {
        self.request_to(&std::process::id().to_string()).exists()
    }

    /// Removes a request to this process, also one to an earlier process of the same number.
    pub(crate) fn forget_stop(&self) {
        // What is not there, or may not be removed, is found again by the next look.
        let _ = std::fs::remove_file(self.request_to(&std::process::id().to_string()));
    }

    fn request_to(&self, process: &str) -> PathBuf {
        self.path().join(format!("{REQUEST}{process}"))
    }
}

/// Opens the file of a lock, which is created empty and keeps what it contains.
fn open_lock(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn write_own_number(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    write!(file, "{}", std::process::id())
}
