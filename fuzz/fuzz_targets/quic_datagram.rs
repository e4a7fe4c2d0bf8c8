//! Any datagram of QUIC, made acceptable by the tag of the null suite: what is parsed of it can be emitted, takes as much
//! room as it says, and parses to the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use subflow_wire::PayloadBytes;
use subflow_wire::quic::QuicDatagram;

/// Bytes of the connection identifiers in short headers.
const ID_LENGTH: usize = 4;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    let tag = bytes.len().saturating_sub(16);
    bytes[tag..].fill(0);
    let Ok((datagram, ranges)) = QuicDatagram::parse(1, 2, &bytes, ID_LENGTH) else { return };

    let payload: Vec<u8> = ranges.into_iter().flat_map(|range| bytes[range].to_vec()).collect();
    let mut emitted = Vec::new();
    // The field of a packet's length has two bytes.
    let Ok(()) = datagram.emit(PayloadBytes::Bytes(&payload), &mut emitted) else { return assert!(bytes.len() > 0x3fff) };
    assert_eq!(emitted.len(), datagram.length() as usize);
    let ranges = datagram.payload_ranges().collect();
    assert_eq!(QuicDatagram::parse(1, 2, &emitted, ID_LENGTH), Ok((datagram, ranges)));
});
