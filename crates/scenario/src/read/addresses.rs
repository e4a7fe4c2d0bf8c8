//! Addresses of interfaces: those that the file specifies, and generated ones for the other interfaces.

use std::net::{IpAddr, Ipv4Addr};

use super::topology::Topology;
use crate::InterfaceIndex;
use crate::file::{Collector, Problem};

/// Assigns `10.A.B.C` to every interface without an address, and rejects an address that two interfaces have.
pub(super) fn assign(topology: &mut Topology, problems: &mut Collector) -> Option<()> {
    for host in 0..topology.hosts.len() {
        for interface in 0..topology.hosts[host].interfaces.len() {
            let index = InterfaceIndex { host, interface };
            let addresses = &mut topology.hosts.get_mut(host).interfaces[interface].addresses;
            if addresses.is_empty() {
                addresses.push(automatic(index));
            }
            for address in addresses.clone() {
                let Some(other) = topology.owners.insert(address, index) else { continue };
                let what = format!("{} has the address {address}", topology.interface_name(index));
                let place = &topology.interface_places[host][interface];
                let other_place = &topology.interface_places[other.host][other.interface];
                let name = topology.interface_name(other);
                let problem = Problem::at(place, what)
                    .label(format!("so has {name}"))
                    .help("every address belongs to one interface; without `address` it gets a free one");
                problems.add(if other == index { problem } else { problem.also(other_place, "the other one") });
            }
        }
    }
    problems.is_empty().then_some(())
}

fn automatic(index: InterfaceIndex) -> IpAddr {
    let [.., a, b] = (index.host as u32 + 1).to_be_bytes();
    Ipv4Addr::new(10, a, b, index.interface as u8 + 1).into()
}
