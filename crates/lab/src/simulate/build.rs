//! Builds the network and the hosts of a scenario.

use std::collections::BTreeSet;
use std::net::IpAddr;

use subflow_network::{
    Attachment, DuplexLink, HostId, InterfaceId, LinkConfig, Network, Stop, TopologyBuilder, TopologyError, stream,
};
use subflow_quantity::Instant;
use subflow_scenario::{Flow, Link, Scenario};
use subflow_transport::tcp::config::SmallQueues;
use subflow_transport::{Host, RandomSource, Reach};

use super::application::Application;
use super::nodes::Node;
use super::page::Waiting;
use super::stacks::{Side, listener};
use super::world::World;
use crate::RunError;

/// A run of a scenario.
pub(crate) struct Run {
    pub(crate) network: Network,
    pub(crate) world: World,
    /// By scenario link.
    pub(crate) links: Vec<DuplexLink>,
    /// By scenario host and interface.
    pub(crate) interfaces: Vec<Vec<InterfaceId>>,
}

/// What a run is built with, besides its scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) seed: u64,
    /// Whether the samples of MPTCP connections that send are kept.
    pub(crate) record_paths: bool,
    /// What ends the building and the run before their time.
    pub(crate) stop: Option<&'a Stop>,
}

impl Setup<'_> {
    /// With a seed and nothing else.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self { seed, record_paths: false, stop: None }
    }

    fn check_stop(self) -> Result<(), RunError> {
        if self.stop.is_some_and(Stop::is_requested) { Err(RunError::STOPPED) } else { Ok(()) }
    }
}

/// Builds the run of `scenario`. Only the hosts for which `ours` is true begin flows.
pub(super) fn build(scenario: &Scenario, setup: Setup<'_>, ours: impl Fn(usize) -> bool) -> Result<Run, RunError> {
    let random = |host: &subflow_scenario::Host| stream(setup.seed, &format!("host {}", host.name)).into();
    build_for(scenario, setup, random, |_, host| ours(host), Wires::Routed)
}

/// What joins the links of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wires {
    /// Its routers.
    Routed,
    /// Something outside of the network: every packet goes to the other end of its link.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    PointToPoint,
}

/// Like [`build`], with random numbers for each host from `random`. A flow uses our stack only on the hosts for which
/// `ours` is true; its other ends are not opened.
pub(crate) fn build_for(
    scenario: &Scenario,
    setup: Setup<'_>,
    random: impl Fn(&subflow_scenario::Host) -> RandomSource,
    ours: impl Fn(&Flow, usize) -> bool,
    wires: Wires,
) -> Result<Run, RunError> {
    let mut topology = TopologyBuilder::new();
    setup.stop.into_iter().for_each(|stop| topology.stop_on(stop.clone()));
    let hosts: Vec<HostId> = scenario.hosts.iter().map(|host| topology.host(&host.name)).collect();
    let mut interfaces = Vec::new();
    for (host, &id) in scenario.hosts.iter().zip(&hosts) {
        interfaces.push(host.interfaces.iter().map(|interface| topology.interface(id, &interface.name)).collect());
        let ids: &Vec<InterfaceId> = &interfaces[interfaces.len() - 1];
        for (interface, &id) in host.interfaces.iter().zip(ids) {
            interface.addresses.iter().for_each(|&address| topology.address(id, address));
            interface.energy.into_iter().for_each(|power| topology.radio(id, power));
        }
    }
    let routers: Vec<_> = scenario.routers.iter().map(|router| topology.router(&router.name, router.mode)).collect();
    for interface in scenario.hosts.iter().flat_map(|host| &host.interfaces) {
        for (&address, &gateway) in interface.addresses.iter().zip(&interface.gateways) {
            topology.gateway(address, routers[gateway]);
        }
    }
    scenario.single_ways.iter().flat_map(|&host| &interfaces[host]).for_each(|&id| topology.single_way_to(id));
    let end = |end: subflow_scenario::Attachment| -> Attachment {
        match end {
            subflow_scenario::Attachment::Interface(index) => interfaces[index.host][index.interface].into(),
            subflow_scenario::Attachment::Router(index) => routers[index].into(),
        }
    };
    let limited = hosts_with_small_queues(scenario);
    let links = scenario
        .links
        .iter()
        .map(|link| {
            let [up, down] = configs(link, &limited);
            let built = topology.link(&link.name, end(link.ends[0]), end(link.ends[1]), up, down);
            topology.middleboxes(built, link.middleboxes.clone());
            built
        })
        .collect();
    match wires {
        // Programs may talk to any host: then no pairs are named.
        Wires::Routed if !scenario.programs.is_empty() => {}
        Wires::Routed => {
            scenario.flows.iter().for_each(|flow| topology.conversation(hosts[flow.from.host], hosts[flow.to.host]))
        }
        #[cfg(all(target_os = "linux", feature = "linux"))]
        Wires::PointToPoint => {
            topology.point_to_point();
            neighbours(scenario).for_each(|[a, b]| topology.conversation(hosts[a], hosts[b]));
        }
    }
    topology.routing(scenario.routing);
    let names_pairs = scenario.programs.is_empty() && !scenario.flows.is_empty();
    let mut network = topology.build(setup.seed).map_err(|error| match error {
        TopologyError::Stopped => RunError::STOPPED,
        // The pairs of hosts that flows name are checked when the scenario is read.
        _ if names_pairs => RunError::Defect(error.to_string()),
        _ => RunError::Scenario(format!("{error}; programs may send from any host to any other")),
    })?;
    let mut nodes = nodes(scenario, random, &hosts, &interfaces);
    // What is outside of the network has its own routes.
    if wires == Wires::Routed {
        set_reach(&mut nodes, scenario, setup, &network, &interfaces)?;
    }
    let world = World::new(&mut network, nodes);
    let mut run = Run { network, world, links, interfaces };
    run.schedule_changes(scenario);
    let serves = |host: usize, flow: &Flow| [flow.from.host, flow.to.host].contains(&host) && ours(flow, host);
    run.schedule_address_changes(scenario, |host| scenario.flows.iter().any(|flow| serves(host, flow)));
    run.add_flows(scenario, setup, ours)?;
    Ok(run)
}

/// The configurations of a link in both directions. It tells hosts with small queues what has left it.
fn configs(link: &Link, limited: &BTreeSet<usize>) -> [LinkConfig; 2] {
    let config = |config: &LinkConfig, near: subflow_scenario::Attachment| match near {
        // Behind a middlebox, what leaves the queue is no longer what the host has sent.
        subflow_scenario::Attachment::Interface(index)
            if limited.contains(&index.host) && link.middleboxes.is_empty() =>
        {
            LinkConfig { reports_departures: true, ..config.clone() }
        }
        _ => config.clone(),
    };
    [config(&link.up, link.ends[0]), config(&link.down, link.ends[1])]
}

/// The hosts with connections that limit how much of their data is in the queues of the host.
fn hosts_with_small_queues(scenario: &Scenario) -> BTreeSet<usize> {
    let mut hosts = BTreeSet::new();
    for flow in &scenario.flows {
        if let Some(ends) = flow.protocol.tcp() {
            let by_host = [(ends.from, flow.from.host), (ends.to, flow.to.host)];
            hosts.extend(by_host.iter().filter(|(tcp, _)| tcp.small_queues != SmallQueues::Off).map(|&(_, host)| host));
        }
    }
    hosts
}

/// The hosts at the ends of each link between hosts.
#[cfg(all(target_os = "linux", feature = "linux"))]
fn neighbours(scenario: &Scenario) -> impl Iterator<Item = [usize; 2]> {
    scenario.links.iter().filter_map(|link| match link.ends {
        [subflow_scenario::Attachment::Interface(a), subflow_scenario::Attachment::Interface(b)] => {
            Some([a.host, b.host])
        }
        _ => None,
    })
}

fn nodes(
    scenario: &Scenario,
    random: impl Fn(&subflow_scenario::Host) -> RandomSource,
    hosts: &[HostId],
    interfaces: &[Vec<InterfaceId>],
) -> Vec<Node> {
    let mut nodes = Vec::new();
    for ((host, &id), ids) in scenario.hosts.iter().zip(hosts).zip(interfaces) {
        let mut addresses: Vec<(IpAddr, InterfaceId)> = Vec::new();
        // The first addresses of all interfaces come first, so that the index of an interface is that of its address.
        addresses.extend(host.interfaces.iter().zip(ids).map(|(interface, &id)| (interface.addresses[0], id)));
        for (interface, &id) in host.interfaces.iter().zip(ids) {
            addresses.extend(interface.addresses[1..].iter().map(|&address| (address, id)));
        }
        let transport = Host::new(addresses.iter().map(|&(address, _)| address).collect(), random(host));
        nodes.push(Node::new(id, transport, addresses));
    }
    nodes
}

/// Tells each host with several addresses from which of them there is no route to an address of a peer.
fn set_reach(
    nodes: &mut [Node],
    scenario: &Scenario,
    setup: Setup<'_>,
    network: &Network,
    interfaces: &[Vec<InterfaceId>],
) -> Result<(), RunError> {
    let addresses = |host: usize| {
        let of_interface = scenario.hosts[host].interfaces.iter().zip(&interfaces[host]);
        of_interface.flat_map(|(interface, &id)| interface.addresses.iter().map(move |&address| (address, id)))
    };
    let both_ways = |flow: &Flow| [(flow.from.host, flow.to.host), (flow.to.host, flow.from.host)];
    let pairs: BTreeSet<(usize, usize)> = scenario.flows.iter().flat_map(both_ways).collect();
    let mut unreachable = vec![Vec::new(); nodes.len()];
    for (host, peer) in pairs.into_iter().filter(|&(host, _)| addresses(host).nth(1).is_some()) {
        setup.check_stop()?;
        for (local, from) in addresses(host) {
            let there = addresses(peer).filter(|(remote, _)| remote.is_ipv4() == local.is_ipv4());
            let without_route = there.filter(|&(_, to)| network.path_delay(from, to).is_none());
            unreachable[host].extend(without_route.map(|(remote, _)| (local, remote)));
        }
    }
    for (node, pairs) in nodes.iter_mut().zip(unreachable).filter(|(_, pairs)| !pairs.is_empty()) {
        node.transport.set_reach(Reach::without(pairs));
    }
    Ok(())
}

/// Addresses of a host's backup interfaces.
fn backups(host: &subflow_scenario::Host) -> Vec<IpAddr> {
    host.interfaces.iter().filter(|interface| interface.backup).flat_map(|i| i.addresses.iter().copied()).collect()
}

impl Run {
    fn schedule_changes(&mut self, scenario: &Scenario) {
        for event in &scenario.timeline {
            let at = Instant::ZERO + event.at;
            let link = self.links[event.link];
            for change in &event.up {
                self.network.schedule_change(at, link.forward, change.clone());
            }
            for change in &event.down {
                self.network.schedule_change(at, link.backward, change.clone());
            }
        }
    }

    fn schedule_address_changes(&mut self, scenario: &Scenario, ours: impl Fn(usize) -> bool) {
        for event in scenario.host_timeline.iter().filter(|event| ours(event.host)) {
            self.world.add_address_change(&mut self.network, Instant::ZERO + event.at, event);
        }
    }

    fn add_flows(
        &mut self,
        scenario: &Scenario,
        setup: Setup<'_>,
        ours: impl Fn(&Flow, usize) -> bool,
    ) -> Result<(), RunError> {
        let Setup { seed, record_paths, .. } = setup;
        self.world.waiting = Waiting::of(scenario);
        for (index, flow) in scenario.flows.iter().enumerate() {
            setup.check_stop()?;
            let answers = flow.is_answered();
            let from = (backups(&scenario.hosts[flow.from.host]), record_paths && !answers);
            let to = (backups(&scenario.hosts[flow.to.host]), record_paths && answers);
            let connect = listener(flow, Side::From, seed, from);
            if let Some(listener) = listener(flow, Side::To, seed, to) {
                let node = self.world.nodes.node_mut(flow.to.host);
                node.transport.listen(flow.port, listener);
                node.listens(flow.port, index);
            }
            let begins = ours(flow, flow.from.host) && flow.start < scenario.duration;
            let flow = flow.clone();
            let start = Instant::ZERO + flow.start;
            self.world.add_application(&mut self.network, |timer| Application::new(flow, connect, timer, seed));
            if begins {
                self.network.set_timer(self.world.applications[index].timer(), Some(start));
            }
        }
        Ok(())
    }
}
