//! The task of a stack: receives packets, and waits for timers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::Sleep;

use crate::Device;
use crate::shared::Shared;
use crate::state::State;

/// Packets received from a device before others have their turn.
const BATCH: usize = 32;
/// The room that a device may need for a packet: joined segments up to 64 KiB, and the header of a TUN device.
const LARGEST_PACKET: usize = (1 << 16) + 64;

/// A stack with its task.
pub(crate) type Running = crate::shared::Running<State>;

/// Starts the task of a stack, within a tokio runtime.
pub(crate) fn start(state: State, devices: Vec<Arc<dyn Device>>) -> Running {
    let shared = Arc::new(Shared::new(state));
    Running::new(Arc::clone(&shared), Driver::new(shared, devices))
}

/// Runs as long as the stack exists.
struct Driver {
    shared: Arc<Shared<State>>,
    /// `None` after an error: the device is gone.
    devices: Vec<Option<Arc<dyn Device>>>,
    sleep: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Driver {
    fn new(shared: Arc<Shared<State>>, devices: Vec<Arc<dyn Device>>) -> Self {
        let sleep = shared.sleep();
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
        let Self { shared, sleep, .. } = &mut *self;
        shared.poll_timers(sleep, context, |_, _| {});
        if busy {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
