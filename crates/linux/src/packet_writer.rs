//! Converts the packets of our stack to bytes.

use subflow_transport::edge::set_payload_sum;
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Packet, PayloadBytes};

use crate::Pattern;

/// Writes packets of our stack with their payload, which is [`Pattern`].
#[derive(Debug, Default)]
pub struct PacketWriter {
    identification: u16,
    payload: Vec<u8>,
    bytes: Vec<u8>,
}

impl PacketWriter {
    /// The bytes of `packet`, after setting its checksums for this payload.
    pub fn write(&mut self, packet: &mut Packet) -> &[u8] {
        let description = *packet.payload();
        self.payload.resize(description.length as usize, 0);
        Pattern.fill(description.stream_offset, &mut self.payload);
        set_payload_sum(packet, ones_complement_sum(&self.payload));
        self.identification = self.identification.wrapping_add(1);
        self.bytes.clear();
        packet
            .emit(PayloadBytes::Bytes(&self.payload), self.identification, &mut self.bytes)
            .expect("endpoints create only packets that can be written");
        &self.bytes
    }
}
