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
    ending_signals_of(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

/// The same for a process with this `/proc/PID/status`.
fn ending_signals_of(status: &str) -> impl Iterator<Item = i32> + use<> {
    let is_sighup_ignored = is_ignored(SIGHUP, status);
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |&signal| signal != SIGHUP || !is_sighup_ignored)
}

/// Whether a process with this `/proc/PID/status` ignores a signal.
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use signal_hook::consts::{SIGPIPE, SIGUSR1};

    use super::*;

    /// The `/proc/PID/status` of a process that a shell starts after `trap`.
    fn status_after(trap: &str) -> String {
        let output = Command::new("sh").args(["-c", &format!("{trap}; exec cat /proc/self/status")]).output();
        String::from_utf8(output.expect("there is a shell").stdout).expect("text")
    }

    #[test]
    fn a_hangup_ends_what_does_not_ignore_it() {
        let ignoring = status_after("trap '' HUP");
        assert_eq!(ending_signals_of(&ignoring).collect::<Vec<_>>(), [SIGINT, SIGTERM]);
        // The shell's children begin with what it was started with, which may be `nohup`; only this bit differs.
        let others = status_after("trap '' USR1");
        assert!(is_ignored(SIGUSR1, &others) && !is_ignored(SIGUSR1, &ignoring));
        let pipe = "Name:\tcat\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001000\n";
        assert!(is_ignored(SIGPIPE, pipe));
        assert_eq!(ending_signals_of(pipe).collect::<Vec<_>>(), [SIGINT, SIGTERM, SIGHUP]);
    }

    #[test]
    fn the_status_of_this_process_is_read() {
        // Rust's runtime ignores SIGPIPE.
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        assert!(is_ignored(SIGPIPE, &status));
        assert!(ending_signals().eq(ending_signals_of(&status)));
    }
}
