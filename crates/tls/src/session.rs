//! Handshakes of rustls as those of the stack (RFC 9001, section 4).

use core::fmt;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::quic::{self, ClientConnection, KeyChange, ServerConnection, Suite, Version};
use rustls::{AlertDescription, ClientConfig, ServerConfig, Side};
use subflow_transport::quic::tls::{Keys, NewKeys, Session, Tag, Tls};
use subflow_wire::quic::ConnectionId;

use crate::keys::{keys_of, retry_tag, updates_of};

/// What begins handshakes of clients.
pub(crate) struct Client {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    pub(crate) initial: Suite,
}

/// What begins those of servers.
pub(crate) struct Server {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) initial: Suite,
}

#[derive(Debug)]
struct Handshake(quic::Connection);

impl Client {
    pub(crate) fn session(&self, parameters: Vec<u8>) -> Result<Box<dyn Session>, rustls::Error> {
        let connection = ClientConnection::new(self.config.clone(), Version::V1, self.name.clone(), parameters)?;
        Ok(Box::new(Handshake(connection.into())))
    }
}

impl Server {
    pub(crate) fn session(&self, parameters: Vec<u8>) -> Result<Box<dyn Session>, rustls::Error> {
        let connection = ServerConnection::new(self.config.clone(), Version::V1, parameters)?;
        Ok(Box::new(Handshake(connection.into())))
    }
}

impl Tls for Client {
    fn initial_keys(&self, destination: &ConnectionId, is_server: bool) -> Keys {
        initial_keys(&self.initial, destination, is_server)
    }

    fn retry_tag(&self, original: &ConnectionId, packet: &[u8]) -> Tag {
        retry_tag(original, packet)
    }

    fn begin(&self, is_server: bool, parameters: Vec<u8>) -> Result<Box<dyn Session>, u8> {
        let session = if is_server { None } else { self.session(parameters).ok() };
        session.ok_or_else(|| u8::from(AlertDescription::InternalError))
    }
}

impl Tls for Server {
    fn initial_keys(&self, destination: &ConnectionId, is_server: bool) -> Keys {
        initial_keys(&self.initial, destination, is_server)
    }

    fn retry_tag(&self, original: &ConnectionId, packet: &[u8]) -> Tag {
        retry_tag(original, packet)
    }

    fn begin(&self, is_server: bool, parameters: Vec<u8>) -> Result<Box<dyn Session>, u8> {
        let session = if is_server { self.session(parameters).ok() } else { None };
        session.ok_or_else(|| u8::from(AlertDescription::InternalError))
    }
}

impl Session for Handshake {
    fn read(&mut self, messages: &[u8]) -> Result<(), u8> {
        let result = self.0.read_hs(messages);
        result.map_err(|_| self.0.alert().unwrap_or(AlertDescription::InternalError).into())
    }

    fn write(&mut self, messages: &mut Vec<u8>) -> Option<NewKeys> {
        Some(match self.0.write_hs(messages)? {
            KeyChange::Handshake { keys } => NewKeys::Handshake(keys_of(keys)),
            KeyChange::OneRtt { keys, next } => NewKeys::OneRtt(keys_of(keys), updates_of(next)),
        })
    }

    fn peer_parameters(&self) -> Option<&[u8]> {
        self.0.quic_transport_parameters()
    }

    fn is_complete(&self) -> bool {
        !self.0.is_handshaking()
    }
}

fn initial_keys(suite: &Suite, destination: &ConnectionId, is_server: bool) -> Keys {
    let side = if is_server { Side::Server } else { Side::Client };
    keys_of(suite.keys(destination.as_bytes(), side, Version::V1))
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Server").finish_non_exhaustive()
    }
}
