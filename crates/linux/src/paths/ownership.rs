//! That one process manages the paths of a network namespace, and the kernel's setting meanwhile.
//!
//! The process holds a [lock](StateLock), whose file's name identifies the network namespace.
//! `net.mptcp.pm_type` stays 1 when a process is killed, so that connections which begin meanwhile can be taken over.
//! What it was before is in a file, for the next process, or `subflow cleanup`, to put back. Its name identifies the
//! namespace, too.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::census::{Census, Presence};
use crate::error::{Error, Result, While};
use crate::kernel::Sysctl;
use crate::netlink::{event_listeners, is_passive};
use crate::state_folder::{NamespaceId, STATE_FOLDER, in_state_folder, remove_empty_state_folder};
use crate::state_lock::{NoLock, StateLock};

/// What the name of a lock begins with.
const LOCK: &str = "paths.";
/// What the name of a record begins with.
const RECORD: &str = "pm_type.";
/// What the name of a record ends with that is being written.
const UNFINISHED: &str = ".new";
const SETTING: Sysctl<'_> = Sysctl("mptcp/pm_type");
const USERSPACE: &str = "1";

/// The right to manage the paths of the calling thread's network namespace. New connections are left to the process
/// that has it. Dropping it puts the kernel's setting back; use [`release`](Self::release) to learn of errors.
#[derive(Debug)]
pub struct Ownership {
    _lock: StateLock,
    found: String,
    record: PathBuf,
    released: bool,
}

impl Ownership {
    /// Takes it. Fails if it is taken, or if the machine lacks something.
    pub fn take() -> Result<Self> {
        if !Sysctl("mptcp/enabled").exists() {
            return Err(Error::missing(
                "this kernel does not support MPTCP",
                "expected a kernel built with CONFIG_MPTCP, as in all major distributions since 2021",
            ));
        }
        if !SETTING.exists() {
            return Err(Error::missing("this kernel has no userspace path manager", "expected Linux 5.19 or newer"));
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Error::missing("managing the paths of connections needs root rights", "run it with sudo"));
        }
        let lock = lock().map_err(refusal)?;
        refuse_others()?;
        let record = record_path()?;
        let now = SETTING.read()?;
        // A record of a killed process holds only as long as its setting does.
        let before = fs::read_to_string(&record).ok().map(|text| text.trim().to_owned());
        let found = match before {
            Some(before) if now == USERSPACE && before.parse::<u8>().is_ok() => before,
            _ => now,
        };
        write(&record, &found).map_err(|error| {
            let missing = format!("cannot write {}: {error}", record.display());
            Error::missing(missing, "a writable /run is required, to record the setting that is restored at the end")
        })?;
        let ownership = Self { _lock: lock, found, record, released: false };
        // An error here puts the setting back and removes the record.
        SETTING.write(USERSPACE).map_err(without_rights)?;
        Ok(ownership)
    }

    /// Puts the setting back as it was found.
    pub fn release(mut self) -> Result<()> {
        self.put_back()
    }

    /// Puts the setting back as a killed process found it in the calling thread's network namespace. Returns its value,
    /// or `None` if there is nothing to put back, or a process manages the paths. Fails if another path manager has taken
    /// the setting over meanwhile.
    pub fn undo_of_killed() -> Result<Option<String>> {
        let record = record_path()?;
        if ![&record, &lock_path()?].iter().any(|left| left.exists()) {
            return Ok(None);
        }
        let lock = match lock() {
            Ok(lock) => lock,
            Err(NoLock::Taken(_)) => return Ok(None),
            Err(failed) => return Err(refusal(failed)),
        };
        // Without a record, it was killed before it changed anything.
        let _ = fs::remove_file(unfinished(&record));
        let Ok(found) = fs::read_to_string(&record) else { return Ok(None) };
        let found = found.trim().to_owned();
        refuse_others()?;
        if SETTING.read()? != USERSPACE || found.parse::<u8>().is_err() {
            let _ = fs::remove_file(&record);
            remove_empty_state_folder();
            return Ok(None);
        }
        let ownership = Self { _lock: lock, found: found.clone(), record, released: false };
        ownership.release().map_err(without_rights)?;
        Ok(Some(found))
    }

    /// Removes the records of network namespaces that do not exist any more: their settings have ended with them.
    /// Reports these records, and those that it keeps because it cannot see whether the namespace exists.
    pub fn remove_of_ended(mut report: impl FnMut(&Path, Presence)) -> Result<()> {
        let here = NamespaceId::of_this_thread()?;
        let (mut records, mut harmless) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(STATE_FOLDER).into_iter().flatten().map_while(io::Result::ok) {
            let name = entry.file_name();
            let namespace = |prefix| name.to_str()?.strip_prefix(prefix)?.parse().ok();
            let unfinished = name.to_str().and_then(|name| name.strip_prefix(RECORD)?.strip_suffix(UNFINISHED));
            match [RECORD, LOCK].map(|prefix| namespace(prefix).filter(|&namespace| namespace != here)) {
                [Some(namespace), _] => records.push((namespace, entry.path())),
                [_, Some(namespace)] => harmless.push((namespace, entry.path())),
                _ => harmless.extend(unfinished.and_then(|id| Some((id.parse().ok()?, entry.path())))),
            }
        }
        if records.is_empty() && harmless.is_empty() {
            return Ok(());
        }
        // After the list: no namespace in it can be younger.
        let census = Census::take()?;
        records.sort();
        let mut outcome = Ok(());
        for (namespace, record) in records {
            let presence = census.presence(namespace);
            let removed = match presence {
                Presence::Exists => continue,
                Presence::Unknown => Ok(()),
                Presence::Gone => fs::remove_file(&record).or_else(|error| match error.kind() {
                    ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                }),
            };
            let removed = removed.during(|| format!("cannot remove {}", record.display()));
            if removed.is_ok() {
                report(&record, presence);
            }
            outcome = outcome.and(removed);
        }
        // Locks, which nobody is in such a namespace to hold, and records that were never finished.
        let ended = harmless.into_iter().filter(|(namespace, _)| census.presence(*namespace) == Presence::Gone);
        ended.for_each(|(_, file)| drop(fs::remove_file(file)));
        remove_empty_state_folder();
        outcome
    }

    fn put_back(&mut self) -> Result<()> {
        if core::mem::replace(&mut self.released, true) {
            return Ok(());
        }
        // Without the setting put back, the record is the only note of what it was.
        SETTING.write(&self.found)?;
        // The next process must not take an old record for one of its time.
        let _ = fs::remove_file(&self.record);
        remove_empty_state_folder();
        Ok(())
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        if let Err(error) = self.put_back() {
            log::error!("{error}");
        }
    }
}

/// The lock of this network namespace.
fn lock() -> core::result::Result<StateLock, NoLock> {
    StateLock::take(&lock_path().map_err(|error| NoLock::Failed(io::Error::other(error)))?)
}

fn lock_path() -> Result<PathBuf> {
    Ok(Path::new(STATE_FOLDER).join(format!("{LOCK}{}", NamespaceId::of_this_thread()?)))
}

fn refusal(reason: NoLock) -> Error {
    match reason {
        NoLock::Taken(owner) => {
            let owner = owner.map_or_else(|| "another process".to_owned(), described);
            Error::missing(
                format!("{owner} manages the paths of this network namespace already"),
                "only one process can do this at a time: end it, or send it SIGHUP after a change of its configuration",
            )
        }
        NoLock::Failed(error) => Error::missing(
            format!("cannot lock the paths of this network namespace: {error}"),
            "root rights and a writable /run are required",
        ),
    }
}

/// Fails if the kernel's setting is that of a userspace path manager and another process receives the events.
fn refuse_others() -> Result<()> {
    if SETTING.read()? != USERSPACE {
        return Ok(());
    }
    let ourselves = std::process::id();
    match event_listeners()?.into_iter().find(|&process| process != ourselves && !is_passive(process)) {
        None => Ok(()),
        Some(process) => Err(Error::missing(
            format!("net.mptcp.pm_type is 1, and {} listens to the kernel's MPTCP events", described(process)),
            "another path manager, such as mptcpd, manages this network namespace: end it first",
        )),
    }
}

/// A process by its number and name.
fn described(process: u32) -> String {
    match fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => format!("process {process} ({})", name.trim_end()),
        Err(_) => format!("process {process}"),
    }
}

/// The file with the setting that was found in this network namespace.
fn record_path() -> Result<PathBuf> {
    Ok(Path::new(STATE_FOLDER).join(format!("{RECORD}{}", NamespaceId::of_this_thread()?)))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let staged = unfinished(path);
    in_state_folder(|| fs::write(&staged, text))?;
    fs::rename(staged, path)
}

/// The name of a record while it is being written. The next process writes it again, and `subflow cleanup` removes it.
fn unfinished(record: &Path) -> PathBuf {
    PathBuf::from(format!("{}{UNFINISHED}", record.display()))
}

fn without_rights(error: Error) -> Error {
    match error {
        Error::System { action, source }
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            let remedy = "it takes CAP_NET_ADMIN in the network namespace, and a /proc/sys that can be written";
            Error::missing(format!("{action}: {source}"), remedy)
        }
        other => other,
    }
}
