//! The network's tables of hosts: interfaces, addresses, and which hosts may exchange packets.

use std::net::IpAddr;

use rustc_hash::FxHashMap;

use crate::{HostId, InterfaceId, LinkId};

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FarEnd {
    Router(u32),
    Interface(InterfaceId),
}

/// An interface of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    pub(crate) host: HostId,
    /// The link on which it sends.
    pub(crate) link: LinkId,
    /// Whether packets that arrive are passed to the tap, or counted for a radio.
    pub(crate) watched: bool,
    tapped: bool,
    has_radio: bool,
    /// Whether the network has a tap, so that the marks of packets are noted.
    pub(crate) observed: bool,
    /// The other end of its link, if every packet goes there whatever its destination.
    peer: Option<InterfaceId>,
    /// The last destination: most packets go to the same destination as the one before.
    last: Option<(IpAddr, InterfaceId)>,
}

impl Interface {
    pub(crate) fn new(host: HostId, link: LinkId, peer: Option<InterfaceId>) -> Self {
        Self { host, link, observed: false, watched: false, tapped: false, has_radio: false, peer, last: None }
    }

    /// Whether packets that pass it are passed to the tap.
    pub(crate) fn is_tapped(&self) -> bool {
        self.tapped
    }

    /// Sets that.
    pub(crate) fn set_tapped(&mut self, tapped: bool) {
        self.tapped = tapped;
        self.watched = tapped || self.has_radio;
    }

    /// Counts packets that pass it for a radio.
    pub(crate) fn place_radio(&mut self) {
        (self.has_radio, self.watched) = (true, true);
    }
}

/// The interfaces of all hosts.
#[derive(Debug)]
pub(crate) struct HostTable {
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) addresses: AddressBook,
    pub(crate) conversations: Conversations,
}

impl HostTable {
    #[inline]
    pub(crate) fn host(&self, interface: InterfaceId) -> HostId {
        self.interfaces[interface.index()].host
    }

    /// The interface that has `address`, if `from` may send to its host.
    #[inline]
    pub(crate) fn destination(&mut self, from: InterfaceId, address: IpAddr) -> Option<InterfaceId> {
        let sender = &self.interfaces[from.index()];
        if sender.peer.is_some() {
            return sender.peer;
        }
        match sender.last {
            Some((known, destination)) if known == address => Some(destination),
            _ => self.look_up(from, address),
        }
    }

    fn look_up(&mut self, from: InterfaceId, address: IpAddr) -> Option<InterfaceId> {
        let destination = self.addresses.interface(address)?;
        if !self.conversations.allows(self.host(from), self.host(destination)) {
            return None;
        }
        self.interfaces[from.index()].last = Some((address, destination));
        Some(destination)
    }
}

/// The pairs of hosts that may exchange packets.
#[derive(Debug)]
pub(crate) struct Conversations {
    /// One bit per pair, one row per sender; empty if all pairs may.
    allowed: Box<[u64]>,
    words_per_row: usize,
}

impl Conversations {
    /// Allows both directions of each pair. Without pairs, all hosts may send to all.
    pub(crate) fn new(hosts: usize, pairs: &[(HostId, HostId)]) -> Self {
        if pairs.is_empty() {
            return Self { allowed: Box::new([]), words_per_row: 0 };
        }
        let words_per_row = hosts.div_ceil(64);
        let mut allowed = vec![0; hosts * words_per_row].into_boxed_slice();
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                allowed[from.index() * words_per_row + to.index() / 64] |= 1 << (to.index() % 64);
            }
        }
        Self { allowed, words_per_row }
    }

    /// Whether `from` may send to `to`. A host does not send to itself over the network.
    #[inline]
    pub(crate) fn allows(&self, from: HostId, to: HostId) -> bool {
        if self.allowed.is_empty() {
            return from != to;
        }
        from != to && self.allowed[from.index() * self.words_per_row + to.index() / 64] >> (to.index() % 64) & 1 == 1
    }
}

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
    pub(crate) fn enter(&mut self, address: IpAddr, interface: InterfaceId) -> Option<InterfaceId> {
        match address {
            IpAddr::V4(address) => self.v4.insert(address.to_bits(), interface),
            IpAddr::V6(address) => self.v6.insert(address.to_bits(), interface),
        }
    }
}
