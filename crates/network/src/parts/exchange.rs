//! The windows of the parts of a network, which run at the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use subflow_quantity::{Duration, Instant};

use super::Batch;
use super::Part;
use crate::{Hosts, Network};

/// What the threads share that run the parts of a network.
#[derive(Debug)]
pub struct Exchange {
    parts: usize,
    lookahead: Duration,
    /// What was handed over and the first events, of the even and the odd windows: while one thread still reads those
    /// of a window, another one may write those of the next.
    rounds: [Round; 2],
    /// How often threads have come to the end of a window.
    arrived: AtomicUsize,
    /// Whether a thread has panicked, for which the others would wait in vain.
    abandoned: AtomicBool,
    /// How many threads sleep, or are about to.
    sleepers: AtomicUsize,
    /// Held while a thread falls asleep.
    lock: Mutex<()>,
    wake: Condvar,
}

#[derive(Debug)]
struct Round {
    /// By sending part, then by receiving part.
    batches: Vec<Mutex<Batch>>,
    /// By part, the time of its first event, or of the first arrival of what it hands over.
    first: Vec<AtomicU64>,
}

/// How often a thread looks for the others before it sleeps: some ten microseconds. Where other programs use the cores, a
/// thread that sleeps gets a core sooner than one that has only offered its own.
const SPINS: u32 = 2000;

impl Exchange {
    /// For a network of `parts` parts with this lookahead ([`Network::restrict`]).
    pub fn new(parts: usize, lookahead: Duration) -> Self {
        let round = || Round {
            batches: (0..parts * parts).map(|_| Mutex::default()).collect(),
            first: (0..parts).map(|_| AtomicU64::new(0)).collect(),
        };
        Self {
            parts,
            lookahead,
            rounds: [round(), round()],
            arrived: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Waits until all threads have called it as often as this one.
    fn meet(&self) {
        let before = self.arrived.fetch_add(1, Ordering::SeqCst);
        let all = (before / self.parts + 1) * self.parts;
        if before + 1 == all {
            return self.wake_sleepers();
        }
        let is_complete = || {
            assert!(!self.abandoned.load(Ordering::SeqCst), "another part of the network has panicked");
            self.arrived.load(Ordering::SeqCst) >= all
        };
        for _ in 0..SPINS {
            if is_complete() {
                return;
            }
            core::hint::spin_loop();
        }
        let mut lock = self.lock();
        // Whoever comes last either sees the sleeper, or came before the sleeper looks again.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !is_complete() {
            lock = self.wake.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake_sleepers(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock());
            self.wake.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the other threads if this one panics.
struct Presence<'a>(&'a Exchange);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandoned.store(true, Ordering::SeqCst);
            self.0.wake_sleepers();
        }
    }
}

impl Network {
    /// Like [`Network::run_until`], for the part to which this copy of the network is [restricted](Self::restrict).
    /// The threads of all parts have to call it at the same time with the same `end` and the same `exchange`.
    pub fn run_part_until<H: Hosts>(&mut self, hosts: &mut H, end: Instant, exchange: &Exchange) {
        let after_end = end.saturating_add(Duration::from_nanos(1));
        assert!(after_end <= self.arrivals.end_of_time(), "a run until {end:?}, which is after the end of the clock");
        let _presence = Presence(exchange);
        let fused = self.fused_links();
        for window in 0.. {
            let round = &exchange.rounds[window % 2];
            self.hand_over(round, &fused);
            exchange.meet();
            self.take_over(round);
            let first = round.first.iter().map(|first| first.load(Ordering::Relaxed)).min();
            let first = Instant::from_nanos(first.unwrap_or(u64::MAX));
            if first > end {
                break;
            }
            let horizon = first.saturating_add(exchange.lookahead).min(after_end);
            let flow = self.advance_before(hosts, horizon, &fused);
            debug_assert!(flow.is_continue(), "a part has no request to stop of its own");
        }
        self.horizon = after_end;
        self.end_run(end);
    }

    /// Hands over the packets that have crossed, and tells when the first event is.
    fn hand_over(&mut self, round: &Round, fused: &[u32]) {
        let next = self.first_event(fused);
        let Some(part) = self.part.as_deref_mut() else { return };
        let Part { number, outgoing, first_arrival, .. } = part;
        let parts = outgoing.len();
        for (receiver, batch) in outgoing.iter_mut().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let shared = &round.batches[*number * parts + receiver];
            core::mem::swap(batch, &mut shared.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let first = core::mem::replace(first_arrival, Instant::MAX).min(next);
        round.first[*number].store(first.as_nanos(), Ordering::Relaxed);
    }

    fn take_over(&mut self, round: &Round) {
        let Some((number, parts)) = self.part.as_ref().map(|part| (part.number, part.outgoing.len())) else { return };
        for sender in (0..parts).filter(|&sender| sender != number) {
            let shared = &round.batches[sender * parts + number];
            self.import(sender, &mut shared.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}
