//! Interfaces that can never carry anything: no flow can have a path over them, and no program can use them. And backups
//! that are none: no flow of their host has a protocol with backups.

use std::collections::BTreeSet;

use subflow_policy::path_manager::PathManagement;

use super::reachability::Islands;
use crate::file::{Field, Problem};
use crate::{Flow, Interface, InterfaceIndex, Scenario};

/// What is said of an interface that a flow could reach its peer over, and does not.
const NO_PATH: &str = "no path of a flow can begin or end there";

/// The network of a scenario, as far as its interfaces can be used.
pub(super) struct Usage<'a> {
    scenario: &'a Scenario,
    islands: Islands,
    /// Whether the protocol, the paths or an end of a flow was chosen for once, for which no interface is a mistake.
    is_changed: bool,
}

impl<'a> Usage<'a> {
    pub(super) fn of(scenario: &'a Scenario, is_changed: bool) -> Self {
        Self { scenario, islands: Islands::of(scenario.routers.len(), &scenario.links), is_changed }
    }

    /// The interfaces of the host `name` that can never carry anything.
    pub(super) fn idle_interfaces(&self, host: &Field<'_>, name: &str) -> Vec<Problem> {
        let Some(index) = self.scenario.hosts.iter().position(|host| host.name == name) else { return Vec::new() };
        // Programs may use all interfaces, and so may who puts a network without flows to use.
        let peers: BTreeSet<_> = match self.scenario.programs.is_empty() {
            true => self.flows().filter_map(|flow| Some((flow.peer_of(index)?, only_family(flow)))).collect(),
            false => {
                (0..self.scenario.hosts.len()).filter(|other| *other != index).map(|other| (other, None)).collect()
            }
        };
        if peers.is_empty() && !self.scenario.flows.is_empty() && !self.is_changed {
            return vec![host.without_effect(&format!("hosts.{name}"), "no flow begins or ends there")];
        }
        let of_peer = |&(peer, only): &(usize, Option<bool>)| self.interfaces(peer).map(move |far| (far, only));
        let remote: Vec<_> = peers.iter().flat_map(of_peer).collect();
        let mut found = Vec::new();
        for (place, interface) in self.interfaces(index).filter(|_| !peers.is_empty()) {
            let why = self.unreachable(name, (place, interface), &remote);
            let is_idle = || self.scenario.programs.is_empty() && !self.is_changed && !self.has_path(place);
            let Some(why) = why.or_else(|| is_idle().then(|| NO_PATH.to_owned())) else { continue };
            let problem = host.without_effect(&format!("hosts.{name}: {}", interface.name), &why);
            found.push(if why == NO_PATH { problem.help(self.remedy(index)) } else { problem });
        }
        found
    }

    /// The interfaces of the host `name` that are called backups in vain.
    pub(super) fn idle_backups(&self, host: &Field<'_>, name: &str) -> Vec<Problem> {
        let Some(index) = self.scenario.hosts.iter().position(|host| host.name == name) else { return Vec::new() };
        let mut of_host = self.flows().filter(|flow| flow.peer_of(index).is_some()).peekable();
        let may_have_others = self.is_changed || !self.scenario.programs.is_empty() || of_host.peek().is_none();
        if may_have_others || of_host.any(|flow| flow.protocol.path_manager().is_some()) {
            return Vec::new();
        }
        let backups = self.interfaces(index).filter(|(_, interface)| interface.backup);
        let why = "no flow of this host has MPTCP or multipath QUIC, which alone have backups";
        backups
            .map(|(_, backup)| host.without_effect(&format!("hosts.{name}: backup of {}", backup.name), why))
            .collect()
    }

    fn flows(&self) -> impl Iterator<Item = &'a Flow> {
        self.scenario.flows.iter()
    }

    fn interfaces(&self, host: usize) -> impl Iterator<Item = (InterfaceIndex, &'a Interface)> + use<'a> {
        let all = self.scenario.hosts[host].interfaces.iter().enumerate();
        all.map(move |(interface, one)| (InterfaceIndex { host, interface }, one))
    }

    /// Why no packet of an interface can reach one of the `remote` interfaces, each with the family that alone can be
    /// used there.
    fn unreachable(
        &self,
        name: &str,
        (place, interface): (InterfaceIndex, &Interface),
        remote: &[((InterfaceIndex, &Interface), Option<bool>)],
    ) -> Option<String> {
        let share_family = |other: &Interface, only: Option<bool>| {
            let mut usable = interface.addresses.iter().filter(|one| only.is_none_or(|ipv4| one.is_ipv4() == ipv4));
            usable.any(|one| other.has_family_of(*one))
        };
        let of_family = || remote.iter().filter(|((_, other), only)| share_family(other, *only));
        let [family, other_family] = if interface.addresses[0].is_ipv4() { ["IPv4", "IPv6"] } else { ["IPv6", "IPv4"] };
        if !remote.iter().any(|((_, other), _)| share_family(other, None)) {
            Some(format!("it has {family} only, which no host has that {name} communicates with"))
        } else if of_family().next().is_none() {
            Some(format!("it has {family} only, and an SCTP association has one family, which is {other_family} here"))
        } else if !of_family().any(|((other, _), _)| self.islands.join(place, *other)) {
            Some(format!("no chain of links and routers joins it to a host that {name} communicates with"))
        } else {
            None
        }
    }

    /// Whether a flow can have a path over an interface.
    fn has_path(&self, place: InterfaceIndex) -> bool {
        self.flows().any(|flow| self.is_end(flow, place) || self.may_begin(flow, place) || self.may_join(flow, place))
    }

    /// Whether a path of the flow begins or ends there, as the scenario says.
    fn is_end(&self, flow: &Flow, place: InterfaceIndex) -> bool {
        let named = flow.protocol.subflows().iter().flat_map(|subflow| [subflow.from, subflow.to]);
        [flow.from, flow.to].into_iter().chain(named).any(|end| end == place)
    }

    /// Whether the flow may begin from there, because its host may have lost the preferred address by then.
    fn may_begin(&self, flow: &Flow, place: InterfaceIndex) -> bool {
        let is_lost = |address| {
            let mut events = self.scenario.host_timeline.iter();
            events.any(|event| event.host == flow.from.host && !event.present && event.addresses.contains(address))
        };
        let [from, to] = &flow.addresses;
        let reaches = || self.interface(place).has_family_of(*to) && self.islands.join(place, flow.to);
        !flow.fixed_source && place.host == flow.from.host && is_lost(from) && reaches()
    }

    /// Whether the flow's protocol or path manager may add a path from or to there.
    fn may_join(&self, flow: &Flow, place: InterfaceIndex) -> bool {
        let here = self.interface(place);
        let to_any = |only: Option<bool>| {
            let mut far = flow.peer_of(place.host).into_iter().flat_map(|peer| self.interfaces(peer));
            far.any(|(other, there)| {
                let of_family = |address: &&std::net::IpAddr| only.is_none_or(|ipv4| address.is_ipv4() == ipv4);
                let suits = here.addresses.iter().filter(of_family).any(|address| there.has_family_of(*address));
                suits && self.islands.join(place, other)
            })
        };
        // From any address of the opening host to the address that the connection is opened to.
        let to_first = || {
            let suits = here.has_family_of(flow.addresses[1]) && self.islands.join(place, flow.to);
            place.host == flow.from.host && suits
        };
        if flow.protocol.sctp().is_some() {
            return to_any(only_family(flow));
        }
        // Only MPTCP announces addresses. A path manager of another crate may open what it likes.
        let announces = flow.protocol.mptcp().is_some();
        match flow.protocol.path_manager() {
            None | Some(PathManagement::Passive(_) | PathManagement::NDiffPorts(_)) => false,
            Some(PathManagement::Custom(..)) => to_any(None),
            Some(PathManagement::FullMesh(_) | PathManagement::SingleMesh(_)) if announces => to_any(None),
            Some(_) => to_first(),
        }
    }

    fn interface(&self, InterfaceIndex { host, interface }: InterfaceIndex) -> &'a Interface {
        &self.scenario.hosts[host].interfaces[interface]
    }

    /// What lets a flow of the host use further interfaces.
    fn remedy(&self, host: usize) -> &'static str {
        let mut of_host = self.flows().filter(|flow| flow.peer_of(host).is_some());
        if of_host.any(|flow| flow.protocol.is_multipath()) {
            "subflows names further paths, and path_manager = \"full-mesh\" opens one from each address"
        } else {
            "the flows of this host have one path each, from the interface that from names to that of to"
        }
    }
}

/// Whether the family of a flow's addresses is IPv4, if the flow cannot use addresses of the other one: all addresses of
/// an SCTP association are of one family.
fn only_family(flow: &Flow) -> Option<bool> {
    flow.protocol.sctp().map(|_| flow.addresses[0].is_ipv4())
}
