//! `nat`: another address and port on the outside.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use rustc_hash::FxHashMap;
use subflow_policy::catalogue::{Attribute, Catalogued, Description};
use subflow_quantity::{Duration, Instant};
use subflow_wire::{Body, PROTOCOL_TCP, Packet};

use super::{Fate, Interference, Passage, Way};
use crate::host_table::AddressBook;

/// A translator of IPv4 addresses and ports. The inside is at the link's first end, in both of whose directions it acts;
/// IPv6 passes unchanged.
///
/// Each address of the inside has one of its own on the outside (the paired pooling of RFC 4787, REQ-2), so that routes
/// stay those of hosts. An end of the inside is the same outside for all of its peers, and all of them may send to it
/// (endpoint-independent mapping and filtering, RFC 4787, REQ-1 and REQ-8). What arrives outside for an end that has no
/// translation is dropped. A translation ends when no packet has passed for some time; the next packet from the inside
/// makes another one, also in the middle of a connection (as Linux with `nf_conntrack_tcp_loose`).
///
/// Hätönen et al. measured the times of 34 home gateways: for TCP between 4 minutes and more than a day, for UDP from
/// half a minute on. Most of them keep the port if they can. Of SCTP in IP only the address is translated, as by the
/// gateways of that study which let it pass at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nat {
    /// After what time without packets a translation of TCP ends.
    pub tcp_timeout: Duration,
    /// The same for all other protocols.
    pub udp_timeout: Duration,
    /// Whether the port outside is the one inside; otherwise each translation has the next port from 1024 on.
    pub preserves_ports: bool,
    /// By address of the inside.
    addresses: FxHashMap<Ipv4Addr, Outside>,
    /// By protocol and end of the inside.
    translations: FxHashMap<(u8, SocketAddrV4), Translation>,
    /// By protocol and end as the outside sees it, that of the inside.
    ends: FxHashMap<(u8, SocketAddrV4), SocketAddrV4>,
}

/// An address of the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outside {
    address: Ipv4Addr,
    next_port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Translation {
    outside: SocketAddrV4,
    /// When a packet passed last.
    used: Instant,
}

const FIRST_PORT: u16 = 1024;

impl Default for Nat {
    fn default() -> Self {
        Self {
            tcp_timeout: Duration::from_secs(7440),
            udp_timeout: Duration::from_secs(120),
            preserves_ports: true,
            addresses: FxHashMap::default(),
            translations: FxHashMap::default(),
            ends: FxHashMap::default(),
        }
    }
}

impl Catalogued for Nat {
    const DESCRIPTION: Description = Description {
        name: "nat",
        aliases: &[],
        summary: "translates IPv4 addresses and ports of the link's first end, and forgets them after a while",
        source: "RFC 4787, RFC 5382; Hätönen et al., An experimental study of home gateway characteristics, IMC 2010",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::positive_duration(
            "tcp_timeout",
            "the time without packets after which a translation of TCP ends",
            |nat| nat.tcp_timeout,
            |nat, timeout| nat.tcp_timeout = timeout,
        ),
        Attribute::positive_duration(
            "udp_timeout",
            "the time without packets after which a translation of another protocol ends",
            |nat| nat.udp_timeout,
            |nat, timeout| nat.udp_timeout = timeout,
        ),
        Attribute::flag(
            "preserves_ports",
            "whether a port stays the same outside, also when a translation has ended; otherwise each translation \
             has a new one",
            |nat| nat.preserves_ports,
            |nat, preserves| nat.preserves_ports = preserves,
        ),
    ];
}

/// The ports that a translator sees.
fn ports(packet: &mut Packet) -> [&mut u16; 2] {
    match &mut packet.body {
        Body::Tcp(segment) => [&mut segment.source_port, &mut segment.destination_port],
        Body::Udp(datagram) => [&mut datagram.source_port, &mut datagram.destination_port],
        Body::Quic(datagram) => [&mut datagram.source_port, &mut datagram.destination_port],
        Body::Sctp(packet) => match &mut packet.encapsulation {
            Some(udp) => [&mut udp.source_port, &mut udp.destination_port],
            None => [&mut packet.source_port, &mut packet.destination_port],
        },
    }
}

/// Whether only addresses are translated.
fn has_fixed_ports(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Sctp(packet) if packet.encapsulation.is_none())
}

impl Nat {
    fn timeout(&self, protocol: u8) -> Duration {
        if protocol == PROTOCOL_TCP { self.tcp_timeout } else { self.udp_timeout }
    }

    /// The end that the outside sees in place of `inside`; `None` if there are no more addresses.
    fn outside_of(
        &mut self,
        protocol: u8,
        inside: SocketAddrV4,
        keeps_port: bool,
        passage: &mut Passage<'_>,
    ) -> Option<SocketAddrV4> {
        let timeout = self.timeout(protocol);
        if let Some(known) = self.translations.get_mut(&(protocol, inside))
            && passage.now.since(known.used) < timeout
        {
            known.used = passage.now;
            return Some(known.outside);
        }
        let address = match self.addresses.get_mut(inside.ip()) {
            Some(known) => known,
            None => {
                let address = passage.translations.new_address(*inside.ip(), passage.addresses)?;
                self.addresses.entry(*inside.ip()).or_insert(Outside { address, next_port: FIRST_PORT })
            }
        };
        let port = match keeps_port || self.preserves_ports {
            true => inside.port(),
            false => {
                let port = address.next_port;
                address.next_port = port.checked_add(1).unwrap_or(FIRST_PORT);
                port
            }
        };
        let outside = SocketAddrV4::new(address.address, port);
        self.translations.insert((protocol, inside), Translation { outside, used: passage.now });
        self.ends.insert((protocol, outside), inside);
        passage.translations.add(protocol, outside.into(), inside.into());
        Some(outside)
    }

    /// The end on the inside that is seen as `outside`, if its translation has not ended.
    fn inside_of(&mut self, protocol: u8, outside: SocketAddrV4, now: Instant) -> Option<SocketAddrV4> {
        let timeout = self.timeout(protocol);
        let inside = *self.ends.get(&(protocol, outside))?;
        let translation = self.translations.get_mut(&(protocol, inside))?;
        if translation.outside != outside || now.since(translation.used) >= timeout {
            return None;
        }
        translation.used = now;
        Some(inside)
    }
}

impl Interference for Nat {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (packet.ip.source, packet.ip.destination) else {
            return Fate::Pass;
        };
        let protocol = packet.body.protocol();
        let keeps_port = has_fixed_ports(packet);
        let [source_port, destination_port] = ports(packet);
        match passage.way {
            Way::Up => {
                let inside = SocketAddrV4::new(source, *source_port);
                let Some(outside) = self.outside_of(protocol, inside, keeps_port, passage) else { return Fate::Drop };
                *source_port = outside.port();
                packet.ip.source = (*outside.ip()).into();
            }
            Way::Down => {
                let outside = SocketAddrV4::new(destination, *destination_port);
                let Some(inside) = self.inside_of(protocol, outside, passage.now) else { return Fate::Drop };
                *destination_port = inside.port();
                packet.ip.destination = (*inside.ip()).into();
            }
        }
        Fate::Pass
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

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
    fn new_address(&mut self, inside: Ipv4Addr, addresses: &mut AddressBook) -> Option<Ipv4Addr> {
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
    fn add(&mut self, protocol: u8, outside: SocketAddr, inside: SocketAddr) {
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
    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, client, data, datagram, reversed, segment};
    use super::*;
    use crate::InterfaceId;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn bench(preserves_ports: bool) -> Bench {
        let (tcp_timeout, udp_timeout) = (seconds(300), seconds(30));
        Bench::of([PlacedMiddlebox::new(Nat { tcp_timeout, udp_timeout, preserves_ports, ..Nat::default() })])
    }

    #[test]
    fn an_answer_comes_back_to_the_end_that_asked() {
        for preserves_ports in [true, false] {
            let mut bench = bench(preserves_ports);
            let outside = bench.up(seconds(0), data(0, 10)).expect("it passes");
            assert!(outside.ip.source != client() && outside.ip.destination == data(0, 10).ip.destination);
            assert_eq!(segment(&outside).source_port == 50000, preserves_ports);
            assert_eq!(bench.interface_of(outside.ip.source), Some(InterfaceId::from_index(0)), "it is routed there");
            let answer = bench.down(seconds(1), reversed(outside)).expect("it passes");
            assert_eq!(answer, reversed(data(0, 10)));
        }
    }

    #[test]
    fn nothing_comes_in_before_something_went_out() {
        assert_eq!(bench(true).down(seconds(0), reversed(data(0, 10))), None);
    }

    #[test]
    fn a_translation_ends_after_a_time_without_packets() {
        let mut bench = bench(true);
        let outside = bench.up(seconds(0), datagram()).expect("it passes");
        assert!(bench.down(seconds(29), reversed(outside.clone())).is_some());
        assert!(bench.down(seconds(58), reversed(outside.clone())).is_some(), "each packet begins the time anew");
        assert!(bench.down(seconds(88), reversed(outside.clone())).is_none());
        assert_eq!(bench.up(seconds(89), datagram()), Some(outside.clone()), "the inside opens it again");
        assert!(bench.down(seconds(90), reversed(outside)).is_some());
    }

    #[test]
    fn a_new_port_makes_the_old_one_unknown() {
        let mut bench = bench(false);
        let before = bench.up(seconds(0), data(0, 10)).expect("it passes");
        let after = bench.up(seconds(300), data(0, 10)).expect("it passes");
        assert_eq!([&before, &after].map(|packet| segment(packet).source_port), [1024, 1025]);
        assert!(bench.down(seconds(301), reversed(before)).is_none());
        assert!(bench.down(seconds(301), reversed(after)).is_some());
    }

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
