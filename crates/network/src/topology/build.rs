//! Builds a network from its description, with addresses for interfaces that the configuration gives none.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use rand_core::RngCore;
use subflow_policy::routing::Multiflow;

use super::{Attachment, Duplex, TopologyBuilder, TopologyError};
use crate::host_table::{AddressBook, Conversations, FarEnd, HostTable, Interface};
use crate::link::{Link, LinkStreams};
use crate::middlebox::Chain;
use crate::routing::Routing;
use crate::routing::{Edge, FlowRoutes, Gateways, Node, Routes, StaticRoute, TableRules, Wiring};
use crate::{HostId, InterfaceId, LinkId, Network, RouterMode, Service, Stop, fusion, stream};

pub(super) fn build(topology: &TopologyBuilder, seed: u64) -> Result<Network, TopologyError> {
    topology.check_stop()?;
    topology.check_names()?;
    topology.check_rates()?;
    let hosts = topology.host_table()?;
    let wiring = topology.wiring();
    topology.check_static_routes(&wiring)?;
    topology.check_control()?;
    topology.check_gateways()?;
    let routing = topology.make_routing(wiring, seed)?;
    topology.check_paths(&routing.wiring, &routing.tables, &hosts)?;
    let mut links = topology.links(seed)?;
    let middleboxes = topology.chains(&mut links, seed);
    for (interface, _) in &topology.radios {
        links[hosts.interfaces[interface.index()].link.index()].place_radio();
    }
    // A middlebox may send packets to any link at the ends of its own.
    if topology.fuse_hops && middleboxes.is_empty() {
        let fixed = routing.flows.is_none() && topology.routing.reroute_after.is_none();
        let stop = topology.stop.as_ref();
        let fusible = fusion::fusible(&routing.wiring, &routing.tables, fixed, &hosts, &mut links, stop);
        for (link, fuse) in fusible.into_iter().enumerate() {
            links[link].set_fused(fuse);
        }
    }
    let names = topology.links.iter().map(|link| link.name.clone()).collect();
    let mut network = Network::new(links, names, routing, hosts);
    network.middleboxes = middleboxes;
    network.stop.clone_from(&topology.stop);
    for &(interface, power) in &topology.radios {
        network.place_radio(interface, power);
    }
    topology.join_channels(&mut network, seed);
    topology.check_stop()?;
    Ok(network)
}

impl TopologyBuilder {
    /// The name of an interface with that of its host.
    pub(super) fn full_name(&self, interface: InterfaceId) -> String {
        let interface = &self.interfaces[interface.index()];
        format!("{}.{}", self.hosts[interface.host.index()], interface.name)
    }

    /// Fails if the stop was requested. Whatever grows faster than the number of links asks it in between.
    fn check_stop(&self) -> Result<(), TopologyError> {
        if self.stop.as_ref().is_some_and(Stop::is_requested) { Err(TopologyError::Stopped) } else { Ok(()) }
    }

    fn check_names(&self) -> Result<(), TopologyError> {
        let interfaces = (0..self.interfaces.len()).map(|index| self.full_name(InterfaceId::from_index(index)));
        unique("host", self.hosts.iter().cloned())?;
        unique("interface", interfaces)?;
        unique("router", self.routers.iter().map(|(name, _)| name.clone()))?;
        unique("link", self.links.iter().map(|link| link.name.clone()))
    }

    fn check_rates(&self) -> Result<(), TopologyError> {
        let zero = |service: &Service| match service {
            Service::Rate(rate) => rate.bits_per_second() == 0,
            Service::TokenBucket(bucket) => {
                let peak = bucket.peak.map_or(bucket.rate, |peak| peak.rate);
                bucket.rate.bits_per_second() == 0 || peak.bits_per_second() == 0
            }
            Service::Cellular(cellular) => cellular.block_bytes() == 0,
            Service::Wifi(wifi) => wifi.rate.bits_per_second() == 0,
            Service::Unlimited | Service::Trace(_) => false,
        };
        match self.links.iter().find(|link| link.directions.iter().any(|direction| zero(&direction.service))) {
            Some(link) => Err(TopologyError::ZeroRate { link: link.name.clone() }),
            None => Ok(()),
        }
    }

    /// Interfaces with the links on which they send, and addresses.
    fn host_table(&self) -> Result<HostTable, TopologyError> {
        let mut outgoing: Vec<Option<LinkId>> = vec![None; self.interfaces.len()];
        for (number, link) in self.links.iter().enumerate() {
            for (end, attachment) in link.ends.iter().enumerate() {
                let Attachment::Interface(id) = attachment else { continue };
                if let Some(first) = outgoing[id.index()].replace(LinkId::from_index(2 * number + end)) {
                    let interface = &self.interfaces[id.index()];
                    return Err(TopologyError::AttachedTwice {
                        host: self.hosts[interface.host.index()].clone(),
                        interface: interface.name.clone(),
                        first: self.links[first.index() / 2].name.clone(),
                        second: link.name.clone(),
                    });
                }
            }
        }
        let mut interfaces = Vec::with_capacity(self.interfaces.len());
        for (interface, outgoing) in self.interfaces.iter().zip(outgoing) {
            let Some(link) = outgoing else {
                let host = self.hosts[interface.host.index()].clone();
                return Err(TopologyError::Unattached { host, interface: interface.name.clone() });
            };
            let end = self.links[link.index() / 2].ends[1 - link.index() % 2];
            let peer = match end {
                Attachment::Interface(peer) if self.point_to_point => Some(peer),
                _ => None,
            };
            interfaces.push(Interface::new(interface.host, link, peer));
        }
        Ok(HostTable {
            interfaces,
            addresses: assign_addresses(self)?,
            conversations: Conversations::new(self.hosts.len(), &self.conversations),
        })
    }

    fn wiring(&self) -> Wiring {
        let node = |end: Attachment| match end {
            Attachment::Interface(id) => Node::Interface(id.0),
            Attachment::Router(id) => Node::Router(id.0),
        };
        let mut edges = Vec::with_capacity(2 * self.links.len());
        for link in &self.links {
            for (direction, config) in link.directions.iter().enumerate() {
                let (from, to) = (node(link.ends[direction]), node(link.ends[1 - direction]));
                edges.push(Edge { from, to, delay_nanos: config.delay.as_nanos() });
            }
        }
        Wiring { edges, routers: self.routers.len(), interfaces: self.interfaces.len() }
    }

    fn make_routing(&self, wiring: Wiring, seed: u64) -> Result<Routing, TopologyError> {
        let modes: Vec<RouterMode> = self.routers.iter().map(|(_, mode)| *mode).collect();
        let graph = wiring.graph();
        let controlled = modes.contains(&RouterMode::Multiflow);
        let addresses: Vec<_> = self.gateways.iter().map(|&(address, router)| (address, router.0)).collect();
        let gateways = Gateways::new(&addresses, wiring.interfaces);
        let by_flow = !gateways.is_empty() || modes.iter().any(|mode| *mode != RouterMode::ShortestPath);
        let controller = controlled.then(|| Multiflow::new(graph.clone(), self.routing.multiflow));
        let flows = by_flow.then(|| Box::new(FlowRoutes::new(controller, stream(seed, "routing"))));
        let rules = TableRules {
            modes,
            metric: self.metric,
            static_routes: self.static_routes.clone(),
            single_ways: self.single_ways.clone(),
            gateways,
            spanning_tree: self.routing.spanning_tree,
        };
        let tables = rules.tables(&wiring, &graph, &graph.no_links(), self.stop.as_ref());
        let tables = tables.ok_or(TopologyError::Stopped)?;
        Ok(Routing {
            attachments: wiring.attachments(),
            tables,
            listed: Vec::new(),
            flows,
            rules,
            graph,
            wiring,
            reroute_after: self.routing.reroute_after,
        })
    }

    fn check_static_routes(&self, wiring: &Wiring) -> Result<(), TopologyError> {
        let begins = |route: &StaticRoute| wiring.edges[route.via as usize].from == Node::Router(route.router);
        match self.static_routes.iter().find(|route| !begins(route)) {
            Some(route) => Err(TopologyError::RouteNotFromRouter {
                router: self.routers[route.router as usize].0.clone(),
                link: self.links[route.via as usize / 2].name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Checks that all routers have the controller, or none.
    fn check_control(&self) -> Result<(), TopologyError> {
        let controlled = |(_, mode): &&(String, RouterMode)| *mode == RouterMode::Multiflow;
        match (self.routers.iter().find(controlled), self.routers.iter().find(|router| !controlled(router))) {
            (Some((controlled, _)), Some((free, _))) => {
                Err(TopologyError::PartlyControlled { controlled: controlled.clone(), free: free.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Checks that all routers follow tables if there are gateways.
    fn check_gateways(&self) -> Result<(), TopologyError> {
        match (self.gateways.first(), self.routers.iter().find(|(_, mode)| !mode.follows_tables())) {
            (Some(&(address, _)), Some((router, _))) => {
                Err(TopologyError::GatewayWithoutTables { address, router: router.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Checks that every host reaches the hosts with which it exchanges packets.
    fn check_paths(&self, wiring: &Wiring, routes: &Routes, hosts: &HostTable) -> Result<(), TopologyError> {
        if !self.static_routes.is_empty() {
            self.check_loops(wiring, routes)?;
        }
        let mut of_host: Vec<Vec<InterfaceId>> = vec![Vec::new(); self.hosts.len()];
        for (index, interface) in self.interfaces.iter().enumerate() {
            of_host[interface.host.index()].push(InterfaceId::from_index(index));
        }
        let leads_to =
            |source: InterfaceId, host: HostId| match wiring.edges[hosts.interfaces[source.index()].link.index()].to {
                Node::Interface(far) => hosts.host(InterfaceId(far)) == host,
                Node::Router(router) => of_host[host.index()].iter().any(|&to| routes.first(router, to).is_some()),
            };
        for (from, sources) in of_host.iter().enumerate() {
            self.check_stop()?;
            for to in 0..self.hosts.len() {
                let host = HostId::from_index(to);
                let talk = hosts.conversations.allows(HostId::from_index(from), host);
                if talk && !sources.iter().any(|&source| leads_to(source, host)) {
                    let (from, to) = (self.hosts[from].clone(), self.hosts[to].clone());
                    return Err(TopologyError::Unreachable { from, to });
                }
            }
        }
        Ok(())
    }

    fn check_loops(&self, wiring: &Wiring, routes: &Routes) -> Result<(), TopologyError> {
        for destination in wiring.interface_ids() {
            self.check_stop()?;
            for start in 0..wiring.routers as u32 {
                let mut at = start;
                let mut steps = 0;
                while let Some(link) = routes.first(at, destination)
                    && let Node::Router(next) = wiring.edges[link as usize].to
                {
                    at = next;
                    steps += 1;
                    if steps > wiring.routers {
                        let interface = self.full_name(destination);
                        return Err(TopologyError::RouteLoop {
                            interface,
                            router: self.routers[at as usize].0.clone(),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts the middleboxes on `links`, and returns them by link; nothing if there are none.
    fn chains(&self, links: &mut [Link], seed: u64) -> Vec<Option<Chain>> {
        if self.links.iter().all(|link| link.middleboxes.is_empty()) {
            return Vec::new();
        }
        let chain = |(link, directions): (&Duplex, &mut [Link])| {
            let salt = stream(seed, &format!("link/{}/middlebox", link.name)).next_u64();
            (!link.middleboxes.is_empty()).then(|| {
                directions.iter_mut().for_each(Link::place_middleboxes);
                Chain::new(link.middleboxes.clone(), salt)
            })
        };
        self.links.iter().zip(links.chunks_mut(2)).map(chain).collect()
    }

    fn links(&self, seed: u64) -> Result<Vec<Link>, TopologyError> {
        let mut links = Vec::with_capacity(2 * self.links.len());
        for link in &self.links {
            self.check_stop()?;
            for (direction, config) in link.directions.iter().enumerate() {
                let way = ["forward", "backward"][direction];
                let random = |component| stream(seed, &format!("link/{}/{way}/{component}", link.name));
                let streams = LinkStreams {
                    queue: random("red"),
                    loss: random("loss"),
                    disturbance: random("disturbance"),
                    service: random("service"),
                };
                let far_end = match link.ends[1 - direction] {
                    Attachment::Interface(id) => FarEnd::Interface(id),
                    Attachment::Router(id) => FarEnd::Router(id.0),
                };
                links.push(Link::new(config, far_end, streams));
            }
        }
        Ok(links)
    }

    fn join_channels(&self, network: &mut Network, seed: u64) {
        for (number, link) in self.links.iter().enumerate() {
            for (direction, config) in link.directions.iter().enumerate() {
                let way = ["forward", "backward"][direction];
                if matches!(config.service, Service::Wifi(_)) {
                    let random = stream(seed, &format!("link/{}/{way}/contention", link.name));
                    network.join_channel((2 * number + direction) as u32, random);
                }
            }
        }
    }
}

fn unique(kind: &'static str, names: impl Iterator<Item = String>) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.clone()) {
            return Err(TopologyError::DuplicateName { kind, name });
        }
    }
    Ok(())
}

/// The configured addresses, and an address of its link for each interface without one. Every interface is on a link.
pub(super) fn assign_addresses(topology: &TopologyBuilder) -> Result<AddressBook, TopologyError> {
    let mut of_interface: Vec<_> = topology.interfaces.iter().map(|interface| interface.addresses.clone()).collect();
    for (number, link) in topology.links.iter().enumerate() {
        for (end, attachment) in link.ends.iter().enumerate() {
            let Attachment::Interface(interface) = attachment else { continue };
            let addresses = &mut of_interface[interface.index()];
            if addresses.is_empty() {
                addresses.push(automatic_address(number, end));
            }
        }
    }
    AddressBook::new(of_interface).map_err(|(address, first, second)| {
        let (first, second) = (topology.full_name(first), topology.full_name(second));
        TopologyError::DuplicateAddress { address, first, second }
    })
}

/// The address at one end (0 or 1) of link number `link`; beyond 65536 links the second byte carries into the first.
fn automatic_address(link: usize, end: usize) -> IpAddr {
    let network = Ipv4Addr::new(10, 0, 0, 0).to_bits();
    IpAddr::V4(Ipv4Addr::from_bits(network + ((link as u32) << 8) + end as u32 + 1))
}
