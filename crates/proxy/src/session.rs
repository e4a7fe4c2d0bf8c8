//! One client: its request, the connection to the destination, and the bytes between them.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use rustix::net::sockopt;
use subflow_tokio::{MptcpStream, Stack};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;

use crate::clients::Asked;
use crate::destination::{interleaved, without_own};
use crate::request;
use crate::socks::Destination;

/// Bytes that are copied at once, in each direction.
const COPY: usize = 64 << 10;
/// Time for name resolution and connecting together.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Time without a packet of a client after which it is asked for one (`TCP_KEEPIDLE`).
const IDLE: Duration = Duration::from_secs(180);
/// Time between questions that are not answered.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
/// The connection ends after as many.
const PROBES: u32 = 4;

/// A connection to a destination, by any transport.
pub(crate) trait Upstream: AsyncRead + AsyncWrite + Unpin {
    /// The other end of the connection: the destination, or who connects to it.
    fn peer_addr(&self) -> SocketAddr;

    /// Resets it.
    fn abort(&mut self);
}

impl Upstream for MptcpStream {
    fn peer_addr(&self) -> SocketAddr {
        Self::peer_addr(self)
    }

    fn abort(&mut self) {
        Self::abort(self);
    }
}

/// Serves a client until both streams have ended, or one is reset: then so is the other. `connect` connects to the
/// destination that it asks for.
pub(crate) async fn serve<U, F>(mut client: TcpStream, asked: Asked, connect: impl FnOnce(Destination) -> F)
where
    U: Upstream,
    F: Future<Output = io::Result<U>>,
{
    // What comes from one side is to leave on the other at once.
    let _ = client.set_nodelay(true);
    let _ = keep_alive(&client);
    let Some(request) = request::read(&mut client).await else { return };
    asked.set();
    let connecting = tokio::time::timeout(PATIENCE, connect(request.destination.clone())).await;
    let connected = connecting.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    match &connected {
        Ok(server) => log::debug!("{}: connected, to {}", request.destination, server.peer_addr()),
        Err(error) => log::info!("{}: not connected: {error}", request.destination),
    }
    let answer = request.protocol.answer(connected.as_ref().map(|_| ()).map_err(io::Error::kind));
    let answered = client.write_all(&answer).await;
    let Ok(mut server) = connected else { return request::close(&mut client).await };
    let mut client = Relayed::new(client);
    let relayed = match answered.and(server.write_all(&request.rest).await) {
        Ok(()) => client.relay(&mut server).await,
        Err(error) => Err(error),
    };
    match &relayed {
        Ok(()) => log::debug!("{}: ended", request.destination),
        Err(error) => log::debug!("{}: reset: {error}", request.destination),
    }
    if relayed.is_err() {
        server.abort();
    }
}

/// Lets the kernel find out that an idle client is gone: it must not have its place for ever.
pub(crate) fn keep_alive(client: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_tcp_keepidle(client, IDLE)?;
    sockopt::set_tcp_keepintvl(client, PROBE_INTERVAL)?;
    sockopt::set_tcp_keepcnt(client, PROBES)?;
    sockopt::set_socket_keepalive(client, true)
}

/// A TCP connection whose bytes go to another one, and back. It is reset if it is dropped before both have ended, as at the end of the
/// proxy: an application must not take a part of a stream for the whole.
pub(crate) struct Relayed {
    tcp: TcpStream,
    has_ended: bool,
}

impl Relayed {
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self { tcp, has_ended: false }
    }

    /// Sends bytes on the TCP connection.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tcp.write_all(bytes).await
    }

    /// Copies in both directions until both have ended, or one is reset.
    pub(crate) async fn relay(&mut self, other: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
        let copied = copy_bidirectional_with_sizes(&mut self.tcp, other, COPY, COPY).await;
        self.has_ended = copied.is_ok();
        copied.map(drop)
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        if !self.has_ended {
            // With this the kernel resets the connection when it is dropped.
            let _ = self.tcp.set_zero_linger();
        }
    }
}

/// The addresses of a destination; those of a name by the machine's resolver.
pub(crate) async fn resolve(destination: &Destination) -> io::Result<Vec<SocketAddr>> {
    match destination {
        Destination::Address(address) => Ok(vec![*address]),
        Destination::Name(name, port) => {
            let found = tokio::net::lookup_host((name.as_str(), *port)).await;
            Ok(found.map_err(|error| io::Error::new(ErrorKind::NotFound, error))?.collect())
        }
    }
}

/// Connects to a destination by MPTCP.
pub(crate) async fn connect(stack: Stack, destination: Destination) -> io::Result<MptcpStream> {
    let addresses = resolve(&destination).await?;
    let remotes = without_own(interleaved(&addresses)).await?;
    if remotes.is_empty() {
        return Err(if addresses.is_empty() { ErrorKind::NotFound } else { ErrorKind::PermissionDenied }.into());
    }
    stack.connect_any(&remotes).await
}
