//! This side of an association: its port, addresses and verification tag.

use std::net::{IpAddr, SocketAddr};

use super::cookie::Secret;
use crate::tcp::Ends;

/// This side, as the peer addresses it.
#[derive(Clone, Debug)]
pub(super) struct LocalEnd {
    port: u16,
    /// The initial one first.
    addresses: Vec<IpAddr>,
    /// The verification tag of packets to this side.
    tag: u32,
    /// The key that the host signs its cookies with.
    secret: Secret,
}

impl LocalEnd {
    pub(super) fn new(port: u16, addresses: Vec<IpAddr>, tag: u32, secret: Secret) -> Self {
        Self { port, addresses, tag, secret }
    }

    #[inline]
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn addresses(&self) -> &[IpAddr] {
        &self.addresses
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
    /// side's first, and so on. So the two ends agree about which paths there are.
    pub(super) fn address_for(&self, remote: IpAddr, index: usize) -> IpAddr {
        let same_family = |local: &&IpAddr| local.is_ipv4() == remote.is_ipv4();
        let paired = self.addresses.get(index).filter(same_family);
        paired.or_else(|| self.addresses.iter().find(same_family)).copied().unwrap_or(self.addresses[0])
    }

    /// All pairs of an address of this side with one of the peer.
    pub(super) fn ends_with(&self, remote: SocketAddr) -> impl Iterator<Item = Ends> {
        self.addresses.iter().map(move |&local| Ends { local: SocketAddr::new(local, self.port), remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_paired_by_their_number_and_family() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let addresses = ["10.0.0.1", "10.0.0.2", "fd00::1"].map(address).to_vec();
        let local = LocalEnd::new(80, addresses, 1, [0; 32]);
        assert_eq!(local.address_for(address("10.0.1.1"), 1), address("10.0.0.2"));
        assert_eq!(local.address_for(address("10.0.1.1"), 2), address("10.0.0.1"), "the third is of another family");
        assert_eq!(local.address_for(address("fd00::9"), 0), address("fd00::1"));
    }
}
