//! The interfaces with their addresses, and news that they changed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use super::listener::{Listener, Received};
use super::message::{DUMP, u32_at};
use super::route::{
    IFA_ADDRESS, IFA_LOCAL, IFF_NOARP, IFF_UP, IFLA_IFNAME, INTERFACE_MESSAGE, RTM_GETLINK, ip_address,
};
use super::{Message, Request, RouteControl};
use crate::error::Result;

const RTM_GETADDR: u16 = 22;
const RTNLGRP_LINK: u32 = 1;
const RTNLGRP_IPV4_IFADDR: u32 = 5;
const RTNLGRP_IPV4_ROUTE: u32 = 7;
const RTNLGRP_IPV6_IFADDR: u32 = 9;
const RTNLGRP_IPV6_ROUTE: u32 = 11;

/// News that are read at a time.
const MOST_NEWS: usize = 1024;

const IFF_LOOPBACK: u32 = 0x8;
const IFF_POINTOPOINT: u32 = 0x10;
const IFF_RUNNING: u32 = 0x40;

/// struct ifaddrmsg: family, length of the prefix, flags, scope, interface.
const ADDRESS_MESSAGE: usize = 8;
const IFA_FLAGS: u16 = 8;
const IFA_F_DADFAILED: u32 = 0x08;
const IFA_F_DEPRECATED: u32 = 0x20;
const IFA_F_TENTATIVE: u32 = 0x40;
const RT_SCOPE_UNIVERSE: u8 = 0;
/// Site-local and private addresses of IPv6 and user-defined scopes lie below.
const RT_SCOPE_LINK: u8 = 253;

/// An interface that can carry packets, with the addresses that connections may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its addresses beyond the link, without those that are being checked for duplicates or are deprecated.
    pub addresses: Vec<IpAddr>,
    /// Whether it has neighbours, or a peer. A dummy device has not: others reach its addresses over another interface.
    pub has_neighbours: bool,
}

impl RouteControl {
    /// The interfaces that are up and have a carrier, by their index. The loopback interface is not among them.
    pub fn interfaces(&mut self) -> Result<BTreeMap<u32, Interface>> {
        let list = |kind, fixed: &[u8]| Request::new(kind, DUMP, fixed);
        let links =
            self.0.ask(list(RTM_GETLINK, &[0; INTERFACE_MESSAGE]), || "cannot list the network interfaces".into())?;
        let addresses = self
            .0
            .ask(list(RTM_GETADDR, &[0; ADDRESS_MESSAGE]), || "cannot list the addresses of interfaces".into())?;
        let mut interfaces: BTreeMap<u32, Interface> = links.iter().filter_map(usable_link).collect();
        for (index, address) in addresses.iter().filter_map(usable_address) {
            if let Some(interface) = interfaces.get_mut(&index) {
                interface.addresses.push(address);
            }
        }
        Ok(interfaces)
    }
}

fn usable_link(message: &Message) -> Option<(u32, Interface)> {
    let (index, flags) = (u32_at(message.bytes(), 4)?, u32_at(message.bytes(), 8)?);
    let name = message.attribute(INTERFACE_MESSAGE, IFLA_IFNAME)?;
    let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
    let usable = flags & IFF_UP != 0 && flags & IFF_RUNNING != 0 && flags & IFF_LOOPBACK == 0;
    let has_neighbours = flags & IFF_NOARP == 0 || flags & IFF_POINTOPOINT != 0;
    usable.then_some((index, Interface { name, addresses: Vec::new(), has_neighbours }))
}

fn usable_address(message: &Message) -> Option<(u32, IpAddr)> {
    let &[_, _, short_flags, scope] = message.bytes().first_chunk()?;
    let index = u32_at(message.bytes(), 4)?;
    let flags = message.attribute(ADDRESS_MESSAGE, IFA_FLAGS).and_then(|flags| u32_at(flags, 0));
    let flags = flags.unwrap_or(short_flags.into());
    // On point-to-point interfaces the other attribute is the peer's address.
    let address = message.attribute(ADDRESS_MESSAGE, IFA_LOCAL);
    let address = ip_address(address.or_else(|| message.attribute(ADDRESS_MESSAGE, IFA_ADDRESS))?)?;
    let in_doubt = flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED) != 0;
    let leaves_the_link = (RT_SCOPE_UNIVERSE..RT_SCOPE_LINK).contains(&scope);
    (leaves_the_link && !in_doubt && !address.is_loopback()).then_some((index, address))
}

/// News that interfaces, addresses or routes of a network namespace changed. It does not say which: whoever needs it
/// asks for all of them again, so that news that got lost do no harm.
#[derive(Debug)]
pub struct InterfaceChanges(Listener);

impl InterfaceChanges {
    /// From now on receives the changes of interfaces and addresses in the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Listener::open(None, &[RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR]).map(Self)
    }

    /// The same with the changes of routes.
    pub fn open_with_routes() -> Result<Self> {
        let addresses = [RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR];
        let routes = [RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE];
        Listener::open(None, &[addresses.as_slice(), &routes].concat()).map(Self)
    }

    /// Whether something changed since the last call. Of news that do not end some are left for the next.
    pub fn any(&self) -> Result<bool> {
        for count in 0..MOST_NEWS {
            if let Received::Nothing = self.0.receive()? {
                return Ok(count > 0);
            }
        }
        Ok(true)
    }
}

impl AsFd for InterfaceChanges {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
