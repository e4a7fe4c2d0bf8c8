//! Network namespaces: creation, use and removal.
//!
//! A namespace has a name under `/run/netns`, where `ip netns exec` finds it during a run. Only this name remains after
//! a process is killed: devices and sockets are removed with their last descriptor. [`cleanup`] removes a namespace if
//! both of these conditions hold. First, the process identified by the name, by its PID and its start time (the PID may
//! be reused), no longer exists. Second, no process holds the lock that a run has on its namespaces until its last
//! thread ends; this also works across PID namespaces.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::thread::LinkNameSpaceType;

use crate::error::{Error, Result, While};
use crate::file_lock::{outlives_its_end, try_lock};
use crate::mount_point;
use crate::netlink::RouteControl;
use crate::process_stat::ProcessStat;
use crate::sys;

/// The folder of names, the same as that of `ip netns`.
const FOLDER: &str = "/run/netns";
const PREFIX: &str = "subflow-";
pub(crate) const THREAD_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// A network namespace that we created. Dropping it removes its name; the kernel removes the namespace when nothing
/// uses it.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    handle: OwnedFd,
}

impl Namespace {
    /// Creates the namespace `subflow-PID.START-NAME`. START is the start time of the process in clock ticks since
    /// boot.
    pub fn create(name: &str) -> Result<Self> {
        let new = || sys::new_network_namespace().during(|| "cannot create a network namespace".into());
        Self::create_named(name_here(name)?, new)
    }

    /// Gives an existing network namespace such a name, too: that which is `existing`, as `ip netns` lists it, or that of
    /// the process with this number. It stays when the name is removed.
    pub fn join(name: &str, existing: &str) -> Result<Self> {
        let is_process = existing.bytes().all(|byte| byte.is_ascii_digit());
        let path = if is_process { format!("/proc/{existing}/ns/net").into() } else { path_of(existing) };
        let file = File::open(&path).map_err(|error| {
            let missing = format!("there is no network namespace {existing:?} ({}: {error})", path.display());
            Error::missing(missing, "`ip netns` lists the names; a number is that of a process, such as a container's")
        })?;
        let enter = move || {
            rustix::thread::move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                .during(|| format!("cannot enter the network namespace {}", path.display()))
        };
        Self::create_named(name_here(name)?, enter)
    }

    /// Makes `name` the name of the namespace that `enter` moves its thread into.
    fn create_named(name: String, enter: impl FnOnce() -> Result<()> + Send) -> Result<Self> {
        fs::create_dir_all(FOLDER).during(|| format!("cannot create {FOLDER}"))?;
        let path = path_of(&name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(Error::NameClash(name)),
            Err(error) => return Err(error).during(|| format!("cannot create {}", path.display())),
        }
        // A separate thread enters the namespace, so that no other thread leaves its own.
        let made = in_thread(|| {
            enter()?;
            let handle = File::open(THREAD_NAMESPACE).during(|| format!("cannot open {THREAD_NAMESPACE}"))?;
            // Locked before it is visible. The lock ends with the handle, however the process ends.
            flock(&handle, FlockOperation::NonBlockingLockShared)
                .during(|| "cannot lock a network namespace".into())?;
            rustix::mount::mount_bind(THREAD_NAMESPACE, &path).during(|| format!("cannot mount {}", path.display()))?;
            Ok(OwnedFd::from(handle))
        });
        match made {
            Ok(handle) => Ok(Self { name, handle }),
            Err(error) => {
                mount_point::remove(&path);
                Err(error)
            }
        }
    }

    /// Its name, as used by `ip netns exec`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A descriptor of it.
    pub(crate) fn handle(&self) -> Result<OwnedFd> {
        self.handle.try_clone().during(|| format!("cannot copy the descriptor of {}", self.name))
    }

    /// Its inode, which `/proc/PID/ns/net` of the processes in it has.
    pub(crate) fn inode(&self) -> Option<u64> {
        rustix::fs::fstat(&self.handle).ok().map(|found| found.st_ino)
    }

    /// Moves the calling thread into the namespace permanently: sockets that it opens from now on belong to the
    /// namespace.
    pub fn enter(&self) -> Result<()> {
        rustix::thread::move_into_link_name_space(self.handle.as_fd(), Some(LinkNameSpaceType::Network))
            .during(|| format!("cannot enter the network namespace {}", self.name))
    }

    /// Runs `work` in the namespace, in a separate thread.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            self.enter()?;
            work()
        })
    }
}

/// The name of this process's namespace for the host `name`.
fn name_here(name: &str) -> Result<String> {
    let process = std::process::id();
    let missing =
        || Error::missing("/proc does not show the start time of this process", "mount it: mount -t proc proc /proc");
    let started = started(process).ok_or_else(missing)?;
    Ok(Maker { process, started }.name_of(name))
}

impl Drop for Namespace {
    fn drop(&mut self) {
        mount_point::remove(&path_of(&self.name));
    }
}

/// Removes the namespaces of processes that no longer exist, and the folders of their switches. Reports the name of
/// each. One that cannot be removed does not keep the others.
pub fn cleanup(mut report: impl FnMut(&str)) -> Result<()> {
    // Only while its namespace exists is it sure whose a folder is.
    let mut outcome = cleanup_folders(&mut report);
    let Ok(entries) = fs::read_dir(FOLDER) else { return outcome };
    let names = entries.map_while(io::Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| is_left_over(name, &path_of(name))).collect();
    names.sort();
    for name in names {
        let path = path_of(&name);
        // A namespace that was there before lives on, with rules that lead nowhere. Where it cannot be entered, nothing is
        // to be done.
        let _ = remove_rules(&path);
        mount_point::remove(&path);
        if path.exists() {
            let missing = format!("cannot remove {}", path.display());
            outcome = outcome.and(Err(Error::missing(missing, "run `subflow cleanup` as root (sudo)")));
        } else {
            report(&name);
        }
    }
    outcome
}

/// Removes the rules that a killed process has left in the namespace at `path`.
fn remove_rules(path: &Path) -> Result<()> {
    let file = File::open(path).during(|| format!("cannot open {}", path.display()))?;
    in_thread(|| {
        rustix::thread::move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .during(|| format!("cannot enter the network namespace {}", path.display()))?;
        RouteControl::open()?.remove_stale_rules()
    })
}

/// Removes the folders of switches whose process no longer exists, and reports each.
fn cleanup_folders(report: &mut impl FnMut(&str)) -> Result<()> {
    let mut outcome = Ok(());
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if leftover_folder(&name) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            let removed = fs::remove_dir_all(&path).during(|| format!("cannot remove {}", path.display()));
            if removed.is_ok() {
                report(&path.display().to_string());
            }
            outcome = outcome.and(removed);
        }
    }
    outcome
}

/// Whether `name`, at `path`, is a namespace of ours that no process uses. In doubt the answer is no.
fn is_left_over(name: &str, path: &Path) -> bool {
    // Both the mounted namespace and its mount point are empty files.
    let is_empty_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    is_empty_file && Maker::of(name).is_some_and(|maker| !maker.lives_on()) && !is_held(path)
}

/// Whether the folder `name` of temporary files is one of ours that no process uses.
fn leftover_folder(name: &str) -> bool {
    let path = path_of(name);
    Maker::of(name).is_some_and(|maker| !maker.lives_on()) && !(path.exists() && is_held(&path))
}

/// Whether a run has locked the namespace at `path`.
fn is_held(path: &Path) -> bool {
    // Without the right to open it, removing it fails, too, with an error.
    let Ok(file) = File::open(path) else { return false };
    try_lock(&file).is_ok_and(|locked| !locked)
}

/// The process that created a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    process: u32,
    /// Its start time in clock ticks since boot.
    started: u64,
}

impl Maker {
    /// The name of its namespace for the host `name`.
    fn name_of(self, name: &str) -> String {
        format!("{PREFIX}{}.{}-{}", self.process, self.started, file_name(name))
    }

    /// The process that created the namespace `name`, if it is one of ours.
    fn of(name: &str) -> Option<Self> {
        let (process, started) = name.strip_prefix(PREFIX)?.split_once('-')?.0.split_once('.')?;
        let are_numbers = [process, started].iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        are_numbers.then_some(Self { process: process.parse().ok()?, started: started.parse().ok()? })
    }

    /// Whether the process exists and has not ended.
    fn lives(self) -> bool {
        started(self.process) == Some(self.started)
    }

    /// The same once a process that was killed has ended.
    fn lives_on(self) -> bool {
        self.lives() && outlives_its_end(self.process)
    }
}

/// The start time of a process, if it exists and has not ended. A process whose parent has not waited for it is a
/// zombie and has ended.
pub(crate) fn started(process: u32) -> Option<u64> {
    ProcessStat::of(process).filter(|stat| !stat.has_ended()).map(|stat| stat.started)
}

fn path_of(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Replaces the characters of `name` that are not allowed in a file name or reserved.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// Runs `work` in a new thread and waits for it.
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
    fn a_name_identifies_the_process_that_created_it() {
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
    fn only_a_running_process_is_alive() {
        let process = std::process::id();
        let started_here = started(process).expect("this process runs");
        assert!(Maker { process, started: started_here }.lives());
        assert!(!Maker { process, started: started_here - 1 }.lives(), "an earlier process with the same PID");
        let mut ended = std::process::Command::new("true").spawn().expect("starts");
        while started(ended.id()).is_some() {
            std::thread::yield_now();
        }
        ended.wait().expect("ended");
        assert_eq!(started(ended.id()), None);
    }

    /// The situation in another PID namespace, in which the creating process is not visible.
    #[test]
    fn a_namespace_in_use_is_not_left_over_even_if_its_creator_is_not_visible() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let nobody = Maker { process: u32::MAX, started: std::process::id().into() };
        let namespace = Namespace::create_named(nobody.name_of("held"), || {
            sys::new_network_namespace().expect("root may");
            Ok(())
        })
        .expect("a namespace");
        let (name, path) = (namespace.name().to_owned(), path_of(namespace.name()));
        assert!(!nobody.lives() && !is_left_over(&name, &path));
        // A killed process leaves the name, but no handle.
        let Namespace { handle, .. } = &namespace;
        flock(handle, FlockOperation::Unlock).expect("unlocked");
        assert!(is_left_over(&name, &path));
        drop(namespace);
        assert!(!path.exists());
    }

    #[test]
    fn a_namespace_that_was_joined_stays_when_its_second_name_is_removed() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let first = Namespace::create("joined").expect("a namespace");
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).expect("it is there"));
        let own = inode(&path_of(first.name()));
        let second = Namespace::join("joined-again", first.name()).expect("it is there");
        assert_eq!(inode(&path_of(second.name())), own);
        drop(second);
        assert_eq!(inode(&path_of(first.name())), own);
        let by_process = Namespace::join("joined-by-number", &std::process::id().to_string()).expect("this process");
        assert_eq!(inode(&path_of(by_process.name())), inode(Path::new("/proc/self/ns/net")));
        let missing = Namespace::join("joined-nothing", "no-such-namespace").expect_err("there is none").to_string();
        assert!(missing.contains("there is no network namespace \"no-such-namespace\""), "{missing}");
    }

    #[test]
    fn names_are_converted_to_file_names() {
        assert_eq!(file_name("a/b c.d-e"), "a_b_c.d-e");
    }
}
