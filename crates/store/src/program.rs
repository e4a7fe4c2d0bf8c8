//! Which build of the program does runs. Builds of one version may differ: whoever builds Subflow from its repository
//! has the same version before and after a change.

use std::io::{Error, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use subflow_lab::results::Provenance;

use crate::StoreError;

/// The file of the program.
static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Names the file that contains the program: the native library of a package for another language, whose runtime is the
/// executable of the process. To be called before a store is opened; the first call counts.
pub fn program_is(file: impl Into<PathBuf>) {
    FILE.get_or_init(|| file.into());
}

/// What tells this build from others of the same version: the commit, where the build was told, else a digest of the
/// file of the program, which is read once.
pub(crate) fn build() -> Result<&'static str, StoreError> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(known) = BUILD.get() {
        return Ok(known);
    }
    let file = match FILE.get() {
        Some(file) => file.clone(),
        // The file that runs, also if its name is that of a newer build by now.
        None if cfg!(target_os = "linux") => PathBuf::from("/proc/self/exe"),
        None => std::env::current_exe().map_err(|source| unreadable(Path::new("the executable"), source))?,
    };
    let build = match Provenance::of_this_program().commit {
        Some(commit) => format!("commit {commit}"),
        None => format!("program {}", digest(&file).map_err(|source| unreadable(&file, source))?),
    };
    Ok(BUILD.get_or_init(|| build))
}

fn unreadable(file: &Path, source: Error) -> StoreError {
    StoreError::Io { path: file.to_owned(), source }
}

/// The first 16 hexadecimal digits of the SHA-256 of a file.
fn digest(file: &Path) -> std::io::Result<String> {
    let (mut file, mut hash) = (std::fs::File::open(file)?, Sha256::new());
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => hash.update(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}
