//! The stream of a connection.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::driver::Running;
use crate::figures::{SubflowState, has_fallen_back, subflows_of};

/// An MPTCP connection, or a TCP connection if the peer has no MPTCP.
///
/// `poll_shutdown` ends this side's stream and returns at once; the peer may still send. Dropping the stream delivers
/// what was written in the background. If data has arrived that was not read, the connection is reset instead, as in
/// Linux.
#[derive(Debug)]
pub struct MptcpStream {
    stack: Arc<Running>,
    key: usize,
}

impl MptcpStream {
    pub(crate) fn new(stack: Arc<Running>, key: usize) -> Self {
        Self { stack, key }
    }

    /// This side's address and port; those of the initial subflow.
    pub fn local_addr(&self) -> SocketAddr {
        self.stack.shared.lock().connection(self.key).ends.local
    }

    /// The peer's address and port; those of the initial subflow.
    pub fn peer_addr(&self) -> SocketAddr {
        self.stack.shared.lock().connection(self.key).ends.remote
    }

    /// Whether the connection uses plain TCP.
    pub fn has_fallen_back(&self) -> bool {
        let mut state = self.stack.shared.lock();
        let (connection, endpoint) = state.parts(self.key);
        endpoint.map_or(connection.fell_back, |endpoint| has_fallen_back(endpoint))
    }

    /// Its open subflows.
    pub fn subflows(&self) -> Vec<SubflowState> {
        let mut state = self.stack.shared.lock();
        let (_, endpoint) = state.parts(self.key);
        endpoint.map(|endpoint| subflows_of(endpoint)).unwrap_or_default()
    }

    /// Resets the connection (MP_FASTCLOSE, RST).
    pub fn abort(&self) {
        self.stack.shared.lock().abort(self.key);
    }
}

impl AsyncRead for MptcpStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.stack.shared.lock();
        let now = state.now;
        let (connection, endpoint) = state.parts(self.key);
        if connection.received > connection.read && into.remaining() > 0 {
            let length = connection.take(into.initialize_unfilled());
            into.advance(length);
            if let Some(endpoint) = endpoint {
                endpoint.set_bytes_read(connection.read, now);
                state.drain(self.key);
            }
            return Poll::Ready(Ok(()));
        }
        if connection.peer_finished || into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if connection.closed.is_some() {
            return Poll::Ready(connection.failure().map_or(Ok(()), Err));
        }
        connection.reader = Some(context.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for MptcpStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.stack.shared.lock();
        let most = state.send_buffer();
        let (connection, endpoint) = state.parts(self.key);
        let Some(endpoint) = endpoint.filter(|_| !connection.finished) else {
            let ended = || io::Error::new(io::ErrorKind::BrokenPipe, "this side's stream has ended");
            return Poll::Ready(Err(connection.failure().unwrap_or_else(ended)));
        };
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let room = connection.room(endpoint, most).min(bytes.len() as u64);
        let accepted = endpoint.write(room) as usize;
        if accepted == 0 {
            connection.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        connection.send.write(connection.written, &bytes[..accepted]);
        connection.written += accepted as u64;
        state.drain(self.key);
        Poll::Ready(Ok(accepted))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What was written is sent as soon as windows permit.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.stack.shared.lock();
        let (connection, endpoint) = state.parts(self.key);
        if let Some(endpoint) = endpoint.filter(|_| !connection.finished) {
            connection.finished = true;
            endpoint.finish();
            state.drain(self.key);
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for MptcpStream {
    fn drop(&mut self) {
        self.stack.shared.lock().abandon(self.key);
    }
}
