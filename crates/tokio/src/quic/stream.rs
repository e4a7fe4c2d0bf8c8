//! The two parts of a stream.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use subflow_wire::quic::StreamId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::driver::Held;
use super::error::StreamError;
use super::stream_state::{SENDING, StreamState};

/// The error with which a receiving part is ended that was dropped.
const DROPPED: u64 = 0;

/// This side's part of a stream.
///
/// Writing waits while more than [`stream_send_buffer`](super::Options::stream_send_buffer) bytes are not acknowledged.
/// `poll_shutdown` ends the stream after what was written and returns at once; [`acknowledged`](Self::acknowledged) waits for the
/// peer. Dropping it ends the stream as well, and what was written is still delivered.
#[derive(Debug)]
pub struct SendStream {
    connection: Arc<Held>,
    id: StreamId,
}

/// The peer's part of a stream.
///
/// What is not read fills the [windows](super::Options::stream_receive_buffer), so that the peer has to wait. Dropping it before
/// its end asks the peer to send no more (STOP_SENDING with error 0).
#[derive(Debug)]
pub struct ReceiveStream {
    connection: Arc<Held>,
    id: StreamId,
}

/// Both parts of a stream that one side has opened.
pub(super) fn parts_of(connection: &Arc<Held>, id: StreamId) -> (SendStream, ReceiveStream) {
    let sending = SendStream { connection: Arc::clone(connection), id };
    (sending, ReceiveStream { connection: Arc::clone(connection), id })
}

impl SendStream {
    /// Its identifier (RFC 9000, section 2.1).
    pub fn id(&self) -> u64 {
        self.id.0
    }

    /// Waits until the peer has acknowledged everything that was written, and the end of the stream.
    ///
    /// # Errors
    ///
    /// The peer reads no more of it, or the connection has ended.
    pub async fn acknowledged(&mut self) -> Result<(), StreamError> {
        poll_fn(|context| {
            let mut state = self.connection.endpoint.shared.lock();
            let connection = state.connection(self.connection.key);
            let ended = connection.ended.clone();
            let stream = connection.streams.get_mut(&self.id);
            stream.map_or(Poll::Ready(Ok(())), |stream| stream.poll_sent(context, ended.as_ref()))
        })
        .await
    }

    /// Ends the stream with an error: what the peer has not received is not sent (again).
    pub fn reset(&mut self, error_code: u64) {
        let mut state = self.connection.endpoint.shared.lock();
        let (connection, stack) = state.parts(self.connection.key);
        if let Some(stream) = connection.streams.get_mut(&self.id).filter(|stream| !stream.is_sent) {
            stream.reset();
            if let Some(stack) = stack {
                stack.reset_stream(self.id, error_code);
            }
            state.drain(self.connection.key);
        }
    }

    fn finish(&self, is_dropped: bool) {
        let mut state = self.connection.endpoint.shared.lock();
        let (connection, stack) = state.parts(self.connection.key);
        if let Some(stream) = connection.streams.get_mut(&self.id) {
            if is_dropped {
                stream.is_held[SENDING] = false;
            }
            if !core::mem::replace(&mut stream.is_finished, true)
                && let Some(stack) = stack
            {
                stack.finish_stream(self.id);
            }
            connection.forget_if_over(self.id);
            state.drain(self.connection.key);
        }
    }
}

impl AsyncWrite for SendStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.connection.endpoint.shared.lock();
        let most = state.stream_send_buffer;
        let (connection, stack) = state.parts(self.connection.key);
        let Some(stream) = connection.streams.get_mut(&self.id) else {
            return Poll::Ready(Err(StreamError::Finished.into()));
        };
        let written = std::task::ready!(stream.poll_write(context, bytes, most, connection.ended.as_ref()))?;
        if let Some(stack) = stack.filter(|_| written > 0) {
            stack.write_on(self.id, written as u64);
            state.drain(self.connection.key);
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What was written is sent as soon as windows permit.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.finish(false);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SendStream {
    fn drop(&mut self) {
        self.finish(true);
    }
}

impl ReceiveStream {
    /// The identifier of the stream (RFC 9000, section 2.1).
    pub fn id(&self) -> u64 {
        self.id.0
    }

    /// Reads no more: the peer is asked to end its part (STOP_SENDING), and what arrives is discarded.
    pub fn stop(self, error_code: u64) {
        self.discard(error_code);
    }

    fn discard(&self, error_code: u64) {
        let mut state = self.connection.endpoint.shared.lock();
        let (connection, stack) = state.parts(self.connection.key);
        connection.stop_reading(stack, self.id, error_code);
        connection.forget_if_over(self.id);
        state.drain(self.connection.key);
    }
}

impl AsyncRead for ReceiveStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.connection.endpoint.shared.lock();
        let (connection, stack) = state.parts(self.connection.key);
        let Some(stream) = connection.streams.get_mut(&self.id) else { return Poll::Ready(Ok(())) };
        let has_read = std::task::ready!(stream.poll_read(context, into, connection.ended.as_ref()))?;
        let StreamState { read, .. } = *stream;
        if let Some(stack) = stack.filter(|_| has_read) {
            stack.set_read_on(self.id, read);
            state.drain(self.connection.key);
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for ReceiveStream {
    fn drop(&mut self) {
        self.discard(DROPPED);
    }
}
