//! Real-time scheduling and locked memory.

use std::num::NonZeroU64;

use rustix::mm::MlockAllFlags;

use crate::sys;

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
