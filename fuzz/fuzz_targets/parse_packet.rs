//! Any bytes: parsing them never panics, and what it accepts lies within them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use subflow_wire::Packet;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((packet, payload)) = Packet::parse(bytes) {
        assert_eq!(bytes[payload].len(), packet.payload().length as usize);
    }
});
