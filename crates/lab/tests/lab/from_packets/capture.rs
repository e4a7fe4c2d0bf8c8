//! Reads captures of a run, independently of what wrote them.

use std::path::Path;

use subflow_transport::quic::CONNECTION_ID_LENGTH;
use subflow_wire::{Body, Packet, QuicDatagram};

const ENHANCED_PACKET: u32 = 6;

/// The packets of a pcapng file with their times in nanoseconds, in order. Blocks other than those of packets are
/// skipped.
pub(crate) fn packets(path: &Path) -> Vec<(u64, Packet)> {
    read(path, |bytes| Packet::parse(bytes).expect("a packet of the run").0)
}

/// Those of a run whose datagrams are all of QUIC.
pub(super) fn packets_of_quic(path: &Path) -> Vec<(u64, Packet)> {
    read(path, |bytes| {
        let (mut packet, payload) = Packet::parse(bytes).expect("a packet of the run");
        let Body::Udp(udp) = &packet.body else { panic!("{packet:?} is not UDP") };
        let (source, destination) = (udp.source_port, udp.destination_port);
        let quic = QuicDatagram::parse(source, destination, &bytes[payload], CONNECTION_ID_LENGTH);
        packet.body = Body::Quic(quic.expect("QUIC").0);
        packet
    })
}

fn read(path: &Path, packet: impl Fn(&[u8]) -> Packet) -> Vec<(u64, Packet)> {
    let bytes = std::fs::read(path).expect("a capture");
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let mut packets = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = field(at + 4) as usize;
        if field(at) == ENHANCED_PACKET {
            let time = u64::from(field(at + 12)) << 32 | u64::from(field(at + 16));
            let captured = field(at + 20) as usize;
            packets.push((time, packet(&bytes[at + 28..at + 28 + captured])));
        }
        at += length;
    }
    packets
}
