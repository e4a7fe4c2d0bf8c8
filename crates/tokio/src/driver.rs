//! The task of a stack: receives packets, and waits for timers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use subflow_quantity::Instant;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use crate::Device;
use crate::state::Shared;

/// Packets received from a device before others have their turn.
const BATCH: usize = 32;
/// The room that a device may need for a packet: joined segments up to 64 KiB, and the header of a TUN device.
const LARGEST_PACKET: usize = (1 << 16) + 64;

/// A stack with its task.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Running {
    /// Starts the task, within a tokio runtime.
    pub(crate) fn new(shared: Arc<Shared>, devices: Vec<Arc<dyn Device>>) -> Self {
        let task = tokio::spawn(Driver::new(Arc::clone(&shared), devices));
        Self { shared, task }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs as long as the stack exists.
struct Driver {
    shared: Arc<Shared>,
    /// `None` after an error: the device is gone.
    devices: Vec<Option<Arc<dyn Device>>>,
    sleep: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Driver {
    fn new(shared: Arc<Shared>, devices: Vec<Arc<dyn Device>>) -> Self {
        let sleep = Box::pin(tokio::time::sleep_until(shared.tokio_time(Instant::ZERO)));
        let devices = devices.into_iter().map(Some).collect();
        Self { shared, devices, sleep, buffer: vec![0; LARGEST_PACKET] }
    }

    /// Receives up to [`BATCH`] packets from a device. Returns whether there may be more.
    fn receive(&mut self, path: usize, context: &mut Context<'_>) -> bool {
        let Some(device) = self.devices[path].clone() else { return false };
        for _ in 0..BATCH {
            match device.poll_receive(context, &mut self.buffer) {
                Poll::Ready(Ok(received)) => self.shared.lock().receive(&self.buffer, &received),
                Poll::Ready(Err(_)) => {
                    self.devices[path] = None;
                    let mut state = self.shared.lock();
                    let addresses = state.transmitter.addresses_of(path);
                    state.set_up(&addresses, false);
                    return false;
                }
                Poll::Pending => return false,
            }
        }
        true
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut busy = false;
        for path in 0..self.devices.len() {
            busy |= self.receive(path, context);
        }
        loop {
            let next = {
                let mut state = self.shared.lock();
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
        if busy {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
