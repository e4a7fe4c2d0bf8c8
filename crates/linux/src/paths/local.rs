//! The addresses of this host that connections may use, and their identifiers.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use subflow_policy::path_manager::{Address, Identifiers};

use super::rules::InterfaceRules;
use crate::error::Result;
use crate::netlink::{InterfaceChanges, RouteControl};

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
}

impl LocalAddress {
    /// An address that no interface has any more.
    pub(super) fn without_interface(id: u8, address: IpAddr) -> Self {
        Self { id, address, backup: false, priority: 0 }
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
}

impl LocalAddresses {
    /// Listens to changes in the calling thread's network namespace. No address is known before the first refresh.
    pub(super) fn open() -> Result<Self> {
        // First the listener, so that no change can fall between the two.
        let changes = InterfaceChanges::open()?;
        Ok(Self { control: RouteControl::open()?, changes, table: Table::default() })
    }

    /// Whether something may have changed since the last call.
    pub(super) fn may_have_changed(&self) -> Result<bool> {
        self.changes.any()
    }

    /// Asks the kernel for all addresses, and says what is different.
    pub(super) fn refresh(&mut self, rules: &InterfaceRules) -> Result<Difference> {
        let mut found = Vec::new();
        for (_, interface) in self.control.interfaces()? {
            let rule = rules.of(&interface.name);
            if rule.used {
                found.extend(interface.addresses.iter().map(|&address| (address, rule.backup, rule.priority)));
            }
        }
        Ok(self.table.update(&found))
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
    /// Takes over what is there now: addresses, whether they are backups, and their priorities.
    fn update(&mut self, found: &[(IpAddr, bool, u32)]) -> Difference {
        let lost = self.present.iter().filter(|known| !found.iter().any(|(address, ..)| *address == known.address));
        let mut difference = Difference { lost: lost.copied().collect(), ..Difference::default() };
        self.present.retain(|known| !difference.lost.contains(known));
        for &(address, backup, priority) in found {
            match self.present.iter_mut().find(|known| known.address == address) {
                Some(known) => {
                    if known.backup != backup {
                        difference.changed.push(LocalAddress { backup, ..*known });
                    }
                    (known.backup, known.priority) = (backup, priority);
                }
                None => match self.free_identifier() {
                    Some(id) => {
                        let gained = LocalAddress { id, address, backup, priority };
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

    #[test]
    fn an_address_that_returns_has_another_identifier() {
        let mut table = Table::default();
        let gained = table.update(&[(ip(1), false, 100), (ip(2), false, 100)]).gained;
        assert_eq!(gained.iter().map(|a| (a.id, a.address)).collect::<Vec<_>>(), [(1, ip(1)), (2, ip(2))]);
        let difference = table.update(&[(ip(2), false, 100), (ip(3), false, 100)]);
        assert_eq!(difference.lost.iter().map(|a| a.id).collect::<Vec<_>>(), [1]);
        assert_eq!(difference.gained.iter().map(|a| a.id).collect::<Vec<_>>(), [3]);
        assert_eq!(table.update(&[(ip(1), false, 100)]).gained[0].id, 4);
    }

    #[test]
    fn the_order_is_that_of_priorities_and_a_changed_backup_is_told() {
        let mut table = Table::default();
        table.update(&[(ip(1), false, 100), (ip(2), false, 7)]);
        assert_eq!(table.present.iter().map(|a| a.address).collect::<Vec<_>>(), [ip(2), ip(1)]);
        let difference = table.update(&[(ip(1), true, 1), (ip(2), false, 7)]);
        assert_eq!(difference.changed.iter().map(|a| (a.address, a.backup)).collect::<Vec<_>>(), [(ip(1), true)]);
        assert!(difference.lost.is_empty() && difference.gained.is_empty());
        assert_eq!(table.present[0].address, ip(1));
    }

    #[test]
    fn identifiers_of_addresses_that_are_gone_are_used_again_when_all_are_taken() {
        let mut table = Table::default();
        for last in 0..=255u8 {
            let gained = table.update(&[(ip(last), false, 100)]).gained;
            assert_eq!(gained.len(), 1, "{last}");
        }
        let all: Vec<_> = (0..=255).map(|last| (ip(last), false, 100)).collect();
        table.update(&all);
        assert_eq!(table.present.len(), 255, "one is left out");
    }
}
