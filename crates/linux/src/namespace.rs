//! Network namespaces: made, entered, removed.
//!
//! A namespace has a name under `/run/netns`, where `ip netns exec` finds it while a run goes on. That name is all that
//! outlives a process that is killed: devices and sockets vanish with their last descriptor. [`cleanup`] knows what is
//! left over by two signs, and both have to be there: the process that the name tells, by its PID and by when it
//! started (a PID alone may be somebody else's by now), does not live; and nobody holds the lock that a run has on its
//! namespaces until its last thread has ended, whichever PID namespace that is in.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use rustix::thread::LinkNameSpaceType;

use crate::error::{Error, Result, While};
use crate::sys;

/// Where `ip netns` keeps names, too.
const FOLDER: &str = "/run/netns";
const PREFIX: &str = "subflow-";
pub(crate) const THIS_THREAD: &str = "/proc/thread-self/ns/net";

/// A network namespace of ours. Dropping it takes its name away; it is gone when nothing in it is left.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    handle: OwnedFd,
}

impl Namespace {
    /// Makes the namespace `subflow-PID.START-NAME`; START is when the process started, in clock ticks since the
    /// machine did.
    pub fn create(name: &str) -> Result<Self> {
        let process = std::process::id();
        let missing =
            || Error::missing("/proc does not tell when this process started", "mount it: mount -t proc proc /proc");
        let started = started(process).ok_or_else(missing)?;
        Self::create_named(Maker { process, started }.name_of(name))
    }

    fn create_named(name: String) -> Result<Self> {
        fs::create_dir_all(FOLDER).during(|| format!("cannot make {FOLDER}"))?;
        let path = path_of(&name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(Error::NameClash(name)),
            Err(error) => return Err(error).during(|| format!("cannot make {}", path.display())),
        }
        // A thread of its own enters the namespace, so that no other thread ever leaves the one it is in.
        let made = in_thread(|| {
            sys::new_network_namespace().during(|| "cannot make a network namespace".into())?;
            let handle = File::open(THIS_THREAD).during(|| format!("cannot open {THIS_THREAD}"))?;
            // Before anybody can see it. It ends with the handle, however the process ends.
            flock(&handle, FlockOperation::NonBlockingLockShared)
                .during(|| "cannot lock a network namespace".into())?;
            rustix::mount::mount_bind(THIS_THREAD, &path).during(|| format!("cannot mount {}", path.display()))?;
            Ok(OwnedFd::from(handle))
        });
        match made {
            Ok(handle) => Ok(Self { name, handle }),
            Err(error) => {
                remove(&path);
                Err(error)
            }
        }
    }

    /// Its name for `ip netns exec`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves the calling thread into it for good: what it opens from here on belongs to the namespace.
    pub fn enter(&self) -> Result<()> {
        rustix::thread::move_into_link_name_space(self.handle.as_fd(), Some(LinkNameSpaceType::Network))
            .during(|| format!("cannot enter the network namespace {}", self.name))
    }

    /// Does `work` inside, in a thread of its own.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            self.enter()?;
            work()
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        remove(&path_of(&self.name));
    }
}

/// Removes the namespaces of processes that are gone, and names them.
pub fn cleanup() -> Result<Vec<String>> {
    let mut removed = Vec::new();
    let Ok(entries) = fs::read_dir(FOLDER) else { return Ok(removed) };
    for entry in entries {
        let name = entry.during(|| format!("cannot read {FOLDER}"))?.file_name().to_string_lossy().into_owned();
        let path = path_of(&name);
        if is_left_over(&name, &path) {
            remove(&path);
            if path.exists() {
                let missing = format!("cannot remove {}", path.display());
                return Err(Error::missing(missing, "run `subflow cleanup` as root (sudo)"));
            }
            removed.push(name);
        }
    }
    removed.sort();
    Ok(removed)
}

/// Whether `name`, at `path`, is a namespace of ours that nobody uses. Where in doubt it is not.
fn is_left_over(name: &str, path: &Path) -> bool {
    // What is mounted there, and what it is mounted on, are empty files.
    let is_empty_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    is_empty_file && Maker::of(name).is_some_and(|maker| !maker.lives()) && !is_held(path)
}

/// Whether a run holds the namespace at `path`.
fn is_held(path: &Path) -> bool {
    // Who may not even open it cannot remove it either, and is told so.
    let Ok(file) = File::open(path) else { return false };
    flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
}

/// The process that made a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    process: u32,
    /// When it started, in clock ticks since the machine did.
    started: u64,
}

impl Maker {
    /// The name of its namespace for the host `name`.
    fn name_of(self, name: &str) -> String {
        format!("{PREFIX}{}.{}-{}", self.process, self.started, file_name(name))
    }

    /// Who made the namespace `name`, if it is one of ours.
    fn of(name: &str) -> Option<Self> {
        let (process, started) = name.strip_prefix(PREFIX)?.split_once('-')?.0.split_once('.')?;
        let are_numbers = [process, started].iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        are_numbers.then_some(Self { process: process.parse().ok()?, started: started.parse().ok()? })
    }

    /// Whether it is there and has not ended.
    fn lives(self) -> bool {
        started(self.process) == Some(self.started)
    }
}

/// When a process started, if it is there and has not ended: one that nobody has waited for yet is a zombie.
fn started(process: u32) -> Option<u64> {
    started_by(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The same from what `/proc/PID/stat` says: `PID (NAME) STATE …`, with the start as the 22nd field.
fn started_by(stat: &str) -> Option<u64> {
    // The name may contain anything.
    let mut after_name = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = after_name.next()?;
    if matches!(state, "Z" | "X") { None } else { after_name.nth(18)?.parse().ok() }
}

fn path_of(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// `name` with every character replaced that a file's name cannot have.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn remove(path: &Path) {
    // Where it was not mounted yet, or somebody was faster, there is less to do.
    let _ = rustix::mount::unmount(path, UnmountFlags::DETACH);
    let _ = fs::remove_file(path);
}

/// Does `work` in a new thread and waits for it.
pub(crate) fn in_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work).during(|| "cannot start a thread".into())?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_maker() {
        let maker = Maker { process: 4711, started: 123_456 };
        assert_eq!(maker.name_of("my phone"), "subflow-4711.123456-my_phone");
        for name in ["subflow-4711.123456-phone", "subflow-4711.123456-my-phone"] {
            assert_eq!(Maker::of(name), Some(maker), "{name}");
        }
        for foreign in ["subflow-4711-phone", "subflow-4711.123456", "subflow-phone", "subflow-4711.+1-x", "blue", ""] {
            assert_eq!(Maker::of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn the_start_is_found_behind_any_name() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
        assert_eq!(started_by(&format!("42 (a) b (c)) {rest}\n")), Some(987_654));
        assert_eq!(started_by(&format!("42 (zombie) {}\n", rest.replacen('S', "Z", 1))), None);
        assert_eq!(started_by("42 (short) S 1 2"), None);
        assert_eq!(started_by(""), None);
    }

    #[test]
    fn only_what_runs_lives() {
        let process = std::process::id();
        let started_here = started(process).expect("this process runs");
        assert!(Maker { process, started: started_here }.lives());
        assert!(!Maker { process, started: started_here - 1 }.lives(), "somebody else had this PID before");
        let mut ended = std::process::Command::new("true").spawn().expect("starts");
        while started(ended.id()).is_some() {
            std::thread::yield_now();
        }
        ended.wait().expect("ended");
        assert_eq!(started(ended.id()), None);
    }

    /// As it looks from another PID namespace, in which the maker is not to be seen.
    #[test]
    fn a_namespace_in_use_is_not_left_over_even_where_its_maker_seems_to_be_gone() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: it needs root");
            return;
        }
        let nobody = Maker { process: u32::MAX, started: std::process::id().into() };
        let namespace = Namespace::create_named(nobody.name_of("held")).expect("a namespace");
        let (name, path) = (namespace.name().to_owned(), path_of(namespace.name()));
        assert!(!nobody.lives() && !is_left_over(&name, &path));
        // What a process leaves that is killed: the name, and no handle.
        let Namespace { handle, .. } = &namespace;
        flock(handle, FlockOperation::Unlock).expect("unlocked");
        assert!(is_left_over(&name, &path));
        drop(namespace);
        assert!(!path.exists());
    }

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("a/b c.d-e"), "a_b_c.d-e");
    }
}
