//! The handshake with TLS (RFC 9001, section 4): messages of the session as data of CRYPTO frames, and the keys that it
//! makes.

use subflow_wire::quic::{ConnectionId, PacketHeader, QuicDatagram, TransportParameters};

use super::error::TransportError;
use super::protection::{Protection, Retry};
use super::sent::SentFrame;
use super::space_id::SpaceId;
use super::tls::{NewKeys, Tag, Tls};
use super::{CONNECTION_ID_LENGTH, Connection};

impl Connection {
    /// Begins the handshake: a client has its first message to send.
    pub(super) fn begin_tls(&mut self, tls: &dyn Tls) {
        let mut parameters = Vec::new();
        self.own_parameters().emit(&mut parameters).expect("windows and times are within 62 bits");
        let initial = tls.initial_keys(&self.ids().original(), self.is_server);
        let (session, error) = match tls.begin(self.is_server, parameters) {
            Ok(session) => (Some(session), None),
            Err(alert) => (None, Some(TransportError::Alert(alert))),
        };
        self.protection = Some(Box::new(Protection::new(session, initial)));
        match error {
            Some(error) => self.fail(error),
            None => self.write_messages(),
        }
    }

    /// Passes the messages that have arrived in a packet number space to the session. `source` is that of the packet's
    /// header.
    ///
    /// # Errors
    ///
    /// The session refuses them, or they do not belong where they have arrived.
    pub(super) fn advance_tls(&mut self, id: SpaceId, source: ConnectionId) -> Result<(), TransportError> {
        let messages = self.space_mut(id).crypto.take_arrived();
        let Some(protection) = self.protection.as_deref_mut().filter(|_| !messages.is_empty()) else { return Ok(()) };
        let is_expected = id == protection.reads();
        let Some(session) = &mut protection.session else { return Ok(()) };
        if !is_expected {
            return Err(TransportError::UnexpectedMessage);
        }
        session.read(&messages).map_err(TransportError::Alert)?;
        let is_complete = session.is_complete();
        let parameters = session.peer_parameters().map(TransportParameters::parse);
        if let Some(parameters) = parameters.filter(|_| self.peer.initial_source_connection_id.is_none()) {
            self.learn_peer(parameters.map_err(|_| TransportError::TransportParameter)?, source)?;
        }
        self.write_messages();
        if is_complete {
            self.complete_tls()?;
        }
        Ok(())
    }

    /// Both ends have proved that they have the keys (section 4.1.1).
    fn complete_tls(&mut self) -> Result<(), TransportError> {
        if self.peer.initial_source_connection_id.is_none() {
            return Err(TransportError::TransportParameter);
        }
        if let Some(protection) = &mut self.protection {
            protection.session = None;
        }
        self.establish();
        if self.is_server {
            self.confirm_handshake();
            self.owes_handshake_done = true;
        }
        Ok(())
    }

    /// The server asks for the client's first messages again, with a token that proves the client's address (RFC 9000,
    /// section 17.2.5). Only the first of such packets counts, and none after another packet of the server.
    pub(super) fn on_retry(&mut self, packet: &[u8]) {
        let Some(tls) = self.config.tls.clone().filter(|_| !self.is_server) else { return };
        let parsed = QuicDatagram::parse(0, 0, packet, CONNECTION_ID_LENGTH).ok();
        let header = parsed.and_then(|(datagram, _)| Some(datagram.packets.into_iter().next()?.header));
        let Some(PacketHeader::Retry { destination, source, token, integrity_tag, .. }) = header else { return };
        let original = self.ids().original();
        let is_first = self.space(SpaceId::Initial).received.largest().is_none()
            && self.protection.as_ref().is_some_and(|protection| protection.retry.is_none());
        let is_valid = is_first && !token.is_empty() && source != original && self.ids().is_own(destination, false);
        let Some((head, _)) = packet.split_last_chunk::<{ size_of::<Tag>() }>().filter(|_| is_valid) else { return };
        let Some(protection) = self.protection.as_deref_mut() else { return };
        if tls.retry_tag(&original, head) != integrity_tag {
            return;
        }
        protection.restart(Retry { token, source }, tls.initial_keys(&source, false));
        self.paths[0].ids.redirect(source);
        let frames: Vec<SentFrame> = self.space(SpaceId::Initial).sent.outstanding_frames().collect();
        let in_flight = self.space_mut(SpaceId::Initial).sent.discard();
        self.paths[0].recovery.on_discarded(in_flight);
        self.send_again(SpaceId::Initial, &frames);
        self.timers_moved = true;
    }

    /// Sends what the session has to say, and takes the keys that it has made.
    fn write_messages(&mut self) {
        loop {
            let Some(protection) = self.protection.as_deref_mut() else { return };
            let Some(session) = &mut protection.session else { return };
            let (id, mut messages) = (protection.writes, Vec::new());
            let keys = session.write(&mut messages);
            if messages.is_empty() && keys.is_none() {
                return;
            }
            let opens_handshake = matches!(keys, Some(NewKeys::Handshake(_)));
            if let Some(keys) = keys {
                protection.take(keys);
            }
            // What comes after the handshake are tickets for others, which are not resumed here.
            if !id.is_data() {
                self.space_mut(id).crypto.write_messages(&messages);
            }
            if opens_handshake {
                self.space_mut(SpaceId::Handshake).open();
            }
        }
    }
}
