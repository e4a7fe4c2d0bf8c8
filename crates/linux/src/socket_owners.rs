//! The processes that have the sockets of a network namespace open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Namespace;
use crate::census::numbered;
use crate::process_stat::ProcessStat;

/// A process that has a socket open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOwner {
    /// Its number, as the calling process sees it.
    pub process: u32,
    /// The number of its process group.
    pub group: u32,
    /// Its name, of at most 15 bytes.
    pub name: String,
    /// The value of the environment variable that was asked for, if it has it.
    pub variable: Option<String>,
}

impl Namespace {
    /// Of the processes in this network namespace, those that have the sockets with these inodes open, with the value of
    /// an environment variable. Of several with the same socket it is the one with the lowest number.
    pub fn socket_owners(&self, inodes: &BTreeSet<u32>, variable: &str) -> BTreeMap<u32, SocketOwner> {
        let mut owners = BTreeMap::new();
        let Some(own) = self.inode() else { return owners };
        let folders = numbered(Path::new("/proc"));
        let mut processes: Vec<u32> = folders.filter_map(|folder| folder.file_name()?.to_str()?.parse().ok()).collect();
        processes.sort_unstable();
        for process in processes {
            let folder = format!("/proc/{process}");
            let folder = Path::new(&folder);
            if !fs::metadata(folder.join("ns/net")).is_ok_and(|network| network.ino() == own) {
                continue;
            }
            for inode in sockets_of(folder).into_iter().filter(|inode| inodes.contains(inode)) {
                if let (false, Some(owner)) = (owners.contains_key(&inode), described(folder, process, variable)) {
                    owners.insert(inode, owner);
                }
            }
            if owners.len() == inodes.len() {
                break;
            }
        }
        owners
    }
}

/// The inodes of the sockets that a process has open. It may end meanwhile.
fn sockets_of(folder: &Path) -> Vec<u32> {
    let inode = |file: PathBuf| {
        let target = fs::read_link(file).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    numbered(&folder.join("fd")).filter_map(inode).collect()
}

fn described(folder: &Path, process: u32, variable: &str) -> Option<SocketOwner> {
    let name = fs::read_to_string(folder.join("comm")).ok()?.trim_end().to_owned();
    let group = ProcessStat::of(process)?.group;
    let environment = fs::read(folder.join("environ")).unwrap_or_default();
    Some(SocketOwner { process, group, name, variable: variable_in(&environment, variable) })
}

/// The value of a variable in `/proc/PID/environ`, each of whose entries ends with a zero.
fn variable_in(environment: &[u8], variable: &str) -> Option<String> {
    let mut entries = environment.split(|&byte| byte == 0);
    let found = entries.find_map(|entry| entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"="));
    found.map(|value| String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn variables_are_read_by_their_whole_name() {
        let environment = b"PATH=/bin\0NAMES=x\0NAME=y=z\0";
        assert_eq!(variable_in(environment, "NAME").as_deref(), Some("y=z"));
        assert_eq!(variable_in(environment, "NAM"), None);
    }

    #[test]
    fn a_socket_is_found_in_the_process_that_has_it_open() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let link = fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener)));
        let link = link.expect("it is open").to_string_lossy().into_owned();
        let inode: u32 = link.trim_start_matches("socket:[").trim_end_matches(']').parse().expect("a number");
        let here = Namespace::join("owners", &std::process::id().to_string()).expect("this process's namespace");
        let owners = here.socket_owners(&BTreeSet::from([inode, 1]), "PATH");
        let owner = owners.get(&inode).expect("this process has it");
        assert_eq!((owner.process, owners.len()), (std::process::id(), 1));
        assert_eq!(owner.variable, std::env::var("PATH").ok());
    }
}
