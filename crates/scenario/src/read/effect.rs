//! Keys that have no effect: valid, so that a sweep over protocols is possible, and more often a mistake.

use std::collections::BTreeSet;

use super::reachability::Islands;
use super::traces::Traces;
use super::{late, switches};
use crate::file::{Field, Node, Problem, Section};
use crate::protocol_name::ProtocolName;
use crate::switches::sctp::is_multipath;
use crate::{Flow, Interface, InterfaceIndex, Scenario, schema};

/// What is given in the tree `root` of `scenario` and has no effect on it.
pub(crate) fn without_effect(root: &Node, scenario: &Scenario, traces: &Traces) -> Vec<Problem> {
    // The tree has been read before, so that none of these fails.
    let root = Field::root(root);
    let mut found = Vec::new();
    let Ok(section) = root.section(&schema::ROOT) else { return found };
    let mut is_changed = false;
    section.each("flows", "flow", |name, flow| {
        if let Ok(section) = flow.section(&schema::FLOW) {
            keys_of_other_protocols(&section, scenario, name, &mut found);
            late::ends(&section, &root, scenario, name, &mut found);
            late::starts(&section, scenario, name, &mut found);
            switches::of_flow(&section, scenario, name, &mut found);
            is_changed |= is_left_over(&section, section.field());
        }
    });
    late::traces(&section, scenario, traces, &mut found);
    if is_changed {
        return found;
    }
    stacks(&section, scenario, "", &mut found);
    let islands = Islands::of(scenario.routers.len(), &scenario.links);
    let are_switches_told = !switches::are_left_over(&section);
    if are_switches_told {
        switches::of_all(&section, scenario, "", &mut found);
    }
    section.each("hosts", "host", |name, host| {
        interfaces_of_no_use(host, scenario, (name, &islands), &mut found);
        // A host may be a list of interfaces.
        if let Ok(host) = host.section(&schema::HOST) {
            let prefix = format!("hosts.{name}.");
            stacks(&host, scenario, &prefix, &mut found);
            if are_switches_told {
                switches::of_all(&host, scenario, &prefix, &mut found);
            }
        }
    });
    found
}

/// Interfaces that can never carry anything: their addresses are of a family that no peer of their host has or that no
/// association with it can use, or no chain of links and routers joins them to one that has.
fn interfaces_of_no_use(
    host: &Field<'_>,
    scenario: &Scenario,
    (name, islands): (&str, &Islands),
    found: &mut Vec<Problem>,
) {
    let Some(index) = scenario.hosts.iter().position(|host| host.name == name) else { return };
    let interfaces = |host: usize| {
        let all = scenario.hosts[host].interfaces.iter().enumerate();
        all.map(move |(interface, one)| (InterfaceIndex { host, interface }, one))
    };
    let flows = scenario.flows.iter();
    let peers: BTreeSet<_> = flows.filter_map(|flow| Some((flow.peer_of(index)?, only_family(flow)))).collect();
    if peers.is_empty() {
        return;
    }
    let of_peer = |(peer, only)| interfaces(peer).map(move |(place, other)| (place, other, only));
    let remote: Vec<_> = peers.into_iter().flat_map(of_peer).collect();
    for (place, interface) in interfaces(index) {
        let share_family = |other: &Interface, only: Option<bool>| {
            let mut usable = interface.addresses.iter().filter(|one| only.is_none_or(|ipv4| one.is_ipv4() == ipv4));
            usable.any(|one| other.has_family_of(*one))
        };
        let of_family = || remote.iter().filter(|(_, other, only)| share_family(other, *only));
        let [family, other_family] = if interface.addresses[0].is_ipv4() { ["IPv4", "IPv6"] } else { ["IPv6", "IPv4"] };
        let why = if !remote.iter().any(|(_, other, _)| share_family(other, None)) {
            format!("it has {family} only, which no host has that {name} communicates with")
        } else if of_family().next().is_none() {
            format!("it has {family} only, and an SCTP association has one family, which is {other_family} here")
        } else if !of_family().any(|(other, ..)| islands.join(place, *other)) {
            format!("no chain of links and routers joins it to a host that {name} communicates with")
        } else {
            continue;
        };
        found.push(host.without_effect(&format!("hosts.{name}: {}", interface.name), &why));
    }
}

/// Whether the family of a flow's addresses is IPv4, if the flow cannot use addresses of the other one: all addresses of
/// an SCTP association are of one family.
fn only_family(flow: &Flow) -> Option<bool> {
    flow.protocol.sctp().map(|_| flow.addresses[0].is_ipv4())
}

fn keys_of_other_protocols(section: &Section<'_>, scenario: &Scenario, name: &str, found: &mut Vec<Problem>) {
    let protocols = &ProtocolName::ALL;
    let Ok(kind) = section.value("protocol").choice("a protocol", protocols) else { return };
    if kind.is_udp() {
        // Its reader takes no other keys.
        return;
    }
    let others = protocols.iter().filter(|other| other.value != kind).flat_map(|other| other.value.own_keys());
    let others: BTreeSet<&str> = others.copied().filter(|key| !kind.own_keys().contains(key)).collect();
    let why = protocols
        .iter()
        .filter(|own| own.value == kind)
        .map(|own| format!("the flow's protocol is {}", own.description.name));
    let why: String = why.collect();
    let keys = others.into_iter().map(|key| (key, why.as_str()));
    let scheduler = if kind.has_one_path() {
        Some(("scheduler", why.as_str()))
    } else {
        is_sctp_without_cmt(scenario, name).then_some(("scheduler", "SCTP has one path without sctp.cmt"))
    };
    for (key, why) in keys.chain(scheduler) {
        if let Some(given) = section.given(key).filter(|given| !is_left_over(section, given)) {
            found.push(given.without_effect(&format!("flows.{name}.{key}"), why));
        }
    }
}

/// Whether the file has the key and somebody else, such as `--set`, chose another protocol for once.
fn is_left_over(flow: &Section<'_>, given: &Field<'_>) -> bool {
    let source = |field: &Field<'_>| field.place().source.name.clone();
    let of_file = source(flow.field());
    flow.given("protocol").is_some_and(|protocol| source(&protocol) != of_file) && source(given) == of_file
}

/// Switches of protocols that no flow has.
fn stacks(section: &Section<'_>, scenario: &Scenario, prefix: &str, found: &mut Vec<Problem>) {
    let protocols = || scenario.flows.iter().map(|flow| &flow.protocol);
    let has_mptcp = protocols().any(|protocol| protocol.mptcp().is_some());
    let has_sctp = protocols().any(|protocol| protocol.sctp().is_some());
    let has_quic = protocols().any(|protocol| protocol.quic().is_some());
    for (key, is_used) in [("mptcp", has_mptcp), ("sctp", has_sctp), ("quic", has_quic)] {
        if let Some(given) = section.given(key).filter(|_| !is_used) {
            found.push(given.without_effect(&format!("{prefix}{key}"), &format!("no flow's protocol is {key}")));
        }
    }
}

fn is_sctp_without_cmt(scenario: &Scenario, name: &str) -> bool {
    let flow = scenario.flows.iter().find(|flow| flow.key() == name);
    flow.and_then(|flow| flow.protocol.sctp()).is_some_and(|sctp| !is_multipath(&sctp.ends.from))
}
