//! The kernel's MPTCP path managers (generic netlink family `mptcp_pm`; Linux `include/uapi/linux/mptcp_pm.h`).

use std::net::{IpAddr, SocketAddr};

use rustix::net::netlink::GENERIC;

use super::route::{family, octets};
use super::{Netlink, Request};
use crate::error::{Error, Result};

const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
/// struct genlmsghdr.
const GENERIC_HEADER: usize = 4;

const VERSION: u8 = 1;
const CMD_ADD_ADDR: u8 = 1;
const CMD_DEL_ADDR: u8 = 2;
const CMD_SET_LIMITS: u8 = 5;
const CMD_SET_FLAGS: u8 = 7;
const CMD_ANNOUNCE: u8 = 8;
const CMD_REMOVE: u8 = 9;
const CMD_SUBFLOW_CREATE: u8 = 10;
const CMD_SUBFLOW_DESTROY: u8 = 11;

const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ATTR_TOKEN: u16 = 4;
const ATTR_LOC_ID: u16 = 5;
const ATTR_ADDR_REMOTE: u16 = 6;

const ADDR_FAMILY: u16 = 1;
const ADDR_ID: u16 = 2;
const ADDR_V4: u16 = 3;
const ADDR_V6: u16 = 4;
const ADDR_PORT: u16 = 5;
const ADDR_FLAGS: u16 = 6;

/// What an endpoint is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointFlags {
    /// Announce it to peers (ADD_ADDR).
    pub signal: bool,
    /// Open subflows from it.
    pub subflow: bool,
    /// Its subflows are backups (flag B of MP_JOIN).
    pub backup: bool,
    /// Open subflows from it to every address of the peer.
    pub fullmesh: bool,
}

impl EndpointFlags {
    fn bits(self) -> u32 {
        u32::from(self.signal)
            | u32::from(self.subflow) << 1
            | u32::from(self.backup) << 2
            | u32::from(self.fullmesh) << 3
    }
}

/// A local end for MPTCP subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address identifier; `None` for one that the kernel chooses.
    pub id: Option<u8>,
    /// The address.
    pub address: IpAddr,
    /// The port to announce; `None` for that of the connection.
    pub port: Option<u16>,
    /// What it is for.
    pub flags: EndpointFlags,
}

/// Talks to the path managers of the network namespace it was made in.
#[derive(Debug)]
pub struct MptcpPathManager {
    netlink: Netlink,
    family: u16,
}

impl MptcpPathManager {
    /// For the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        let mut netlink = Netlink::open(Some(GENERIC))?;
        let request = Request::new(GENL_ID_CTRL, 0, &[CTRL_CMD_GETFAMILY, 1, 0, 0])
            .attribute(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0");
        let messages = netlink.ask(request, || "cannot find the kernel's MPTCP path manager".into())?;
        let id = messages.iter().find_map(|message| message.attribute(GENERIC_HEADER, CTRL_ATTR_FAMILY_ID));
        let family = id.and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        let family = family.ok_or_else(|| Error::Unexpected("the kernel's MPTCP path manager has no number".into()))?;
        Ok(Self { netlink, family })
    }

    fn request(&self, command: u8) -> Request {
        Request::new(self.family, 0, &[command, VERSION, 0, 0])
    }

    /// The in-kernel path manager's limits for each connection: subflows besides the initial one, and announced
    /// addresses that it connects to.
    pub fn set_limits(&mut self, subflows: u32, accepted_addresses: u32) -> Result<()> {
        let request = self
            .request(CMD_SET_LIMITS)
            .attribute(ATTR_RCV_ADD_ADDRS, &accepted_addresses.to_ne_bytes())
            .attribute(ATTR_SUBFLOWS, &subflows.to_ne_bytes());
        self.netlink.ask(request, || "cannot set the limits of MPTCP's path manager".into()).map(drop)
    }

    /// Gives the in-kernel path manager an endpoint.
    pub fn add_endpoint(&mut self, endpoint: &Endpoint) -> Result<()> {
        let request = self.request(CMD_ADD_ADDR).nested(ATTR_ADDR, |request| local(request, endpoint));
        self.netlink.ask(request, || format!("cannot add the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Takes an endpoint away again: peers are told (REMOVE_ADDR), its subflows end.
    pub fn remove_endpoint(&mut self, endpoint: &Endpoint) -> Result<()> {
        let request = self.request(CMD_DEL_ADDR).nested(ATTR_ADDR, |request| local(request, endpoint));
        self.netlink.ask(request, || format!("cannot remove the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Changes whether the subflows of an endpoint are backups: peers are told (MP_PRIO).
    pub fn set_backup(&mut self, endpoint: &Endpoint, backup: bool) -> Result<()> {
        let changed = Endpoint { flags: EndpointFlags { backup, ..endpoint.flags }, ..*endpoint };
        let request = self.request(CMD_SET_FLAGS).nested(ATTR_ADDR, |request| local(request, &changed));
        self.netlink.ask(request, || format!("cannot change the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Opens a subflow of the connection with `token` (the userspace path manager, `net.mptcp.pm_type=1`). Subflows
    /// from one address have one `id`.
    pub fn open_subflow(&mut self, token: u32, id: u8, from: SocketAddr, to: SocketAddr, backup: bool) -> Result<()> {
        let flags = EndpointFlags { subflow: true, backup, ..EndpointFlags::default() };
        let port = (from.port() != 0).then_some(from.port());
        let end = Endpoint { id: Some(id), address: from.ip(), port, flags };
        self.subflow(CMD_SUBFLOW_CREATE, token, &end, to, "open")
    }

    /// Closes one, with a reset.
    pub fn close_subflow(&mut self, token: u32, from: SocketAddr, to: SocketAddr) -> Result<()> {
        let flags = EndpointFlags::default();
        let end = Endpoint { id: None, address: from.ip(), port: Some(from.port()), flags };
        self.subflow(CMD_SUBFLOW_DESTROY, token, &end, to, "close")
    }

    fn subflow(&mut self, command: u8, token: u32, from: &Endpoint, to: SocketAddr, verb: &str) -> Result<()> {
        let request = self
            .request(command)
            .attribute(ATTR_TOKEN, &token.to_ne_bytes())
            .nested(ATTR_ADDR, |request| local(request, from))
            .nested(ATTR_ADDR_REMOTE, |request| place(request, to.ip()).attribute(ADDR_PORT, &to.port().to_ne_bytes()));
        self.netlink.ask(request, || format!("cannot {verb} an MPTCP subflow {} to {to}", from.address)).map(drop)
    }

    /// Announces an address on the connection with `token` (userspace path manager).
    pub fn announce(&mut self, token: u32, id: u8, address: IpAddr) -> Result<()> {
        let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
        let endpoint = Endpoint { id: Some(id), address, port: None, flags };
        let request = self
            .request(CMD_ANNOUNCE)
            .attribute(ATTR_TOKEN, &token.to_ne_bytes())
            .nested(ATTR_ADDR, |request| local(request, &endpoint));
        self.netlink.ask(request, || format!("cannot announce the MPTCP address {address}")).map(drop)
    }

    /// Takes an announced address back (userspace path manager).
    pub fn withdraw(&mut self, token: u32, id: u8) -> Result<()> {
        let request =
            self.request(CMD_REMOVE).attribute(ATTR_TOKEN, &token.to_ne_bytes()).attribute(ATTR_LOC_ID, &[id]);
        self.netlink.ask(request, || format!("cannot withdraw the MPTCP address {id}")).map(drop)
    }
}

fn place(request: Request, address: IpAddr) -> Request {
    let kind = if address.is_ipv4() { ADDR_V4 } else { ADDR_V6 };
    request.attribute(ADDR_FAMILY, &u16::from(family(address)).to_ne_bytes()).attribute(kind, &octets(address))
}

fn local(request: Request, endpoint: &Endpoint) -> Request {
    let mut request = place(request, endpoint.address);
    if let Some(id) = endpoint.id {
        request = request.attribute(ADDR_ID, &[id]);
    }
    if let Some(port) = endpoint.port {
        request = request.attribute(ADDR_PORT, &port.to_ne_bytes());
    }
    request.attribute(ADDR_FLAGS, &endpoint.flags.bits().to_ne_bytes())
}
