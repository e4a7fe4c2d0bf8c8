//! Interfaces, addresses, routes and rules (rtnetlink; Linux `include/uapi/linux/rtnetlink.h`).

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use super::message::{CREATE, DUMP, REPLACE, u32_at};
use super::{Netlink, Request};
use crate::error::{Error, Result};

const RTM_NEWLINK: u16 = 16;
pub(super) const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTM_NEWRULE: u16 = 32;
const RTM_DELRULE: u16 = 33;
const RTM_GETRULE: u16 = 34;

pub(super) const IFF_UP: u32 = 1;
pub(super) const IFF_NOARP: u32 = 0x80;
const IFLA_ADDRESS: u16 = 1;
pub(super) const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
pub(super) const IFA_ADDRESS: u16 = 1;
pub(super) const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;
const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTA_TABLE: u16 = 15;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_CC_ALGO: u16 = 16;
/// The answer is the entry of the routing tables, not what is assumed without one.
const RTM_F_FIB_MATCH: u32 = 0x2000;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
const FRA_SRC: u16 = 2;
const FRA_TABLE: u16 = 15;
const FRA_PROTOCOL: u16 = 21;
const FR_ACT_TO_TBL: u8 = 1;
pub(super) const INTERFACE_MESSAGE: usize = 16;
const ROUTE_MESSAGE: usize = 12;
/// Who has made a rule (`proto` of `ip rule`): a number that `/etc/iproute2/rt_protos` gives to nobody.
const RULE_PROTOCOL: u8 = 183;

/// The main routing table.
const MAIN_TABLE: u32 = 254;

/// Configures interfaces, addresses and routes of the network namespace in which it was opened.
#[derive(Debug)]
pub struct RouteControl(pub(super) Netlink);

/// A default route with its TCP metrics.
#[derive(Clone, Debug)]
pub struct Route {
    /// The interface.
    pub interface: u32,
    /// The source address of packets from unbound sockets.
    pub source: IpAddr,
    /// TCP's initial congestion window in packets.
    pub initial_window: u32,
    /// The lower bound of TCP's retransmission timeout in milliseconds.
    pub minimum_rto_ms: u32,
    /// TCP's congestion control, by the kernel's name, whatever a socket asks for. Default: what the socket has.
    pub congestion: Option<String>,
}

impl RouteControl {
    /// Opens it for the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Netlink::open(None).map(Self)
    }

    /// Whether a route of IPv4 leads from `from` over the interface with the index `interface` to `to`.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn has_route(&mut self, from: Ipv4Addr, to: Ipv4Addr, interface: u32) -> Result<bool> {
        let mut fixed = vec![libc::AF_INET as u8, 32, 32, 0, 0, 0, 0, 0];
        fixed.extend_from_slice(&RTM_F_FIB_MATCH.to_ne_bytes());
        let request = Request::new(RTM_GETROUTE, 0, &fixed)
            .attribute(RTA_DST, &to.octets())
            .attribute(RTA_SRC, &from.octets())
            .attribute(RTA_OIF, &interface.to_ne_bytes());
        match self.0.ask(request, || format!("cannot ask for the route from {from} to {to}")) {
            Ok(_) => Ok(true),
            Err(Error::System { source, .. })
                if matches!(source.raw_os_error(), Some(libc::ENETUNREACH | libc::EHOSTUNREACH)) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The index of the interface `name`.
    pub fn interface(&mut self, name: &str) -> Result<u32> {
        let message = self.link(name)?;
        let index = message.bytes().get(4..8).and_then(|bytes| bytes.try_into().ok());
        index.map(u32::from_ne_bytes).ok_or_else(|| Error::Unexpected(format!("interface {name} has no index")))
    }

    fn link(&mut self, name: &str) -> Result<super::Message> {
        let request = Request::new(RTM_GETLINK, 0, &[0; INTERFACE_MESSAGE]).attribute(IFLA_IFNAME, &c_string(name));
        let messages = self.0.ask(request, || format!("cannot find the interface {name}"))?;
        messages.into_iter().next().ok_or_else(|| Error::Unexpected(format!("no answer about interface {name}")))
    }

    /// Packets that the interface `name` dropped because a queue or buffer was full: on receiving, on sending.
    pub fn drops(&mut self, name: &str) -> Result<[u64; 2]> {
        // struct rtnl_link_stats64: packets, bytes and errors of both directions, then drops.
        const DROPS: usize = 6 * 8;
        let message = self.link(name)?;
        let statistics = message.attribute(INTERFACE_MESSAGE, IFLA_STATS64);
        let drops =
            statistics.and_then(|bytes| bytes.get(DROPS..DROPS + 16)).and_then(|bytes| bytes.as_chunks().0.get(..2));
        match drops {
            Some(&[received, sent]) => Ok([u64::from_ne_bytes(received), u64::from_ne_bytes(sent)]),
            _ => Err(Error::Unexpected(format!("interface {name} has no statistics"))),
        }
    }

    /// Sets an interface up, with this MTU and this queue length in packets.
    pub fn set_up(&mut self, interface: u32, mtu: Option<u32>, queue: Option<u32>) -> Result<()> {
        let mut fixed = [0; INTERFACE_MESSAGE];
        fixed[4..8].copy_from_slice(&interface.to_ne_bytes());
        fixed[8..12].copy_from_slice(&IFF_UP.to_ne_bytes());
        fixed[12..16].copy_from_slice(&IFF_UP.to_ne_bytes());
        let mut request = Request::new(RTM_NEWLINK, 0, &fixed);
        for (kind, value) in [(IFLA_MTU, mtu), (IFLA_TXQLEN, queue)] {
            if let Some(value) = value {
                request = request.attribute(kind, &value.to_ne_bytes());
            }
        }
        self.0.ask(request, || format!("cannot set interface {interface} up")).map(drop)
    }

    /// Lets TCP pass single segments to an interface, not several as one large packet (GSO).
    pub(crate) fn set_single_segments(&mut self, interface: u32) -> Result<()> {
        let mut fixed = [0; INTERFACE_MESSAGE];
        fixed[4..8].copy_from_slice(&interface.to_ne_bytes());
        let request = Request::new(RTM_NEWLINK, 0, &fixed).attribute(IFLA_GSO_MAX_SEGS, &1_u32.to_ne_bytes());
        self.0
            .ask(request, || format!("cannot limit the packets of interface {interface} to single segments"))
            .map(drop)
    }

    /// Creates a veth pair with these names and Ethernet addresses: the first end in this network namespace, the second
    /// in the namespace `theirs`. Neither uses ARP.
    pub(crate) fn add_veth(&mut self, names: [&str; 2], addresses: [[u8; 6]; 2], theirs: BorrowedFd<'_>) -> Result<()> {
        let mut fixed = [0; INTERFACE_MESSAGE];
        fixed[8..12].copy_from_slice(&IFF_NOARP.to_ne_bytes());
        fixed[12..16].copy_from_slice(&IFF_NOARP.to_ne_bytes());
        let ends = names.map(c_string);
        let request = Request::new(RTM_NEWLINK, CREATE, &fixed)
            .attribute(IFLA_IFNAME, &ends[0])
            .attribute(IFLA_ADDRESS, &addresses[0])
            .nested(IFLA_LINKINFO, |info| {
                info.attribute(IFLA_INFO_KIND, b"veth\0").nested(IFLA_INFO_DATA, |data| {
                    data.nested(VETH_INFO_PEER, |peer| {
                        peer.fixed(&fixed)
                            .attribute(IFLA_IFNAME, &ends[1])
                            .attribute(IFLA_ADDRESS, &addresses[1])
                            .attribute(IFLA_NET_NS_FD, &theirs.as_raw_fd().to_ne_bytes())
                    })
                })
            });
        self.0.ask(request, || format!("cannot create the veth device {}", names[1])).map(drop)
    }

    /// Adds an address with a full-length prefix to `interface`: all other addresses are reached by routes.
    pub fn add_address(&mut self, interface: u32, address: IpAddr) -> Result<()> {
        let request = about_address(RTM_NEWADDR, CREATE, interface, address);
        self.0.ask(request, || format!("cannot add the address {address}")).map(drop)
    }

    /// Removes such an address. The kernel removes the IPv4 routes that prefer it as source, too.
    pub fn remove_address(&mut self, interface: u32, address: IpAddr) -> Result<()> {
        let request = about_address(RTM_DELADDR, 0, interface, address);
        self.0.ask(request, || format!("cannot remove the address {address}")).map(drop)
    }

    /// Adds the default route `route` for packets with its source address, by a rule and a separate routing table.
    pub fn add_route_from(&mut self, table: u32, route: &Route) -> Result<()> {
        self.set_default_route(CREATE, table, route)?;
        let request = about_rule(RTM_NEWRULE, CREATE, table, route.source).attribute(FRA_PROTOCOL, &[RULE_PROTOCOL]);
        self.0.ask(request, || format!("cannot add a rule for packets from {}", route.source)).map(drop)
    }

    /// Removes the rule that [`add_route_from`](Self::add_route_from) added.
    pub fn remove_rule(&mut self, table: u32, source: IpAddr) -> Result<()> {
        let request = about_rule(RTM_DELRULE, 0, table, source);
        self.0.ask(request, || format!("cannot remove the rule for packets from {source}")).map(drop)
    }

    /// Removes all such rules whose table has no route any more: the kernel removes routes with their devices when a
    /// process is killed, and keeps the rules.
    pub(crate) fn remove_stale_rules(&mut self) -> Result<()> {
        let list = |kind| Request::new(kind, DUMP, &[0; ROUTE_MESSAGE]);
        let rules = self.0.ask(list(RTM_GETRULE), || "cannot list rules".to_owned())?;
        let routes = self.0.ask(list(RTM_GETROUTE), || "cannot list routes".to_owned())?;
        let table_of = |message: &super::Message, kind| u32_at(message.attribute(ROUTE_MESSAGE, kind)?, 0);
        let in_use: BTreeSet<u32> = routes.iter().filter_map(|route| table_of(route, RTA_TABLE)).collect();
        for rule in &rules {
            let is_ours = rule.attribute(ROUTE_MESSAGE, FRA_PROTOCOL) == Some(&[RULE_PROTOCOL]);
            let source = rule.attribute(ROUTE_MESSAGE, FRA_SRC).and_then(ip_address);
            if let (true, Some(source), Some(table)) = (is_ours, source, table_of(rule, FRA_TABLE))
                && !in_use.contains(&table)
            {
                self.remove_rule(table, source)?;
            }
        }
        Ok(())
    }

    /// Adds the default route `route` for packets without a source address.
    pub fn add_main_route(&mut self, route: &Route) -> Result<()> {
        self.set_default_route(CREATE, MAIN_TABLE, route)
    }

    /// Adds the route that [`add_route_from`](Self::add_route_from) added, after its source address was gone for a
    /// time. The rule has stayed.
    pub fn restore_route(&mut self, table: u32, route: &Route) -> Result<()> {
        self.set_default_route(REPLACE, table, route)
    }

    /// The same for [`add_main_route`](Self::add_main_route).
    pub fn restore_main_route(&mut self, route: &Route) -> Result<()> {
        self.set_default_route(REPLACE, MAIN_TABLE, route)
    }

    fn set_default_route(&mut self, flags: u16, table: u32, route: &Route) -> Result<()> {
        // Table numbers above 255 are only in the attribute.
        let fixed = [family(route.source), 0, 0, 0, 0, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0];
        let request = Request::new(RTM_NEWROUTE, flags, &fixed)
            .attribute(RTA_TABLE, &table.to_ne_bytes())
            .attribute(RTA_OIF, &route.interface.to_ne_bytes())
            .attribute(RTA_PREFSRC, &octets(route.source))
            .nested(RTA_METRICS, |request| {
                let request = request
                    .attribute(RTAX_INITCWND, &route.initial_window.to_ne_bytes())
                    .attribute(RTAX_RTO_MIN, &route.minimum_rto_ms.to_ne_bytes());
                let congestion = route.congestion.as_deref().map(c_string);
                congestion.into_iter().fold(request, |request, name| request.attribute(RTAX_CC_ALGO, &name))
            });
        self.0.ask(request, || format!("cannot add a route from {}", route.source)).map(drop)
    }
}

/// About the rule by which packets from `source` take the routes of `table`.
fn about_rule(kind: u16, flags: u16, table: u32, source: IpAddr) -> Request {
    let bytes = octets(source);
    let fixed = [family(source), 0, 8 * bytes.len() as u8, 0, 0, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0];
    Request::new(kind, flags, &fixed).attribute(FRA_SRC, &bytes).attribute(FRA_TABLE, &table.to_ne_bytes())
}

fn about_address(kind: u16, flags: u16, interface: u32, address: IpAddr) -> Request {
    let bytes = octets(address);
    let mut fixed = vec![family(address), 8 * bytes.len() as u8, IFA_F_NODAD, 0];
    fixed.extend_from_slice(&interface.to_ne_bytes());
    Request::new(kind, flags, &fixed).attribute(IFA_LOCAL, &bytes).attribute(IFA_ADDRESS, &bytes)
}

/// AF_INET or AF_INET6.
pub(super) fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

pub(super) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// The address with these bytes.
pub(super) fn ip_address(octets: &[u8]) -> Option<IpAddr> {
    match octets.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(octets).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(octets).ok()?)),
        _ => None,
    }
}

fn c_string(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}
