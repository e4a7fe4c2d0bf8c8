//! Any SCTP packet, made acceptable by a CRC32c that is right: what is parsed of it can be emitted, takes as much room,
//! and parses to the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use subflow_wire::{PayloadBytes, SctpPacket};

fuzz_target!(|bytes: &[u8]| {
    let Some(mut bytes) = (bytes.len() >= 12).then(|| bytes.to_vec()) else { return };
    bytes[8..12].fill(0);
    let checksum = crc32c::crc32c(&bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    let Ok(packet) = SctpPacket::parse(&bytes) else { return };

    let payload: Vec<u8> = packet.payload_ranges().flat_map(|range| bytes[range].to_vec()).collect();
    let mut emitted = Vec::new();
    packet.emit(PayloadBytes::Bytes(&payload), &mut emitted).expect("what was parsed can be emitted");
    assert_eq!(emitted.len(), bytes.len().next_multiple_of(4));
    assert_eq!(SctpPacket::parse(&emitted), Ok(packet));
});
