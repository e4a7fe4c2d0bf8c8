//! The generic netlink family of the MPTCP path managers: its number, and that of its group of events (Linux
//! `include/uapi/linux/genetlink.h`).

use super::message::{attribute, attributes};
use super::{Netlink, Request};
use crate::error::{Error, Result};

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
