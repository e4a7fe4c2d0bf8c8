//! A host with one connection, whatever its stack.

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::Ecn;

use crate::application::Application;

/// Bytes after which a host forgets the connection, if it does: in the middle of a transfer of many.
pub(crate) const FORGOTTEN_AFTER: u64 = 20_000;

/// A UDP datagram.
#[derive(Clone, Debug)]
pub(crate) struct Datagram {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

/// What a host is made for.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub(crate) is_server: bool,
    /// Its addresses, and those of its peer, path by path.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) peer: Vec<SocketAddr>,
    pub(crate) seed: u64,
    /// Bytes received after which it updates its keys.
    pub(crate) updates_keys_after: Option<u64>,
    /// Whether it forgets the connection in the middle of a transfer, as after a crash.
    pub(crate) forgets: bool,
    /// Whether it asks a client for a token first, if its stack can.
    pub(crate) retries: bool,
    /// Whether it closes the connection once all is done, if its stack leaves that to the application.
    pub(crate) closes: bool,
}

/// How a connection ended at one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// One end has closed it after its work.
    InOrder,
    /// Nothing has arrived for the idle timeout.
    TimedOut,
    /// The other end does not know the connection any more.
    Reset,
    /// Otherwise.
    Failed(String),
}

impl End {
    /// The host knows nothing of the connection any more.
    pub(crate) fn forgotten() -> Self {
        Self::Failed("it has forgotten the connection".into())
    }
}

/// A host. It is drained after each call: [`send`](Self::send) until `None`.
pub(crate) trait Node {
    fn receive(&mut self, now: Instant, datagram: Datagram) -> Result<(), String>;

    fn send(&mut self, now: Instant) -> Result<Option<Datagram>, String>;

    /// When [`wake`](Self::wake) is to be called.
    fn wake_at(&mut self) -> Option<Instant>;

    fn wake(&mut self, now: Instant) -> Result<(), String>;

    fn application(&self) -> &Application;

    /// How the connection ended, once it has.
    fn ended(&self) -> Option<End>;

    /// How often it has updated keys itself.
    fn key_updates(&self) -> u64;

    /// How often it has asked a client for a token.
    fn retried(&self) -> u64 {
        0
    }
}
