//! The addresses and ports that address translators have given, in the whole network.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustc_hash::FxHashMap;

use crate::host_table::AddressBook;

/// All translations of a run, those that have expired included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Translations {
    /// By protocol number and end as the outside sees it, the end on the inside.
    inside: FxHashMap<(u8, SocketAddr), SocketAddr>,
    /// The number of addresses that were given.
    given: u32,
}

/// 100.64.0.0/10, the addresses between a provider's translator and its customers (RFC 6598).
const SHARED_ADDRESSES: u32 = 0x6440_0000;
const MOST: u32 = 1 << 22;

impl Translations {
    /// A new address for `inside`, to which packets are routed as they are to `inside`; `None` if no interface has that,
    /// or if there are no more addresses.
    pub(super) fn new_address(&mut self, inside: Ipv4Addr, addresses: &mut AddressBook) -> Option<Ipv4Addr> {
        let interface = addresses.interface(inside.into())?;
        while self.given + 1 < MOST {
            self.given += 1;
            let address = Ipv4Addr::from_bits(SHARED_ADDRESSES + self.given);
            if addresses.interface(address.into()).is_none() {
                addresses.add_alias(address, interface);
                return Some(address);
            }
        }
        None
    }

    /// Remembers that the outside sees `inside` as `outside`.
    pub(super) fn add(&mut self, protocol: u8, outside: SocketAddr, inside: SocketAddr) {
        self.inside.insert((protocol, outside), inside);
    }

    /// The end whose packets are seen as those of `end`: itself, if it was not translated.
    pub(crate) fn original(&self, protocol: u8, end: SocketAddr) -> SocketAddr {
        let mut original = end;
        // One translator may be behind another. An address is given once, so that this ends.
        while let Some(inside) = self.inside.get(&(protocol, original)) {
            original = *inside;
        }
        original
    }
}

impl AddressBook {
    /// Routes packets for `address`, which no interface has, to `interface`.
    fn add_alias(&mut self, address: Ipv4Addr, interface: crate::InterfaceId) {
        self.enter(IpAddr::V4(address), interface);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InterfaceId;

    #[test]
    fn an_address_that_a_host_has_is_not_given() {
        let (host, other) = ([10, 0, 0, 1], [100, 64, 0, 1]);
        let mut addresses =
            AddressBook::new(vec![vec![IpAddr::from(host)], vec![IpAddr::from(other)]]).expect("two addresses");
        let mut translations = Translations::default();
        let given = translations.new_address(host.into(), &mut addresses);
        assert_eq!(given, Some([100, 64, 0, 2].into()));
        assert_eq!(addresses.interface([100, 64, 0, 2].into()), Some(InterfaceId::from_index(0)));
        assert_eq!(translations.new_address([10, 9, 9, 9].into(), &mut addresses), None);
    }

    #[test]
    fn an_end_is_found_behind_two_translators() {
        let [inside, between, outside] = [1, 2, 3].map(|last| SocketAddr::from(([100, 64, 0, last], 80)));
        let mut translations = Translations::default();
        translations.add(6, between, inside);
        translations.add(6, outside, between);
        assert_eq!(translations.original(6, outside), inside);
        assert_eq!(translations.original(17, outside), outside, "the ports of another protocol are others");
    }
}
