//! A packet: its header, its frames, and the tag of the null suite (RFC 9000, section 17).

use core::ops::Range;

use super::{Emitter, Frame, PacketHeader};
use crate::error::{EmitError, Header, ParseError};
use crate::{Payload, PayloadBytes};

/// Bytes of the tag with which an AEAD ends a packet (RFC 9001, section 5.3). Those of the null suite are zero.
pub const TAG_LENGTH: u32 = 16;

/// A packet without the bytes of its application data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuicPacket {
    /// The header.
    pub header: PacketHeader,
    /// Frames, in their order; none in a packet without a number. A vector, so that a packet that is used again keeps
    /// its memory.
    pub frames: Vec<Frame>,
}

impl QuicPacket {
    /// Length in bytes, from the header to the tag.
    #[inline]
    pub fn length(&self) -> u32 {
        self.header.length() + self.rest()
    }

    /// Bytes behind the header.
    #[inline]
    fn rest(&self) -> u32 {
        match self.header.number() {
            Some(_) => self.frames.iter().map(Frame::length).sum::<u32>() + TAG_LENGTH,
            None => 0,
        }
    }

    /// Whether it has to be acknowledged.
    pub fn is_ack_eliciting(&self) -> bool {
        self.frames.iter().any(Frame::is_ack_eliciting)
    }

    /// The descriptions of its application data, in the order of the frames.
    pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
        self.frames.iter().filter_map(Frame::payload)
    }

    /// Where the application data of each frame lies in the packet as it is written, counted from the header.
    pub(super) fn payload_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = self.header.length() as usize;
        self.frames.iter().filter_map(move |frame| {
            start += frame.length() as usize;
            frame.payload().map(|payload| start - payload.length as usize..start)
        })
    }

    /// Whether the packet can be written: its header can state its length, and a frame that reaches to its end is the
    /// last one.
    pub(super) fn check(&self) -> Result<(), EmitError> {
        let rest = self.rest();
        if !self.header.can_state(rest) {
            return Err(EmitError::PacketTooLong { needed: self.length(), limit: self.header.length() + 0x3fff });
        }
        let others = self.frames.split_last().map_or(&[][..], |(_, others)| others);
        let reaches_to_end = |frame: &Frame| match frame {
            Frame::Stream(stream) => !stream.has_length,
            Frame::Datagram(datagram) => !datagram.has_length,
            _ => false,
        };
        match others.iter().any(reaches_to_end) {
            true => Err(EmitError::IncompleteOption { option: "STREAM or DATAGRAM", missing: "length" }),
            false => Ok(()),
        }
    }

    /// Appends the packet. Of `payload`, whose rest is left there, each STREAM and DATAGRAM frame takes as much as it
    /// describes.
    pub(super) fn emit(&self, payload: &mut PayloadBytes<'_>, out: &mut Emitter<'_>) {
        self.header.emit(self.rest(), out);
        for frame in &self.frames {
            let length = frame.payload().map_or(0, |payload| payload.length as usize);
            let own = match *payload {
                PayloadBytes::Zero => PayloadBytes::Zero,
                PayloadBytes::Bytes(bytes) => {
                    let (own, rest) = bytes.split_at(length);
                    *payload = PayloadBytes::Bytes(rest);
                    PayloadBytes::Bytes(own)
                }
            };
            frame.emit(own, out);
        }
        if self.header.number().is_some() {
            out.zeros(TAG_LENGTH);
        }
    }

    /// Parses the packet at the start of `bytes`, which lie at offset `start` of their datagram, and returns the bytes
    /// behind it. The connection identifier of a short header has `id_length` bytes. Appends to `ranges` where the
    /// application data of each frame lies.
    pub(super) fn parse<'a>(
        bytes: &'a [u8],
        start: usize,
        id_length: usize,
        ranges: &mut Vec<Range<usize>>,
    ) -> Result<(Self, &'a [u8]), ParseError> {
        let (header, rest, length) = PacketHeader::parse(bytes, id_length)?;
        if header.number().is_none() {
            // Retry and Version Negotiation reach to the end of their datagram.
            return Ok((Self { header, frames: Vec::new() }, &[]));
        }
        let Some((rest, others)) = rest.split_at_checked(length) else {
            let needed = bytes.len() - rest.len() + length;
            return Err(ParseError::Truncated { header: Header::Quic, needed, available: bytes.len() });
        };
        let Some((payload, tag)) = rest.split_last_chunk::<{ TAG_LENGTH as usize }>() else {
            let needed = bytes.len() - others.len() - rest.len() + TAG_LENGTH as usize;
            return Err(ParseError::Truncated { header: Header::Quic, needed, available: bytes.len() - others.len() });
        };
        if *tag != [0; TAG_LENGTH as usize] {
            return Err(ParseError::Checksum(Header::Quic));
        }
        let start = start + bytes.len() - others.len() - payload.len() - tag.len();
        Ok((Self { header, frames: Frame::parse_all(payload, start, ranges) }, others))
    }
}
