//! One stream of a tunnel, which is one connection of a client.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use subflow_tokio::quic::{Connection, ConnectionError, ReceiveStream, SendStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::session::Upstream;
use crate::socks::{self, Destination};

/// The error with which a stream is reset whose connection was reset at the other side.
const RESET: u64 = 1;

/// Both parts of a stream. It is reset if it is dropped before this side's part has ended: nobody must take a part of what
/// was sent for the whole.
#[derive(Debug)]
pub(super) struct TunnelStream {
    send: SendStream,
    receive: ReceiveStream,
    peer: SocketAddr,
    has_ended: bool,
}

impl TunnelStream {
    /// A stream that the peer at this address has opened.
    pub(super) fn new((send, receive): (SendStream, ReceiveStream), peer: SocketAddr) -> Self {
        Self { send, receive, peer, has_ended: false }
    }

    /// Asks the server to connect to a destination.
    ///
    /// # Errors
    ///
    /// It does not, or the connection to the server has ended.
    pub(super) async fn open(connection: &Connection, destination: &Destination) -> io::Result<Self> {
        let mut stream = Self::new(connection.open_bi().await?, connection.remote_addr());
        stream.write_all(&socks::connect(destination)).await?;
        let mut answer = [0; socks::REPLY];
        stream.read_exact(&mut answer).await?;
        socks::outcome(&answer)?;
        Ok(stream)
    }
}

/// Asks whether the server serves this client: opens a stream without any byte, which the server ends as well.
///
/// # Errors
///
/// The connection has ended.
pub(super) async fn ask(connection: &Connection) -> io::Result<()> {
    let mut stream = TunnelStream::new(connection.open_bi().await?, connection.remote_addr());
    stream.shutdown().await?;
    stream.read(&mut [0]).await.map(drop)
}

/// Why a connection has ended, if it has.
pub(super) async fn ended(connection: &Connection) -> Option<ConnectionError> {
    tokio::select! {
        biased;
        error = connection.closed() => Some(error),
        () = std::future::ready(()) => None,
    }
}

impl Upstream for TunnelStream {
    fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    fn abort(&mut self) {
        self.send.reset(RESET);
    }
}

impl AsyncRead for TunnelStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.receive).poll_read(context, into)
    }
}

impl AsyncWrite for TunnelStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.send).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.send).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.send).poll_shutdown(context))?;
        self.has_ended = true;
        Poll::Ready(Ok(()))
    }
}

impl Drop for TunnelStream {
    fn drop(&mut self) {
        if !self.has_ended {
            self.send.reset(RESET);
        }
    }
}
