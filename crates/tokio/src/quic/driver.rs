//! The task of an endpoint: receives datagrams, sends those that wait, and waits for timers.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::time::Sleep;

use super::state::State;
use crate::shared::Shared;

/// Datagrams received from a socket before others have their turn.
const BATCH: usize = 32;
/// The largest payload of UDP.
const LARGEST_DATAGRAM: usize = 1 << 16;

/// An endpoint with its task.
pub(super) type Running = crate::shared::Running<State>;

/// Starts the task of an endpoint, within a tokio runtime.
pub(super) fn start(state: State) -> Running {
    let shared = Arc::new(Shared::new(state));
    Running::new(Arc::clone(&shared), Driver::new(shared))
}

/// Who holds a connection: the connection itself, and its streams.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) endpoint: Arc<Running>,
    pub(super) key: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.endpoint.shared.lock().abandon(self.key);
    }
}

/// Runs as long as the endpoint exists.
struct Driver {
    shared: Arc<Shared<State>>,
    sockets: Vec<(SocketAddr, Arc<UdpSocket>)>,
    sleep: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Driver {
    fn new(shared: Arc<Shared<State>>) -> Self {
        let sleep = shared.sleep();
        Self { shared, sockets: Vec::new(), sleep, buffer: vec![0; LARGEST_DATAGRAM] }
    }

    /// Receives up to [`BATCH`] datagrams from a socket. Returns whether there may be more.
    fn receive(&mut self, place: usize, context: &mut Context<'_>) -> bool {
        let (local, socket) = &self.sockets[place];
        for _ in 0..BATCH {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            match socket.poll_recv_from(context, &mut buffer) {
                Poll::Ready(Ok(from)) => self.shared.lock().receive(from, *local, buffer.filled_mut()),
                // It is about a datagram that was sent, and was reported with that.
                Poll::Ready(Err(_)) => {}
                Poll::Pending => return false,
            }
        }
        true
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut state = self.shared.lock();
            let changed = core::mem::take(&mut state.sockets_changed).then(|| state.sockets.to_receive());
            drop(state);
            if let Some(sockets) = changed {
                self.sockets = sockets;
            }
        }
        let mut is_busy = false;
        for place in 0..self.sockets.len() {
            is_busy |= self.receive(place, context);
        }
        let Self { shared, sleep, .. } = &mut *self;
        shared.poll_timers(sleep, context, |state, context| {
            if state.sockets.poll_flush(context) {
                state.resume();
            }
        });
        if is_busy || self.shared.lock().sockets_changed {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
