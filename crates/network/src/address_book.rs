//! Which interface has which address.

use std::net::IpAddr;

use rustc_hash::FxHashMap;

use crate::InterfaceId;

/// The mapping between addresses and interfaces.
#[derive(Debug, Default)]
pub(crate) struct AddressBook {
    v4: FxHashMap<u32, InterfaceId>,
    v6: FxHashMap<u128, InterfaceId>,
    of_interface: Vec<Vec<IpAddr>>,
}

impl AddressBook {
    /// The interfaces with these addresses. An error is an address with the first and the second interface that has it.
    pub(crate) fn new(of_interface: Vec<Vec<IpAddr>>) -> Result<Self, (IpAddr, InterfaceId, InterfaceId)> {
        let mut book = Self { of_interface, ..Self::default() };
        for index in 0..book.of_interface.len() {
            let interface = InterfaceId::from_index(index);
            for address in book.of_interface[index].clone() {
                if let Some(first) = book.enter(address, interface) {
                    return Err((address, first, interface));
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
