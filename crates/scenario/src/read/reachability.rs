//! Tests which interfaces can exchange packets.

use std::collections::{BTreeMap, BTreeSet};

use super::ends::HostEnd;
use super::topology::Topology;
use crate::file::{Field, Problem, list};
use crate::{Attachment, InterfaceIndex};

/// The network, partitioned into islands. Hosts do not forward packets, so an interface is on the island of the node at
/// the other end of its link; routers with a common link are on the same island.
pub(super) struct Islands {
    of_interface: BTreeMap<InterfaceIndex, usize>,
    of_router: Vec<usize>,
    /// The hosts on each island.
    hosts: BTreeMap<usize, Vec<usize>>,
}

impl Islands {
    pub(super) fn of(topology: &Topology) -> Self {
        let mut of_router: Vec<usize> = (0..topology.routers.len()).collect();
        for link in topology.links.iter() {
            if let [Attachment::Router(a), Attachment::Router(b)] = link.ends {
                let (a, b) = (root(&mut of_router, a), root(&mut of_router, b));
                of_router[b] = a;
            }
        }
        let mut of_interface = BTreeMap::new();
        for (index, link) in topology.links.iter().enumerate() {
            for (end, other) in [(link.ends[0], link.ends[1]), (link.ends[1], link.ends[0])] {
                let Attachment::Interface(interface) = end else { continue };
                let island = match other {
                    Attachment::Router(router) => root(&mut of_router, router),
                    // A link between two hosts is an island of its own; its number follows those of the routers'
                    // islands.
                    Attachment::Interface(_) => topology.routers.len() + index,
                };
                of_interface.insert(interface, island);
            }
        }
        let of_router = (0..topology.routers.len()).map(|router| root(&mut of_router, router)).collect();
        let mut hosts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (interface, island) in &of_interface {
            hosts.entry(*island).or_default().push(interface.host);
        }
        Self { of_interface, of_router, hosts }
    }

    /// Whether packets of an interface can reach a router.
    pub(super) fn has_router(&self, interface: InterfaceIndex, router: usize) -> bool {
        self.of_interface.get(&interface) == self.of_router.get(router)
    }

    fn join(&self, a: InterfaceIndex, b: InterfaceIndex) -> bool {
        matches!((self.of_interface.get(&a), self.of_interface.get(&b)), (Some(a), Some(b)) if a == b)
    }

    /// The first pair of interfaces of two ends that can communicate: joined by links, with addresses of one family.
    pub(super) fn connect(
        &self,
        topology: &Topology,
        (from, from_field): (HostEnd, &Field<'_>),
        (to, to_field): (HostEnd, &Field<'_>),
    ) -> Result<(InterfaceIndex, InterfaceIndex), Problem> {
        let pairs = || interfaces(topology, from).flat_map(|a| interfaces(topology, to).map(move |b| (a, b)));
        let joined = || pairs().filter(|(a, b)| self.join(*a, *b));
        if let Some(pair) = joined().find(|(a, b)| share_a_family(topology, *a, *b)) {
            return Ok(pair);
        }
        let (from_name, to_name) = (end_name(topology, from), end_name(topology, to));
        if joined().next().is_some() {
            return Err(to_field
                .problem(format!("{from_name} and {to_name} have no first addresses of the same family"))
                .label("IPv4 here and IPv6 there")
                .also(from_field.place(), "from here")
                .help(
                    "connections go from and to the first address of an interface: let one family come first at both",
                ));
        }
        let islands: BTreeSet<usize> =
            interfaces(topology, from).filter_map(|interface| self.of_interface.get(&interface).copied()).collect();
        let mut reached: Vec<usize> = islands.iter().flat_map(|island| &self.hosts[island]).copied().collect();
        reached.sort_unstable();
        reached.dedup();
        reached.retain(|&host| host != from.host);
        let reached = match reached.is_empty() {
            true => "no other host is reached from there".to_owned(),
            false => {
                let names = reached.iter().map(|&host| topology.hosts[host].name.as_str());
                format!("what is reached from there: {}", list(names))
            }
        };
        Err(to_field
            .problem(format!("{to_name} cannot be reached from {from_name}: no chain of links and routers joins them"))
            .label("unreachable")
            .also(from_field.place(), "from here")
            .help(format!("{reached}; hosts do not forward packets, routers do")))
    }
}

/// The router that represents an island, with path compression.
fn root(of_router: &mut [usize], mut router: usize) -> usize {
    while of_router[router] != router {
        of_router[router] = of_router[of_router[router]];
        router = of_router[router];
    }
    router
}

fn interfaces(topology: &Topology, end: HostEnd) -> impl Iterator<Item = InterfaceIndex> + use<> {
    let all = match end.interface {
        Some(interface) => interface..interface + 1,
        None => 0..topology.hosts[end.host].interfaces.len(),
    };
    all.map(move |interface| InterfaceIndex { host: end.host, interface })
}

/// Whether the first addresses of two interfaces, which connections go from and to, are both IPv4 or both IPv6.
fn share_a_family(topology: &Topology, a: InterfaceIndex, b: InterfaceIndex) -> bool {
    let address = |index: InterfaceIndex| topology.hosts[index.host].interfaces[index.interface].addresses[0];
    address(a).is_ipv4() == address(b).is_ipv4()
}

fn end_name(topology: &Topology, end: HostEnd) -> String {
    match end.interface {
        Some(interface) => topology.interface_name(InterfaceIndex { host: end.host, interface }),
        None => topology.hosts[end.host].name.clone(),
    }
}
