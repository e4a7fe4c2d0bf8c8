//! Who receives the events of MPTCP connections.
//!
//! The kernel lets peers open subflows on connections of the userspace path manager as long as anybody receives the
//! events, whoever that is (`net/mptcp/pm.c`, `mptcp_userspace_pm_active`). Those of us who only look on must not count:
//! two of them would keep each other there. They have netlink port numbers of their own, which the kernel never gives,
//! for its are process identifiers (up to 2^22) or above 2^31 (`net/netlink/af_netlink.c`, `netlink_autobind`).

use std::fs;

use rustix::net::netlink::GENERIC;

use super::Netlink;
use super::family::Family;
use crate::error::{Result, While};

/// The bits of a process identifier (PID_MAX_LIMIT is 2^22).
const PROCESS: u32 = (1 << 22) - 1;
/// The other bits of the port number of a listener who only looks on.
const BYSTANDER: u32 = 0x7000_0000;
/// How many port numbers are tried.
const ATTEMPTS: u32 = 8;

/// The netlink port numbers, normally process identifiers, of those who receive the events in the calling thread's
/// network namespace, as far as the kernel shows that.
pub fn event_listeners() -> Result<Vec<u32>> {
    const LIST: &str = "/proc/thread-self/net/netlink";
    const NETLINK_GENERIC: &str = "16";
    let family = Family::mptcp_path_manager(&mut Netlink::open(Some(GENERIC))?)?;
    // The list shows the first 32 groups.
    let Some(group) = family.events.filter(|group| (1..=32).contains(group)) else { return Ok(Vec::new()) };
    let list = fs::read_to_string(LIST).during(|| format!("cannot read {LIST}"))?;
    let listener = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (&[_, protocol, port, groups], _) = fields.split_first_chunk()?;
        let groups = u32::from_str_radix(groups, 16).ok()?;
        (protocol == NETLINK_GENERIC && groups & 1 << (group - 1) != 0).then(|| port.parse().ok())?
    };
    Ok(list.lines().filter_map(listener).collect())
}

/// Whether a listener with this port number only looks on, and leaves when nobody else listens.
pub fn is_bystander(port: u32) -> bool {
    port & !PROCESS == BYSTANDER
}

/// Port numbers for a process that only looks on: the first one that is free will do.
pub(super) fn bystander_ports(process: u32) -> impl ExactSizeIterator<Item = u32> {
    (0..ATTEMPTS).map(move |attempt| BYSTANDER | (process.wrapping_add(attempt << 12) & PROCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bystanders_are_told_from_processes_and_from_ports_that_the_kernel_chose() {
        for process in [1, 4242, PROCESS] {
            let ports: Vec<u32> = bystander_ports(process).collect();
            assert!(ports.iter().all(|&port| is_bystander(port)), "{ports:x?}");
            assert!(ports.windows(2).all(|pair| pair[0] != pair[1]), "{ports:x?}");
            assert!(!is_bystander(process));
        }
        assert!(![0, i32::MIN as u32, -4097_i32 as u32, u32::MAX].into_iter().any(is_bystander));
    }
}
