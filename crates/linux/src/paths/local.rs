//! The addresses of this host that connections may use, and their identifiers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use subflow_policy::path_manager::{Address, Identifiers};

use super::rules::{InterfaceRule, InterfaceRules};
use crate::error::Result;
use crate::netlink::{Interface, InterfaceChanges, RouteControl};

/// An address that connections may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalAddress {
    /// Its identifier, the same on all connections but those that began with it, where it is 0 until it is lost, and
    /// those where the kernel knows another.
    pub(super) id: u8,
    pub(super) address: IpAddr,
    /// Whether its subflows are backups.
    pub(super) backup: bool,
    priority: u32,
    /// The index of its interface; `None` if no interface has it.
    interface: Option<u32>,
    /// Whether the packets of its subflows have to leave by that interface.
    is_bound: bool,
}

impl LocalAddress {
    /// An address that no interface has any more.
    pub(super) fn without_interface(id: u8, address: IpAddr) -> Self {
        Self { id, address, backup: false, priority: 0, interface: None, is_bound: false }
    }

    /// The index of the interface that its subflows are bound to.
    pub(super) fn bound_to(&self) -> Option<u32> {
        self.interface.filter(|_| self.is_bound)
    }

    /// As path managers know it.
    pub(super) fn named(&self) -> Address {
        Address { id: self.id, address: self.address, port: None }
    }
}

/// What is different since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) lost: Vec<LocalAddress>,
    pub(super) gained: Vec<LocalAddress>,
    /// Addresses whose subflows become backups, or regular ones.
    pub(super) changed: Vec<LocalAddress>,
}

/// The addresses.
#[derive(Debug)]
pub(super) struct LocalAddresses {
    control: RouteControl,
    changes: InterfaceChanges,
    table: Table,
    /// The names of the interfaces by their indices.
    names: BTreeMap<u32, String>,
}

impl LocalAddresses {
    /// Listens to changes of addresses and routes in the calling thread's network namespace. No address is known before the
    /// first refresh.
    pub(super) fn open() -> Result<Self> {
        // First the listener, so that no change can fall between the two.
        let changes = InterfaceChanges::open_with_routes()?;
        Ok(Self { control: RouteControl::open()?, changes, table: Table::default(), names: BTreeMap::new() })
    }

    /// Whether something may have changed since the last call.
    pub(super) fn may_have_changed(&self) -> Result<bool> {
        self.changes.any()
    }

    /// Asks the kernel for all addresses, and says what is different.
    pub(super) fn refresh(&mut self, rules: &InterfaceRules) -> Result<Difference> {
        let interfaces = self.control.interfaces()?;
        let mut found = Vec::new();
        self.names.clear();
        for (index, Interface { name, addresses, has_neighbours }) in interfaces {
            let InterfaceRule { used, backup, priority } = rules.of(&name);
            if used {
                let (interface, is_bound) = (Some(index), has_neighbours);
                let of = |&address| LocalAddress { id: 0, address, backup, priority, interface, is_bound };
                found.extend(addresses.iter().map(of));
            }
            self.names.insert(index, name);
        }
        Ok(self.table.update(&found))
    }

    /// An address with the name of its interface, for the log.
    pub(super) fn described(&self, address: IpAddr) -> String {
        match self.interface_of(address) {
            Some(name) => format!("{address} on {name}"),
            None => address.to_string(),
        }
    }

    /// The name of the interface that has an address.
    pub(super) fn interface_of(&self, address: IpAddr) -> Option<&str> {
        self.names.get(&self.entry(address)?.interface?).map(String::as_str)
    }

    /// Whether a subflow from `from` has a route to `to`. One that is not bound to an interface has one, or is refused, as
    /// are those of IPv6; and where the kernel does not say, it may be.
    pub(super) fn has_route(&mut self, from: IpAddr, to: IpAddr) -> bool {
        match (from, to, self.entry(from).and_then(|entry| entry.bound_to())) {
            (IpAddr::V4(from), IpAddr::V4(to), Some(interface)) => {
                self.control.has_route(from, to, interface).unwrap_or(true)
            }
            _ => true,
        }
    }

    /// The addresses in the order of their priorities.
    pub(super) fn present(&self) -> &[LocalAddress] {
        &self.table.present
    }

    /// The entry of an address.
    pub(super) fn entry(&self, address: IpAddr) -> Option<LocalAddress> {
        self.present().iter().copied().find(|known| known.address == address)
    }
}

impl AsFd for LocalAddresses {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }
}

#[derive(Debug, Default)]
struct Table {
    present: Vec<LocalAddress>,
    identifiers: Identifiers,
}

impl Table {
    /// Takes over what is there now, with any identifiers. An address that another interface has now is lost and gained:
    /// its subflows are bound to the one before. Of two interfaces that have it, the first counts.
    fn update(&mut self, found: &[LocalAddress]) -> Difference {
        let same = |found: &LocalAddress, known: &LocalAddress| {
            (found.address, found.interface) == (known.address, known.interface)
        };
        let lost = self.present.iter().filter(|known| !found.iter().any(|found| same(found, known)));
        let mut difference = Difference { lost: lost.copied().collect(), ..Difference::default() };
        self.present.retain(|known| !difference.lost.contains(known));
        for found in found {
            let &LocalAddress { address, backup, priority, .. } = found;
            match self.present.iter_mut().find(|known| known.address == address) {
                Some(known) if !same(found, known) => {}
                Some(known) => {
                    if known.backup != backup {
                        difference.changed.push(LocalAddress { backup, ..*known });
                    }
                    (known.backup, known.priority) = (backup, priority);
                }
                None => match self.free_identifier() {
                    Some(id) => {
                        let gained = LocalAddress { id, ..*found };
                        self.present.push(gained);
                        difference.gained.push(gained);
                    }
                    None => log::warn!("{address} is not used: all 255 address identifiers are taken"),
                },
            }
        }
        // Addresses of equal priority stay in the order in which they came.
        self.present.sort_by_key(|known| known.priority);
        difference.gained.sort_by_key(|gained| gained.priority);
        difference
    }

    fn free_identifier(&mut self) -> Option<u8> {
        let present = &self.present;
        self.identifiers.next(|id| present.iter().any(|known| known.id == id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    /// An address of the interface with index 1.
    fn of((address, backup, priority): (IpAddr, bool, u32)) -> LocalAddress {
        LocalAddress { id: 0, address, backup, priority, interface: Some(1), is_bound: true }
    }

    #[test]
    fn an_address_that_returns_has_another_identifier() {
        let mut table = Table::default();
        let gained = table.update(&[(ip(1), false, 100), (ip(2), false, 100)].map(of)).gained;
        assert_eq!(gained.iter().map(|a| (a.id, a.address)).collect::<Vec<_>>(), [(1, ip(1)), (2, ip(2))]);
        let difference = table.update(&[(ip(2), false, 100), (ip(3), false, 100)].map(of));
        assert_eq!(difference.lost.iter().map(|a| a.id).collect::<Vec<_>>(), [1]);
        assert_eq!(difference.gained.iter().map(|a| a.id).collect::<Vec<_>>(), [3]);
        assert_eq!(table.update(&[(ip(1), false, 100)].map(of)).gained[0].id, 4);
    }

    #[test]
    fn the_order_is_that_of_priorities_and_a_changed_backup_is_told() {
        let mut table = Table::default();
        table.update(&[(ip(1), false, 100), (ip(2), false, 7)].map(of));
        assert_eq!(table.present.iter().map(|a| a.address).collect::<Vec<_>>(), [ip(2), ip(1)]);
        let difference = table.update(&[(ip(1), true, 1), (ip(2), false, 7)].map(of));
        assert_eq!(difference.changed.iter().map(|a| (a.address, a.backup)).collect::<Vec<_>>(), [(ip(1), true)]);
        assert!(difference.lost.is_empty() && difference.gained.is_empty());
        assert_eq!(table.present[0].address, ip(1));
    }

    #[test]
    fn an_address_that_another_interface_has_is_another_and_the_first_of_two_counts() {
        let mut table = Table::default();
        let on = |index| LocalAddress { interface: Some(index), ..of((ip(1), false, 100)) };
        assert_eq!(table.update(&[on(1), on(2)]).gained.len(), 1);
        assert_eq!(table.present[0].bound_to(), Some(1));
        assert_eq!(table.update(&[on(1), on(2)]), Difference::default());
        let Difference { lost, gained, changed } = table.update(&[on(2)]);
        assert_eq!((lost[0].bound_to(), gained[0].bound_to(), changed.len()), (Some(1), Some(2), 0));
        assert_ne!(lost[0].id, gained[0].id);
        let dummy = LocalAddress { is_bound: false, ..on(3) };
        table.update(&[dummy]);
        assert_eq!(table.present[0].bound_to(), None, "its packets leave by another interface");
    }

    #[test]
    fn identifiers_of_addresses_that_are_gone_are_used_again_when_all_are_taken() {
        let mut table = Table::default();
        for last in 0..=255u8 {
            let gained = table.update(&[(ip(last), false, 100)].map(of)).gained;
            assert_eq!(gained.len(), 1, "{last}");
        }
        let all: Vec<_> = (0..=255).map(|last| of((ip(last), false, 100))).collect();
        table.update(&all);
        assert_eq!(table.present.len(), 255, "one is left out");
    }
}
