//! What has to be undone, on a file that outlives the process.
//!
//! A proxy has a number, which is its file's, and holds a lock on the file as long as it lives. Each step that undoes a
//! change is in the file before the change is made. So a file without a lock tells what a killed proxy has left.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

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
    /// Takes the first number that no proxy in this network namespace has.
    pub(crate) fn take() -> Result<Self> {
        let failed = |error: std::io::Error| Error::Failed(format!("cannot use the folder {FOLDER}: {error}"));
        fs::create_dir_all(FOLDER).map_err(failed)?;
        for number in 0..MOST {
            let path = path_of(number).map_err(failed)?;
            let file = OpenOptions::new().append(true).create(true).read(true).open(&path).map_err(failed)?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            // Another process may have removed the file before it was locked here, or have left something to undo.
            let is_current =
                fs::metadata(&path).is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino()));
            if is_current && file.metadata().is_ok_and(|own| own.len() == 0) {
                return Ok(Self { file, path, number, undo: Vec::new() });
            }
        }
        let problem = format!("{MOST} proxies run in this network namespace, or were killed in it");
        Err(Error::bad_input(problem, "subflow cleanup removes what killed ones have left"))
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

/// Undoes what killed proxies have left in this network namespace. Returns their names.
pub(crate) fn cleanup() -> Result<Vec<String>> {
    let mut cleaned = Vec::new();
    for number in 0..MOST {
        let Ok(path) = path_of(number) else { break };
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Ok(file) = OpenOptions::new().append(true).open(&path) else {
            let problem = format!("cannot write {}", path.display());
            return Err(Error::bad_input(problem, "run `subflow cleanup` as root (sudo)"));
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
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
