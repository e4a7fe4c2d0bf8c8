//! Where pins live: a folder of ours in the file system that the kernel keeps eBPF programs in.

use std::path::PathBuf;
use std::{fs, io};

use rustix::fs::statfs;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use super::Program;
use crate::error::{Error, Result, While};

/// Where systemd, bpftool and everybody else have it.
const MOUNT_POINT: &str = "/sys/fs/bpf";
const FOLDER: &str = "/sys/fs/bpf/subflow";
/// BPF_FS_MAGIC of `include/uapi/linux/magic.h`.
const MAGIC: u64 = 0xcafe_4a11;

/// Where the pin of a program is, if it is pinned.
pub(super) fn pin_of(program: &Program) -> PathBuf {
    PathBuf::from(FOLDER).join(program.kernel_name)
}

/// Whether a program is pinned.
pub(super) fn is_pinned(program: &Program) -> bool {
    fs::exists(pin_of(program)).unwrap_or(false)
}

/// The folder for pins, made where it was not there. Dropped, it is as it was before, unless something was pinned.
#[derive(Debug)]
pub(super) struct Folder {
    mounted: bool,
    made: bool,
}

impl Folder {
    /// Makes the folder; mounts the file system where it is not.
    pub(super) fn make() -> Result<Self> {
        let mut folder = Self { mounted: false, made: false };
        if !is_mounted()? {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            rustix::mount::mount("bpf", MOUNT_POINT, "bpf", flags, None).map_err(|error| {
                Error::missing(
                    format!("there is no bpf file system at {MOUNT_POINT}, and it cannot be mounted ({error})"),
                    format!("mount it: mount -t bpf bpf {MOUNT_POINT}"),
                )
            })?;
            folder.mounted = true;
        }
        match fs::create_dir(FOLDER) {
            Ok(()) => folder.made = true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).during(|| format!("cannot make {FOLDER}")),
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // With a pin in it neither works, which is as it should be.
        let emptied = !self.made || fs::remove_dir(FOLDER).is_ok();
        if self.mounted && emptied {
            let _ = rustix::mount::unmount(MOUNT_POINT, UnmountFlags::empty());
        }
    }
}

/// Removes the folder if no pin is left in it. The file system stays mounted: others may use it by now.
pub(super) fn tidy() {
    let _ = fs::remove_dir(FOLDER);
}

fn is_mounted() -> Result<bool> {
    match statfs(MOUNT_POINT) {
        Ok(found) => Ok(found.f_type as u64 & 0xffff_ffff == MAGIC),
        Err(Errno::NOENT) => Err(Error::missing(
            format!("there is no {MOUNT_POINT}"),
            "mount sysfs (mount -t sysfs sysfs /sys), and run a kernel built with CONFIG_BPF_SYSCALL",
        )),
        Err(error) => Err(error).during(|| format!("cannot read {MOUNT_POINT}")),
    }
}
