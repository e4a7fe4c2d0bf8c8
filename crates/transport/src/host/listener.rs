//! What a host listens and connects with: a protocol and its options.

use std::net::SocketAddr;
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::tcp::TcpSegment;
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};

use super::demux::Protocol;
use super::{ConnectError, EndpointId, Host};
use crate::mptcp::keys::Key;
use crate::tcp::{self, Ends, TcpEndpoint, TcpOptions};
use crate::{Endpoint, mptcp, quic, sctp};

/// The protocol that accepts connections on a port.
#[derive(Clone, Debug)]
pub enum Listener {
    /// Plain TCP: MPTCP options are ignored, and the peer falls back.
    Tcp(TcpOptions),
    /// SCTP.
    Sctp(Arc<sctp::Config>),
    /// MPTCP; connections of a peer that does not support it use plain TCP.
    Mptcp(Arc<mptcp::Config>),
    /// QUIC.
    Quic(Arc<quic::Config>),
}

impl Listener {
    fn protocol(&self) -> Protocol {
        match self {
            Self::Tcp(_) | Self::Mptcp(_) => PROTOCOL_TCP,
            Self::Sctp(_) => PROTOCOL_SCTP,
            Self::Quic(_) => PROTOCOL_UDP,
        }
    }

    /// The TCP configuration of the listener, if it has one.
    fn tcp(&self) -> Option<&tcp::Config> {
        match self {
            Self::Tcp(options) => Some(&options.config),
            Self::Mptcp(config) => Some(&config.tcp),
            Self::Sctp(_) | Self::Quic(_) => None,
        }
    }

    fn quic(&self) -> Option<&Arc<quic::Config>> {
        if let Self::Quic(config) = self { Some(config) } else { None }
    }

    fn sctp(&self) -> Option<&Arc<sctp::Config>> {
        if let Self::Sctp(config) = self { Some(config) } else { None }
    }
}

impl From<TcpOptions> for Listener {
    fn from(options: TcpOptions) -> Self {
        Self::Tcp(options)
    }
}

impl From<Arc<mptcp::Config>> for Listener {
    fn from(config: Arc<mptcp::Config>) -> Self {
        Self::Mptcp(config)
    }
}

impl From<Arc<quic::Config>> for Listener {
    fn from(config: Arc<quic::Config>) -> Self {
        Self::Quic(config)
    }
}

impl From<Arc<sctp::Config>> for Listener {
    fn from(config: Arc<sctp::Config>) -> Self {
        Self::Sctp(config)
    }
}

/// Numbers of a connection that answers a SYN, as far as they are predetermined. The others are random.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PresetNumbers {
    /// This side's initial sequence number.
    pub(super) initial: Option<u32>,
    /// This side's key, for MPTCP.
    pub(super) key: Option<Key>,
}

impl Host {
    /// Accepts connections on `port` from now on. The ports of SCTP, TCP and UDP are independent.
    pub fn listen(&mut self, port: u16, listener: Listener) {
        self.listeners.insert((listener.protocol(), port), listener);
    }

    /// Accepts no further connections on `port`, of any protocol: SYNs get a reset, INITs an ABORT. Connections that were
    /// accepted stay, half-open ones too, and MPTCP connections still take joins on the port.
    pub fn stop_listening(&mut self, port: u16) {
        self.listeners.retain(|&(_, of), _| of != port);
    }

    /// The TCP configuration of the listener on `port`.
    pub(super) fn listening_tcp(&self, port: u16) -> Option<&tcp::Config> {
        self.listeners.get(&(PROTOCOL_TCP, port))?.tcp()
    }

    /// The SCTP configuration of the listener on `port`.
    pub(super) fn listening_sctp(&self, port: u16) -> Option<&Arc<sctp::Config>> {
        self.listeners.get(&(PROTOCOL_SCTP, port))?.sctp()
    }

    /// The QUIC configuration of the listener on `port`.
    pub(super) fn listening_quic(&self, port: u16) -> Option<&Arc<quic::Config>> {
        self.listeners.get(&(PROTOCOL_UDP, port))?.quic()
    }

    /// Opens a connection from `local` to `remote` with the protocol and the options of a listener. Ports of 0, and
    /// errors, are those of [`connect_tcp`](Self::connect_tcp).
    ///
    /// # Errors
    ///
    /// The port is in use, or none is free.
    pub fn connect(
        &mut self,
        stack: &Listener,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        match stack {
            Listener::Tcp(options) => self.connect_tcp(options, local, remote, now),
            Listener::Mptcp(config) => self.connect_mptcp(config.clone(), local, remote, now),
            Listener::Sctp(config) => self.connect_sctp(config.clone(), local, remote, now),
            Listener::Quic(config) => self.connect_quic(config.clone(), local, remote, now),
        }
    }

    /// Creates the endpoint that answers `syn` with the configuration of the listener.
    pub(super) fn answering_endpoint(
        &mut self,
        ends: Ends,
        syn: &TcpSegment,
        preset: PresetNumbers,
        now: Instant,
    ) -> Option<Endpoint> {
        match self.listeners.get(&(PROTOCOL_TCP, ends.local.port()))?.clone() {
            Listener::Tcp(options) => {
                let initial = preset.initial.unwrap_or_else(|| self.random.initial_sequence(ends, now));
                Some(TcpEndpoint::accept(&options, ends, initial, syn, now).into())
            }
            Listener::Mptcp(config) => {
                let key = preset.key.unwrap_or_else(|| self.tokens.fresh_key(&mut self.random));
                let mut random = self.random.fork();
                let initial = preset.initial.unwrap_or_else(|| random.initial_sequence(ends, now));
                let identity = mptcp::Identity { key, initial };
                let connection = mptcp::Connection::accept(config, ends, &self.addresses, syn, identity, random, now);
                Some(connection.into())
            }
            Listener::Sctp(_) | Listener::Quic(_) => None,
        }
    }
}
