//! Forged QUIC datagrams.

use std::net::SocketAddr;

use subflow_wire::Payload;
use subflow_wire::quic::{
    AckFrame, AckRange, CloseCause, CloseFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, EcnCounts, Frame,
    NewConnectionIdFrame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, StreamFrame, StreamId, VERSION_1,
};

use super::Forger;
use crate::forgery::{FrameForgery, LimitForgery, QuicForgery, QuicPacketType};

/// Bytes of UDP payload of the largest forged datagram.
const LARGEST: u32 = 9000;

impl Forger<'_> {
    /// The datagram; `None` where it is too large.
    pub(super) fn quic(&self, forgery: &QuicForgery, from: SocketAddr, to: SocketAddr) -> Option<QuicDatagram> {
        let flow = self.wiretap.flow(self.flow);
        let said = &flow.quic[1 - self.to];
        // Whom the attacker does not see has identifiers that it cannot guess.
        let destination = if self.blind { stranger(self.number) } else { said.destination };
        let source = if self.blind { stranger(0) } else { said.source };
        let space = forgery.packet as usize;
        let next = said.next.get(space).copied().unwrap_or(0);
        let number = self.growing(forgery.number, self.stride.sequence).wrapping_add(next as i64) as u64 & 0x3fff_ffff;
        let number = PacketNumber::encode(number, number.checked_sub(1));
        let (version, token) = (VERSION_1, vec![0xab; forgery.token.into()].into_boxed_slice());
        let header = match forgery.packet {
            QuicPacketType::Initial => PacketHeader::Initial { version, destination, source, token, number },
            QuicPacketType::Handshake => PacketHeader::Handshake { version, destination, source, number },
            QuicPacketType::OneRtt => {
                PacketHeader::OneRtt { destination, spin: false, key_phase: forgery.token % 2 == 1, number }
            }
            QuicPacketType::ZeroRtt => PacketHeader::ZeroRtt { version, destination, source, number },
            QuicPacketType::Retry => {
                PacketHeader::Retry { version, destination, source, token, integrity_tag: [0; 16] }
            }
            QuicPacketType::VersionNegotiation => {
                let versions = vec![0x0a0a_0a0a + u32::from(forgery.token)];
                PacketHeader::VersionNegotiation { destination, source, versions }
            }
        };
        let frames = match header.number() {
            Some(_) => forgery.frames.iter().map(|frame| self.frame(frame)).collect(),
            None => Vec::new(),
        };
        let mut packet = QuicPacket { header, frames };
        let missing = u32::from(forgery.length).saturating_sub(packet.length());
        if missing > 0 && packet.header.number().is_some() {
            packet.frames.insert(0, Frame::Padding(missing));
        }
        let (source_port, destination_port) = (from.port(), to.port());
        let is_small = packet.length() <= LARGEST;
        is_small.then(|| QuicDatagram { source_port, destination_port, packets: vec![packet] })
    }

    fn frame(&self, forgery: &FrameForgery) -> Frame {
        let flow = self.wiretap.flow(self.flow);
        let (ours, theirs) = (&flow.quic[1 - self.to], &flow.quic[self.to]);
        let near = |base: u64, by: i64| base.wrapping_add(by as u64) & MOST;
        match *forgery {
            FrameForgery::Padding(length) => Frame::Padding(u32::from(length).max(1)),
            FrameForgery::Ping => Frame::Ping,
            FrameForgery::Ack { path, largest, first, gap, ecn } => {
                let ranges = if gap > 0 { vec![AckRange { gap, length: first }] } else { Vec::new() };
                let largest = near(theirs.next[2], largest.wrapping_sub(1));
                let ecn = ecn.map(|ce| EcnCounts { ect0: 1, ect1: 0, ce });
                Frame::Ack(AckFrame {
                    path,
                    largest,
                    delay: first & 0xffff,
                    first_range: first,
                    ranges: ranges.into(),
                    ecn,
                })
            }
            FrameForgery::Stream { stream, offset, length, fin } => {
                let offset = near(ours.stream_end, self.growing(offset, self.stride.data));
                let payload = Payload { length: length.into(), ..Payload::default() };
                let stream = StreamId(stream.wrapping_add(4 * u64::from(self.identifier(0))));
                Frame::Stream(StreamFrame { stream, offset, fin, has_length: true, payload })
            }
            FrameForgery::Crypto { offset, length, kind } => {
                let mut data = vec![0; length.into()];
                if let Some(first) = data.first_mut() {
                    *first = kind;
                }
                Frame::Crypto(CryptoFrame { offset, data: data.into() })
            }
            FrameForgery::Reset { stream, size } => {
                let final_size = near(ours.stream_end, size);
                Frame::ResetStream { stream: StreamId(stream), error_code: 1, final_size }
            }
            FrameForgery::Stop { stream } => Frame::StopSending { stream: StreamId(stream), error_code: 1 },
            FrameForgery::Limit { kind, stream, value } => limit(kind, StreamId(stream), value),
            FrameForgery::NewId { path, sequence, retire, length } => {
                let sequence = sequence.wrapping_add(self.identifier(0).into());
                let connection_id = ConnectionId::new(&[0x5e ^ sequence as u8; 20][..usize::from(length % 21)]);
                Frame::NewConnectionId(Box::new(NewConnectionIdFrame {
                    path,
                    sequence,
                    retire_prior_to: retire.min(sequence),
                    connection_id: connection_id.unwrap_or_default(),
                    stateless_reset_token: [0; 16],
                }))
            }
            FrameForgery::RetireId { path, sequence } => Frame::RetireConnectionId { path, sequence },
            FrameForgery::Challenge(byte) => Frame::PathChallenge([byte; 8]),
            FrameForgery::Response { right } => Frame::PathResponse(if right { theirs.challenge } else { [0; 8] }),
            FrameForgery::Close { application, error_code } => {
                let cause = match application {
                    true => CloseCause::Application { error_code },
                    false => CloseCause::Transport { error_code, frame_type: 0 },
                };
                Frame::ConnectionClose(Box::new(CloseFrame { cause, reason: Box::default() }))
            }
            FrameForgery::HandshakeDone => Frame::HandshakeDone,
            FrameForgery::Token(length) => Frame::NewToken(vec![1; length.into()].into()),
            FrameForgery::Datagram(length) => {
                let payload = Payload { length: length.into(), ..Payload::default() };
                Frame::Datagram(DatagramFrame { has_length: true, payload })
            }
            FrameForgery::Abandon { path, error_code } => Frame::PathAbandon { path, error_code },
            FrameForgery::Status { path, sequence, available } => Frame::PathStatus { path, sequence, available },
            FrameForgery::Raw(ref bytes) => Frame::Invalid(bytes.as_slice().into()),
        }
    }
}

/// The largest value of a field.
const MOST: u64 = (1 << 62) - 1;

/// An identifier that no host has issued.
fn stranger(number: u32) -> ConnectionId {
    let bytes = (u64::from(number) | 0xdead_beef << 32).to_be_bytes();
    ConnectionId::new(&bytes).unwrap_or_default()
}

fn limit(kind: LimitForgery, stream: StreamId, value: u64) -> Frame {
    let (both, one) = (Direction::Bidirectional, Direction::Unidirectional);
    // More streams than 2^60 cannot be written.
    let streams = value.min(1 << 60);
    match kind {
        LimitForgery::Data => Frame::MaxData(value),
        LimitForgery::StreamData => Frame::MaxStreamData { stream, maximum: value },
        LimitForgery::Streams => Frame::MaxStreams { direction: both, maximum: streams },
        LimitForgery::StreamsOneWay => Frame::MaxStreams { direction: one, maximum: streams },
        LimitForgery::DataBlocked => Frame::DataBlocked(value),
        LimitForgery::StreamDataBlocked => Frame::StreamDataBlocked { stream, limit: value },
        LimitForgery::StreamsBlocked => Frame::StreamsBlocked { direction: both, limit: streams },
        LimitForgery::Paths => Frame::MaxPathId(value),
        LimitForgery::PathsBlocked => Frame::PathsBlocked(value),
        LimitForgery::PathIdsBlocked => Frame::PathCidsBlocked { path: stream.0, next_sequence: value },
    }
}
