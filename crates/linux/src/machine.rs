//! Requirements on the machine, checked before anything is created.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::congestion::{Lease, Program};
use crate::error::{Error, Result};
use crate::kernel::{congestion_controls, kernel_release};
use crate::{Device, DeviceKind, Namespace};

/// What a run needs, in addition to namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether flows use the kernel's MPTCP.
    pub mptcp: bool,
    /// Congestion controls that kernel sockets use, by their names in scenarios.
    pub congestion: Vec<String>,
    /// The kind of devices; `None` means TUN devices, or veth pairs if TUN is not available.
    pub device: Option<DeviceKind>,
}

/// What the machine provides for a run, until this is dropped.
#[derive(Debug)]
pub struct Provided {
    /// The kind of devices between the kernel's interfaces and the emulator.
    pub device: DeviceKind,
    /// The eBPF programs among its congestion controls, in the kernel until this is dropped.
    pub congestion: Lease,
}

/// The oldest kernel with MPTCP_TCPINFO, TCP_CONGESTION on MPTCP sockets, and the userspace path manager.
const OLDEST_KERNEL: (u32, u32) = (5, 19);

/// Checks that the machine has what a run needs, loads the congestion controls that it can be given, and chooses the
/// devices. The error says what is missing and how to get it.
pub fn require(needs: &Needs) -> Result<Provided> {
    let release = kernel_release();
    if version(&release).is_some_and(|version| version < OLDEST_KERNEL) {
        let (major, minor) = OLDEST_KERNEL;
        return Err(Error::missing(
            format!("the kernel is Linux {release}"),
            format!("expected {major}.{minor} or newer, which reports the state of MPTCP sockets"),
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Error::missing(
            "creating network namespaces and devices needs root rights",
            "run the command with sudo, or in a container with --cap-add=NET_ADMIN,SYS_ADMIN --device=/dev/net/tun",
        ));
    }
    if needs.mptcp {
        // The value does not matter: each namespace has its own, which is initially on.
        if !fs::exists("/proc/sys/net/mptcp/enabled").unwrap_or(false) {
            return Err(Error::missing(
                "this kernel does not support MPTCP",
                "expected a kernel built with CONFIG_MPTCP, as in all major distributions since 2021",
            ));
        }
    }
    let congestion = provide(&needs.congestion)?;
    Ok(Provided { device: device_in_use(needs.device)?, congestion })
}

/// Has the kernel offer these congestion controls.
fn provide(names: &[String]) -> Result<Lease> {
    let available = congestion_controls()?;
    let unavailable = |name: &str, missing: &str, remedy: &str| {
        Error::missing(
            format!("this kernel has no congestion control {name:?}{missing}"),
            format!("{remedy}, or run another with --set flows.NAME.congestion=cubic"),
        )
    };
    let mut programs: Vec<&Program> = Vec::new();
    for name in names {
        match Program::from_name(name) {
            Some(program) => programs.push(program),
            None if available.contains(name) => {}
            None => {
                let list = available.join(", ");
                let remedy =
                    format!("there are {list} (/proc/sys/net/ipv4/tcp_available_congestion_control); load its module");
                return Err(unavailable(name, "", &remedy));
            }
        }
    }
    programs.sort_by_key(|program| program.name);
    programs.dedup();
    let loaded = programs.iter().find(|program| !available.iter().any(|name| name == program.kernel_name));
    Lease::take(&programs).map_err(|error| match (error, loaded) {
        (Error::Missing { missing, remedy }, Some(program)) => {
            unavailable(program.name, &format!(", and {missing}"), &remedy)
        }
        (error, _) => error,
    })
}

/// The kind of device that joins kernels to links here: `wanted`, or else the first that can be made. One is made in a
/// namespace of its own, and removed. The error says what is missing and how to get it.
pub fn device_in_use(wanted: Option<DeviceKind>) -> Result<DeviceKind> {
    // Several runs of one process may do this at the same time.
    static TRIES: AtomicU32 = AtomicU32::new(0);
    let name = format!("try{}", TRIES.fetch_add(1, Ordering::Relaxed));
    let namespace = Namespace::create(&name).map_err(|error| match error {
        Error::System { source, action } if source.kind() == std::io::ErrorKind::PermissionDenied => Error::missing(
            format!("{action}: {source}"),
            "this container lacks the rights: start it with --cap-add=NET_ADMIN,SYS_ADMIN --device=/dev/net/tun",
        ),
        other => other,
    })?;
    let attempt = |kind| namespace.run(|| Device::create(kind, "try")).map(|_| kind);
    match wanted {
        Some(kind) => attempt(kind),
        None => attempt(DeviceKind::Tun).or_else(|error| {
            // The error of TUN devices is reported because it is the easiest to fix.
            attempt(DeviceKind::Veth).map_err(|other| match error {
                Error::Missing { missing, remedy } => {
                    Error::missing(format!("{missing}, and veth pairs do not work either ({other})"), remedy)
                }
                error => error,
            })
        }),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_a_version() {
        assert_eq!(version("6.18.44-fc-v657"), Some((6, 18)));
        assert_eq!(version("5.4.0"), Some((5, 4)));
        assert_eq!(version("strange"), None);
    }
}
