//! This side of an association: its port, addresses and verification tag.

use std::net::{IpAddr, SocketAddr};

use super::cookie::Secret;
use crate::Reach;
use crate::tcp::Ends;

/// The addresses of an association at this host, the initial one first, and which addresses of the peer they reach.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) reach: Reach,
}

impl From<Vec<IpAddr>> for Sources {
    fn from(addresses: Vec<IpAddr>) -> Self {
        Self { addresses, reach: Reach::default() }
    }
}

/// This side, as the peer addresses it.
#[derive(Clone, Debug)]
pub(super) struct LocalEnd {
    port: u16,
    sources: Sources,
    /// Those of the addresses that this host has lost.
    lost: Vec<IpAddr>,
    /// The verification tag of packets to this side.
    tag: u32,
    /// The key that the host signs its cookies with.
    secret: Secret,
}

impl LocalEnd {
    pub(super) fn new(port: u16, sources: Sources, tag: u32, secret: Secret) -> Self {
        Self { port, sources, lost: Vec::new(), tag, secret }
    }

    #[inline]
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// All addresses of the association at this host, the initial one first; also those that it has lost.
    pub(super) fn addresses(&self) -> &[IpAddr] {
        &self.sources.addresses
    }

    /// Those of the addresses that this host has; all of them, if it has lost all.
    pub(super) fn present(&self) -> Vec<IpAddr> {
        let all = self.addresses().iter().copied();
        let present: Vec<IpAddr> = all.filter(|address| !self.lost.contains(address)).collect();
        if present.is_empty() { self.addresses().to_vec() } else { present }
    }

    /// The addresses that this host has, with `first` as the initial one, for an association that replaces this one.
    pub(super) fn sources_from(&self, first: IpAddr) -> Sources {
        let mut addresses = self.present();
        addresses.sort_by_key(|&address| address != first);
        Sources { addresses, reach: self.sources.reach.clone() }
    }

    /// This host has lost an address, or has it again. Returns whether that is a change of the association's addresses.
    pub(super) fn set_present(&mut self, address: IpAddr, present: bool) -> bool {
        if !self.addresses().contains(&address) || self.lost.contains(&address) != present {
            return false;
        }
        match present {
            true => self.lost.retain(|&lost| lost != address),
            false => self.lost.push(address),
        }
        true
    }

    /// The verification tag of packets to this side.
    #[inline]
    pub(super) fn tag(&self) -> u32 {
        self.tag
    }

    /// The tag is that of the cookie from which the association is created.
    pub(super) fn set_tag(&mut self, tag: u32) {
        self.tag = tag;
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The address for packets to the peer's address number `index`: packets to the peer's first address leave from this
    /// side's first, and so on. So the two ends agree about which paths there are. If this host has lost that address, or
    /// if there is no route from it, another pair of addresses is used (RFC 9260, section 6.4.1): the first address that
    /// this host has and that reaches the peer's.
    pub(super) fn address_for(&self, remote: IpAddr, index: usize) -> IpAddr {
        let same_family = |local: &&IpAddr| local.is_ipv4() == remote.is_ipv4();
        let works = |local: &&IpAddr| self.works(**local, remote);
        let all = self.addresses();
        let paired = all.get(index);
        let working = paired.filter(works).or_else(|| all.iter().find(works));
        // None may work now, and one later.
        let any = || paired.filter(same_family).or_else(|| all.iter().find(same_family));
        working.or_else(any).copied().unwrap_or(all[0])
    }

    /// The number of the address after `current`, in a cycle over all, that this host has and that reaches the peer's.
    /// `None` if there is no other.
    pub(super) fn number_after(&self, current: IpAddr, remote: IpAddr) -> Option<usize> {
        let all = self.addresses();
        let place = all.iter().position(|&address| address == current)?;
        (place + 1..all.len()).chain(0..place).find(|&number| self.works(all[number], remote))
    }

    /// Whether this host has the address, and a route from it to the peer's.
    fn works(&self, local: IpAddr, remote: IpAddr) -> bool {
        !self.lost.contains(&local) && self.sources.reach.reaches(local, remote)
    }

    /// The address of this number becomes the initial one, and those before it follow after the last.
    pub(super) fn begin_with(&mut self, number: usize) {
        self.sources.addresses.rotate_left(number);
    }

    /// All pairs of an address of this side with one of the peer.
    pub(super) fn ends_with(&self, remote: SocketAddr) -> impl Iterator<Item = Ends> {
        self.addresses().iter().map(move |&local| Ends { local: SocketAddr::new(local, self.port), remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn local(reach: Reach) -> LocalEnd {
        let addresses = ["10.0.0.1", "10.0.0.2", "fd00::1"].map(address).to_vec();
        LocalEnd::new(80, Sources { addresses, reach }, 1, [0; 32])
    }

    #[test]
    fn addresses_are_paired_by_their_number_and_family() {
        let local = local(Reach::default());
        assert_eq!(local.address_for(address("10.0.1.1"), 1), address("10.0.0.2"));
        assert_eq!(local.address_for(address("10.0.1.1"), 2), address("10.0.0.1"), "the third is of another family");
        assert_eq!(local.address_for(address("fd00::9"), 0), address("fd00::1"));
    }

    #[test]
    fn an_address_that_is_lost_is_no_source_until_it_returns() {
        let mut local = local(Reach::default());
        let remote = address("10.0.1.1");
        assert!(!local.set_present(address("10.0.0.9"), false), "the association does not have it");
        assert!(!local.set_present(address("10.0.0.1"), true), "it is there");
        assert!(local.set_present(address("10.0.0.1"), false) && !local.set_present(address("10.0.0.1"), false));
        assert_eq!(local.address_for(remote, 0), address("10.0.0.2"));
        assert_eq!(local.present(), ["10.0.0.2", "fd00::1"].map(address));
        assert!(local.set_present(address("10.0.0.2"), false));
        assert_eq!(local.address_for(remote, 0), address("10.0.0.1"), "nothing else is left");
        assert!(local.set_present(address("10.0.0.1"), true));
        assert_eq!([0, 1].map(|index| local.address_for(remote, index)), [address("10.0.0.1"); 2]);
    }

    #[test]
    fn the_next_source_is_one_that_exists_and_reaches_the_peer() {
        let all = ["10.0.0.1", "10.0.0.2", "fd00::1", "10.0.0.4"].map(address);
        let remote = address("10.0.1.1");
        let mut local = LocalEnd::new(80, Sources::from(all.to_vec()), 1, [0; 32]);
        let after = |local: &LocalEnd| [0, 1, 3].map(|number| local.number_after(all[number], remote));
        assert_eq!(after(&local), [Some(1), Some(3), Some(0)], "the third is of another family");
        local.set_present(all[0], false);
        assert_eq!(after(&local), [Some(1), Some(3), Some(1)]);
        local.set_present(all[1], false);
        assert_eq!(after(&local), [Some(3), Some(3), None]);
        local.begin_with(1);
        assert_eq!(local.addresses(), [all[1], all[2], all[3], all[0]]);
    }

    #[test]
    fn an_address_without_a_route_to_the_peer_is_no_source() {
        let remote = address("10.0.1.1");
        let local = local(Reach::without([(address("10.0.0.1"), remote)]));
        assert_eq!(local.address_for(remote, 0), address("10.0.0.2"));
        assert_eq!(local.address_for(address("10.0.1.2"), 0), address("10.0.0.1"));
    }
}
