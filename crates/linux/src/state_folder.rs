//! Files that outlive a killed process, and tell what has to be undone: their folder, which exists while a file is in it,
//! and what identifies a network namespace in their names for as long as the machine runs.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Result, While};
use crate::namespace::THREAD_NAMESPACE;
use crate::sys;

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

/// The identity of a network namespace, for the name of a file that outlives a process.
///
/// The text of it is the file's part: `17`, or `inode-4026531840` on an older kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamespaceId {
    /// The cookie, a number that the kernel gives to no other namespace until the machine is started again
    /// (`SO_NETNS_COOKIE`, Linux 5.14).
    Cookie(u64),
    /// Without cookies, the inode. A namespace may have it that was created after this one was removed.
    Inode(u64),
}

impl NamespaceId {
    /// That of the calling thread's namespace.
    pub fn of_this_thread() -> Result<Self> {
        if let Some(cookie) = cookie_here() {
            return Ok(Self::Cookie(cookie));
        }
        let found = fs::metadata(THREAD_NAMESPACE).during(|| format!("cannot read {THREAD_NAMESPACE}"))?;
        Ok(Self::Inode(found.ino()))
    }
}

/// The cookie of the calling thread's namespace, if this kernel has cookies.
fn cookie_here() -> Option<u64> {
    // Every socket has the option, of whatever family it is.
    let socket = UnixDatagram::unbound().ok()?;
    let mut cookie = [0; 8];
    let length = sys::socket_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_NETNS_COOKIE, &mut cookie).ok()?;
    (length == cookie.len()).then_some(u64::from_ne_bytes(cookie))
}

impl fmt::Display for NamespaceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cookie(cookie) => write!(formatter, "{cookie}"),
            Self::Inode(inode) => write!(formatter, "inode-{inode}"),
        }
    }
}

impl FromStr for NamespaceId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> core::result::Result<Self, Self::Err> {
        match text.strip_prefix("inode-") {
            Some(inode) => inode.parse().map(Self::Inode),
            None => text.parse().map(Self::Cookie),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Namespace;

    #[test]
    fn an_identity_comes_back_from_its_text() {
        for (id, text) in [(NamespaceId::Cookie(17), "17"), (NamespaceId::Inode(4_026_531_840), "inode-4026531840")] {
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
        }
        assert!(["", "x", "17.new", "inode-"].iter().all(|text| text.parse::<NamespaceId>().is_err()));
    }

    #[test]
    fn no_namespace_has_the_identity_of_another_not_even_of_a_removed_one() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let mut ids = vec![NamespaceId::of_this_thread().expect("this thread has one")];
        assert_eq!(NamespaceId::of_this_thread().ok(), ids.first().copied(), "it stays");
        for number in 0..20 {
            // Each is removed before the next one is created, which often has its inode.
            let namespace = Namespace::create(&format!("identity-{number}")).expect("a namespace");
            ids.push(namespace.run(NamespaceId::of_this_thread).expect("it has one"));
        }
        assert!(matches!(ids[0], NamespaceId::Cookie(_)), "this kernel has cookies");
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
