//! Accepting connections.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::MptcpStream;
use crate::driver::Running;

/// Accepts the connections to a port of a stack. After it is dropped, SYNs to the port get a reset, and so do connections
/// that were not accepted.
#[derive(Debug)]
pub struct MptcpListener {
    stack: Arc<Running>,
    port: u16,
}

impl MptcpListener {
    pub(crate) fn new(stack: Arc<Running>, port: u16) -> Self {
        Self { stack, port }
    }

    /// The next established connection, with MPTCP or without, and the address of its peer.
    ///
    /// # Errors
    ///
    /// None today.
    pub async fn accept(&self) -> io::Result<(MptcpStream, SocketAddr)> {
        poll_fn(|context| self.poll_accept(context)).await
    }

    /// As [`accept`](Self::accept). One task at a time is woken.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(MptcpStream, SocketAddr)>> {
        let mut state = self.stack.shared.lock();
        match state.accepted.get_mut(&self.port).and_then(std::collections::VecDeque::pop_front) {
            Some(key) => {
                let peer = state.connection(key).ends.remote;
                Poll::Ready(Ok((MptcpStream::new(Arc::clone(&self.stack), key), peer)))
            }
            None => {
                state.acceptor.insert(self.port, context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for MptcpListener {
    fn drop(&mut self) {
        self.stack.shared.lock().stop_listening(self.port);
    }
}
