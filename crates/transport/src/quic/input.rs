//! Datagrams, packets and frames that arrive (RFC 9000, sections 5.2, 12 and 19).

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::quic::{
    CloseCause, ConnectionId, Direction, Frame, PacketHeader, QuicDatagram, QuicPacket, StreamFrame, VERSION_1,
};
use subflow_wire::{Ecn, IpHeader};

use super::error::TransportError;
use super::path::{LEAST_INITIAL, Path};
use super::phase::Phase;
use super::received::AckPolicy;
use super::space_id::SpaceId;
use super::{Connection, EndCause, MAIN_STREAM, StreamEvent, Taken};
use crate::tcp::{Closed, Ends};

/// A datagram that has arrived.
pub(super) struct Arrival {
    /// The place of the path of its packets.
    place: usize,
    /// The destination of its first packet.
    first: Option<ConnectionId>,
    /// Whether its path was kept from sending by the bytes that had arrived before.
    was_limited: bool,
    /// Whether it is too short for Initial packets.
    is_short: bool,
}

impl Arrival {
    pub(super) const fn place(&self) -> usize {
        self.place
    }

    /// Whether a packet of it is not processed: all have the same destination (section 12.2).
    #[inline]
    pub(super) fn ignores(&self, destination: ConnectionId, is_initial: bool) -> bool {
        self.first.is_some_and(|first| first != destination) || self.is_short && is_initial
    }
}

impl Connection {
    /// Processes a datagram of the null suite.
    pub(crate) fn handle_datagram(&mut self, now: Instant, ip: &IpHeader, datagram: &QuicDatagram) {
        self.taken.clear();
        match &self.phase {
            Phase::Over(_) => return,
            // What is not protected proves nothing.
            _ if self.protection.is_some() => return,
            Phase::Closing { .. } => return self.on_datagram_after_close(ip, datagram),
            Phase::Handshaking | Phase::Established(_) => {}
        }
        let first = datagram
            .packets
            .first()
            .map(|packet| (packet.header.destination(), matches!(packet.header, PacketHeader::OneRtt { .. })));
        let ports = (datagram.source_port, datagram.destination_port);
        let arrival = self.begin_datagram((ip, ports), first, || datagram.length(), now);
        for packet in &datagram.packets {
            if !self.phase.is_open() {
                return;
            }
            if arrival.ignores(packet.header.destination(), matches!(packet.header, PacketHeader::Initial { .. })) {
                continue;
            }
            if let Err(error) = self.on_packet(arrival.place, packet, ip.ecn, now) {
                return self.fail(error);
            }
        }
        self.end_datagram(&arrival, now);
    }

    /// A datagram of `length` bytes has arrived between `ports`, of the source and of the destination. `first` is the
    /// destination of its first packet, and whether that has a short header.
    #[inline]
    pub(super) fn begin_datagram(
        &mut self,
        (ip, ports): (&IpHeader, (u16, u16)),
        first: Option<(ConnectionId, bool)>,
        length: impl Fn() -> u32,
        now: Instant,
    ) -> Arrival {
        let place = self.place_of_datagram((ip, ports), first, now);
        let path = &mut self.paths[place];
        path.counters.datagrams_received += 1;
        let first = first.map(|(first, _)| first);
        let was_limited = path.amplification.is_limited();
        // Section 8.1: what certainly belongs to this connection, and comes from the address that is to be validated.
        if !path.amplification.is_validated
            && (ip.source, ports.0) == (path.ends.remote.ip(), path.ends.remote.port())
            && first.is_some_and(|first| path.ids.is_own(first, self.is_server))
        {
            path.amplification.received += u64::from(length());
        }
        // Section 14.1: a client's Initial packets are discarded if their datagram is short.
        let is_short = self.is_server && self.in_handshake() && length() < LEAST_INITIAL;
        Arrival { place, first, was_limited, is_short }
    }

    /// All packets of a datagram are processed.
    #[inline]
    pub(super) fn end_datagram(&mut self, arrival: &Arrival, now: Instant) {
        self.note_blocked_paths();
        self.report_progress();
        self.timers_moved |= arrival.was_limited && !self.paths[arrival.place].amplification.is_limited();
        if core::mem::take(&mut self.timers_moved) {
            self.on_moved_timers(now);
        }
    }

    /// The place of the path whose packets a datagram has, by the connection identifier: the initial path if it has none
    /// of this connection. The first packet of a further path opens it.
    fn place_of_datagram(
        &mut self,
        (ip, ports): (&IpHeader, (u16, u16)),
        first: Option<(ConnectionId, bool)>,
        now: Instant,
    ) -> usize {
        let Some((destination, true)) = first.filter(|_| self.multipath.is_some()) else { return 0 };
        let known = |path: &Path| !path.is_closed() && path.ids.is_own(destination, self.is_server);
        if let Some(place) = self.paths.iter().position(known) {
            return place;
        }
        let ends =
            Ends { local: SocketAddr::new(ip.destination, ports.1), remote: SocketAddr::new(ip.source, ports.0) };
        self.accept_path(destination, ends, now).unwrap_or(0)
    }

    pub(super) fn on_packet(
        &mut self,
        place: usize,
        packet: &QuicPacket,
        ecn: Ecn,
        now: Instant,
    ) -> Result<(), TransportError> {
        if let PacketHeader::VersionNegotiation { destination, versions, .. } = &packet.header {
            self.on_version_negotiation(*destination, versions);
            return Ok(());
        }
        let Some(id) = SpaceId::of(&packet.header, place) else { return Ok(()) };
        if !self.is_server && self.is_of_another_server(&packet.header) {
            return Ok(());
        }
        let Some(number) = packet.header.number() else { return Ok(()) };
        let space = self.space(id);
        let number = number.expand(space.received.largest());
        let is_processed = space.is_open()
            && !space.received.contains(number)
            && self.paths[place].ids.is_own(packet.header.destination(), self.is_server);
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
        if self.space(id).is_open() {
            let policy = self.ack_policy(id);
            let is_eliciting = packet.is_ack_eliciting();
            self.space_mut(id).received.insert(number, is_eliciting, ecn, policy, now);
        }
        self.advance_handshake(id, source_of(&packet.header))
    }

    /// Whether a client has to discard a packet: one from another source than the first one (section 7.2), or an Initial
    /// packet with a token (section 17.2.2).
    fn is_of_another_server(&self, header: &PacketHeader) -> bool {
        let (source, has_token) = match header {
            PacketHeader::Initial { source, token, .. } => (source, !token.is_empty()),
            PacketHeader::Handshake { source, .. } => (source, false),
            _ => return false,
        };
        has_token || self.ids().first_of_peer().is_some_and(|first| first != *source)
    }

    /// What the arrival of a packet proves, whatever it carries.
    fn on_valid_packet(&mut self, id: SpaceId, header: &PacketHeader) {
        let is_first = self.space(id).received.largest().is_none();
        match id {
            SpaceId::Initial if !self.is_server && is_first => self.paths[0].ids.learn_first(source_of(header)),
            SpaceId::Handshake if self.is_server && is_first => {
                // Only the client can have seen what this answers.
                self.paths[0].amplification.is_validated = true;
                self.discard_space(SpaceId::Initial);
            }
            _ => {}
        }
    }

    fn ack_policy(&self, id: SpaceId) -> AckPolicy {
        match id {
            SpaceId::Data(_) => {
                AckPolicy { threshold: self.config.ack_eliciting_threshold, max_delay: self.config.max_ack_delay }
            }
            // Section 13.2.1: packets of the handshake are acknowledged at once.
            SpaceId::Initial | SpaceId::Handshake => AckPolicy { threshold: 1, max_delay: self.config.max_ack_delay },
        }
    }

    /// A server does not support the client's version (section 6.2).
    fn on_version_negotiation(&mut self, destination: ConnectionId, versions: &[u32]) {
        let nothing_arrived = self.space(SpaceId::Initial).received.largest().is_none();
        let is_for_this = !self.is_server && self.ids().is_own(destination, false);
        if is_for_this && nothing_arrived && !self.phase.is_established() && !versions.contains(&VERSION_1) {
            self.note_cause(EndCause::Versions(versions.to_vec()));
            self.end(Closed::Refused);
        }
    }

    fn on_frame(&mut self, id: SpaceId, frame: &Frame, now: Instant) -> Result<(), TransportError> {
        match frame {
            Frame::Padding(_) | Frame::Ping => Ok(()),
            Frame::Ack(ack) => match (id.is_data(), ack.path) {
                (true, path) => self.on_path_ack(path, ack, now),
                (false, None) => self.on_ack(id, ack, now),
                (false, Some(_)) => Err(TransportError::ProtocolViolation),
            },
            // What comes after the handshake are tickets for others, which are not resumed here (section 7.5).
            Frame::Crypto(_) if id.is_data() && self.protection.is_some() => Ok(()),
            Frame::Crypto(crypto) => self.space_mut(id).crypto.accept(crypto),
            // Section 12.4, table 3: an application closes in 1-RTT packets only.
            Frame::ConnectionClose(close) if id.is_data() || matches!(close.cause, CloseCause::Transport { .. }) => {
                self.on_close(close);
                Ok(())
            }
            Frame::Invalid(_) => Err(TransportError::FrameEncoding),
            // Section 12.4, table 3: all others are those of 1-RTT packets.
            _ if !id.is_data() => Err(TransportError::ProtocolViolation),
            frame => self.on_data_frame(id.path(), frame, now),
        }
    }

    fn on_data_frame(&mut self, place: usize, frame: &Frame, now: Instant) -> Result<(), TransportError> {
        match frame {
            Frame::Stream(stream) => self.on_stream(place, stream)?,
            Frame::ResetStream { stream, error_code, final_size } => {
                let was_complete = self.received_on(*stream).is_none_or(|(_, is_complete)| is_complete);
                self.streams.on_reset(*stream, *final_size)?;
                if !was_complete {
                    self.note_stream_event(StreamEvent::Reset { stream: *stream, error_code: *error_code });
                }
            }
            Frame::StopSending { stream, error_code } => {
                if self.streams.on_stop_sending(*stream, *error_code)? {
                    self.note_stream_event(StreamEvent::Stopped { stream: *stream, error_code: *error_code });
                }
            }
            Frame::MaxData(maximum) => self.streams.allow(*maximum),
            Frame::MaxStreamData { stream, maximum } => self.streams.allow_on(*stream, *maximum)?,
            Frame::MaxStreams { direction: Direction::Bidirectional, maximum } => self.streams.allow_streams(*maximum),
            Frame::NewConnectionId(new) => match new.path {
                None => {
                    let ids = self.paths.iter_mut().find(|path| path.id == 0).map(|path| &mut path.ids);
                    ids.map_or(Ok(()), |ids| ids.on_new(new))?;
                }
                Some(path) => self.on_new_path_id(path, new)?,
            },
            Frame::RetireConnectionId { path: None, sequence } => {
                let limit = self.peer.active_connection_id_limit;
                let ids = self.paths.iter_mut().find(|path| path.id == 0).map(|path| &mut path.ids);
                ids.map_or(Ok(()), |ids| ids.on_retire(*sequence, limit, &mut self.random))?;
            }
            Frame::RetireConnectionId { path: Some(path), sequence } => self.on_retired_path_id(*path, *sequence)?,
            Frame::HandshakeDone if !self.is_server => self.confirm_handshake(),
            Frame::StreamDataBlocked { stream, .. } => self.streams.on_blocked(*stream)?,
            // Nothing to do: the peer only says what it would send.
            Frame::MaxStreams { .. } | Frame::DataBlocked(_) | Frame::StreamsBlocked { .. } => {}
            Frame::NewToken(_) if !self.is_server => {}
            frame => self.on_path_frame(place, frame, now)?,
        }
        Ok(())
    }

    fn on_stream(&mut self, place: usize, frame: &StreamFrame) -> Result<(), TransportError> {
        let stream = frame.stream;
        let was_complete =
            stream != MAIN_STREAM && self.received_on(stream).is_some_and(|(_, is_complete)| is_complete);
        let accepted = self.streams.accept(frame)?;
        if let Some(range) = accepted.taken {
            self.paths[place].counters.bytes_received += range.end - range.start;
            let place = frame.payload.stream_offset + (range.start - frame.offset);
            self.taken.push(Taken { stream, range, place });
        }
        if self.application.is_some() {
            self.on_arrival_for_application(stream, accepted.readable);
            return Ok(());
        }
        if stream != MAIN_STREAM {
            self.on_further_readable(stream, accepted.readable, was_complete);
            return Ok(());
        }
        // Only the main stream has an application that may wait.
        if accepted.readable > 0 {
            self.stream.on_received(accepted.readable);
        }
        self.streams.set_read(stream, self.stream.bytes_read());
        Ok(())
    }
}

/// The source of a long header.
fn source_of(header: &PacketHeader) -> ConnectionId {
    match header {
        PacketHeader::Initial { source, .. } | PacketHeader::Handshake { source, .. } => *source,
        _ => ConnectionId::EMPTY,
    }
}
