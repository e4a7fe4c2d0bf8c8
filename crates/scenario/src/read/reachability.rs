//! Which interfaces can exchange packets, and over how many paths without a common link.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::routing::{Graph, disjoint_paths};

use super::ends::HostEnd;
use super::topology::Topology;
use crate::file::{Field, Problem, list};
use crate::topology::Family;
use crate::{Attachment, InterfaceIndex, Link};

/// Two interfaces that can communicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connected {
    pub(super) from: InterfaceIndex,
    pub(super) to: InterfaceIndex,
    /// The first addresses of the same family that they have.
    pub(super) addresses: [IpAddr; 2],
}

impl Connected {
    fn new(topology: &Topology, from: InterfaceIndex, to: InterfaceIndex, family: Option<Family>) -> Option<Self> {
        let [here, there] = [from, to].map(|end| &topology.hosts[end.host].interfaces[end.interface].addresses);
        let same_family = |local: IpAddr| there.iter().copied().find(|remote| remote.is_ipv4() == local.is_ipv4());
        let suits = |local: &&IpAddr| family.is_none_or(|family| family.has(**local));
        let addresses = here.iter().filter(suits).find_map(|&local| Some([local, same_family(local)?]))?;
        Some(Self { from, to, addresses })
    }

    fn first_addresses(&self, topology: &Topology) -> [IpAddr; 2] {
        [self.from, self.to].map(|end| topology.hosts[end.host].interfaces[end.interface].addresses[0])
    }
}

/// The network, partitioned into islands. Hosts do not forward packets, so an interface is on the island of the node at
/// the other end of its link; routers with a common link are on the same island.
pub(super) struct Islands {
    of_interface: BTreeMap<InterfaceIndex, usize>,
    of_router: Vec<usize>,
    /// The hosts on each island.
    hosts: BTreeMap<usize, Vec<usize>>,
}

impl Islands {
    /// The islands of a network with this number of routers.
    pub(super) fn of(routers: usize, links: &[Link]) -> Self {
        let mut of_router: Vec<usize> = (0..routers).collect();
        for link in links {
            if let [Attachment::Router(a), Attachment::Router(b)] = link.ends {
                let (a, b) = (root(&mut of_router, a), root(&mut of_router, b));
                of_router[b] = a;
            }
        }
        let mut of_interface = BTreeMap::new();
        for (index, link) in links.iter().enumerate() {
            for (end, other) in [(link.ends[0], link.ends[1]), (link.ends[1], link.ends[0])] {
                let Attachment::Interface(interface) = end else { continue };
                let island = match other {
                    Attachment::Router(router) => root(&mut of_router, router),
                    // A link between two hosts is an island of its own; its number follows those of the routers'
                    // islands.
                    Attachment::Interface(_) => routers + index,
                };
                of_interface.insert(interface, island);
            }
        }
        let of_router = (0..routers).map(|router| root(&mut of_router, router)).collect();
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

    /// Whether links and routers join two interfaces.
    pub(super) fn join(&self, a: InterfaceIndex, b: InterfaceIndex) -> bool {
        matches!((self.of_interface.get(&a), self.of_interface.get(&b)), (Some(a), Some(b)) if a == b)
    }

    /// The first pair of interfaces of two ends that can communicate: joined by links, with addresses of one family. Those
    /// whose first addresses are of one family come before others. With a `family`, its addresses are those of the ends.
    pub(super) fn connect(
        &self,
        topology: &Topology,
        family: Option<Family>,
        (from, from_field): (HostEnd, &Field<'_>),
        (to, to_field): (HostEnd, &Field<'_>),
    ) -> Result<Connected, Problem> {
        let pairs = || interfaces(topology, from).flat_map(|a| interfaces(topology, to).map(move |b| (a, b)));
        let joined = || pairs().filter(|(a, b)| self.join(*a, *b));
        let connected = || joined().filter_map(|(from, to)| Connected::new(topology, from, to, family));
        let by_first = |connected: &Connected| connected.addresses == connected.first_addresses(topology);
        if let Some(found) = connected().find(by_first).or_else(|| connected().next()) {
            return Ok(found);
        }
        let (from_name, to_name) = (end_name(topology, from), end_name(topology, to));
        if joined().next().is_some() {
            let of_which = match family {
                None => "the same family",
                Some(Family::Ipv4) => "family ipv4 at both ends",
                Some(Family::Ipv6) => "family ipv6 at both ends",
            };
            return Err(to_field
                .problem(format!("{from_name} and {to_name} have no addresses of {of_which}"))
                .label(if family.is_some() { "not of this family" } else { "IPv4 here and IPv6 there" })
                .also(from_field.place(), "from here")
                .help("give one of them an address of the other's family: address = [\"10.0.0.1\", \"fd00::1\"]"));
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

fn end_name(topology: &Topology, end: HostEnd) -> String {
    match end.interface {
        Some(interface) => topology.interface_name(InterfaceIndex { host: end.host, interface }),
        None => topology.hosts[end.host].name.clone(),
    }
}

/// The largest number of paths between the routers of two interfaces that share no link; the links of the interfaces
/// themselves do not count. It is 1 if a link joins the two interfaces, or if both have the same router.
pub(super) fn number_of_paths(topology: &Topology, from: InterfaceIndex, to: InterfaceIndex) -> usize {
    let [Some(from), Some(to)] = [from, to].map(|interface| router_of(topology, interface)) else { return 1 };
    let mut graph = Graph::new(topology.routers.len());
    for (number, link) in topology.links.iter().enumerate() {
        if let [Attachment::Router(a), Attachment::Router(b)] = link.ends {
            graph.add_link(number as u32, a as u32, b as u32, [0, 0]);
        }
    }
    disjoint_paths(&graph, from, to, MAX_SUBFLOWS, &graph.no_links(), |_| 0).len().max(1)
}

/// The router at the other end of an interface's link.
fn router_of(topology: &Topology, interface: InterfaceIndex) -> Option<u32> {
    let interface = Attachment::Interface(interface);
    let (link, _) = topology.plugged.get(&interface)?;
    topology.links[*link].ends.iter().find_map(|end| match end {
        Attachment::Router(router) => Some(*router as u32),
        Attachment::Interface(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_policy::catalogue::{Catalogue, Value};

    use crate::Scenario;
    use crate::file::Document;

    /// What `ndiffports` has for its number of subflows between two hosts of a fat tree, whose connections have at most
    /// `most`.
    fn subflows(to: &str, most: usize) -> Value {
        let text = format!(
            "duration = \"1 s\"\nmptcp = {{ max_subflows = {most} }}\n\
             [topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"10 Mbit/s\"\n\
             [flows.data]\nfrom = \"h0\"\nto = \"{to}\"\nprotocol = \"mptcp\"\n\
             path_manager = {{ name = \"ndiffports\", n = \"disjoint-paths\" }}\n"
        );
        let document = Document::parse(Path::new("fat-tree.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
        let manager = scenario.flows[0].protocol.path_manager().expect("it is MPTCP");
        manager.options().into_iter().find(|option| option.key == "n").expect("it has a number").value
    }

    #[test]
    fn there_are_as_many_subflows_as_paths_without_a_common_link() {
        assert_eq!(subflows("h8", 8), Value::Integer(2), "over either switch above the edge");
        assert_eq!(subflows("h1", 8), Value::Integer(1), "at the same switch");
        assert_eq!(subflows("h8", 1), Value::Integer(1), "the connection may have no more");
    }
}
