//! Which signals end a command.

#[cfg(target_os = "linux")]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};

/// The signals that ask a command to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP, which a terminal sends when it is closed.
/// SIGHUP is not among them if it is ignored, as with `nohup`.
#[cfg(target_os = "linux")]
pub(crate) fn ending_signals() -> impl Iterator<Item = i32> {
    ending_signals_of(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

/// Systems without `/proc` do not tell what is ignored.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ending_signals() -> impl Iterator<Item = i32> {
    [SIGINT, SIGTERM].into_iter()
}

/// [`ending_signals`] of a process with this `/proc/PID/status`.
#[cfg(target_os = "linux")]
fn ending_signals_of(status: &str) -> impl Iterator<Item = i32> + use<> {
    let is_sighup_ignored = is_ignored(SIGHUP, status);
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |&signal| signal != SIGHUP || !is_sighup_ignored)
}

/// Whether a process with this `/proc/PID/status` ignores a signal.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

#[cfg(all(test, target_os = "linux"))]
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
