//! The folder of files that outlive a killed process, and tell what has to be undone. It exists while a file is in it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Its path. The folder `/run` is empty when a machine starts.
pub const STATE_FOLDER: &str = "/run/subflow";

/// Makes a file in the folder, which is created where it is missing.
pub fn in_state_folder<T>(mut make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        fs::create_dir_all(STATE_FOLDER)?;
        match make() {
            // Another process has removed the folder, which was still empty.
            Err(error) if error.kind() == ErrorKind::NotFound && !fs::exists(STATE_FOLDER)? => {}
            made => return made,
        }
    }
}

/// Removes the folder if nothing is in it.
pub fn remove_empty_state_folder() {
    let _ = fs::remove_dir(STATE_FOLDER);
}

/// Whether a file that was opened is still the one of this path: whoever ends removes its file, also between the opening
/// and the locking of it by another process.
pub fn is_current(file: &File, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino()))
}
