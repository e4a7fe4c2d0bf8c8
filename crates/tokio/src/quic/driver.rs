//! The task of an endpoint: receives datagrams, sends those that wait, and waits for timers.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use subflow_quantity::Instant;
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::state::Shared;

/// Datagrams received from a socket before others have their turn.
const BATCH: usize = 32;
/// The largest payload of UDP.
const LARGEST_DATAGRAM: usize = 1 << 16;

/// An endpoint with its task.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Running {
    /// Starts the task, within a tokio runtime.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let task = tokio::spawn(Driver::new(Arc::clone(&shared)));
        Self { shared, task }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
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
    shared: Arc<Shared>,
    sockets: Vec<(SocketAddr, Arc<UdpSocket>)>,
    sleep: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Driver {
    fn new(shared: Arc<Shared>) -> Self {
        let sleep = Box::pin(tokio::time::sleep_until(shared.tokio_time(Instant::ZERO)));
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
        loop {
            let next = {
                let mut state = self.shared.lock();
                if state.sockets.poll_flush(context) {
                    state.resume();
                }
                let next = state.handle_timers();
                state.armed = next;
                state.driver = Some(context.waker().clone());
                next
            };
            if next == Instant::MAX {
                break;
            }
            let at = self.shared.tokio_time(next);
            self.sleep.as_mut().reset(at);
            if self.sleep.as_mut().poll(context).is_pending() {
                break;
            }
        }
        if is_busy || self.shared.lock().sockets_changed {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
