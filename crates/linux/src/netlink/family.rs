//! The generic netlink family of the MPTCP path managers (Linux `include/uapi/linux/genetlink.h`), and who receives its
//! events.
//!
//! The kernel lets peers open subflows on connections of the userspace path manager as long as anybody receives the
//! events, whoever that is (`net/mptcp/pm.c`, `mptcp_userspace_pm_active`). Our own passive listeners must not count: two
//! of them would keep each other listening. They have netlink port numbers of their own, which the kernel never gives:
//! its are process identifiers (up to 2^22) or above 2^31 (`net/netlink/af_netlink.c`, `netlink_autobind`).

use std::fs;

use rustix::net::netlink::GENERIC;

use super::message::{attribute, attributes};
use super::{Netlink, Request};
use crate::error::{Error, Result, While};

const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

const FAMILY_NAME: &[u8] = b"mptcp_pm\0";
const EVENTS: &[u8] = b"mptcp_pm_events\0";

/// The length of struct genlmsghdr.
pub(super) const GENERIC_HEADER: usize = 4;

/// A generic netlink family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// The type of its messages.
    pub(super) id: u16,
    /// The number of its group of events.
    pub(super) events: Option<u32>,
}

impl Family {
    /// The family `mptcp_pm`.
    pub(super) fn mptcp_path_manager(netlink: &mut Netlink) -> Result<Self> {
        let request =
            Request::new(GENL_ID_CTRL, 0, &[CTRL_CMD_GETFAMILY, 1, 0, 0]).attribute(CTRL_ATTR_FAMILY_NAME, FAMILY_NAME);
        let messages = netlink.ask(request, || "cannot find the kernel's MPTCP path manager".into())?;
        let found = |kind| messages.iter().find_map(|message| message.attribute(GENERIC_HEADER, kind));
        let id = found(CTRL_ATTR_FAMILY_ID).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        let id = id.ok_or_else(|| {
            Error::Unexpected("the kernel's answer has no number of the MPTCP path manager's netlink family".into())
        })?;
        let groups = found(CTRL_ATTR_MCAST_GROUPS).unwrap_or(&[]);
        let group = attributes(groups)
            .map(|(_, group)| group)
            .find(|group| attribute(group, CTRL_ATTR_MCAST_GRP_NAME) == Some(EVENTS));
        let events = group.and_then(|group| attribute(group, CTRL_ATTR_MCAST_GRP_ID)?.try_into().ok());
        Ok(Self { id, events: events.map(u32::from_ne_bytes) })
    }
}

/// The bits of a process identifier (PID_MAX_LIMIT is 2^22).
const PROCESS: u32 = (1 << 22) - 1;
/// The other bits of the port number of a listener who only looks on.
const PASSIVE: u32 = 0x7000_0000;
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
pub fn is_passive(port: u32) -> bool {
    port & !PROCESS == PASSIVE
}

/// Port numbers for a process that only looks on: the first one that is free will do.
pub(super) fn passive_ports(process: u32) -> impl ExactSizeIterator<Item = u32> {
    (0..ATTEMPTS).map(move |attempt| PASSIVE | (process.wrapping_add(attempt << 12) & PROCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passive_listeners_are_told_from_processes_and_from_ports_that_the_kernel_chose() {
        for process in [1, 4242, PROCESS] {
            let ports: Vec<u32> = passive_ports(process).collect();
            assert!(ports.iter().all(|&port| is_passive(port)), "{ports:x?}");
            assert!(ports.windows(2).all(|pair| pair[0] != pair[1]), "{ports:x?}");
            assert!(!is_passive(process));
        }
        assert!(![0, i32::MIN as u32, -4097_i32 as u32, u32::MAX].into_iter().any(is_passive));
    }
}
