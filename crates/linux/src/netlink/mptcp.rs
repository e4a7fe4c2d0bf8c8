//! The kernel's MPTCP path managers (generic netlink family `mptcp_pm`; Linux `include/uapi/linux/mptcp_pm.h`).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustix::net::netlink::GENERIC;

use super::family::{Family, GENERIC_HEADER};
use super::message::{DUMP, attribute};
use super::route::{family, ip_address, octets};
use super::{Netlink, Request};
use crate::error::{Error, Result};

const VERSION: u8 = 1;
const CMD_ADD_ADDR: u8 = 1;
const CMD_DEL_ADDR: u8 = 2;
const CMD_GET_ADDR: u8 = 3;
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
const ADDR_IF_IDX: u16 = 7;

/// The flags of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointFlags {
    /// Announce the address to peers (ADD_ADDR).
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

/// A local endpoint for MPTCP subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address identifier; `None` lets the kernel choose.
    pub id: Option<u8>,
    /// The address.
    pub address: IpAddr,
    /// The port to announce; `None` means that of the connection.
    pub port: Option<u16>,
    /// Its flags.
    pub flags: EndpointFlags,
}

/// A subflow to be opened by the userspace path manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSubflow {
    /// The address identifier of its local end: that of all subflows from the address.
    pub id: u8,
    /// Its local end; port 0 lets the kernel choose.
    pub from: SocketAddr,
    /// Its remote end.
    pub to: SocketAddr,
    /// The index of the interface that its packets leave by; `None` leaves it to the routes. With two default routes and
    /// no rules for sources, all packets would leave by the one of the lower metric.
    pub interface: Option<u32>,
    /// Whether it is a backup (flag B of MP_JOIN).
    pub backup: bool,
}

/// Controls the path managers of the network namespace in which it was opened.
#[derive(Debug)]
pub struct MptcpPathManager {
    netlink: Netlink,
    family: u16,
}

impl MptcpPathManager {
    /// Opens it for the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        let mut netlink = Netlink::open(Some(GENERIC))?;
        let family = Family::mptcp_path_manager(&mut netlink)?.id;
        Ok(Self { netlink, family })
    }

    fn request(&self, command: u8) -> Request {
        Request::new(self.family, 0, &[command, VERSION, 0, 0])
    }

    /// Sets the limits of the in-kernel path manager per connection: subflows in addition to the initial one, and
    /// announced addresses to which it connects.
    pub fn set_limits(&mut self, subflows: u32, accepted_addresses: u32) -> Result<()> {
        let request = self
            .request(CMD_SET_LIMITS)
            .attribute(ATTR_RCV_ADD_ADDRS, &accepted_addresses.to_ne_bytes())
            .attribute(ATTR_SUBFLOWS, &subflows.to_ne_bytes());
        self.netlink.ask(request, || "cannot set the limits of MPTCP's path manager".into()).map(drop)
    }

    /// Adds an endpoint to the in-kernel path manager.
    pub fn add_endpoint(&mut self, endpoint: &Endpoint) -> Result<()> {
        let request = self.request(CMD_ADD_ADDR).nested(ATTR_ADDR, |request| local(request, endpoint));
        self.netlink.ask(request, || format!("cannot add the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Removes an endpoint: peers are notified (REMOVE_ADDR) and its subflows are closed.
    pub fn remove_endpoint(&mut self, endpoint: &Endpoint) -> Result<()> {
        let request = self.request(CMD_DEL_ADDR).nested(ATTR_ADDR, |request| local(request, endpoint));
        self.netlink.ask(request, || format!("cannot remove the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Sets whether the subflows of an endpoint are backups: peers are notified (MP_PRIO).
    pub fn set_backup(&mut self, endpoint: &Endpoint, backup: bool) -> Result<()> {
        let changed = Endpoint { flags: EndpointFlags { backup, ..endpoint.flags }, ..*endpoint };
        let request = self.request(CMD_SET_FLAGS).nested(ATTR_ADDR, |request| local(request, &changed));
        self.netlink.ask(request, || format!("cannot change the MPTCP endpoint {}", endpoint.address)).map(drop)
    }

    /// Opens a subflow of the connection with `token` (userspace path manager, `net.mptcp.pm_type=1`).
    pub fn open_subflow(&mut self, token: u32, subflow: &NewSubflow) -> Result<()> {
        let &NewSubflow { id, from, to, interface, backup } = subflow;
        let flags = EndpointFlags { subflow: true, backup, ..EndpointFlags::default() };
        let port = (from.port() != 0).then_some(from.port());
        let end = Endpoint { id: Some(id), address: from.ip(), port, flags };
        self.subflow(CMD_SUBFLOW_CREATE, token, |request| bound(local(request, &end), interface), (from, to), "open")
    }

    /// Closes a subflow with a reset (userspace path manager).
    pub fn close_subflow(&mut self, token: u32, from: SocketAddr, to: SocketAddr) -> Result<()> {
        let flags = EndpointFlags::default();
        self.present_subflow(CMD_SUBFLOW_DESTROY, token, from, to, flags, "close")
    }

    /// Sets whether a subflow is a backup: the peer is notified (MP_PRIO; userspace path manager).
    pub fn set_subflow_backup(&mut self, token: u32, from: SocketAddr, to: SocketAddr, backup: bool) -> Result<()> {
        let flags = EndpointFlags { backup, ..EndpointFlags::default() };
        self.present_subflow(CMD_SET_FLAGS, token, from, to, flags, "change the priority of")
    }

    /// A command about a subflow that there is.
    fn present_subflow(
        &mut self,
        command: u8,
        token: u32,
        from: SocketAddr,
        to: SocketAddr,
        flags: EndpointFlags,
        verb: &str,
    ) -> Result<()> {
        let end = |address| Endpoint { id: None, address, port: Some(from.port()), flags };
        let outcome = self.subflow(command, token, |request| local(request, &end(from.ip())), (from, to), verb);
        let (IpAddr::V4(local_ip), IpAddr::V4(remote), Err(_)) = (from.ip(), to.ip(), &outcome) else { return outcome };
        // The kernel knows the IPv4 subflows of an IPv6 socket by their mapped addresses only.
        let to = SocketAddr::new(remote.to_ipv6_mapped().into(), to.port());
        let mapped = end(local_ip.to_ipv6_mapped().into());
        self.subflow(command, token, |request| local(request, &mapped), (from, to), verb).or(outcome)
    }

    /// The local addresses that the kernel has identifiers for on the connection with `token` (userspace path manager,
    /// since Linux 6.10). An error means that another path manager has the connection.
    pub fn local_addresses(&mut self, token: u32) -> Result<Vec<(u8, IpAddr)>> {
        let request =
            Request::new(self.family, DUMP, &[CMD_GET_ADDR, VERSION, 0, 0]).attribute(ATTR_TOKEN, &token.to_ne_bytes());
        let messages = self.netlink.ask(request, || "cannot list the addresses of an MPTCP connection".into())?;
        let known = |message: &super::Message| {
            let entry = message.attribute(GENERIC_HEADER, ATTR_ADDR)?;
            let address = attribute(entry, ADDR_V4).or_else(|| attribute(entry, ADDR_V6))?;
            Some((*attribute(entry, ADDR_ID)?.first()?, ip_address(address)?.to_canonical()))
        };
        Ok(messages.iter().filter_map(known).collect())
    }

    /// Whether the connection with `token` has the userspace path manager; `false` if there is none. Asks to close a
    /// subflow that cannot be, for this works since Linux 5.19: other path managers' connections, and no others, refuse
    /// the request before they look for it (`net/mptcp/pm_userspace.c`, `mptcp_pm_nl_subflow_destroy_doit`).
    pub fn is_userspace(&mut self, token: u32) -> bool {
        // No TCP connection is with the broadcast address.
        let nowhere = SocketAddr::new(Ipv4Addr::BROADCAST.into(), 1);
        let end = Endpoint { id: None, address: nowhere.ip(), port: Some(1), flags: EndpointFlags::default() };
        let end = |request| local(request, &end);
        let outcome = self.subflow(CMD_SUBFLOW_DESTROY, token, end, (nowhere, nowhere), "find");
        matches!(outcome, Err(Error::System { source, .. }) if source.raw_os_error() == Some(libc::ESRCH))
    }

    fn subflow(
        &mut self,
        command: u8,
        token: u32,
        end: impl FnOnce(Request) -> Request,
        (from, to): (SocketAddr, SocketAddr),
        verb: &str,
    ) -> Result<()> {
        let request = self
            .request(command)
            .attribute(ATTR_TOKEN, &token.to_ne_bytes())
            .nested(ATTR_ADDR, end)
            .nested(ATTR_ADDR_REMOTE, |request| place(request, to.ip()).attribute(ADDR_PORT, &to.port().to_ne_bytes()));
        self.netlink.ask(request, || format!("cannot {verb} an MPTCP subflow {} to {to}", from.ip())).map(drop)
    }

    /// Announces an address on the connection with `token` (userspace path manager). The kernel answers joins to the address
    /// of a `backup` with flag B, since Linux 6.10.
    pub fn announce(&mut self, token: u32, id: u8, address: IpAddr, backup: bool) -> Result<()> {
        let flags = EndpointFlags { signal: true, backup, ..EndpointFlags::default() };
        let endpoint = Endpoint { id: Some(id), address, port: None, flags };
        let request = self
            .request(CMD_ANNOUNCE)
            .attribute(ATTR_TOKEN, &token.to_ne_bytes())
            .nested(ATTR_ADDR, |request| local(request, &endpoint));
        self.netlink.ask(request, || format!("cannot announce the MPTCP address {address}")).map(drop)
    }

    /// Withdraws an announced address (userspace path manager).
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

fn bound(request: Request, interface: Option<u32>) -> Request {
    match interface {
        // A signed number, as in the kernel.
        Some(index) => request.attribute(ADDR_IF_IDX, &index.to_ne_bytes()),
        None => request,
    }
}
