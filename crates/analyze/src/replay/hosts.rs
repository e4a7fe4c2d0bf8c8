//! Hosts: addresses that one end of a connection has are of one host.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::rows_of_connection;
use crate::{Analysis, ConnectionRow};

/// Whether a host opens connections or accepts them; one that does both counts as a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A host of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) side: Side,
    /// An interface for each.
    pub(super) addresses: Vec<IpAddr>,
}

/// All hosts, clients first, in the order of their addresses.
#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    /// The host and the interface with an address.
    places: BTreeMap<IpAddr, (usize, usize)>,
}

impl Hosts {
    /// The hosts of connections and their subflows.
    pub(super) fn of(analysis: &Analysis, connections: &[&ConnectionRow]) -> Self {
        // Each address points to another one of its host, the last one to itself.
        let mut parents: BTreeMap<IpAddr, IpAddr> = BTreeMap::new();
        let mut clients: BTreeMap<IpAddr, bool> = BTreeMap::new();
        for connection in connections {
            let Some(ends) = both(&connection.client, &connection.server) else { continue };
            let mut same = ends.map(|end| BTreeSet::from([end]));
            for row in rows_of_connection(analysis, connection.number) {
                let Some(of_row) = both(&row.from, &row.to) else { continue };
                for (end, address) in client_first(&same, of_row).into_iter().enumerate() {
                    same[end].insert(address);
                }
            }
            for (end, addresses) in same.iter().enumerate() {
                let first = root(&mut parents, ends[end]);
                for address in addresses {
                    let other = root(&mut parents, *address);
                    parents.insert(other, first);
                    *clients.entry(*address).or_default() |= end == 0;
                }
            }
        }
        let mut groups: BTreeMap<IpAddr, Vec<IpAddr>> = BTreeMap::new();
        for address in clients.keys() {
            groups.entry(root(&mut parents, *address)).or_default().push(*address);
        }
        let side = |addresses: &[IpAddr]| match addresses.iter().any(|address| clients[address]) {
            true => Side::Client,
            false => Side::Server,
        };
        let of_side = |wanted: Side| groups.values().filter(move |addresses| side(addresses) == wanted);
        let named = |prefix: &str, side: Side| -> Vec<Host> {
            let count = of_side(side).count();
            let name = |at: usize| if count == 1 { prefix.to_owned() } else { format!("{prefix}{}", at + 1) };
            let host =
                |(at, addresses): (usize, &Vec<IpAddr>)| Host { name: name(at), side, addresses: addresses.clone() };
            of_side(side).enumerate().map(host).collect()
        };
        let hosts = [named("client", Side::Client), named("server", Side::Server)].concat();
        let mut places = BTreeMap::new();
        for (host, of_host) in hosts.iter().enumerate() {
            let of_host = of_host.addresses.iter().enumerate();
            places.extend(of_host.map(|(interface, address)| (*address, (host, interface))));
        }
        Self { hosts, places }
    }

    /// The side whose addresses have links with rates of their own: that of the hosts with several addresses, the clients'
    /// if both have some.
    pub(super) fn near(&self) -> Side {
        let mut of_servers = self.hosts.iter().filter(|host| host.side == Side::Server).peekable();
        let has_server = of_servers.peek().is_some();
        let is_single = |host: &Host| host.side == Side::Server || host.addresses.len() == 1;
        let are_multihomed = has_server && of_servers.all(|host| host.addresses.len() > 1);
        if are_multihomed && self.hosts.iter().all(is_single) { Side::Server } else { Side::Client }
    }

    pub(super) fn all(&self) -> &[Host] {
        &self.hosts
    }

    /// The host and the interface with an address.
    pub(super) fn find(&self, address: IpAddr) -> Option<(&Host, usize)> {
        self.places.get(&address).map(|&(host, interface)| (&self.hosts[host], interface))
    }
}

impl Host {
    /// `client.eth0`.
    pub(super) fn interface(&self, number: usize) -> String {
        format!("{}.eth{number}", self.name)
    }

    pub(super) fn interface_names(&self) -> Vec<String> {
        (0..self.addresses.len()).map(|number| format!("eth{number}")).collect()
    }
}

fn root(parents: &mut BTreeMap<IpAddr, IpAddr>, address: IpAddr) -> IpAddr {
    let mut at = address;
    while let Some(&parent) = parents.get(&at).filter(|parent| **parent != at) {
        at = parent;
    }
    parents.insert(address, at);
    at
}

/// The addresses of two ends that are written with ports.
pub(super) fn both(first: &str, second: &str) -> Option<[IpAddr; 2]> {
    let address = |text: &str| text.parse::<SocketAddr>().ok().map(|end| end.ip());
    Some([address(first)?, address(second)?])
}

/// The addresses of a direction, the client's first: a row of the server's data has them the other way round. An address
/// that neither end is known to have is told by the other one.
fn client_first([clients, servers]: &[BTreeSet<IpAddr>; 2], [from, to]: [IpAddr; 2]) -> [IpAddr; 2] {
    let is_reversed = clients.contains(&to) || servers.contains(&from);
    let is_straight = clients.contains(&from) || servers.contains(&to);
    if is_reversed && !is_straight { [to, from] } else { [from, to] }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{DirectionRow, SubflowRow};

    pub(crate) fn connection(number: usize, client: &str, server: &str, bytes: [u64; 2]) -> ConnectionRow {
        let direction = |bytes| DirectionRow {
            bytes,
            done_s: (bytes > 0).then_some(2.0),
            duration_s: (bytes > 0).then_some(2.0),
            packets: bytes.div_ceil(1000),
            ..DirectionRow::default()
        };
        ConnectionRow {
            number,
            protocol: "mptcp",
            client: client.to_owned(),
            server: server.to_owned(),
            subflows: 1,
            start_s: 0.5,
            outcome: "closed",
            notes: Vec::new(),
            directions: bytes.map(direction),
        }
    }

    pub(crate) fn analysis(connections: Vec<ConnectionRow>, subflows: Vec<SubflowRow>) -> Analysis {
        Analysis {
            connections,
            subflows,
            ..crate::analyze(&[], crate::Clocks::Auto).expect("no file is nothing to read")
        }
    }

    #[test]
    fn addresses_of_the_subflows_of_one_connection_are_of_one_host() {
        let row = |from: &str, to: &str| SubflowRow {
            connection: 1,
            from: from.into(),
            to: to.into(),
            ..SubflowRow::default()
        };
        let rows = vec![row("10.0.2.1:80", "10.0.1.1:999"), row("10.0.2.1:80", "10.0.3.1:998")];
        let connections = vec![
            connection(1, "10.0.1.1:999", "10.0.2.1:80", [0, 5000]),
            connection(2, "10.0.9.9:1", "10.0.2.1:80", [0, 5000]),
        ];
        let analysis = analysis(connections, rows);
        let connections: Vec<&ConnectionRow> = analysis.connections.iter().collect();
        let shown = |hosts: &Hosts| -> Vec<(String, usize)> {
            hosts.all().iter().map(|host| (host.name.clone(), host.addresses.len())).collect()
        };
        let expected = |hosts: &[(&str, usize)]| -> Vec<(String, usize)> {
            hosts.iter().map(|&(name, addresses)| (name.to_owned(), addresses)).collect()
        };
        assert_eq!(shown(&Hosts::of(&analysis, &connections[..1])), expected(&[("client", 2), ("server", 1)]));
        assert_eq!(shown(&Hosts::of(&analysis, &connections[1..])), expected(&[("client", 1), ("server", 1)]));
        let hosts = Hosts::of(&analysis, &connections);
        assert_eq!(shown(&hosts), expected(&[("client1", 2), ("client2", 1), ("server", 1)]));
        let (host, interface) = hosts.find("10.0.3.1".parse().expect("an address")).expect("it is there");
        assert_eq!(host.interface(interface), "client1.eth1");
    }
}
