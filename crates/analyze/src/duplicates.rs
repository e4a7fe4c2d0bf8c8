//! Packets that a capture has twice: of a mirrored port, of several interfaces of a host (`tcpdump -i any`), of two files
//! that overlap, or of a network that copies packets.
//!
//! A copy has the IPv4 identification of its original, which a retransmission has not (RFC 6864, section 4), and the same
//! bytes from the ports on, with checksum and timestamps. Routers may have changed the rest. Without an identification
//! (IPv6, and hosts that send 0) only copies of data that come at once, and packets with the same time, are told.

use std::net::IpAddr;

use crate::packet::{Body, Packet};
use crate::passages::mixed_bytes;

/// Bytes of a packet, from the ports on, by which it is known: the header of TCP with all options.
const KNOWN_BY: usize = 60;
/// Packets that are remembered, in sets of those whose numbers end alike, of which the last ones are.
const SETS: usize = 4096;
const OF_SET: usize = 4;

/// How long behind its original a copy comes, in nanoseconds.
mod latest {
    /// With an identification, which a fast sender uses again after 65 536 packets.
    pub(super) const WITH_IDENTIFICATION: u64 = 100_000_000;
    /// Data without one: no sender sends it again so soon.
    pub(super) const DATA: u64 = 100_000;
    /// Everything else: one that two files have.
    pub(super) const OTHERS: u64 = 1_000;
}

/// The packets of the last time.
#[derive(Debug)]
pub(crate) struct Duplicates {
    /// Their numbers, with their times.
    recent: Box<[[(u64, u64); OF_SET]]>,
    /// How many were told.
    pub(crate) count: u64,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self { recent: vec![[(0, 0); OF_SET]; SETS].into_boxed_slice(), count: 0 }
    }
}

impl Duplicates {
    /// Whether a point of capture has shown this packet a short time before.
    pub(crate) fn is_one(&mut self, point: u16, packet: &Packet<'_>, time: u64) -> bool {
        let number = number(point, packet);
        let latest = match (packet.identification, &packet.body) {
            (1.., _) => latest::WITH_IDENTIFICATION,
            (0, Body::Tcp(segment)) if segment.payload.length > 0 => latest::DATA,
            _ => latest::OTHERS,
        };
        let set = &mut self.recent[number as usize % SETS];
        let is_one = set.iter().any(|&(known, before)| known == number && time.saturating_sub(before) <= latest);
        if is_one {
            self.count += 1;
        } else {
            set.rotate_right(1);
            set[0] = (number, time);
        }
        is_one
    }
}

fn number(point: u16, packet: &Packet<'_>) -> u64 {
    let transport = &packet.transport[..packet.transport.len().min(KNOWN_BY)];
    let of_ip = u64::from(packet.identification) << 32 | u64::from(point) << 16 | transport.len() as u64;
    let addresses = [packet.source.ip(), packet.destination.ip()];
    let of_addresses = addresses.iter().fold(of_ip, |number, address| match address {
        IpAddr::V4(address) => mixed_bytes(number, &address.octets()),
        IpAddr::V6(address) => mixed_bytes(number, &address.octets()),
    });
    mixed_bytes(of_addresses, transport)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Datagram;

    fn packet(identification: u16, transport: &[u8]) -> Packet<'_> {
        let body = Body::Udp(Datagram { length: transport.len() as u32, payload: transport });
        let [source, destination] = ["10.0.0.1:4000", "10.0.0.2:80"].map(|end| end.parse().expect("an address"));
        Packet { source, destination, body, identification, transport, is_header_cut: false }
    }

    #[test]
    fn a_copy_has_the_identification_and_the_bytes_of_its_original_and_comes_soon() {
        let mut duplicates = Duplicates::default();
        assert!(!duplicates.is_one(0, &packet(7, &[1; 40]), 0));
        assert!(!duplicates.is_one(1, &packet(7, &[1; 40]), 5), "of another point");
        assert!(!duplicates.is_one(0, &packet(8, &[1; 40]), 5), "sent again");
        assert!(!duplicates.is_one(0, &packet(7, &[2; 40]), 5));
        assert!(duplicates.is_one(0, &packet(7, &[1; 40]), 50_000_000));
        assert!(!duplicates.is_one(0, &packet(7, &[1; 40]), 200_000_000), "the number is used again");
        assert_eq!(duplicates.count, 1);
    }

    #[test]
    fn without_an_identification_only_what_has_the_same_time_is_a_copy() {
        let mut duplicates = Duplicates::default();
        assert!(!duplicates.is_one(0, &packet(0, &[1; 40]), 0));
        assert!(duplicates.is_one(0, &packet(0, &[1; 40]), 1_000));
        assert!(!duplicates.is_one(0, &packet(0, &[1; 40]), 10_000));
    }
}
