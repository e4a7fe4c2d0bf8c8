//! SCTP packets of kernels' hosts by their ends. A program with an SCTP of its own, such as usrsctp, has raw sockets, of
//! which no kernel lists an association: what is known of them is what passes the devices.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_wire::{Body, Packet};

/// The most pairs of ends that are kept.
const MOST_PAIRS: usize = 1000;

/// What SCTP packets carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SctpCarried {
    /// Packets.
    pub packets: u64,
    /// Bytes of user data in them, also of data that was sent again.
    pub data_bytes: u64,
}

impl SctpCarried {
    /// Adds what others carried.
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.data_bytes += other.data_bytes;
    }
}

/// The SCTP packets that kernels have sent, directly in IP or in UDP (RFC 6951). An association of several addresses
/// has several pairs of ends.
#[derive(Clone, Debug, Default)]
pub struct SctpTraffic {
    by_ends: BTreeMap<[SocketAddr; 2], SctpCarried>,
    /// Packets between further ends, beyond those that are kept.
    further: SctpCarried,
}

impl SctpTraffic {
    /// Each pair of ends, the lower address first, with what was sent between them in both directions.
    pub fn by_ends(&self) -> impl Iterator<Item = ([SocketAddr; 2], SctpCarried)> {
        self.by_ends.iter().map(|(&ends, &carried)| (ends, carried))
    }

    /// What was sent between ends that are not kept, of which there are too many.
    pub fn further(&self) -> SctpCarried {
        self.further
    }

    /// Counts a packet, if it is one of SCTP.
    pub(crate) fn count(&mut self, packet: &Packet) {
        let Body::Sctp(body) = &packet.body else { return };
        let mut ends = [
            SocketAddr::new(packet.ip.source, body.source_port),
            SocketAddr::new(packet.ip.destination, body.destination_port),
        ];
        ends.sort();
        let has_room = self.by_ends.len() < MOST_PAIRS || self.by_ends.contains_key(&ends);
        let kept = if has_room { self.by_ends.entry(ends).or_default() } else { &mut self.further };
        kept.add(SctpCarried { packets: 1, data_bytes: u64::from(body.user_data_length()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use subflow_wire::sctp::{Chunk, DataChunk};
    use subflow_wire::{Dscp, Ecn, IpHeader, SctpPacket, TcpSegment};

    fn packet(from: (u8, u16), to: (u8, u16), chunks: Vec<Chunk>) -> Packet {
        let [source, destination] = [from.0, to.0].map(|host| IpAddr::from([10, 0, 0, host]));
        let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let (source_port, destination_port) = (from.1, to.1);
        Packet { ip, body: Body::Sctp(SctpPacket { source_port, destination_port, chunks, ..SctpPacket::default() }) }
    }

    #[test]
    fn both_directions_of_an_association_are_counted_together() {
        let mut data = DataChunk::default();
        data.payload.length = 100;
        let mut traffic = SctpTraffic::default();
        traffic.count(&packet((1, 7000), (2, 9), vec![Chunk::Data(data)]));
        traffic.count(&packet((2, 9), (1, 7000), Vec::new()));
        traffic.count(&Packet { body: Body::Tcp(TcpSegment::default()), ..packet((1, 7), (2, 9), Vec::new()) });
        let ends = ["10.0.0.1:7000", "10.0.0.2:9"].map(|end| end.parse().expect("an address"));
        let carried = SctpCarried { packets: 2, data_bytes: 100 };
        assert_eq!(traffic.by_ends().collect::<Vec<_>>(), [(ends, carried)]);
    }

    #[test]
    fn a_scan_of_all_ports_does_not_fill_the_memory() {
        let mut traffic = SctpTraffic::default();
        (0..2000).for_each(|port| traffic.count(&packet((1, 7000), (2, port), Vec::new())));
        traffic.count(&packet((1, 7000), (2, 0), Vec::new()));
        assert_eq!((traffic.by_ends().count(), traffic.further().packets), (1000, 1000));
        assert_eq!(traffic.by_ends().next().map(|(_, carried)| carried.packets), Some(2), "what is known goes on");
    }
}
