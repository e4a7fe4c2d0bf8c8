//! What has to be undone, on a file that outlives the process.
//!
//! A proxy has a number, which is its file's, and holds a lock on the file as long as it lives. Each step that undoes a
//! change is in the file before the change is made. So a file without a lock tells what a killed proxy has left.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::occupied::Occupied;
use super::step::Step;
use crate::error::{Error, Result};

const FOLDER: &str = "/run/subflow";
/// Most proxies at a time in one network namespace.
const MOST: u8 = 64;

/// The journal of a running proxy.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    number: u8,
    undo: Vec<Step>,
}

impl Journal {
    /// Takes the first number that no proxy in this network namespace has, and of which nothing is `occupied`.
    pub(crate) fn take(occupied: &Occupied) -> Result<Self> {
        let failed = |error: std::io::Error| {
            let problem = format!("cannot use the folder {FOLDER}: {error}");
            Error::bad_input(problem, "it takes root and a /run that can be written, for what has to be undone")
        };
        fs::create_dir_all(FOLDER).map_err(failed)?;
        for number in (0..MOST).filter(|&number| !occupied.has(number)) {
            let path = path_of(number).map_err(failed)?;
            let file = OpenOptions::new().append(true).create(true).read(true).open(&path).map_err(failed)?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            // A killed process may have left something to undo.
            if is_current(&file, &path) && file.metadata().is_ok_and(|own| own.len() == 0) {
                return Ok(Self { file, path, number, undo: Vec::new() });
            }
        }
        Err(none_is_free())
    }

    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// Makes a change that `undo` undoes, if it is to be undone.
    pub(crate) fn apply(&mut self, step: &Step, undo: Option<Step>) -> Result<()> {
        if let Some(undo) = undo {
            let line = undo.to_line() + "\n";
            let written = self.file.write_all(line.as_bytes());
            written.map_err(|error| Error::Failed(format!("cannot write {}: {error}", self.path.display())))?;
            self.undo.push(undo);
        }
        step.apply()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // What cannot be undone is gone already: with an interface, for example.
        for step in self.undo.iter().rev() {
            let _ = step.apply();
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// The first number of which nothing is occupied: what a proxy would take if no other runs.
pub(crate) fn free_number(occupied: &Occupied) -> Result<u8> {
    (0..MOST).find(|&number| !occupied.has(number)).ok_or_else(none_is_free)
}

fn none_is_free() -> Error {
    let problem =
        format!("{MOST} proxies run in this network namespace, or were killed in it, or something has their names");
    Error::bad_input(problem, "subflow cleanup removes what killed ones have left")
}

/// Whether a file that was opened and locked is still the one of this path: another process may have removed it before.
fn is_current(file: &File, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino()))
}

/// Undoes what killed proxies have left in this network namespace. Returns their names.
pub(crate) fn cleanup() -> Result<Vec<String>> {
    let mut cleaned = Vec::new();
    for number in 0..MOST {
        let Ok(path) = path_of(number) else { break };
        let mut file = match OpenOptions::new().append(true).read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                let problem = format!("cannot open {}: {error}", path.display());
                return Err(Error::bad_input(problem, "run `subflow cleanup` as root (sudo)"));
            }
        };
        let is_locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let mut text = String::new();
        if !is_locked || !is_current(&file, &path) || file.read_to_string(&mut text).is_err() {
            continue;
        }
        let undo: Vec<Step> = text.lines().filter_map(Step::from_line).collect();
        drop(Journal { file, path, number, undo });
        cleaned.push(format!("proxy {number}"));
    }
    Ok(cleaned)
}

/// The file of a proxy in the network namespace of this thread.
fn path_of(number: u8) -> std::io::Result<PathBuf> {
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(PathBuf::from(format!("{FOLDER}/proxy-{namespace}-{number}")))
}

#[cfg(test)]
mod tests {
    use super::super::plan::devices_of;
    use super::*;

    #[test]
    fn no_number_is_free_when_all_are_occupied() {
        let mut occupied = Occupied::default();
        assert_eq!(free_number(&occupied).ok(), Some(0));
        occupied.devices = (0..MOST - 1).map(|number| devices_of(number) + "0").collect();
        assert_eq!(free_number(&occupied).ok(), Some(MOST - 1));
        occupied.devices.push(devices_of(MOST - 1) + "0");
        let error = free_number(&occupied).expect_err("all are occupied");
        assert!(matches!(&error, Error::BadInput { problem, .. } if problem.contains("64 proxies")), "{error}");
    }
}
