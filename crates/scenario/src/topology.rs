//! Hosts with their interfaces, routers, and the links that join them.

use std::net::IpAddr;

use subflow_network::{LinkConfig, Middlebox, PlacedMiddlebox, RadioPower, RouterMode};

use crate::Scenario;

/// A computer with one or more interfaces. Hosts do not forward packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name in the scenario.
    pub name: String,
    /// Its interfaces in the file's order, at least one. The order gives MPTCP address identifiers.
    pub interfaces: Vec<Interface>,
    /// Whose stack it runs on Linux.
    pub stack: HostStack,
    /// On Linux, the network namespace that it is: a name, or the number of a process in it. Default: a new one.
    pub namespace: Option<String>,
}

impl Host {
    /// The index of the interface that has `address`.
    pub fn interface_with(&self, address: IpAddr) -> Option<usize> {
        self.interfaces.iter().position(|interface| interface.addresses.contains(&address))
    }
}

impl Interface {
    /// One without addresses, gateways and energy.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), addresses: Vec::new(), gateways: Vec::new(), backup: false, energy: None }
    }

    /// Whether it has an address of the same family as `address`.
    pub fn has_family_of(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|own| own.is_ipv4() == address.is_ipv4())
    }

    /// What the names of subflows with this address of its end with, to tell those of both families apart: ` IPv4` or
    /// ` IPv6`, and nothing if it has addresses of one family only.
    pub fn family_of(&self, address: IpAddr) -> &'static str {
        match (self.addresses.iter().any(|other| other.is_ipv4() != address.is_ipv4()), address.is_ipv4()) {
            (false, _) => "",
            (true, true) => " IPv4",
            (true, false) => " IPv6",
        }
    }
}

/// Whose TCP and MPTCP a host runs. The simulator always runs ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostStack {
    /// The kernel's, in a network namespace.
    #[default]
    Kernel,
    /// Ours, in this process.
    Subflow,
}

/// One interface of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, unique within the host.
    pub name: String,
    /// Its addresses, at least one: given in the file, or `10.A.B.C` with A·256 + B the host's number and C the
    /// interface's, both counted from 1.
    pub addresses: Vec<IpAddr>,
    /// The routers that packets from and to its addresses pass, one for each address; empty where they take the
    /// shortest path. Indices into [`Scenario::routers`](super::Scenario::routers).
    pub gateways: Vec<usize>,
    /// Whether MPTCP subflows over this interface are backups: used only where no other subflow works.
    pub backup: bool,
    /// What its radio takes, if its energy is counted.
    pub energy: Option<RadioPower>,
}

/// An interface, by position: `scenario.hosts[host].interfaces[interface]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterfaceIndex {
    /// Index into [`Scenario::hosts`](super::Scenario::hosts).
    pub host: usize,
    /// Index into [`Host::interfaces`].
    pub interface: usize,
}

/// A node that forwards packets between its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Router {
    /// Its name in the scenario.
    pub name: String,
    /// How it chooses a packet's way.
    pub mode: RouterMode,
}

/// Where an end of a link is plugged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attachment {
    /// An interface of a host. It has exactly one link.
    Interface(InterfaceIndex),
    /// A router, by index into [`Scenario::routers`](super::Scenario::routers).
    Router(usize),
}

impl Scenario {
    /// The interfaces whose energy is counted, in the file's order, with their names: `host.interface`.
    pub fn radios(&self) -> impl Iterator<Item = (InterfaceIndex, String)> {
        self.hosts.iter().enumerate().flat_map(|(host, node)| {
            let counted = node.interfaces.iter().enumerate().filter(|(_, interface)| interface.energy.is_some());
            counted
                .map(move |(interface, of)| (InterfaceIndex { host, interface }, format!("{}.{}", node.name, of.name)))
        })
    }

    /// Whether middleboxes change data, so that what arrives is not what was sent.
    pub fn rewrites_payload(&self) -> bool {
        let boxes = self.links.iter().flat_map(|link| &link.middleboxes);
        boxes.into_iter().any(|placed| matches!(placed.middlebox, Middlebox::RewritePayload(_)))
    }
}

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// Whether `address` is of this family.
    pub(crate) fn has(self, address: IpAddr) -> bool {
        address.is_ipv4() == (self == Self::Ipv4)
    }
}

/// A link between two attachments. Its two directions share nothing but the middleboxes.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name in the scenario.
    pub name: String,
    /// First and second end. "Up" is from the first to the second.
    pub ends: [Attachment; 2],
    /// From the first to the second end.
    pub up: LinkConfig,
    /// From the second to the first end.
    pub down: LinkConfig,
    /// What packets pass before they come to the queue, in order from the first end to the second.
    pub middleboxes: Vec<PlacedMiddlebox>,
}
