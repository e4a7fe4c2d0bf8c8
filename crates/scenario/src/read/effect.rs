//! Keys that have no effect: valid, so that a sweep over protocols is possible, and more often a mistake.

use std::collections::BTreeSet;

use super::idle_interfaces::Usage;
use super::traces::Traces;
use super::{late, switches};
use crate::file::{Field, Node, Problem, Section};
use crate::protocol_name::ProtocolName;
use crate::switches::sctp::is_multipath;
use crate::{Scenario, schema};

/// What is given in the tree `root` of `scenario` and has no effect on it.
pub(crate) fn without_effect(root: &Node, scenario: &Scenario, traces: &Traces) -> Vec<Problem> {
    // The tree has been read before, so that none of these fails.
    let root = Field::root(root);
    let mut found = Vec::new();
    let Ok(section) = root.section(&schema::ROOT) else { return found };
    let (mut is_changed, mut has_other_ends) = (false, false);
    section.each("flows", "flow", |name, flow| {
        if let Ok(section) = flow.section(&schema::FLOW) {
            keys_of_other_protocols(&section, scenario, name, &mut found);
            late::ends(&section, &root, scenario, name, &mut found);
            late::starts(&section, scenario, name, &mut found);
            switches::of_flow(&section, scenario, name, &mut found);
            is_changed |= is_left_over(&section, section.field());
            has_other_ends |= has_other_ends_for_once(&section);
        }
    });
    late::traces(&section, scenario, traces, &mut found);
    if is_changed {
        return found;
    }
    stacks(&section, scenario, "", &mut found);
    let usage = Usage::of(scenario, has_other_ends);
    let are_switches_told = !switches::are_left_over(&section);
    if are_switches_told {
        switches::of_all(&section, scenario, "", &mut found);
    }
    section.each("hosts", "host", |name, host| {
        found.extend(usage.idle_interfaces(host, name));
        found.extend(usage.idle_backups(host, name));
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

/// Whether somebody else than the file, such as `--set`, chose where the flow's paths begin and end.
fn has_other_ends_for_once(flow: &Section<'_>) -> bool {
    let of_file = &flow.field().place().source.name;
    let mut given = ["from", "to", "path_manager", "subflows"].into_iter().filter_map(|key| flow.given(key));
    given.any(|given| given.place().source.name != *of_file)
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
