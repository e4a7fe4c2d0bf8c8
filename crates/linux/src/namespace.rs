//! Network namespaces: made, entered, removed.
//!
//! A namespace has a name under `/run/netns`, where `ip netns exec` finds it while a run goes on. That name is all that
//! outlives a process that is killed: devices and sockets vanish with their last descriptor. The name says which
//! process made it, so [`cleanup`] knows what is left over.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

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
    /// Makes the namespace `subflow-PID-NAME`.
    pub fn create(name: &str) -> Result<Self> {
        Self::create_named(format!("{PREFIX}{}-{}", std::process::id(), file_name(name)))
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
            rustix::mount::mount_bind(THIS_THREAD, &path).during(|| format!("cannot mount {}", path.display()))?;
            let handle = File::open(THIS_THREAD).during(|| format!("cannot open {THIS_THREAD}"))?;
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
        if let Some(maker) = maker_of(&name)
            && !lives(maker)
        {
            let path = path_of(&name);
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

/// The process that made the namespace `name`, if it is one of ours.
fn maker_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

/// Whether a process is there and has not ended: one that nobody has waited for yet is a zombie.
fn lives(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in parentheses, may contain anything; the state follows.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
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
        assert_eq!(maker_of("subflow-4711-phone"), Some(4711));
        assert_eq!(maker_of("subflow-4711-my-phone"), Some(4711));
        assert_eq!(maker_of("subflow-phone"), None);
        assert_eq!(maker_of("blue"), None);
    }

    #[test]
    fn only_what_runs_lives() {
        assert!(lives(std::process::id()));
        let mut ended = std::process::Command::new("true").spawn().expect("starts");
        while lives(ended.id()) {
            std::thread::yield_now();
        }
        ended.wait().expect("ended");
        assert!(!lives(ended.id()));
    }

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("a/b c.d-e"), "a_b_c.d-e");
    }
}
