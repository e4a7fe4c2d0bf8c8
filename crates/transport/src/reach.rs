//! Between which addresses of this host and of its peers there are routes (RFC 9260, section 6.4.1, on pairs of source
//! and destination; RFC 1122, section 3.3.4.3, on the choice of a source address).

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// The pairs of addresses between which packets can be sent: those of one family, unless there is no route. Clones share
/// the pairs.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Pairs of one family without a route: this host's address and the peer's.
    unreachable: Arc<BTreeSet<(IpAddr, IpAddr)>>,
}

impl Reach {
    /// There is no route between the addresses of each of these pairs, which are this host's and the peer's.
    pub fn without(pairs: impl IntoIterator<Item = (IpAddr, IpAddr)>) -> Self {
        Self { unreachable: Arc::new(pairs.into_iter().collect()) }
    }

    /// Whether packets from `local` reach `remote`.
    pub fn reaches(&self, local: IpAddr, remote: IpAddr) -> bool {
        local.is_ipv4() == remote.is_ipv4() && !self.unreachable.contains(&(local, remote))
    }

    /// The source address of packets to `remote`: `preferred` if it is one of `present`, which this host has, and
    /// reaches `remote`; else the first of them that does. `None` if none does.
    pub(crate) fn source(&self, present: &[IpAddr], preferred: IpAddr, remote: IpAddr) -> Option<IpAddr> {
        let reaches = |local: &IpAddr| self.reaches(*local, remote);
        let first_choice = Some(preferred).filter(|preferred| present.contains(preferred) && reaches(preferred));
        first_choice.or_else(|| present.iter().copied().find(reaches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_source_exists_and_has_a_route_of_its_family() {
        let [wifi, lte, ipv6, server] = ["10.0.0.1", "10.0.1.1", "fd00::1", "10.9.0.1"].map(address);
        let everywhere = Reach::default();
        assert_eq!(everywhere.source(&[wifi, lte], lte, server), Some(lte));
        assert_eq!(everywhere.source(&[ipv6, lte], wifi, server), Some(lte), "wifi is gone, IPv6 does not reach IPv4");
        assert_eq!(everywhere.source(&[ipv6], wifi, server), None);
        let without_lte = Reach::without([(lte, server)]);
        assert_eq!(without_lte.source(&[wifi, lte], lte, server), Some(wifi));
        assert_eq!(without_lte.source(&[lte], lte, server), None);
        assert!(without_lte.reaches(lte, address("10.9.0.2")), "only this pair has no route");
    }
}
