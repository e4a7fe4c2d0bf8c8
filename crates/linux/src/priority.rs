//! Who runs first on the CPU, and that nothing is swapped out meanwhile.

use std::num::NonZeroU64;

use rustix::mm::MlockAllFlags;

use crate::sys;

/// Real-time priorities of the run's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The applications, which only write and read: ahead of the rest of the machine.
    Application,
    /// The network, which has to be punctual: ahead of the applications.
    Network,
}

impl Priority {
    /// Gives the calling thread this priority (SCHED_FIFO). Returns whether the machine permits it.
    pub fn take(self) -> bool {
        // Timers of other threads may be 50 µs late on purpose.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        sys::schedule_first(match self {
            Self::Application => 1,
            Self::Network => 2,
        })
        .is_ok()
    }
}

/// Keeps the process's memory from being swapped out. Returns whether the machine permits it.
pub fn lock_memory() -> bool {
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT).is_ok()
}

/// CPU seconds that the process has used, its threads together.
pub fn process_cpu_seconds() -> f64 {
    sys::process_cpu_seconds()
}
