//! Removal of files that something is mounted on.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::mount::UnmountFlags;

use crate::sys;

/// Unmounts the file `path`, and removes it. Errors are ignored: it may not be mounted yet, or another process has
/// removed it.
pub(crate) fn remove(path: &Path) {
    let _ = rustix::mount::unmount(path, UnmountFlags::DETACH);
    if fs::remove_file(path).is_err_and(|error| error.kind() == ErrorKind::ResourceBusy) {
        remove_hidden(path);
    }
}

/// Removes `path` where its mount is hidden. The first `ip netns add` of a machine mounts `/run/netns` on itself: the
/// mounts that were there before stay below, with new ones above, and can be reached neither by path nor by descriptor.
/// But a file that is not mounted on in one mount namespace can be removed there, and the kernel removes its mounts in
/// all other namespaces (Linux 3.18, `detach_mounts`).
fn remove_hidden(path: &Path) {
    let folder = path.parent().unwrap_or(path);
    std::thread::scope(|scope| {
        scope.spawn(|| -> io::Result<()> {
            // Who may not create a mount namespace may not remove a mount either.
            sys::new_mount_namespace()?;
            loop {
                while rustix::mount::unmount(path, UnmountFlags::DETACH).is_ok() {}
                // Each mount of the folder shows, once it is gone, what is below it.
                if fs::remove_file(path).is_ok() {
                    return Ok(());
                }
                rustix::mount::unmount(folder, UnmountFlags::DETACH)?;
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use rustix::mount::{MountPropagationFlags, mount_bind, mount_bind_recursive, mount_change};

    use super::*;

    #[test]
    fn a_mount_is_removed_though_its_folder_was_mounted_on_itself_later() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let folder = std::env::temp_dir().join(format!("mount-point-{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        let [early, late] = ["early", "late"].map(|name| folder.join(name));
        for path in [&early, &late] {
            fs::write(path, "").expect("a file");
        }
        let removing = || {
            sys::new_mount_namespace().expect("root may");
            mount_bind("/proc/thread-self/ns/net", &early).expect("mounted");
            // What `ip netns add` does with /run/netns.
            mount_bind_recursive(&folder, &folder).expect("mounted");
            mount_change(&folder, MountPropagationFlags::SHARED | MountPropagationFlags::REC).expect("shared");
            mount_bind("/proc/thread-self/ns/net", &late).expect("mounted");
            let _ = rustix::mount::unmount(&early, UnmountFlags::DETACH);
            let refused = fs::remove_file(&early).expect_err("a mount is below");
            assert_eq!(refused.kind(), ErrorKind::ResourceBusy);
            remove(&early);
            remove(&late);
            assert!(!early.exists() && !late.exists());
        };
        std::thread::scope(|scope| scope.spawn(removing).join().expect("both are removed"));
        fs::remove_dir(&folder).expect("it is empty");
    }
}
