//! The addresses of interfaces.

use std::net::{IpAddr, Ipv4Addr};

use rustc_hash::FxHashMap;

use super::{Attachment, TopologyBuilder, TopologyError};
use crate::InterfaceId;

/// The mapping between addresses and interfaces.
#[derive(Debug, Default)]
pub(crate) struct AddressBook {
    v4: FxHashMap<u32, InterfaceId>,
    v6: FxHashMap<u128, InterfaceId>,
    of_interface: Vec<Vec<IpAddr>>,
}

impl AddressBook {
    /// The configured addresses, and an address of its link for each interface without one. Every interface is on a
    /// link.
    pub(super) fn assign(topology: &TopologyBuilder) -> Result<Self, TopologyError> {
        let mut book = Self {
            of_interface: topology.interfaces.iter().map(|interface| interface.addresses.clone()).collect(),
            ..Self::default()
        };
        for (number, link) in topology.links.iter().enumerate() {
            for (end, attachment) in link.ends.iter().enumerate() {
                let Attachment::Interface(interface) = attachment else { continue };
                let addresses = &mut book.of_interface[interface.index()];
                if addresses.is_empty() {
                    addresses.push(automatic(number, end));
                }
            }
        }
        for index in 0..book.of_interface.len() {
            let interface = InterfaceId::from_index(index);
            for address in book.of_interface[index].clone() {
                if let Some(first) = book.enter(address, interface) {
                    let (first, second) = (topology.full_name(first), topology.full_name(interface));
                    return Err(TopologyError::DuplicateAddress { address, first, second });
                }
            }
        }
        Ok(book)
    }

    /// The interface that has `address`.
    #[inline]
    pub(crate) fn interface(&self, address: IpAddr) -> Option<InterfaceId> {
        match address {
            IpAddr::V4(address) => self.v4.get(&address.to_bits()).copied(),
            IpAddr::V6(address) => self.v6.get(&address.to_bits()).copied(),
        }
    }

    /// The addresses of `interface`.
    pub(crate) fn addresses(&self, interface: InterfaceId) -> &[IpAddr] {
        &self.of_interface[interface.index()]
    }

    /// Adds an address. Returns the interface that already had it, if any.
    fn enter(&mut self, address: IpAddr, interface: InterfaceId) -> Option<InterfaceId> {
        match address {
            IpAddr::V4(address) => self.v4.insert(address.to_bits(), interface),
            IpAddr::V6(address) => self.v6.insert(address.to_bits(), interface),
        }
    }
}

/// The address at one end (0 or 1) of link number `link`; beyond 65536 links the second byte carries into the first.
fn automatic(link: usize, end: usize) -> IpAddr {
    let network = Ipv4Addr::new(10, 0, 0, 0).to_bits();
    IpAddr::V4(Ipv4Addr::from_bits(network + ((link as u32) << 8) + end as u32 + 1))
}
