//! Datagrams, packets and frames that arrive (RFC 9000, sections 5.2, 12 and 19).

use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, Direction, Frame, PacketHeader, QuicDatagram, QuicPacket, VERSION_1};
use subflow_wire::{Ecn, IpHeader};

use super::error::TransportError;
use super::phase::Phase;
use super::received::AckPolicy;
use super::space::SpaceId;
use super::{Connection, MAIN_STREAM};
use crate::tcp::Closed;

/// Challenges that wait for their answer.
const MOST_RESPONSES: usize = 8;

impl Connection {
    /// Processes a datagram.
    pub(crate) fn handle_datagram(&mut self, now: Instant, ip: &IpHeader, datagram: &QuicDatagram) {
        self.taken.clear();
        match &mut self.phase {
            Phase::Over(_) => return,
            // Section 10.2.1: what still arrives is answered once more.
            Phase::Closing { is_due, .. } => {
                let is_close = |frame: &Frame| matches!(frame, Frame::ConnectionClose(_));
                *is_due |= !datagram.packets.iter().any(|packet| packet.frames.iter().any(is_close));
                return;
            }
            Phase::Handshaking | Phase::Established(_) => {}
        }
        self.counters.datagrams_received += 1;
        self.amplification.received += u64::from(datagram.length());
        for packet in &datagram.packets {
            if !self.phase.is_open() {
                return;
            }
            if let Err(error) = self.on_packet(packet, ip.ecn, now) {
                return self.fail(error);
            }
        }
        self.report_progress();
    }

    fn on_packet(&mut self, packet: &QuicPacket, ecn: Ecn, now: Instant) -> Result<(), TransportError> {
        if let PacketHeader::VersionNegotiation { destination, versions, .. } = &packet.header {
            self.on_version_negotiation(*destination, versions);
            return Ok(());
        }
        let Some(id) = SpaceId::of(&packet.header) else { return Ok(()) };
        let Some(number) = packet.header.number() else { return Ok(()) };
        let space = &self.spaces[id as usize];
        let number = number.expand(space.received.largest());
        let is_processed = space.is_open()
            && !space.received.contains(number)
            && self.ids.is_own(packet.header.destination(), self.is_server);
        if !is_processed {
            return Ok(());
        }
        if packet.frames.is_empty() {
            return Err(TransportError::ProtocolViolation);
        }
        self.on_valid_packet(id, &packet.header);
        self.idle.on_received(now);
        for frame in &packet.frames {
            self.on_frame(id, frame, now)?;
            if !self.phase.is_open() {
                return Ok(());
            }
        }
        if self.spaces[id as usize].is_open() {
            let policy = self.ack_policy(id);
            let is_eliciting = packet.is_ack_eliciting();
            self.spaces[id as usize].received.insert(number, is_eliciting, ecn, policy, now);
        }
        self.advance_handshake(id, source_of(&packet.header))
    }

    /// What the arrival of a packet proves, whatever it carries.
    fn on_valid_packet(&mut self, id: SpaceId, header: &PacketHeader) {
        let is_first = self.spaces[id as usize].received.largest().is_none();
        match id {
            SpaceId::Initial if !self.is_server && is_first => self.ids.learn_first(source_of(header)),
            SpaceId::Handshake if self.is_server && is_first => {
                // Only the client can have seen what this answers.
                self.amplification.is_validated = true;
                self.discard_space(SpaceId::Initial);
            }
            _ => {}
        }
    }

    fn ack_policy(&self, id: SpaceId) -> AckPolicy {
        match id {
            SpaceId::Data => {
                AckPolicy { threshold: self.config.ack_eliciting_threshold, max_delay: self.config.max_ack_delay }
            }
            // Section 13.2.1: packets of the handshake are acknowledged at once.
            SpaceId::Initial | SpaceId::Handshake => AckPolicy { threshold: 1, max_delay: self.config.max_ack_delay },
        }
    }

    /// A server does not support the client's version (section 6.2).
    fn on_version_negotiation(&mut self, destination: ConnectionId, versions: &[u32]) {
        let nothing_arrived = self.spaces[SpaceId::Initial as usize].received.largest().is_none();
        let is_for_this = !self.is_server && self.ids.is_own(destination, false);
        if is_for_this && nothing_arrived && !self.phase.is_established() && !versions.contains(&VERSION_1) {
            self.end(Closed::Refused);
        }
    }

    fn on_frame(&mut self, id: SpaceId, frame: &Frame, now: Instant) -> Result<(), TransportError> {
        match frame {
            Frame::Padding(_) | Frame::Ping => Ok(()),
            Frame::Ack(ack) if ack.path.is_none() => self.on_ack(id, ack, now),
            Frame::Crypto(crypto) => self.spaces[id as usize].crypto.accept(crypto),
            Frame::ConnectionClose(close) => {
                self.on_close(close);
                Ok(())
            }
            Frame::Invalid(_) => Err(TransportError::FrameEncoding),
            // Section 12.4, table 3: all others are those of 1-RTT packets.
            _ if id != SpaceId::Data => Err(TransportError::ProtocolViolation),
            frame => self.on_data_frame(frame),
        }
    }

    fn on_data_frame(&mut self, frame: &Frame) -> Result<(), TransportError> {
        match frame {
            Frame::Stream(stream) => {
                let accepted = self.streams.accept(stream)?;
                if let Some(taken) = accepted.taken {
                    self.counters.bytes_received += taken.end - taken.start;
                    self.taken.push((stream.stream, taken));
                }
                self.on_readable(stream.stream, accepted.readable);
            }
            Frame::ResetStream { stream, final_size, .. } => self.streams.on_reset(*stream, *final_size)?,
            Frame::StopSending { stream, error_code } => self.streams.on_stop_sending(*stream, *error_code)?,
            Frame::MaxData(maximum) => self.streams.allow(*maximum),
            Frame::MaxStreamData { stream, maximum } => self.streams.allow_on(*stream, *maximum)?,
            Frame::MaxStreams { direction: Direction::Bidirectional, maximum } => self.streams.allow_streams(*maximum),
            Frame::NewConnectionId(new) if new.path.is_none() => self.ids.on_new(new)?,
            Frame::RetireConnectionId { path: None, sequence } => {
                let limit = self.peer.active_connection_id_limit;
                self.ids.on_retire(*sequence, limit, &mut self.random)?;
            }
            Frame::PathChallenge(data) => {
                if self.path_responses.len() < MOST_RESPONSES {
                    self.path_responses.push_back(*data);
                }
            }
            Frame::HandshakeDone if !self.is_server => self.confirm_handshake(),
            // Nothing to do: the peer only says what it would send.
            Frame::MaxStreams { .. }
            | Frame::DataBlocked(_)
            | Frame::StreamDataBlocked { .. }
            | Frame::StreamsBlocked { .. } => {}
            Frame::NewToken(_) if !self.is_server => {}
            // Frames of the other end, of extensions that were not negotiated, and answers to what was not asked.
            _ => return Err(TransportError::ProtocolViolation),
        }
        Ok(())
    }

    /// `bytes` more bytes of a stream can be read. Only the main stream has an application that may wait.
    fn on_readable(&mut self, stream: subflow_wire::quic::StreamId, bytes: u64) {
        if stream == MAIN_STREAM {
            if bytes > 0 {
                self.stream.on_received(bytes);
            }
            self.streams.set_read(stream, self.stream.bytes_read());
        } else {
            self.streams.set_read(stream, u64::MAX);
        }
    }
}

/// The source of a long header.
fn source_of(header: &PacketHeader) -> ConnectionId {
    match header {
        PacketHeader::Initial { source, .. } | PacketHeader::Handshake { source, .. } => *source,
        _ => ConnectionId::EMPTY,
    }
}
