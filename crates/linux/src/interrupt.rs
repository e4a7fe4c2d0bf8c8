//! A request that a run ends early and removes what it created, and the signals that make it: Ctrl-C and its like.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

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

/// The signals that ask a command to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP, which a terminal sends when it is closed.
/// SIGHUP is not among them if it is ignored, as with `nohup`.
pub fn ending_signals() -> impl Iterator<Item = i32> {
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(signal))
}

/// Whether this process ignores a signal.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGPIPE, SIGUSR1};

    use super::*;

    #[test]
    fn ignored_signals_are_known() {
        // Rust's runtime ignores SIGPIPE.
        assert!(is_ignored(SIGPIPE) && !is_ignored(SIGUSR1));
        assert_eq!(ending_signals().take(2).collect::<Vec<_>>(), [SIGINT, SIGTERM]);
    }
}
