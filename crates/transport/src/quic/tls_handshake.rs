//! The handshake with TLS (RFC 9001, section 4): messages of the session as data of CRYPTO frames, and the keys that it
//! makes.

use subflow_wire::quic::{ConnectionId, TransportParameters};

use super::Connection;
use super::error::TransportError;
use super::protection::Protection;
use super::space_id::SpaceId;
use super::tls::{NewKeys, Tls};

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
