//! The handshake (RFC 9000, section 7; RFC 9001, section 4), with messages of TLS 1.3 that contain transport parameters
//! and are zero otherwise.

use subflow_wire::quic::{ConnectionId, PacketHeader, QuicDatagram, TransportParameters, VERSION_1};

use super::crypto_stream::Message;
use super::error::TransportError;
use super::path::LEAST_INITIAL;
use super::phase::{Phase, Progress};
use super::space_id::SpaceId;
use super::{CONNECTION_ID_LENGTH, Connection};
use crate::Event;

/// Types of messages (RFC 8446, section 4).
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const FINISHED: u8 = 20;

/// The destination and the source of a client's first packet, if a datagram is one that a server answers (sections 7.2
/// and 14.1).
pub(crate) fn may_open(datagram: &QuicDatagram) -> Option<(ConnectionId, ConnectionId)> {
    match datagram.packets.first()?.header {
        PacketHeader::Initial { version: VERSION_1, destination, source, .. }
            if destination.length() as usize >= CONNECTION_ID_LENGTH && datagram.length() >= LEAST_INITIAL =>
        {
            Some((destination, source))
        }
        _ => None,
    }
}

/// The body of a message with transport parameters, behind their length.
fn body_with(parameters: &TransportParameters) -> Vec<u8> {
    let mut body = vec![0; 2];
    parameters.emit(&mut body).expect("windows and times are within 62 bits");
    let length = body.len() as u16 - 2;
    body[..2].copy_from_slice(&length.to_be_bytes());
    body
}

/// The transport parameters in such a body.
fn parameters_in(body: &[u8]) -> Result<TransportParameters, TransportError> {
    let malformed = TransportError::TransportParameter;
    let (length, rest) = body.split_first_chunk().ok_or(malformed)?;
    let parameters = rest.get(..usize::from(u16::from_be_bytes(*length))).ok_or(malformed)?;
    TransportParameters::parse(parameters).map_err(|_| malformed)
}

impl Connection {
    /// What this end says about itself.
    pub(super) fn own_parameters(&self) -> TransportParameters {
        let (original, own) = (self.ids().original(), self.ids().source());
        let stateless_reset_token = if self.is_server { self.ids().reset_token(&own) } else { None };
        TransportParameters {
            original_destination_connection_id: Some(self.before_retry.unwrap_or(original)).filter(|_| self.is_server),
            retry_source_connection_id: self.before_retry.map(|_| original),
            stateless_reset_token,
            initial_source_connection_id: Some(own),
            ..self.config.transport_parameters()
        }
    }

    /// The handshake begins: with the client's first message, or before it has arrived.
    pub(super) fn begin_handshake(&mut self) {
        if let Some(tls) = self.config.tls.clone() {
            return self.begin_tls(&*tls);
        }
        if !self.is_server {
            let (body, length) = (body_with(&self.own_parameters()), self.config.handshake.client_hello);
            self.space_mut(SpaceId::Initial).crypto.write(CLIENT_HELLO, &body, length);
        }
    }

    /// Processes the messages that have arrived in a packet number space. `source` is that of the packet's header.
    pub(super) fn advance_handshake(&mut self, id: SpaceId, source: ConnectionId) -> Result<(), TransportError> {
        if self.protection.is_some() {
            return self.advance_tls(id, source);
        }
        while let Some(message) = self.space_mut(id).crypto.next_message() {
            self.on_message(id, &message, source)?;
        }
        Ok(())
    }

    fn on_message(&mut self, id: SpaceId, message: &Message, source: ConnectionId) -> Result<(), TransportError> {
        let is_first = !self.space(SpaceId::Handshake).is_open();
        match (self.is_server, id, message.kind) {
            (true, SpaceId::Initial, CLIENT_HELLO) if is_first => {
                self.learn_peer(parameters_in(&message.body)?, source)?;
                self.answer_hello();
            }
            (false, SpaceId::Initial, SERVER_HELLO) if is_first => self.space_mut(SpaceId::Handshake).open(),
            (false, SpaceId::Handshake, ENCRYPTED_EXTENSIONS) => {
                self.learn_peer(parameters_in(&message.body)?, source)?;
            }
            (false, SpaceId::Handshake, FINISHED) if self.peer.initial_source_connection_id.is_some() => {
                let length = self.config.handshake.finished;
                self.space_mut(SpaceId::Handshake).crypto.write(FINISHED, &[], length);
                self.establish();
            }
            (true, SpaceId::Handshake, FINISHED) => {
                self.establish();
                self.confirm_handshake();
                self.owes_handshake_done = true;
            }
            _ => return Err(TransportError::UnexpectedMessage),
        }
        Ok(())
    }

    /// The server's messages.
    fn answer_hello(&mut self) {
        let (lengths, parameters) = (self.config.handshake, self.own_parameters());
        self.space_mut(SpaceId::Initial).crypto.write(SERVER_HELLO, &[], lengths.server_hello);
        let handshake = self.space_mut(SpaceId::Handshake);
        handshake.open();
        handshake.crypto.write(ENCRYPTED_EXTENSIONS, &body_with(&parameters), lengths.certificate);
        handshake.crypto.write(FINISHED, &[], lengths.finished);
    }

    /// The peer says what it supports. Its connection identifiers have to be those of its packets (section 7.3).
    pub(super) fn learn_peer(&mut self, peer: TransportParameters, source: ConnectionId) -> Result<(), TransportError> {
        let original = if self.is_server { None } else { Some(self.ids().original()) };
        let is_of_server = peer.original_destination_connection_id.is_some()
            || peer.stateless_reset_token.is_some()
            || peer.preferred_address.is_some();
        let retry = self.protection.as_ref().and_then(|protection| protection.retry.as_ref());
        let is_authentic = peer.initial_source_connection_id == Some(source)
            && peer.original_destination_connection_id == original
            && peer.retry_source_connection_id == retry.map(|retry| retry.source);
        if !is_authentic || self.is_server && is_of_server {
            return Err(TransportError::TransportParameter);
        }
        // Draft, section 2.1: who has several paths has identifiers.
        if self.multipath.is_some() && peer.initial_max_path_id.is_some() && source.is_empty() {
            return Err(TransportError::ProtocolViolation);
        }
        self.idle.negotiate(self.config.idle_timeout, peer.max_idle_timeout);
        self.streams.learn_limits(&peer);
        if let Some(token) = peer.stateless_reset_token {
            self.paths[0].ids.learn_reset(token);
        }
        self.peer = peer;
        self.negotiate_multipath();
        Ok(())
    }

    /// The handshake is complete: data can be transferred.
    pub(super) fn establish(&mut self) {
        self.phase = Phase::Established(Progress::default());
        let path = &mut self.paths[0];
        path.space.open();
        path.ids.issue(self.peer.active_connection_id_limit, &mut self.random);
        path.recovery.establish(&mut self.congestion, self.config.pacing, self.idle.last_activity());
        self.stream.emit(Event::Established);
        self.begin_multipath();
    }

    /// The handshake is confirmed: no packet of it is needed any more.
    pub(super) fn confirm_handshake(&mut self) {
        if self.phase.confirm() {
            self.discard_space(SpaceId::Handshake);
            self.begin_path_manager();
            self.report_progress();
        }
    }

    /// Discards the keys of a packet number space: its packets are neither processed nor sent any more.
    pub(super) fn discard_space(&mut self, id: SpaceId) {
        self.timers_moved = true;
        let in_flight = self.space_mut(id).discard();
        self.paths[id.path()].recovery.on_discarded(in_flight);
    }
}
