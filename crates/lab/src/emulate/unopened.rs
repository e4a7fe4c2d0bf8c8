//! Subflows that were tried and not established, and interfaces over which a path manager was to open subflows, and over
//! which none was opened.

use std::collections::BTreeSet;
use std::net::IpAddr;

use subflow_scenario::{Flow, Host, Mptcp, Scenario};
use subflow_transport::Figures;

use crate::simulate::figures::path_name;

/// Path managers that open a subflow over each interface of the connecting host.
const MESHES: [&str; 2] = ["single-mesh", "full-mesh"];

/// The addresses of the subflows of `end` whose handshake was completed: an RTT was measured.
pub(super) fn established(end: &Figures) -> impl Iterator<Item = [IpAddr; 2]> + '_ {
    end.paths.iter().filter(|path| path.srtt.is_some()).map(|path| path.ends.addresses())
}

/// A note for each subflow between two interfaces of `hosts` that was tried and that neither of the `ends` of its
/// connection has seen established.
pub(super) fn unestablished(flow: &str, hosts: [&Host; 2], ends: &[Figures]) -> Vec<String> {
    let opened: BTreeSet<[IpAddr; 2]> = ends.iter().flat_map(established).collect();
    let mut notes = Vec::new();
    for path in ends.iter().flat_map(|end| &end.paths).filter(|path| path.srtt.is_none()) {
        let [local, remote] = path.ends.addresses();
        if !opened.contains(&[local, remote]) && !opened.contains(&[remote, local]) {
            let name = path_name(hosts.into_iter(), [path.ends]);
            notes.push(format!("{flow}: the subflow {name} was tried and not established"));
        }
    }
    notes
}

/// A note for each interface over which the scenario has subflows, of which none was opened; `opened` has the addresses
/// of all that were.
pub(super) fn unopened(scenario: &Scenario, opened: &BTreeSet<IpAddr>) -> Vec<String> {
    let mut notes = Vec::new();
    for flow in &scenario.flows {
        let Some(mptcp) = flow.protocol.mptcp() else { continue };
        let host = &scenario.hosts[flow.from.host];
        let was_opened = |addresses: &[IpAddr]| addresses.iter().any(|address| opened.contains(address));
        // A connection that failed altogether is told elsewhere.
        if !host.interfaces.iter().any(|interface| was_opened(&interface.addresses)) {
            continue;
        }
        for interface in host.interfaces.iter().filter(|interface| !was_opened(&interface.addresses)) {
            if let Some(who) = opener(flow, mptcp, scenario, &interface.addresses) {
                let note = format!(
                    "{}.{}: no subflow was opened over it, though {who} asks for one",
                    host.name, interface.name
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    notes
}

/// What opens a subflow of `flow` from an interface with these addresses, if anything does.
fn opener(flow: &Flow, mptcp: &Mptcp, scenario: &Scenario, addresses: &[IpAddr]) -> Option<String> {
    let config = &mptcp.ends.from;
    if mptcp.subflows.iter().any(|subflow| addresses.contains(&subflow.addresses[0])) {
        return Some(format!("the list `subflows` of {}", flow.key()));
    }
    let theirs = scenario.hosts[flow.to.host].interfaces.iter().flat_map(|interface| &interface.addresses);
    let is_reachable = theirs.into_iter().any(|their| addresses.iter().any(|own| own.is_ipv4() == their.is_ipv4()));
    let has_place = scenario.hosts[flow.from.host].interfaces.len() <= config.max_subflows;
    let name = config.path_manager.name();
    (MESHES.contains(&name) && is_reachable && has_place).then(|| format!("the path manager {name}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_quantity::Duration;
    use subflow_scenario::file::Document;
    use subflow_transport::{PathFigures, tcp::Ends};

    use super::*;

    fn notes(flow: &str, opened: &[&str]) -> Vec<String> {
        unopened(&scenario(flow), &opened.iter().map(|text| text.parse().expect("an address")).collect())
    }

    fn scenario(flow: &str) -> Scenario {
        let text = format!(
            "[hosts]\nphone = [{{ name = 'wifi', address = '10.0.0.1' }}, {{ name = 'lte', address = '10.0.1.1' }}]\n\
             server = [{{ name = 'eth', address = '10.0.2.1' }}]\n[routers]\nr = {{}}\n[links]\n\
             wifi = {{ between = ['phone.wifi', 'r'], rate = '1 Mbit/s' }}\n\
             lte = {{ between = ['phone.lte', 'r'], rate = '1 Mbit/s' }}\n\
             s = {{ between = ['r', 'server'], rate = '1 Mbit/s' }}\n\
             [flows.f]\nfrom = 'phone'\nto = 'server'\nprotocol = 'mptcp'\n{flow}\n"
        );
        let document = Document::parse(Path::new("phone.toml"), text).expect("TOML");
        Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[test]
    fn an_interface_without_the_subflow_that_it_was_to_have_is_noted() {
        let mesh = "path_manager = 'full-mesh'";
        let words = "phone.lte: no subflow was opened over it, though the path manager full-mesh asks for one";
        assert_eq!(notes(mesh, &["10.0.0.1", "10.0.2.1"]), [words]);
        assert!(notes(mesh, &["10.0.0.1", "10.0.1.1", "10.0.2.1"]).is_empty());
        let named = "path_manager = 'default'\nsubflows = [{ from = 'phone.lte', to = 'server.eth' }]";
        assert_eq!(
            notes(named, &["10.0.0.1", "10.0.2.1"]),
            ["phone.lte: no subflow was opened over it, though the list `subflows` of f asks for one"]
        );
    }

    #[test]
    fn a_subflow_that_one_end_has_tried_and_neither_has_seen_established_is_noted() {
        let path = |local: &str, remote: &str, srtt: Option<u64>| PathFigures {
            ends: Ends { local: local.parse().expect("an end"), remote: remote.parse().expect("an end") },
            other_sources: Vec::new(),
            reopens: false,
            bytes_received: 0,
            packets_sent: 5,
            retransmissions: 4,
            timeouts: 4,
            duplicate_acks: 0,
            srtt: srtt.map(Duration::from_millis),
            cwnd: 1.0,
            copies: 0,
            retransmitted: None,
            bytes_acknowledged: None,
        };
        let hosts = scenario("").hosts;
        let notes = |paths: [PathFigures; 2], of_peer: Vec<PathFigures>| {
            let ends = [paths.to_vec(), of_peer].map(|paths| Figures { paths, ..Figures::default() });
            unestablished("f", [&hosts[0], &hosts[1]], &ends)
        };
        let (wifi, lte) = ("10.0.0.1:1", "10.0.1.1:2");
        let tried = || [path(wifi, "10.0.2.1:80", Some(20)), path(lte, "10.0.2.1:80", None)];
        assert_eq!(notes(tried(), vec![]), ["f: the subflow phone.lte-server.eth was tried and not established"]);
        assert!(notes(tried(), vec![path("10.0.2.1:80", lte, Some(30))]).is_empty());
    }

    #[test]
    fn what_was_to_have_none_or_failed_altogether_is_not() {
        assert!(notes("path_manager = 'default'", &["10.0.0.1"]).is_empty());
        assert!(notes("path_manager = 'full-mesh'\nmptcp = { max_subflows = 1 }", &["10.0.0.1"]).is_empty());
        assert!(notes("path_manager = 'full-mesh'", &[]).is_empty());
    }
}
