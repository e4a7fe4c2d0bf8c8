//! Where pins live: a folder of ours in the file system that the kernel keeps eBPF programs in.
//!
//! A pin lasts as long as its file system is mounted somewhere. `ip netns exec` gives a command mounts of its own, with a
//! new `/sys`: a file system that is mounted there ends with the command, and all pins with it. The mounts of the first
//! process stay. `/proc/PID/root` leads to them, of a process that has the same mounts: mostly the shell.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{major, minor, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use super::Program;
use crate::error::{Error, Result, While};
use crate::process_stat::ProcessStat;

/// Where systemd, bpftool and everybody else have it.
const MOUNT_POINT: &str = "/sys/fs/bpf";
/// Our folder in it.
const FOLDER: &str = "subflow";
/// BPF_FS_MAGIC of `include/uapi/linux/magic.h`.
const MAGIC: u64 = 0xcafe_4a11;

/// Where the file system is, or is to be, whose pins last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// At the mount point, whether it is mounted or not.
    Here,
    /// At the mount point of this process, whose mounts are those of the first one.
    Of(u32),
    /// The first process has none, and ours would end with a command.
    Nowhere,
}

impl Site {
    fn find() -> Self {
        let mounts = |process: &str| fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
        let (first, own) = (mounts("1"), mounts("self"));
        if first.is_empty() || are_the_same(&first, &own) || is_mounted_in(&first) {
            return Self::Here;
        }
        let has_one = |process: &u32| {
            are_the_same(&first, &mounts(&process.to_string()))
                && is_mounted(&Self::Of(*process).mount_point()).is_ok_and(|is| is)
        };
        ancestors().find(has_one).map_or(Self::Nowhere, Self::Of)
    }

    fn mount_point(self) -> PathBuf {
        match self {
            Self::Of(process) => PathBuf::from(format!("/proc/{process}/root{MOUNT_POINT}")),
            Self::Here | Self::Nowhere => PathBuf::from(MOUNT_POINT),
        }
    }

    fn folder(self) -> PathBuf {
        self.mount_point().join(FOLDER)
    }
}

/// Where the pin of a program is, if it is pinned.
pub(super) fn pin_of(program: &Program) -> PathBuf {
    Site::find().folder().join(program.kernel_name)
}

/// Whether a program is pinned.
pub(super) fn is_pinned(program: &Program) -> bool {
    fs::exists(pin_of(program)).unwrap_or(false)
}

/// The folder for pins, made where it was not there. Dropped, it is as it was before, unless something was pinned.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    mounted: bool,
    made: bool,
}

impl Folder {
    /// Makes the folder; mounts the file system where it is not.
    pub(super) fn make() -> Result<Self> {
        let site = Site::find();
        let mut folder = Self { path: site.folder(), mounted: false, made: false };
        match site {
            Site::Here if !is_mounted(&site.mount_point())? => {
                let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                rustix::mount::mount("bpf", MOUNT_POINT, "bpf", flags, None).map_err(|error| {
                    Error::missing(
                        format!("there is no bpf file system at {MOUNT_POINT}, and it cannot be mounted ({error})"),
                        format!("mount it: mount -t bpf bpf {MOUNT_POINT}"),
                    )
                })?;
                folder.mounted = true;
            }
            Site::Here | Site::Of(_) => {}
            Site::Nowhere => return Err(would_not_last()),
        }
        match fs::create_dir(&folder.path) {
            Ok(()) => folder.made = true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).during(|| format!("cannot make {}", folder.path.display())),
        }
        Ok(folder)
    }
}

fn would_not_last() -> Error {
    Error::missing(
        "programs that are loaded here would end with this command: it has mounts of its own, as under `ip netns exec`, \
         and the machine has no bpf file system where they could stay",
        format!(
            "mount one for the machine: nsenter --target 1 --mount mount -t bpf bpf {MOUNT_POINT}; or load them outside \
             of `ip netns exec`: they are for all network namespaces"
        ),
    )
}

impl Drop for Folder {
    fn drop(&mut self) {
        // With a pin in it neither works, which is as it should be.
        let emptied = !self.made || fs::remove_dir(&self.path).is_ok();
        if self.mounted && emptied {
            let _ = rustix::mount::unmount(MOUNT_POINT, UnmountFlags::empty());
        }
    }
}

/// Removes the folder if no pin is left in it. The file system stays mounted: others may use it by now.
pub(super) fn tidy() {
    let _ = fs::remove_dir(Site::find().folder());
}

/// The process that started this one, the one that started that, and so on.
fn ancestors() -> impl Iterator<Item = u32> {
    let parent = |process: &u32| ProcessStat::of(*process).map(|stat| stat.parent).filter(|&parent| parent != 0);
    std::iter::successors(Some(std::os::unix::process::parent_id()), parent)
}

/// Whether two lists of mounts (`/proc/PID/mountinfo`) are of the same mount namespace: no other one has a mount with the
/// same number, which is the first field.
fn are_the_same(mounts: &str, others: &str) -> bool {
    let first = |mounts: &str| mounts.split_ascii_whitespace().next().map(str::to_owned);
    first(others).is_some_and(|number| mounts.lines().any(|line| line.split(' ').next() == Some(&number)))
}

/// Whether the file system at the mount point is also among these mounts of another process.
fn is_mounted_in(mounts: &str) -> bool {
    let device = fs::metadata(MOUNT_POINT).map(|found| found.dev());
    is_mounted(Path::new(MOUNT_POINT)).unwrap_or(false)
        && device.is_ok_and(|device| has_device(mounts, &format!("{}:{}", major(device), minor(device))))
}

/// Whether a file system of eBPF programs with this device is among the mounts: it is the third field, and the kind of
/// the file system follows a hyphen.
fn has_device(mounts: &str, device: &str) -> bool {
    mounts.lines().any(|line| line.split(' ').nth(2) == Some(device) && line.contains(" - bpf "))
}

/// Whether there is a file system for eBPF programs.
fn is_mounted(mount_point: &Path) -> Result<bool> {
    match statfs(mount_point) {
        Ok(found) => Ok(found.f_type as u64 & 0xffff_ffff == MAGIC),
        Err(Errno::NOENT) => Err(Error::missing(
            format!("there is no {}", mount_point.display()),
            "mount sysfs (mount -t sysfs sysfs /sys), and run a kernel built with CONFIG_BPF_SYSCALL",
        )),
        Err(error) => Err(error).during(|| format!("cannot read {}", mount_point.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 0:20 / /sys rw shared:2 - sysfs sysfs rw\n\
                          30 22 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n\
                          31 22 0:27 / /sys/fs/bpf rw,nosuid shared:11 - bpf bpf rw,mode=700\n";

    #[test]
    fn a_mount_is_told_by_its_device_and_kind() {
        assert_eq!(["0:27", "0:26", "0:2"].map(|device| has_device(MOUNTS, device)), [true, false, false]);
    }

    #[test]
    fn mounts_of_one_namespace_have_the_same_numbers() {
        // A process with another root sees some of the mounts.
        assert!(are_the_same(MOUNTS, "31 22 0:27 / /sys/fs/bpf rw - bpf bpf rw\n"));
        assert!(!are_the_same(MOUNTS, "131 22 0:27 / /sys/fs/bpf rw - bpf bpf rw\n"));
        assert!(!are_the_same(MOUNTS, ""), "of a process that has ended");
    }

    #[test]
    fn the_first_process_is_an_ancestor_of_all() {
        let ancestors: Vec<u32> = ancestors().collect();
        assert_eq!(ancestors.first(), Some(&std::os::unix::process::parent_id()));
        assert!(ancestors.len() > 1 && !ancestors.contains(&0), "{ancestors:?}");
    }
}
