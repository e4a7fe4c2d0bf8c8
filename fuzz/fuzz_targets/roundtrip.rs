//! Any transport header and payload, made acceptable by lengths and checksums that are right: what is parsed of them
//! can be emitted, and parses to the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use subflow_fuzz::{Family, Protocol, packet_around};
use subflow_wire::{EmitError, Packet, PayloadBytes};

fuzz_target!(|input: (bool, bool, &[u8])| {
    let (is_ipv4, is_tcp, transport) = input;
    let family = if is_ipv4 { Family::Ipv4 } else { Family::Ipv6 };
    let protocol = if is_tcp { Protocol::Tcp } else { Protocol::Udp };
    let Some(bytes) = packet_around(transport, family, protocol) else { return };
    let Ok((packet, payload)) = Packet::parse(&bytes) else { return };

    let mut emitted = Vec::new();
    match packet.emit(PayloadBytes::Bytes(&bytes[payload]), 0, &mut emitted) {
        Ok(()) => {}
        // Options that came packed may take more room as Linux lays them out.
        Err(EmitError::OptionsTooLong { .. } | EmitError::PacketTooLong { .. }) => return,
        Err(error) => panic!("{packet:?} was parsed but cannot be emitted: {error}"),
    }
    assert_eq!(emitted.len(), packet.wire_length() as usize);
    assert_eq!(Packet::parse(&emitted).map(|(packet, _)| packet), Ok(packet));
});
