//! INIT and INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3), which have one format.

use super::Parameter;
use super::parameter::{emit_parameters, parameters_length, parse_parameters};
use super::tlv::CHUNK_HEADER_LENGTH;
use crate::reader::Reader;

/// What an INIT or INIT ACK says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitChunk {
    /// The tag that the other side has to put into every packet.
    pub initiate_tag: u32,
    /// Advertised receiver window, in bytes.
    pub a_rwnd: u32,
    /// Streams that the sender wants to send on.
    pub outbound_streams: u16,
    /// Streams that the sender can receive on, at most.
    pub inbound_streams: u16,
    /// TSN of the sender's first DATA chunk.
    pub initial_tsn: u32,
    /// Parameters, in their order.
    pub parameters: Vec<Parameter>,
}

impl InitChunk {
    /// Bytes of what stands in front of the parameters, behind type, flags and length.
    pub(super) const FIXED_LENGTH: usize = 16;

    /// Length of the chunk in bytes, without the padding behind.
    pub fn length(&self) -> u32 {
        CHUNK_HEADER_LENGTH + Self::FIXED_LENGTH as u32 + parameters_length(&self.parameters)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.initiate_tag.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.to_be_bytes());
        emit_parameters(&self.parameters, out);
    }

    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let (fixed, parameters) = value.split_at_checked(Self::FIXED_LENGTH)?;
        let mut reader = Reader::new(fixed);
        Some(Self {
            initiate_tag: reader.u32()?,
            a_rwnd: reader.u32()?,
            outbound_streams: reader.u16()?,
            inbound_streams: reader.u16()?,
            initial_tsn: reader.u32()?,
            parameters: parse_parameters(parameters)?,
        })
    }
}
