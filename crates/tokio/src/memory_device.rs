//! Devices in memory, in pairs: for tests, without root rights and with tokio's clock.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::{Device, Received};

/// What a pair does to packets, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLink {
    /// Time from one device to the other. Default: none. tokio's timers round it up to milliseconds.
    pub delay: Duration,
    /// Bytes per second; `None`, the default, for any number.
    pub rate: Option<u64>,
    /// Packets that may be under way; others are refused. Default: 1000.
    pub queue: usize,
    /// Every packet whose number is a multiple of this is lost. Default: none.
    pub lose_every: Option<u64>,
}

impl Default for MemoryLink {
    fn default() -> Self {
        Self { delay: Duration::ZERO, rate: None, queue: 1000, lose_every: None }
    }
}

/// Two devices: what one sends, the other receives.
pub fn pair(link: MemoryLink) -> (MemoryDevice, MemoryDevice) {
    let cut = Arc::new(AtomicBool::new(false));
    let [there, back] = [(); 2].map(|()| Arc::new(Mutex::new(Direction::new(link))));
    let device = |sent: &Arc<_>, received: &Arc<_>| MemoryDevice {
        sent: Arc::clone(sent),
        received: Arc::clone(received),
        cut: Arc::clone(&cut),
    };
    (device(&there, &back), device(&back, &there))
}

/// One end of a [`pair`]. Clones are the same end.
#[derive(Clone, Debug)]
pub struct MemoryDevice {
    sent: Arc<Mutex<Direction>>,
    received: Arc<Mutex<Direction>>,
    cut: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Direction {
    link: MemoryLink,
    packets: VecDeque<(Instant, Vec<u8>)>,
    /// When the last bit of the last packet has left.
    free_at: Option<Instant>,
    number: u64,
    sleep: Option<Pin<Box<Sleep>>>,
    receiver: Option<Waker>,
}

impl Direction {
    fn new(link: MemoryLink) -> Self {
        Self { link, packets: VecDeque::new(), free_at: None, number: 0, sleep: None, receiver: None }
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        if self.packets.len() >= self.link.queue {
            return false;
        }
        self.number += 1;
        let now = Instant::now();
        let seconds = self.link.rate.map_or(0.0, |rate| packet.len() as f64 / rate as f64);
        let left = self.free_at.map_or(now, |free| free.max(now)) + Duration::from_secs_f64(seconds);
        self.free_at = Some(left);
        if self.link.lose_every.is_none_or(|every| !self.number.is_multiple_of(every)) {
            self.packets.push_back((left + self.link.delay, packet.to_vec()));
            if let Some(waker) = self.receiver.take() {
                waker.wake();
            }
        }
        true
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Vec<u8>> {
        self.receiver = Some(context.waker().clone());
        while let Some(&(at, _)) = self.packets.front() {
            if at <= Instant::now() {
                let (_, packet) = self.packets.pop_front().expect("there is one");
                return Poll::Ready(packet);
            }
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
            sleep.as_mut().reset(at);
            if sleep.as_mut().poll(context).is_pending() {
                break;
            }
        }
        Poll::Pending
    }
}

impl MemoryDevice {
    /// Cuts or restores the link: while it is cut, packets of both directions are lost.
    pub fn set_cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }
}

impl Device for MemoryDevice {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        let mut direction = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        direction.poll_receive(context).map(|packet| {
            buffer[..packet.len()].copy_from_slice(&packet);
            Ok(Received { bytes: 0..packet.len(), segment: None, verified: false })
        })
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        let is_cut = self.cut.load(Ordering::Relaxed);
        Ok(is_cut || self.sent.lock().unwrap_or_else(PoisonError::into_inner).send(packet))
    }
}
