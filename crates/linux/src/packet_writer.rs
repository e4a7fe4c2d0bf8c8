//! The bytes of packets that the network describes: those of our stack, and those of kernels that middleboxes have
//! changed.

use core::ops::Range;

use subflow_transport::edge::set_payload_sum;
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Body, Packet, PayloadBytes};

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
            Body::Quic(body) => body.payloads().for_each(|payload| fill(&mut self.payload, payload)),
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
fn fill(bytes: &mut Vec<u8>, payload: &subflow_wire::Payload) {
    let start = bytes.len();
    bytes.resize(start + payload.length as usize, 0);
    Pattern.fill(payload.stream_offset, &mut bytes[start..]);
}

/// The bytes of `packet` with a part of `payload`, that of the packet which it was, and the range of its payload in
/// them. TCP options that the network does not know are not among them. `None` if the packet cannot be written.
pub(crate) fn emit_changed(packet: &mut Packet, payload: &[u8]) -> Option<(Vec<u8>, Range<usize>)> {
    let carried: Vec<u8> = match &packet.body {
        Body::Sctp(body) => body.payload_ranges().filter_map(|range| payload.get(range)).flatten().copied().collect(),
        body => {
            // Packets of kernels begin at 0, and what a middlebox has cut from them where it was.
            let described = body.payload();
            let start = described.stream_offset as usize;
            payload.get(start..start + described.length as usize)?.to_vec()
        }
    };
    if let Body::Tcp(segment) = &mut packet.body {
        segment.payload.sum = ones_complement_sum(&carried);
    }
    let mut bytes = Vec::new();
    packet.emit(PayloadBytes::Bytes(&carried), 0, &mut bytes).ok()?;
    let (_, payload) = Packet::parse(&bytes).ok()?;
    Some((bytes, payload))
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::{SynOptions, TcpFlags};
    use subflow_wire::{Dscp, Ecn, IpHeader, Payload, TcpSegment};

    use super::*;

    fn packet(offset: u64, length: u32) -> Packet {
        let ip = IpHeader {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            hop_limit: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        };
        let payload = Payload { stream_offset: offset, length, sum: 0 };
        Packet { ip, body: Body::Tcp(TcpSegment { flags: TcpFlags::ACK, payload, ..TcpSegment::default() }) }
    }

    #[test]
    fn a_piece_of_a_segment_has_its_part_of_the_bytes() {
        let mut piece = packet(3, 4);
        let (bytes, payload) = emit_changed(&mut piece, b"0123456789").expect("it is in the segment");
        assert_eq!(&bytes[payload], b"3456");
        assert_eq!(piece.payload().sum, ones_complement_sum(b"3456"));
        assert!(Packet::parse(&bytes).is_ok(), "its checksums are right");
        assert_eq!(emit_changed(&mut packet(8, 4), b"0123456789"), None);
    }

    #[test]
    fn a_segment_that_was_made_by_a_middlebox_needs_no_bytes() {
        let mut reset = packet(0, 0);
        if let Body::Tcp(segment) = &mut reset.body {
            segment.options.syn = SynOptions { mss: Some(1400), ..SynOptions::default() };
        }
        let (bytes, payload) = emit_changed(&mut reset, b"").expect("it can be written");
        assert_eq!((bytes.len(), payload.is_empty()), (44, true));
    }
}
