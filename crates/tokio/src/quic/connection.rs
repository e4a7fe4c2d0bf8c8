//! A connection, as its application uses it.

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::Poll;

use subflow_transport::quic::{self, Priority};

use super::driver::{Held, Running};
use super::error::ConnectionError;
use super::figures::{PathState, paths_of};
use super::state::State;
use super::stream::{ReceiveStream, SendStream, parts_of};
use super::stream_state::StreamState;

/// A QUIC connection over one path or several. Clones share it.
///
/// When the last clone and the last stream are dropped, the connection is closed with error 0 as soon as the peer has
/// acknowledged what was written, while the endpoint exists; see [`Endpoint::wait_idle`](super::Endpoint::wait_idle).
#[derive(Clone, Debug)]
pub struct Connection(Arc<Held>);

impl Connection {
    pub(super) fn new(endpoint: Arc<Running>, key: usize) -> Self {
        Self(Arc::new(Held { endpoint, key }))
    }

    /// Waits until `look` finds something, or the connection has ended.
    async fn wait<T>(&self, mut look: impl FnMut(&mut State, usize) -> Option<T>) -> Result<T, ConnectionError> {
        poll_fn(|context| {
            let mut state = self.0.endpoint.shared.lock();
            if let Some(found) = look(&mut state, self.0.key) {
                return Poll::Ready(Ok(found));
            }
            let connection = state.connection(self.0.key);
            if let Some(error) = &connection.ended {
                return Poll::Ready(Err(error.clone()));
            }
            connection.wakers.retain(|waker| !waker.will_wake(context.waker()));
            connection.wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    pub(super) async fn established(&self) -> Result<(), ConnectionError> {
        self.wait(|state, key| {
            let connection = state.connection(key);
            (connection.is_established && connection.ended.is_none()).then_some(())
        })
        .await
    }

    /// Opens a stream in both directions. Waits while the peer has as many open as it takes. The peer learns of the stream with
    /// its first data.
    ///
    /// # Errors
    ///
    /// The connection has ended.
    pub async fn open_bi(&self) -> Result<(SendStream, ReceiveStream), ConnectionError> {
        let open = |state: &mut State, key: usize| {
            let (connection, stack) = state.parts(key);
            let stack = stack.filter(|_| connection.ended.is_none())?;
            if !stack.may_open_stream() {
                connection.lacks_stream = true;
                return None;
            }
            let id = stack.open_stream(Priority::TURNS);
            connection.streams.insert(id, StreamState::new());
            Some(id)
        };
        let id = self.wait(open).await?;
        Ok(parts_of(&self.0, id))
    }

    /// The next stream that the peer has opened.
    ///
    /// # Errors
    ///
    /// The connection has ended, and all streams that were opened before are accepted.
    pub async fn accept_bi(&self) -> Result<(SendStream, ReceiveStream), ConnectionError> {
        let id = self.wait(|state, key| state.connection(key).incoming.pop_front()).await?;
        Ok(parts_of(&self.0, id))
    }

    /// Closes the connection at once with an error of the application, 0 if there is none. What was not acknowledged is not sent
    /// again: wait for [`SendStream::acknowledged`] before.
    pub fn close(&self, error_code: u64, reason: &str) {
        self.0.endpoint.shared.lock().close(self.0.key, error_code, reason);
    }

    /// Waits until the connection has ended, and returns why.
    pub async fn closed(&self) -> ConnectionError {
        match self.wait(|_, _| None::<std::convert::Infallible>).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    /// The peer's address and port; those of the initial path.
    pub fn remote_addr(&self) -> SocketAddr {
        self.0.endpoint.shared.lock().connection(self.0.key).ends.remote
    }

    /// This side's address and port; those of the initial path.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.endpoint.shared.lock().connection(self.0.key).ends.local
    }

    /// Whether both sides have multipath.
    pub fn is_multipath(&self) -> bool {
        let mut state = self.0.endpoint.shared.lock();
        state.parts(self.0.key).1.is_some_and(|stack| stack.is_multipath())
    }

    /// Whether this side would have several paths, and the peer would not.
    pub fn has_fallen_back(&self) -> bool {
        let mut state = self.0.endpoint.shared.lock();
        state.parts(self.0.key).1.is_some_and(|stack: &mut quic::Connection| stack.has_fallen_back())
    }

    /// The paths so far, in the order in which they were opened; none once the connection is over and the peer knows it.
    pub fn paths(&self) -> Vec<PathState> {
        let mut state = self.0.endpoint.shared.lock();
        let Some(id) = state.connection(self.0.key).endpoint else { return Vec::new() };
        let bytes = state.connection(self.0.key).bytes.clone();
        paths_of(state.host.endpoint(id), &bytes)
    }

    /// Requests a path from a local address of the endpoint to another address of the server, in addition to those of the path
    /// manager. Only clients open paths. It is listed in [`paths`](Self::paths) as soon as the server lets it be opened.
    pub fn open_path(&self, local: IpAddr, remote: SocketAddr) {
        self.0.endpoint.shared.lock().open_path(self.0.key, local, remote);
    }
}
