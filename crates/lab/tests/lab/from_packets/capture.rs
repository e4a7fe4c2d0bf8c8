//! Reads captures of a run, independently of what wrote them.

use std::path::Path;

use subflow_wire::Packet;

const ENHANCED_PACKET: u32 = 6;

/// The packets of a pcapng file with their times in nanoseconds, in order. Blocks other than those of packets are
/// skipped.
pub(crate) fn packets(path: &Path) -> Vec<(u64, Packet)> {
    let bytes = std::fs::read(path).expect("a capture");
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let mut packets = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = field(at + 4) as usize;
        if field(at) == ENHANCED_PACKET {
            let time = u64::from(field(at + 12)) << 32 | u64::from(field(at + 16));
            let captured = field(at + 20) as usize;
            let (packet, _) = Packet::parse(&bytes[at + 28..at + 28 + captured]).expect("a packet of the run");
            packets.push((time, packet));
        }
        at += length;
    }
    packets
}
