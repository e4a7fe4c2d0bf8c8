//! Which network namespaces exist.
//!
//! The kernel has no list of them before Linux 6.19 (`listns`). A namespace exists as long as something holds it: a
//! thread in it, a mount (`ip netns`, containers), an open descriptor. All of these are in `/proc`. What holds one and
//! is not there: a socket alone, whose process has left the namespace, and the descriptors of a process that cannot be
//! looked into. Nobody but that process could enter the namespace again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::fstatfs;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::{Result, While};
use crate::namespace::{THREAD_NAMESPACE, in_thread};
use crate::state_folder::NamespaceId;

/// A file whose inode differs between network namespaces, and which shows that of a thread to everybody, also where
/// `ns/net` is refused.
const OPEN_TO_ALL: &str = "net/dev";

/// Whether a network namespace exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It does.
    Exists,
    /// Nothing holds it any more.
    Gone,
    /// It may: not all namespaces of this machine can be identified.
    Unknown,
}

/// The network namespaces that existed at one time.
#[derive(Debug, Default)]
pub struct Census {
    ids: BTreeSet<NamespaceId>,
    /// Threads, mounts and namespaces that are not identified.
    unidentified: usize,
}

impl Census {
    /// Identifies the namespaces of all processes, threads, mounts and descriptors. A namespace that existed before and
    /// is not found has ended.
    pub fn take() -> Result<Self> {
        in_thread(|| {
            let mut holders = Holders::default();
            holders.add(Path::new(THREAD_NAMESPACE)).during(|| format!("cannot open {THREAD_NAMESPACE}"))?;
            for process in numbered(Path::new("/proc")) {
                holders.add_process(&process);
            }
            Ok(holders.identify())
        })
    }

    /// Whether the namespace `id` existed.
    pub fn presence(&self, id: NamespaceId) -> Presence {
        match id {
            _ if self.ids.contains(&id) => Presence::Exists,
            NamespaceId::Cookie(_) if self.unidentified == 0 => Presence::Gone,
            _ => Presence::Unknown,
        }
    }
}

/// What holds namespaces.
#[derive(Debug, Default)]
struct Holders {
    /// The namespaces, kept open: no other one can have the inode of one of them meanwhile.
    open: Vec<File>,
    inodes: BTreeSet<u64>,
    /// Mount namespaces whose mounts have been looked at.
    mounts: BTreeSet<PathBuf>,
    /// The inodes of [`OPEN_TO_ALL`] for threads whose namespace cannot be opened.
    closed: Vec<u64>,
    /// The inodes of namespaces that are mounted where they cannot be opened.
    hidden: Vec<u64>,
    unidentified: usize,
}

impl Holders {
    /// Adds the namespace at `path`, if it is one.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        const NSFS_MAGIC: i64 = 0x6e73_6673;
        let file = File::open(path)?;
        if fstatfs(&file)?.f_type as i64 == NSFS_MAGIC && self.inodes.insert(file.metadata()?.ino()) {
            self.open.push(file);
        }
        Ok(())
    }

    /// Adds what a process holds. It may end meanwhile.
    fn add_process(&mut self, process: &Path) {
        for thread in numbered(&process.join("task")) {
            self.add_thread(&thread);
        }
        for descriptor in numbered(&process.join("fd")) {
            if self.is_new(&descriptor) {
                let _ = self.add(&descriptor);
            }
        }
        // All processes of a mount namespace see the same mounts, but not from the same root.
        let of = fs::read_link(process.join("ns/mnt")).ok();
        let root = fs::read_link(process.join("root")).ok();
        if of.zip(root).is_none_or(|(of, root)| self.mounts.insert(of.join(root.strip_prefix("/").unwrap_or(&root)))) {
            self.add_mounts(process);
        }
    }

    fn add_mounts(&mut self, process: &Path) {
        let mut hidden = Vec::new();
        // What is unmounted after the list was read is not in the next one.
        for _ in 0..2 {
            let mounts = match fs::read_to_string(process.join("mountinfo")) {
                Ok(mounts) => mounts,
                Err(error) => {
                    self.unidentified += usize::from(error.kind() == ErrorKind::PermissionDenied);
                    return;
                }
            };
            hidden.clear();
            for (inode, place) in mounts.lines().filter_map(mounted) {
                if !self.inodes.contains(&inode) {
                    let _ = self.add(&process.join("root").join(place.strip_prefix("/").unwrap_or(&place)));
                    // Something else may be mounted at the same place.
                    hidden.extend((!self.inodes.contains(&inode)).then_some(inode));
                }
            }
            if hidden.is_empty() {
                return;
            }
        }
        self.hidden.extend(hidden);
    }

    fn add_thread(&mut self, thread: &Path) {
        let place = thread.join("ns/net");
        let opened = match fs::read_link(&place) {
            Ok(link) if inode_of(&link.to_string_lossy()).is_some_and(|inode| self.inodes.contains(&inode)) => return,
            Ok(_) => self.add(&place),
            Err(error) => Err(error),
        };
        if opened.as_ref().map_or_else(has_ended, |()| true) {
            return;
        }
        match fs::metadata(thread.join(OPEN_TO_ALL)) {
            Ok(found) => self.closed.push(found.ino()),
            Err(error) if has_ended(&error) => {}
            Err(_) => self.unidentified += 1,
        }
    }

    /// Whether the link `path` leads to a network namespace that has not been seen.
    fn is_new(&self, path: &Path) -> bool {
        let Ok(link) = fs::read_link(path) else { return false };
        inode_of(&link.to_string_lossy()).is_some_and(|inode| !self.inodes.contains(&inode))
    }

    /// Enters all of them, for good: for a thread of its own.
    fn identify(self) -> Census {
        let Self { open, inodes, closed, hidden, mut unidentified, .. } = self;
        let mut ids = BTreeSet::new();
        let mut shown = BTreeSet::new();
        for namespace in &open {
            let entered = move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).is_ok();
            match NamespaceId::of_this_thread() {
                Ok(id) if entered => {
                    ids.insert(id);
                    let inside = fs::metadata(Path::new("/proc/thread-self").join(OPEN_TO_ALL));
                    shown.extend(inside.map(|found| found.ino()));
                }
                _ => unidentified += 1,
            }
        }
        unidentified += closed.iter().filter(|inode| !shown.contains(inode)).count();
        unidentified += hidden.iter().filter(|inode| !inodes.contains(inode)).count();
        Census { ids, unidentified }
    }
}

/// Whether an error in `/proc` says that a thread has ended. A zombie has no namespace.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// The entries of a folder of `/proc` whose names are numbers.
pub(crate) fn numbered(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map_while(io::Result::ok);
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .map(|entry| entry.path())
}

/// The inode in `net:[INODE]`, as links and mounts name a network namespace.
fn inode_of(name: &str) -> Option<u64> {
    name.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// The network namespace that a line of `mountinfo` says to be mounted, and where: the fourth and fifth field.
fn mounted(line: &str) -> Option<(u64, PathBuf)> {
    let mut fields = line.split(' ').skip(3);
    Some((inode_of(fields.next()?)?, unescaped(fields.next()?)))
}

/// A path of `mountinfo`, where `\040` is a space (Linux `mangle_path`).
fn unescaped(path: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        let (byte, after) = match code {
            Some(code) if byte == b'\\' => (code, &after[3..]),
            _ => (byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests;
