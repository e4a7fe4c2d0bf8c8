//! The network as all tools have it: nodes, and links between their ports with an IPv4 network each.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use subflow_network::RouterMode;
use subflow_scenario::{Attachment, Flow, Scenario};

use crate::Notes;
use crate::conditions::Conditions;
use crate::{ExportError, Target};

/// The first network of the links; each has four addresses, of which its ends have the second and third.
const FIRST_NETWORK: u32 = u32::from_be_bytes([10, 128, 0, 0]);
/// How many links there are addresses for.
const MOST_LINKS: usize = 1 << 20;

/// A host or a router.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its name in the scenario.
    pub(crate) name: String,
    /// Its name for tools: a letter and up to eight letters and digits, so that names of its devices have 15.
    pub(crate) label: String,
    pub(crate) is_host: bool,
    /// Its ports: a link and which end of it, in the order of the host's interfaces or of the links.
    pub(crate) ports: Vec<(usize, usize)>,
}

/// Where a link ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// Index into [`Layout::nodes`].
    pub(crate) node: usize,
    /// Index into [`Node::ports`].
    pub(crate) port: usize,
    pub(crate) address: Ipv4Addr,
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Cable {
    /// Its name in the scenario.
    pub(crate) name: String,
    pub(crate) ends: [End; 2],
    /// From the first end to the second, and back.
    pub(crate) directions: [Conditions; 2],
}

/// The network. Hosts come before routers.
pub(crate) struct Layout<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) nodes: Vec<Node>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) notes: Notes,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(scenario: &'a Scenario, target: Target) -> Result<Self, ExportError> {
        if scenario.links.len() > MOST_LINKS {
            let message = format!("the scenario has {} links; {MOST_LINKS} can be exported", scenario.links.len());
            return Err(ExportError { message, help: String::new() });
        }
        let hosts = scenario.hosts.iter().map(|host| (&host.name, true, host.interfaces.len()));
        let routers = scenario.routers.iter().map(|router| (&router.name, false, 0));
        let node = |(name, is_host, ports): (&String, bool, usize)| Node {
            name: name.clone(),
            label: String::new(),
            is_host,
            ports: vec![(usize::MAX, 0); ports],
        };
        let mut nodes: Vec<Node> = hosts.chain(routers).map(node).collect();
        label(&mut nodes);
        let mut layout = Self { scenario, nodes, cables: Vec::new(), notes: Notes::default() };
        layout.add_cables();
        layout.note_what_is_left_out(target);
        Ok(layout)
    }

    fn add_cables(&mut self) {
        for (number, link) in self.scenario.links.iter().enumerate() {
            let address = |end: usize| Ipv4Addr::from(FIRST_NETWORK + 4 * number as u32 + 1 + end as u32);
            let mut ends = [0, 1].map(|end| End { node: 0, port: 0, address: address(end) });
            for (which, attachment) in link.ends.iter().enumerate() {
                ends[which].node = match *attachment {
                    Attachment::Interface(at) => {
                        self.nodes[at.host].ports[at.interface] = (number, which);
                        at.host
                    }
                    Attachment::Router(router) => {
                        let node = self.scenario.hosts.len() + router;
                        self.nodes[node].ports.push((number, which));
                        node
                    }
                };
            }
            let directions = [(&link.up, "up"), (&link.down, "down")]
                .map(|(config, way)| Conditions::of(config, &format!("{} {way}", link.name), &mut self.notes));
            self.cables.push(Cable { name: link.name.clone(), ends, directions });
            if !link.middleboxes.is_empty() {
                self.notes.add(&link.name, "the middleboxes are left out");
            }
        }
        // An interface without a link is no port, so that the numbers of ports are known only now.
        for node in &mut self.nodes {
            node.ports.retain(|(link, _)| *link != usize::MAX);
        }
        for number in 0..self.cables.len() {
            for which in 0..2 {
                let node = self.cables[number].ends[which].node;
                let port = self.nodes[node].ports.iter().position(|port| *port == (number, which));
                self.cables[number].ends[which].port = port.expect("the link was just plugged in there");
            }
        }
    }

    fn note_what_is_left_out(&mut self, target: Target) {
        let scenario = self.scenario;
        for router in scenario.routers.iter().filter(|router| router.mode != RouterMode::ShortestPath) {
            self.notes.add(&router.name, "routes are single shortest paths");
        }
        let mut interfaces = scenario.hosts.iter().flat_map(|host| &host.interfaces);
        if interfaces.any(|interface| !interface.gateways.is_empty()) {
            self.notes.add("", "gateways of interfaces are left out: routes are single shortest paths");
        }
        let events = scenario.timeline.len() + scenario.host_timeline.len();
        if events > 0 {
            self.notes.add("", format!("the timeline ({events} events) is left out"));
        }
        if !scenario.programs.is_empty() {
            self.notes.add("", "the programs are left out");
        }
        if !scenario.groups.is_empty() {
            self.notes.add("", "flows that are drawn at random for each run are left out");
        }
        if target == Target::Htsim && !scenario.flows.is_empty() {
            self.notes.add("", "a topology of htsim has no traffic: the flows are left out");
        }
        for node in self.nodes.iter().filter(|node| node.name != node.label) {
            self.notes.add("", format!("{} is called {}", node.name, node.label));
        }
        if target != Target::Htsim {
            self.notes.add("", "the addresses of the links are those of 10.128.0.0/9, not the scenario's");
        }
    }

    /// The end of the link that a host's interface has, if it has one.
    pub(crate) fn end_at(&self, at: subflow_scenario::InterfaceIndex) -> Option<End> {
        let is_there = |attachment: &Attachment| *attachment == Attachment::Interface(at);
        let (link, which) = self
            .scenario
            .links
            .iter()
            .enumerate()
            .find_map(|(link, config)| Some((link, config.ends.iter().position(is_there)?)))?;
        Some(self.cables[link].ends[which])
    }

    /// The flows whose ends both have a link, each with these ends.
    pub(crate) fn flows(&self) -> Vec<(&'a Flow, [End; 2])> {
        let ends = |flow: &'a Flow| Some((flow, [self.end_at(flow.from)?, self.end_at(flow.to)?]));
        self.scenario.flows.iter().filter_map(ends).collect()
    }
}

/// Gives every node its label: its name where that is short enough, else a letter and a number.
fn label(nodes: &mut [Node]) {
    let is_short = |name: &str| {
        name.len() <= 9
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let mut taken: BTreeSet<String> =
        nodes.iter().map(|node| node.name.clone()).filter(|name| is_short(name)).collect();
    let mut used = BTreeSet::new();
    for node in nodes {
        // A host and a router may have the same name.
        if is_short(&node.name) && used.insert(node.name.clone()) {
            node.label = node.name.clone();
            continue;
        }
        let letter = if node.is_host { 'h' } else { 'r' };
        let free = (1..).map(|number| format!("{letter}{number}")).find(|label| !taken.contains(label));
        node.label = free.expect("there are more numbers than nodes");
        taken.insert(node.label.clone());
    }
}
