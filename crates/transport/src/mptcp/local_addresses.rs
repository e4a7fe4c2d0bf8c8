//! This host's addresses and their address identifiers (RFC 8684, sections 3.2 and 3.4).

use std::net::IpAddr;

use subflow_policy::path_manager::{Address, Identifiers};

/// The addresses that this host has, with their identifiers. One that is lost and returns gets another identifier.
#[derive(Clone, Debug)]
pub(crate) struct LocalAddresses {
    /// In the order in which they were added.
    known: Vec<Known>,
    identifiers: Identifiers,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    address: IpAddr,
    id: u8,
    /// Whether this host has said that it has the address. A subflow may be requested from it before.
    present: bool,
}

impl LocalAddresses {
    /// `initial`, the initial subflow's address, has identifier 0. The others of `all` are numbered in their order.
    pub(crate) fn new(initial: IpAddr, all: &[IpAddr]) -> Self {
        let initial = Known { address: initial, id: 0, present: true };
        let mut addresses = Self { known: vec![initial], identifiers: Identifiers::default() };
        for &address in all {
            addresses.add(address);
        }
        addresses
    }

    /// Adds `address`. Returns `None` if no identifier is left for it: it cannot be used.
    pub(crate) fn add(&mut self, address: IpAddr) -> Option<Address> {
        let id = self.id_for(address)?;
        let known = self.known.iter_mut().find(|known| known.address == address)?;
        known.present = true;
        Some(Address { id, address, port: None })
    }

    /// Removes `address`, which is lost, and returns its entry.
    pub(crate) fn remove(&mut self, address: IpAddr) -> Option<Address> {
        let at = self.known.iter().position(|known| known.present && known.address == address)?;
        let Known { id, .. } = self.known.remove(at);
        Some(Address { id, address, port: None })
    }

    /// Whether this host has `address`.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.known.iter().any(|known| known.present && known.address == address)
    }

    /// The addresses that this host has.
    pub(crate) fn present(&self) -> impl Iterator<Item = Address> {
        let present = self.known.iter().filter(|known| known.present);
        present.map(|known| Address { id: known.id, address: known.address, port: None })
    }

    /// The identifier of `address`. An address without one gets a new identifier.
    pub(crate) fn id_for(&mut self, address: IpAddr) -> Option<u8> {
        if let Some(known) = self.known.iter().find(|known| known.address == address) {
            return Some(known.id);
        }
        let known = &self.known;
        let id = self.identifiers.next(|id| known.iter().any(|known| known.id == id))?;
        self.known.push(Known { address, id, present: false });
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u16) -> IpAddr {
        IpAddr::from([10, 0, (n >> 8) as u8, n as u8])
    }

    #[test]
    fn an_address_that_returns_has_another_identifier() {
        let mut local = LocalAddresses::new(address(1), &[address(0), address(1), address(2)]);
        assert_eq!([0, 1, 2].map(|n| local.id_for(address(n))), [Some(1), Some(0), Some(2)]);
        assert_eq!(local.remove(address(0)).map(|lost| lost.id), Some(1));
        assert!(!local.has(address(0)));
        assert_eq!(local.add(address(3)).map(|added| added.id), Some(3));
        assert_eq!(local.add(address(0)).map(|added| added.id), Some(4));
        assert_eq!(local.present().map(|present| present.id).collect::<Vec<_>>(), [0, 2, 3, 4]);
    }

    #[test]
    fn two_hundred_and_fifty_six_addresses_have_identifiers_and_another_waits_for_a_loss() {
        let all: Vec<IpAddr> = (0..300).map(address).collect();
        let mut local = LocalAddresses::new(address(0), &all);
        assert_eq!(local.present().count(), 256);
        assert_eq!(local.add(address(299)), None);
        local.remove(address(7));
        local.remove(address(0));
        assert_eq!(local.add(address(299)).map(|added| added.id), Some(7));
        assert_eq!(local.add(address(7)), None, "0 stays the initial subflow's");
    }
}
