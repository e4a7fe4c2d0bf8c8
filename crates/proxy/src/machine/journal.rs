//! What has to be undone, on a file that outlives the process.
//!
//! A proxy has a number, which is its file's, and holds a lock on the file as long as it lives. Each step that undoes a
//! change is in the file before the change is made ([`Pending`]). The commands that make changes hold the lock, too: one
//! may still be at work when the proxy that started it has been killed. So a file without a lock tells what a killed
//! proxy has left. Its name identifies the network namespace, to which the steps belong: with the namespace there is nothing
//! to undo any more.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use subflow_linux::{
    Census, NamespaceId, Presence, STATE_FOLDER, in_state_folder, is_current, remove_empty_state_folder, try_lock,
};

use super::Occupied;
use super::pending::{Attempt, Pending, left_in};
use super::plan::Change;
use super::step::{Forwarding, Step};
use crate::error::{Error, Result, both};

/// Most proxies at a time in one network namespace.
const MOST: u8 = 64;

/// The journal of a running proxy.
#[derive(Debug)]
pub(crate) struct Journal {
    namespace: NamespaceId,
    /// The folder of all journals, for the lock while settings that proxies share are changed.
    folder: File,
    pending: Pending,
    path: PathBuf,
    number: u8,
    /// Whether all was undone, or tried.
    has_ended: bool,
}

impl Journal {
    /// Takes the first number that no proxy in this network namespace has, and of which nothing is `occupied`.
    pub(crate) fn take(occupied: &Occupied) -> Result<Self> {
        let failed = |error: io::Error| {
            let problem = format!("cannot use the folder {STATE_FOLDER}: {error}");
            Error::machine(problem, "root rights and a writable /run are required, to record how to undo changes")
        };
        let namespace = namespace()?;
        for number in (0..MOST).filter(|&number| !occupied.has(number)) {
            let path = path_of(namespace, number);
            let open = || OpenOptions::new().append(true).create(true).read(true).open(&path);
            let file = in_state_folder(open).map_err(failed)?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            // A killed process may have left something to undo.
            if is_current(&file, &path) && file.metadata().is_ok_and(|own| own.len() == 0) {
                return Self::of(namespace, number, Pending::new(file, &[]));
            }
        }
        Err(none_is_free())
    }

    /// The journal with these steps, of whose file the process has the lock.
    fn of(namespace: NamespaceId, number: u8, pending: Pending) -> Result<Self> {
        pending.share_with_commands().map_err(|error| Error::system("share the lock with commands", error))?;
        let folder = File::open(STATE_FOLDER);
        let folder = folder.map_err(|error| Error::system(format!("open {STATE_FOLDER}"), error))?;
        Ok(Self { namespace, folder, pending, path: path_of(namespace, number), number, has_ended: false })
    }

    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// Passes the steps that undo the changes of all other proxies in this network namespace to `decide`. None of them
    /// changes a setting that it shares with others meanwhile.
    pub(crate) fn beside_others<T>(&mut self, decide: impl FnOnce(&mut Self, &[Step]) -> T) -> T {
        // The folder cannot be removed: the file of this proxy is in it.
        let is_locked = flock(&self.folder, FlockOperation::LockExclusive).is_ok();
        let claims = claims(self.namespace, Some(self.number));
        let decided = decide(self, &claims);
        if is_locked {
            let _ = flock(&self.folder, FlockOperation::Unlock);
        }
        decided
    }

    /// Closes what this proxy has opened of the interfaces that `is_chosen` names by their index, unless another proxy
    /// needs it: then that one closes it. What cannot be closed stays in the journal.
    fn close(&mut self, is_chosen: impl Fn(&Forwarding) -> bool) -> Result<()> {
        self.beside_others(|journal, claims| {
            let is_needed = |step: &Step| match step {
                Step::Forward(of, _) => {
                    claims.iter().any(|claim| matches!(claim, Step::Forward(other, _) if other.is_same(of)))
                }
                _ => false,
            };
            let is_chosen = |step: &&Step| matches!(step, Step::Forward(of, _) if is_chosen(of));
            let chosen: Vec<Step> = journal.pending.steps().iter().filter(is_chosen).cloned().collect();
            let mut outcome = Ok(());
            for step in chosen {
                let closed = if is_needed(&step) { Ok(()) } else { step.undo() };
                let removed =
                    closed.and_then(|()| journal.pending.remove(&step).map_err(|error| journal.unwritten(error)));
                outcome = outcome.and(removed);
            }
            outcome
        })
    }

    /// Closes what was opened of an interface that has gone, or has another name now.
    pub(crate) fn close_interface(&mut self, index: u32) -> Result<()> {
        self.close(|of| of.is_from(index))
    }

    fn unwritten(&self, error: io::Error) -> Error {
        Error::system(format!("write {}", self.path.display()), error)
    }

    /// Makes a change that `undo` undoes, if it is to be undone.
    pub(crate) fn apply(&mut self, step: &Step, undo: Option<Step>) -> Result<()> {
        if let Some(undo) = undo {
            self.pending.add(undo).map_err(|error| self.unwritten(error))?;
        }
        step.apply()
    }

    /// Makes these changes, until one fails.
    pub(crate) fn apply_all(&mut self, changes: Vec<Change>) -> Result<()> {
        changes.into_iter().try_for_each(|(step, undo)| self.apply(&step, undo))
    }

    /// Undoes all changes. Those that cannot be undone stay in the file, for `subflow cleanup`.
    pub(crate) fn end(mut self) -> Result<()> {
        self.has_ended = true;
        self.undo_all()
    }

    /// Undoes the last change first. What is gone already, with an interface for example, counts as undone.
    fn undo_all(&mut self) -> Result<()> {
        // Before the firewall lets through what it has dropped. What fails is tried again below.
        let _ = self.close(|_| true);
        let Attempt { failures, unwritten } = self.pending.undo_all();
        let Some(first) = failures.first() else {
            let _ = fs::remove_file(&self.path);
            remove_empty_state_folder();
            return Ok(());
        };
        let (number, path) = (self.number, self.path.display());
        let problem = match failures.len() {
            1 => format!("a change of proxy {number} is not undone: {first}"),
            several => format!("{several} changes of proxy {number} are not undone: {first}, and more"),
        };
        Err(Error::NotUndone(match unwritten {
            None => format!("{problem}; `subflow cleanup` retries the changes in {path}"),
            Some(error) => format!("{problem}; {path} cannot be written: {error}"),
        }))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.has_ended {
            // There is nobody to tell; what fails stays in the file.
            let _ = self.undo_all();
        }
    }
}

/// The first number of which nothing is occupied: what a proxy would take if no other runs.
pub(crate) fn free_number(occupied: &Occupied) -> Result<u8> {
    (0..MOST).find(|&number| !occupied.has(number)).ok_or_else(none_is_free)
}

fn none_is_free() -> Error {
    let problem =
        format!("{MOST} proxies run in this network namespace, or were killed in it, or something has their names");
    Error::machine(problem, "`subflow cleanup` undoes the changes of killed ones")
}

/// Undoes what killed proxies have left in this network namespace, and removes the journals of namespaces that have
/// ended. `report` gets a line for each, also where something else fails.
pub(crate) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<()> {
    let namespace = namespace()?;
    let mut outcome = Ok(());
    for number in 0..MOST {
        outcome = both(outcome, clean_up_after(namespace, number, report));
    }
    outcome = both(outcome, remove_of_ended(namespace, report));
    remove_empty_state_folder();
    outcome
}

/// Undoes what this proxy has left, if it was killed.
fn clean_up_after(namespace: NamespaceId, number: u8, report: &mut dyn FnMut(&str)) -> Result<()> {
    let Some((file, content)) = open_left_behind(&path_of(namespace, number))? else { return Ok(()) };
    let mut journal = Journal::of(namespace, number, Pending::new(file, &content))?;
    journal.has_ended = true;
    let before = journal.pending.steps().len();
    let outcome = journal.undo_all();
    match before - journal.pending.steps().len() {
        _ if outcome.is_ok() => report(&format!("removed proxy {number}")),
        0 => {}
        removed => report(&format!("removed {removed} of {before} changes of proxy {number}")),
    }
    outcome
}

/// Removes the journals of namespaces that do not exist any more: all of their changes have ended with them.
fn remove_of_ended(here: NamespaceId, report: &mut dyn FnMut(&str)) -> Result<()> {
    let (mut left, mut outcome) = (Vec::new(), Ok(()));
    for entry in fs::read_dir(STATE_FOLDER).into_iter().flatten().map_while(io::Result::ok) {
        match parts_of(&entry.file_name().to_string_lossy()) {
            Some((namespace, number)) if namespace != here => match open_left_behind(&entry.path()) {
                Ok(opened) => left.extend(opened.map(|(file, _)| (namespace, number, entry.path(), file))),
                Err(error) => outcome = both(outcome, Err(error)),
            },
            _ => {}
        }
    }
    if left.is_empty() {
        return outcome;
    }
    // After the locks: where a proxy begins meanwhile the namespace has no file in the list.
    let census = match Census::take() {
        Ok(census) => census,
        Err(error) => return both(outcome, Err(error.into())),
    };
    left.sort_by_key(|&(namespace, number, ..)| (namespace, number));
    for (namespace, number, path, _lock) in left {
        match census.presence(namespace) {
            Presence::Gone => {
                let _ = fs::remove_file(path);
                report(&format!("removed the journal of proxy {number} of a network namespace that no longer exists"));
            }
            Presence::Unknown => report(&format!(
                "kept {}, the journal of a killed proxy: cannot determine whether its network namespace exists",
                path.display()
            )),
            // A cleanup in that namespace uses it.
            Presence::Exists => {}
        }
    }
    outcome
}

/// Opens and locks the journal at `path`, if there is one and no proxy holds it.
fn open_left_behind(path: &Path) -> Result<Option<(File, Vec<u8>)>> {
    let mut file = match OpenOptions::new().append(true).read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let problem = format!("cannot open {}: {error}", path.display());
            return Err(Error::machine(problem, "run `subflow cleanup` as root (sudo)"));
        }
    };
    let locked = try_lock(&file).map_err(|error| Error::system(format!("lock {}", path.display()), error))?;
    if !locked || !is_current(&file, path) {
        return Ok(None);
    }
    let mut content = Vec::new();
    let read = file.read_to_end(&mut content);
    read.map_err(|error| Error::system(format!("read {}", path.display()), error))?;
    Ok(Some((file, content)))
}

/// The steps that undo the changes of the proxies in a network namespace, without those of `except`.
fn claims(namespace: NamespaceId, except: Option<u8>) -> Vec<Step> {
    let entries = fs::read_dir(STATE_FOLDER).into_iter().flatten().map_while(io::Result::ok);
    let is_other = |(of, number): (NamespaceId, u8)| of == namespace && Some(number) != except;
    let others = entries.filter(|entry| parts_of(&entry.file_name().to_string_lossy()).is_some_and(is_other));
    others.filter_map(|entry| fs::read(entry.path()).ok()).flat_map(|content| left_in(&content)).collect()
}

/// The steps that undo the changes of all proxies in this network namespace, as far as they can be read.
pub(crate) fn claims_here() -> Vec<Step> {
    namespace().map_or_else(|_| Vec::new(), |namespace| claims(namespace, None))
}

/// The network namespace of this thread.
fn namespace() -> Result<NamespaceId> {
    Ok(NamespaceId::of_this_thread()?)
}

/// The file of a proxy in a network namespace.
fn path_of(namespace: NamespaceId, number: u8) -> PathBuf {
    Path::new(STATE_FOLDER).join(format!("proxy-{namespace}-{number}"))
}

/// The network namespace and the number of the proxy whose file has this name.
fn parts_of(name: &str) -> Option<(NamespaceId, u8)> {
    let (namespace, number) = name.strip_prefix("proxy-")?.rsplit_once('-')?;
    Some((namespace.parse().ok()?, number.parse().ok()?))
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
        assert!(matches!(&error, Error::Machine { problem, .. } if problem.contains("64 proxies")), "{error}");
    }

    #[test]
    fn the_name_of_a_journal_has_the_network_namespace_and_the_number() {
        for id in [NamespaceId::Cookie(4711), NamespaceId::Inode(4_026_531_840)] {
            let path = path_of(id, 3);
            let name = path.file_name().expect("it has one").to_string_lossy();
            assert_eq!(parts_of(&name), Some((id, 3)), "{name}");
        }
        for foreign in ["pm_type.17", "proxy-", "proxy-17", "proxy-x-1", "proxy-17-256", ""] {
            assert_eq!(parts_of(foreign), None, "{foreign}");
        }
    }
}
