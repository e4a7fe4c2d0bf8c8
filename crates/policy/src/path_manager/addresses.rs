//! The addresses of both hosts that a path manager knows, with their address identifiers (RFC 8684).

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use super::{Address, FourTuple};

/// Local and remote addresses of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    local: Vec<Address>,
    remote: Vec<Address>,
    initial: Option<FourTuple>,
    /// Identifiers of local addresses that were lost, the latest last.
    retired: VecDeque<u8>,
    /// Gives out others.
    identifiers: Identifiers,
}

/// The maximum number of addresses kept per host. More could not all carry a subflow ([`super::MAX_SUBFLOWS`]), and a
/// peer must not be able to exhaust memory.
const MAX_ADDRESSES: usize = super::MAX_SUBFLOWS;
/// How many identifiers of lost addresses are not used again. With those in use there are fewer than there are
/// identifiers.
const MAX_RETIRED: usize = 64;

impl Addresses {
    /// The connection is established: both addresses of the initial subflow have identifier 0 (RFC 8684, section 3.2),
    /// unless the local one is known with another because it was lost and has returned. The remote address is not added
    /// if the peer forbade joins to it.
    pub(super) fn establish(&mut self, initial: FourTuple, remote_closed: bool) {
        self.initial = Some(initial);
        let address = initial.local.ip();
        let known = self.local.iter().position(|known| known.address == address).map(|index| self.local.remove(index));
        self.local.insert(0, known.unwrap_or(Address { id: 0, address, port: None }));
        if !remote_closed {
            self.add_remote(Address { id: 0, address: initial.remote.ip(), port: None });
        }
    }

    /// Adds an address of this host. One whose identifier is in use, was that of another that is lost, or is that of the
    /// initial subflow's address, gets the next free one: the peer distinguishes addresses only by identifier, and a late
    /// REMOVE_ADDR must not meet an address that is new.
    pub(super) fn add_local(&mut self, address: Address) {
        if self.local_address(address.address).is_some() || self.local.len() == MAX_ADDRESSES {
            return;
        }
        let is_used = |id: u8| (id == 0 && self.initial.is_some()) || self.local.iter().any(|known| known.id == id);
        let is_new = |id: u8| !is_used(id) && !self.retired.contains(&id);
        let id = match is_new(address.id) {
            true => Some(address.id),
            false => self.identifiers.next(|id| !is_new(id)),
        };
        self.local.extend(id.map(|id| Address { id, ..address }));
    }

    /// Removes an address that this host lost and returns its entry.
    pub(super) fn remove_local(&mut self, address: IpAddr) -> Option<Address> {
        let index = self.local.iter().position(|known| known.address == address)?;
        let lost = self.local.remove(index);
        self.retired.push_back(lost.id);
        if self.retired.len() > MAX_RETIRED {
            self.retired.pop_front();
        }
        Some(lost)
    }

    /// Adds an address that the peer announced. It is ignored if its identifier belongs to another address: the peer
    /// must withdraw that one first (RFC 8684, section 3.4.1).
    pub(super) fn add_remote(&mut self, address: Address) {
        let clashes = self.remote.iter().any(|known| known.id == address.id && known.address != address.address);
        if !clashes && !self.remote.contains(&address) && self.remote.len() < MAX_ADDRESSES {
            self.remote.push(address);
        }
    }

    /// Removes an identifier that the peer withdrew and returns its entries (several if it was announced with several
    /// ports).
    pub(super) fn remove_remote(&mut self, id: u8) -> Vec<Address> {
        self.remote.extract_if(.., |known| known.id == id).collect()
    }

    /// This host's addresses, in the order in which they became known, the initial subflow's first.
    pub(super) fn local(&self) -> &[Address] {
        &self.local
    }

    /// The entry of a local address.
    pub(super) fn local_address(&self, address: IpAddr) -> Option<Address> {
        self.local.iter().copied().find(|known| known.address == address)
    }

    /// The peer's addresses, in the order in which they became known, the initial subflow's first.
    pub(super) fn remote(&self) -> &[Address] {
        &self.remote
    }

    /// The destination of a join to a remote address: the announced port or, without one, the port of the initial
    /// subflow. `None` before the connection is established.
    pub(super) fn target(&self, remote: Address) -> Option<SocketAddr> {
        let port = remote.port.or(self.initial.map(|initial| initial.remote.port()))?;
        Some(SocketAddr::new(remote.address, port))
    }
}

/// Assigns identifiers in turn, from 1 to 255. Identifier 0 is that of the initial subflow's address.
///
/// An address that was lost and returns gets another identifier than before, and no identifier is used again before all
/// others were: the REMOVE_ADDR of the lost address may still be on its way, and closes all subflows of its identifier
/// when it arrives, those included that were opened after the return. Linux assigns them in turn, too, but begins the
/// search with the last one, which it may give again (`next_id` in `mptcp_pm_nl_append_new_local_addr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    last: u8,
}

impl Identifiers {
    /// The next identifier that is not in use, or `None` if all are.
    pub fn next(&mut self, is_used: impl Fn(u8) -> bool) -> Option<u8> {
        let next = (1..=u8::MAX).map(|step| following(self.last, step)).find(|&id| !is_used(id))?;
        self.last = next;
        Some(next)
    }
}

/// The identifier that is `step` places behind `last`, in the circle from 1 to 255.
fn following(last: u8, step: u8) -> u8 {
    let place = u16::from(last) + u16::from(step) - 1;
    (place % u16::from(u8::MAX)) as u8 + 1
}

#[cfg(test)]
mod tests {
    use super::super::test_events::{address, tuple};
    use super::*;

    fn local_ids(addresses: &Addresses) -> Vec<(u8, String)> {
        addresses.local().iter().map(|a| (a.id, a.address.to_string())).collect()
    }

    #[test]
    fn the_initial_address_has_identifier_zero_until_it_is_lost() {
        let mut addresses = Addresses::default();
        addresses.add_local(address(1, "10.0.0.1"));
        addresses.establish(tuple("10.0.1.1:1024", "10.9.0.1:80"), false);
        assert_eq!(local_ids(&addresses), [(0, "10.0.1.1".into()), (1, "10.0.0.1".into())]);
        addresses.remove_local([10, 0, 1, 1].into());
        addresses.add_local(address(7, "10.0.1.1"));
        assert_eq!(local_ids(&addresses), [(1, "10.0.0.1".into()), (7, "10.0.1.1".into())]);
        addresses.add_local(address(7, "10.0.2.1"));
        addresses.add_local(address(0, "10.0.3.1"));
        assert_eq!(local_ids(&addresses)[2..], [(2, "10.0.2.1".into()), (3, "10.0.3.1".into())]);
    }

    #[test]
    fn the_identifier_of_a_lost_address_is_not_given_to_the_next_one() {
        let mut addresses = Addresses::default();
        addresses.add_local(address(1, "10.0.0.1"));
        addresses.remove_local([10, 0, 0, 1].into());
        addresses.add_local(address(1, "10.0.0.1"));
        assert_eq!(local_ids(&addresses), [(2, "10.0.0.1".into())]);
        // After many others it is free again.
        for id in 100..100 + MAX_RETIRED as u8 {
            addresses.add_local(address(id, "10.0.1.1"));
            addresses.remove_local([10, 0, 1, 1].into());
        }
        addresses.add_local(address(1, "10.0.2.1"));
        assert_eq!(local_ids(&addresses)[1], (1, "10.0.2.1".into()));
    }

    #[test]
    fn the_initial_address_of_a_connection_taken_over_may_have_been_lost_before() {
        let mut addresses = Addresses::default();
        addresses.add_local(address(1, "10.0.0.1"));
        addresses.add_local(address(7, "10.0.1.1"));
        addresses.establish(tuple("10.0.1.1:1024", "10.9.0.1:80"), false);
        assert_eq!(local_ids(&addresses), [(7, "10.0.1.1".into()), (1, "10.0.0.1".into())]);
    }

    #[test]
    fn an_identifier_names_one_remote_address_at_a_time() {
        let mut addresses = Addresses::default();
        addresses.establish(tuple("10.0.0.1:1024", "10.9.0.1:80"), false);
        addresses.add_remote(address(1, "10.9.1.1"));
        addresses.add_remote(address(1, "10.9.2.1"));
        addresses.add_remote(Address { port: Some(81), ..address(1, "10.9.1.1") });
        let targets: Vec<_> =
            addresses.remote().iter().filter_map(|&r| addresses.target(r)).map(|t| t.to_string()).collect();
        assert_eq!(targets, ["10.9.0.1:80", "10.9.1.1:80", "10.9.1.1:81"]);
        assert_eq!(addresses.remove_remote(1).len(), 2);
        assert_eq!(addresses.remote().len(), 1);
    }

    #[test]
    fn every_identifier_but_zero_has_its_turn_before_one_is_used_again() {
        let mut identifiers = Identifiers::default();
        let turns: Vec<_> = (0..256).map(|_| identifiers.next(|_| false)).collect();
        let expected = (1..=255).chain([1]).map(Some).collect::<Vec<Option<u8>>>();
        assert_eq!(turns, expected);
    }

    #[test]
    fn identifiers_in_use_are_passed_over() {
        let mut identifiers = Identifiers::default();
        assert_eq!([(); 2].map(|()| identifiers.next(|id| id < 4 || id == 5)), [Some(4), Some(6)]);
        assert_eq!(identifiers.next(|id| id != 6), Some(6));
        assert_eq!(identifiers.next(|_| true), None);
    }
}
