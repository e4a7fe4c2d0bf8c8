//! Packets that share a UDP datagram (RFC 9000, section 12.2), and the way to bytes and back.

use core::ops::Range;

use super::{Emitter, QuicPacket};
use crate::error::{EmitError, Header, ParseError};
use crate::{Payload, PayloadBytes};

/// A UDP datagram of QUIC, without the bytes of its application data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuicDatagram {
    /// Source port of UDP.
    pub source_port: u16,
    /// Destination port of UDP.
    pub destination_port: u16,
    /// Packets, in their order. One with a short header is the last one. A vector, so that a datagram that is used again
    /// keeps its memory.
    pub packets: Vec<QuicPacket>,
}

impl QuicDatagram {
    /// Length in bytes of all packets: without the header of UDP.
    #[inline]
    pub fn length(&self) -> u32 {
        self.packets.iter().map(QuicPacket::length).sum()
    }

    /// Bytes of application data in all packets.
    pub fn user_data_length(&self) -> u32 {
        self.payloads().map(|payload| payload.length).sum()
    }

    /// The descriptions of the application data, in the order of packets and frames.
    pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
        self.packets.iter().flat_map(QuicPacket::payloads)
    }

    /// Where the application data of each frame lies in the datagram as it is written, counted from the first packet, in
    /// the order of packets and frames.
    pub fn payload_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.packets.iter().flat_map(move |packet| {
            let start = end;
            end += packet.length() as usize;
            packet.payload_ranges().map(move |range| start + range.start..start + range.end)
        })
    }

    /// Appends all packets. Of `payload` bytes, each STREAM and DATAGRAM frame takes as many as it describes, one after
    /// the other; on an error `out` is unchanged.
    pub fn emit(&self, payload: PayloadBytes<'_>, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.check(payload)?;
        let start = out.len();
        let mut emitter = Emitter::new(out);
        let mut left = payload;
        self.packets.iter().for_each(|packet| packet.emit(&mut left, &mut emitter));
        let result = emitter.finish();
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Whether the datagram can be written with `payload` as its application data.
    pub(crate) fn check(&self, payload: PayloadBytes<'_>) -> Result<(), EmitError> {
        let expected = self.user_data_length();
        if let PayloadBytes::Bytes(bytes) = payload
            && bytes.len() != expected as usize
        {
            return Err(EmitError::PayloadLength { expected, given: bytes.len() });
        }
        self.packets.iter().try_for_each(QuicPacket::check)
    }

    /// Parses the payload `bytes` of a UDP datagram, and returns the ranges of `bytes` that are application data, in the
    /// order of packets and frames. They are not those of [`payload_ranges`](Self::payload_ranges) if the sender has
    /// written integers in a longer form than needed. Connection identifiers of short headers have `id_length` bytes:
    /// those that the receiver has issued.
    ///
    /// # Errors
    ///
    /// The first packet is malformed, or was not made with the null suite. A later one that is ends the datagram.
    pub fn parse(
        source_port: u16,
        destination_port: u16,
        bytes: &[u8],
        id_length: usize,
    ) -> Result<(Self, Vec<Range<usize>>), ParseError> {
        if bytes.is_empty() {
            return Err(ParseError::Truncated { header: Header::Quic, needed: 1, available: 0 });
        }
        let (mut packets, mut ranges) = (Vec::new(), Vec::new());
        let mut left = bytes;
        while !left.is_empty() {
            match QuicPacket::parse(left, bytes.len() - left.len(), id_length, &mut ranges) {
                Ok((packet, rest)) => {
                    packets.push(packet);
                    left = rest;
                }
                Err(error) if packets.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok((Self { source_port, destination_port, packets }, ranges))
    }
}
