//! Real time: the wall clock as the network's clock, priorities of threads, and the request to end a run.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Wall;

use rustix::mm::MlockAllFlags;
use subflow_quantity::{Duration, Instant};

use crate::sys;

/// The time since the start of a run in nanoseconds, as in a simulation. Copies have the same start.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    start: Wall,
}

impl WallClock {
    /// Starts a clock at zero.
    pub fn start() -> Self {
        Self { start: Wall::now() }
    }

    /// The time since the start.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// The time until `at`; zero if that is in the past.
    pub fn until(&self, at: Instant) -> std::time::Duration {
        let now = self.now();
        std::time::Duration::from_nanos(at.as_nanos().saturating_sub(now.as_nanos()))
    }

    /// Sleeps until `at`, in steps of at most `piece`, while `go_on` returns true. Returns whether `at` was reached.
    pub fn sleep_until(&self, at: Instant, piece: Duration, go_on: impl Fn() -> bool) -> bool {
        loop {
            if !go_on() {
                return false;
            }
            let left = self.until(at);
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(std::time::Duration::from_nanos(piece.as_nanos())));
        }
    }
}

/// Real-time priorities of the threads of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The applications, which only read and write: before all other processes.
    Application,
    /// The switches, which are processes of their own: before the applications.
    Switches,
    /// The network, which has to be punctual: before all of them.
    Network,
}

impl Priority {
    /// Sets the priority of the calling thread (SCHED_FIFO). Returns whether that is permitted.
    pub fn take(self) -> bool {
        // By default the kernel may delay timers by 50 µs (timer slack).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        sys::schedule_first(self.level()).is_ok()
    }

    /// The real-time priority; higher ones go first.
    pub(crate) fn level(self) -> i32 {
        match self {
            Self::Application => 1,
            Self::Switches => 2,
            Self::Network => 3,
        }
    }
}

/// Prevents the process's memory from being swapped out. Returns whether that is permitted.
pub fn lock_memory() -> bool {
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT).is_ok()
}

/// CPU seconds used by all threads of the process.
pub fn process_cpu_seconds() -> f64 {
    sys::process_cpu_seconds()
}

/// A flag that asks the run to end. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that is raised when `flag` is set.
    pub fn on_flag(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Asks the run to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run is asked to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
