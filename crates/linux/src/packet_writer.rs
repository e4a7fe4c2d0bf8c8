//! Converts the packets of our stack to bytes.

use subflow_transport::edge::set_payload_sum;
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Body, Packet, Payload, PayloadBytes};

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
        self.payload.clear();
        match &packet.body {
            Body::Sctp(body) => body.payloads().for_each(|payload| fill(&mut self.payload, payload)),
            body => fill(&mut self.payload, body.payload()),
        }
        set_payload_sum(packet, ones_complement_sum(&self.payload));
        self.identification = self.identification.wrapping_add(1);
        self.bytes.clear();
        packet
            .emit(PayloadBytes::Bytes(&self.payload), self.identification, &mut self.bytes)
            .expect("endpoints create only packets that can be written");
        &self.bytes
    }
}

/// Appends the bytes that `payload` describes.
fn fill(bytes: &mut Vec<u8>, payload: &Payload) {
    let start = bytes.len();
    bytes.resize(start + payload.length as usize, 0);
    Pattern.fill(payload.stream_offset, &mut bytes[start..]);
}
