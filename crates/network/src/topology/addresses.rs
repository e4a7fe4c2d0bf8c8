//! The addresses of interfaces that the configuration gives none.

use std::net::{IpAddr, Ipv4Addr};

use super::{Attachment, TopologyBuilder, TopologyError};
use crate::address_book::AddressBook;

/// The configured addresses, and an address of its link for each interface without one. Every interface is on a link.
pub(super) fn assign(topology: &TopologyBuilder) -> Result<AddressBook, TopologyError> {
    let mut of_interface: Vec<_> = topology.interfaces.iter().map(|interface| interface.addresses.clone()).collect();
    for (number, link) in topology.links.iter().enumerate() {
        for (end, attachment) in link.ends.iter().enumerate() {
            let Attachment::Interface(interface) = attachment else { continue };
            let addresses = &mut of_interface[interface.index()];
            if addresses.is_empty() {
                addresses.push(automatic(number, end));
            }
        }
    }
    AddressBook::new(of_interface).map_err(|(address, first, second)| {
        let (first, second) = (topology.full_name(first), topology.full_name(second));
        TopologyError::DuplicateAddress { address, first, second }
    })
}

/// The address at one end (0 or 1) of link number `link`; beyond 65536 links the second byte carries into the first.
fn automatic(link: usize, end: usize) -> IpAddr {
    let network = Ipv4Addr::new(10, 0, 0, 0).to_bits();
    IpAddr::V4(Ipv4Addr::from_bits(network + ((link as u32) << 8) + end as u32 + 1))
}
