//! Forged SCTP packets.

use std::net::{IpAddr, SocketAddr};

use subflow_wire::sctp::{
    Chunk, DataChunk, ErrorCause, ForwardTsnChunk, GapBlock, InitChunk, NrSackChunk, Parameter, RawChunk, RawParameter,
    SackChunk, SkippedStream,
};
use subflow_wire::{Payload, SctpPacket};

use super::Forger;
use crate::forgery::{ChunkForgery, ParameterForgery, SctpForgery};
use crate::setup::ATTACKER;

/// Largest packet that is made.
const LARGEST: u32 = 60_000;

impl Forger<'_> {
    pub(super) fn chunks(&self, forgery: &SctpForgery, from: SocketAddr, to: SocketAddr) -> Option<SctpPacket> {
        let right = self.wiretap.flow(self.flow).sctp[self.to].tag;
        let wrong = if self.blind { forgery.tag | 1 } else { forgery.tag };
        let packet = SctpPacket {
            source_port: from.port(),
            destination_port: to.port(),
            verification_tag: if forgery.zero_tag { 0 } else { right.wrapping_add(wrong) },
            encapsulation: None,
            may_fragment: false,
            chunks: forgery.chunks.iter().map(|chunk| self.chunk(chunk)).collect(),
        };
        (packet.length() < LARGEST).then_some(packet)
    }

    /// The TSN that the receiver expects, and the last that it has sent, as far as is known.
    fn tsns(&self) -> (u32, u32) {
        let said = &self.wiretap.flow(self.flow).sctp;
        let expected = said[self.to].expected.unwrap_or(said[1 - self.to].next);
        (expected, said[self.to].next.wrapping_sub(1))
    }

    fn chunk(&self, forgery: &ChunkForgery) -> Chunk {
        let (expected, sent) = self.tsns();
        let off = |base: u32, by: i64| base.wrapping_add(self.growing(by, self.stride.sequence) as u32);
        match forgery {
            &ChunkForgery::Data { tsn, stream, sequence, flags, length } => Chunk::Data(DataChunk {
                immediate: flags & 8 != 0,
                unordered: flags & 4 != 0,
                begin: flags & 2 != 0,
                end: flags & 1 != 0,
                tsn: off(expected, tsn),
                stream: stream.wrapping_add(self.identifier(0).into()),
                stream_sequence: sequence.wrapping_add((self.stride.data as u32).wrapping_mul(self.number) as u16),
                protocol_identifier: 0,
                payload: Payload { length: length.into(), ..Payload::default() },
            }),
            ChunkForgery::Sack { cumulative, window, gaps, kept, duplicates } => {
                let sack = SackChunk {
                    cumulative_tsn: off(sent, *cumulative),
                    a_rwnd: *window,
                    data_packets: 0,
                    gaps: blocks(gaps).collect(),
                    duplicates: (0..u32::from(*duplicates)).map(|more| sent.wrapping_sub(more)).collect(),
                };
                match kept {
                    None => Chunk::Sack(sack),
                    Some(kept) => Chunk::NrSack(NrSackChunk { sack, non_renegable: blocks(kept).collect() }),
                }
            }
            ChunkForgery::ForwardTsn { cumulative, streams } => {
                let streams =
                    streams.iter().map(|&(stream, stream_sequence)| SkippedStream { stream, stream_sequence });
                Chunk::ForwardTsn(ForwardTsnChunk {
                    new_cumulative_tsn: off(expected, *cumulative),
                    streams: streams.collect(),
                })
            }
            ChunkForgery::Init { acknowledges, tag, window, streams, parameters } => {
                let init = Box::new(InitChunk {
                    initiate_tag: *tag,
                    a_rwnd: *window,
                    outbound_streams: streams.0,
                    inbound_streams: streams.1,
                    initial_tsn: off(expected, 0),
                    parameters: parameters.iter().map(|parameter| self.parameter(parameter)).collect(),
                });
                if *acknowledges { Chunk::InitAck(init) } else { Chunk::Init(init) }
            }
            ChunkForgery::CookieEcho { seen, flip } => Chunk::CookieEcho(self.cookie(*seen, *flip)),
            ChunkForgery::Shutdown(cumulative) => Chunk::Shutdown { cumulative_tsn: off(sent, *cumulative) },
            ChunkForgery::HeartbeatAck(None) => {
                Chunk::HeartbeatAck(self.wiretap.flow(self.flow).sctp[self.to].heartbeat.clone())
            }
            simple => plain_chunk(simple),
        }
    }

    /// A cookie. A blind attacker has seen none.
    fn cookie(&self, seen: bool, flip: Option<u16>) -> Box<[u8]> {
        let mut cookie = match seen && !self.blind {
            true => self.wiretap.flow(self.flow).sctp[self.to].cookie.clone(),
            false => vec![0xab; usize::from(flip.unwrap_or(0)) % 300].into(),
        };
        let bits = cookie.len() * 8;
        if let (Some(flip), 1..) = (flip, bits) {
            let bit = usize::from(flip) % bits;
            cookie[bit / 8] ^= 1 << (bit % 8);
        }
        cookie
    }

    fn parameter(&self, forgery: &ParameterForgery) -> Parameter {
        match forgery {
            &ParameterForgery::Address(index) => match self.setup.address(ATTACKER, index) {
                IpAddr::V4(v4) => Parameter::Ipv4Address(v4),
                IpAddr::V6(v6) => Parameter::Ipv6Address(v6),
            },
            &ParameterForgery::Cookie(length) => Parameter::StateCookie(vec![0; length.into()].into()),
            ParameterForgery::HostName => Parameter::HostName(b"example\0".as_slice().into()),
            ParameterForgery::Extensions(kinds) => Parameter::SupportedExtensions(kinds.clone()),
            ParameterForgery::ForwardTsn => Parameter::ForwardTsnSupported,
            &ParameterForgery::Raw(kind, length) => {
                Parameter::Unknown(RawParameter { kind, value: vec![0; length.into()].into() })
            }
        }
    }
}

/// The chunks in which nothing has to be known.
fn plain_chunk(forgery: &ChunkForgery) -> Chunk {
    match forgery {
        ChunkForgery::CookieAck => Chunk::CookieAck,
        &ChunkForgery::Heartbeat(length) => Chunk::Heartbeat(vec![1; length.into()].into()),
        &ChunkForgery::HeartbeatAck(length) => Chunk::HeartbeatAck(vec![0; length.unwrap_or(0).into()].into()),
        &ChunkForgery::Abort { reflected } => Chunk::Abort { reflected, causes: Vec::new() },
        ChunkForgery::ShutdownAck => Chunk::ShutdownAck,
        &ChunkForgery::ShutdownComplete { reflected } => Chunk::ShutdownComplete { reflected },
        &ChunkForgery::Error(code, length) => {
            Chunk::Error(vec![ErrorCause::Unknown { code, value: vec![0; length.into()].into() }])
        }
        ChunkForgery::Raw(kind, flags, value) => {
            Chunk::Unknown(RawChunk { kind: *kind, flags: *flags, value: value.clone().into() })
        }
        ChunkForgery::Data { .. }
        | ChunkForgery::Sack { .. }
        | ChunkForgery::ForwardTsn { .. }
        | ChunkForgery::Init { .. }
        | ChunkForgery::CookieEcho { .. }
        | ChunkForgery::Shutdown(_) => unreachable!("made of what is known"),
    }
}

fn blocks(blocks: &[(u16, u16)]) -> impl Iterator<Item = GapBlock> {
    blocks.iter().map(|&(start, end)| GapBlock { start, end })
}
