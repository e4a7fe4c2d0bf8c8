//! The data in a packet, by protocol.

use core::ops::Range;

use subflow_wire::quic::Frame;
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Packet, Payload};

use super::FourTuple;

/// A range of data in a packet.
#[derive(Clone, Debug)]
pub(super) struct Transmission {
    pub(super) data: Range<u64>,
    pub(super) unit: Unit,
}

/// What carries it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// A segment of TCP with this sequence number.
    Segment(u32),
    /// A chunk of SCTP with this TSN.
    Chunk(u32),
    /// A frame of QUIC.
    Frame,
}

/// Calls `each` with the 4-tuple of a packet and each range of data in it.
pub(super) fn for_each_range(packet: &Packet, mut each: impl FnMut(FourTuple<'_>, Transmission)) {
    match &packet.body {
        Body::Tcp(segment) if segment.payload.length > 0 => {
            let tuple = four_tuple(packet, segment.source_port, segment.destination_port);
            each(tuple, Transmission { data: bounds(&segment.payload), unit: Unit::Segment(segment.sequence) });
        }
        Body::Sctp(sctp) => {
            for chunk in &sctp.chunks {
                if let Chunk::Data(data) = chunk {
                    let tuple = four_tuple(packet, sctp.source_port, sctp.destination_port);
                    each(tuple, Transmission { data: bounds(&data.payload), unit: Unit::Chunk(data.tsn) });
                }
            }
        }
        Body::Quic(quic) => {
            for frame in quic.packets.iter().flat_map(|packet| &packet.frames) {
                if let Frame::Stream(stream) = frame
                    && stream.payload.length > 0
                {
                    let tuple = four_tuple(packet, quic.source_port, quic.destination_port);
                    each(tuple, Transmission { data: bounds(&stream.payload), unit: Unit::Frame });
                }
            }
        }
        Body::Tcp(_) | Body::Udp(_) => {}
    }
}

/// The new cumulative TSN of a FORWARD-TSN in a packet.
pub(super) fn forward_tsn(packet: &Packet) -> Option<u32> {
    let Body::Sctp(sctp) = &packet.body else { return None };
    sctp.chunks.iter().find_map(|chunk| match chunk {
        Chunk::ForwardTsn(forward) => Some(forward.new_cumulative_tsn),
        _ => None,
    })
}

#[inline]
pub(super) fn four_tuple(packet: &Packet, source_port: u16, destination_port: u16) -> FourTuple<'_> {
    FourTuple { ip: &packet.ip, source_port, destination_port }
}

/// Where the bytes of a payload are in the stream of the application.
#[inline]
fn bounds(payload: &Payload) -> Range<u64> {
    payload.stream_offset..payload.stream_offset + u64::from(payload.length)
}
