//! Locks on files that a process holds for as long as it runs, and the processes that were killed but have not ended.
//!
//! `kill -9` returns before the process has ended: for some milliseconds it still holds its locks, and a command that it
//! has started may still change the machine. A lock that such a process holds is therefore waited for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;

use crate::process_stat::ProcessStat;

/// The time between two looks at a process that ends.
const PAUSE: Duration = Duration::from_millis(10);
/// Looks at a process that ends: for ten seconds.
const LOOKS: u32 = 1000;
/// Looks at a lock whose holder cannot be identified: it may have ended since.
const LOOKS_AT_UNKNOWN: u32 = 20;

/// Locks a file. Returns whether this process has the lock now. If the process that holds it was killed, waits until it
/// and the commands that it has started have ended.
///
/// # Errors
///
/// The file cannot be locked.
pub fn try_lock(file: &File) -> io::Result<bool> {
    let mut unknown = 0;
    for _ in 0..LOOKS {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        match holder(file)? {
            Some(process) if fate(process) == Fate::Runs => return Ok(false),
            Some(_) => {}
            None if unknown == LOOKS_AT_UNKNOWN => return Ok(false),
            None => unknown += 1,
        }
        std::thread::sleep(PAUSE);
    }
    Ok(false)
}

/// Waits until a process that was killed has ended. Returns whether it goes on.
pub(crate) fn outlives_its_end(process: u32) -> bool {
    for _ in 0..LOOKS {
        match fate(process) {
            Fate::Runs => return true,
            Fate::HasEnded => return false,
            Fate::Ends => std::thread::sleep(PAUSE),
        }
    }
    true
}

/// What becomes of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Runs,
    /// It was killed, or is being taken apart.
    Ends,
    /// It does not exist, or only its exit code does.
    HasEnded,
}

fn fate(process: u32) -> Fate {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
    fate_by(&read("stat"), &read("status"))
}

/// Reads `/proc/PID/stat` and `/proc/PID/status` (proc(5)).
fn fate_by(stat: &str, status: &str) -> Fate {
    const PF_EXITING: u64 = 4;
    const SIGKILL: u64 = 1 << (libc::SIGKILL - 1);
    let stat = ProcessStat::parse(stat).filter(|stat| !stat.has_ended());
    let pending = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| u64::from_str_radix(value.trim(), 16).ok()).unwrap_or(0)
    };
    match stat {
        None => Fate::HasEnded,
        Some(stat) if stat.flags & PF_EXITING != 0 => Fate::Ends,
        Some(_) if (pending("SigPnd:") | pending("ShdPnd:")) & SIGKILL != 0 => Fate::Ends,
        Some(_) => Fate::Runs,
    }
}

/// The process that took the lock of a file, if the kernel tells. It may have ended: then commands hold the lock that it
/// has started.
fn holder(file: &File) -> io::Result<Option<u32>> {
    let (locks, own) = (fs::read_to_string("/proc/locks").unwrap_or_default(), file.metadata()?);
    Ok(holder_by(&locks, &format!("{:02x}:{:02x}:{}", major(own.dev()), minor(own.dev()), own.ino())))
}

/// Reads `/proc/locks`, whose lines are `1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF`. The process is 0 if it is
/// in another PID namespace.
fn holder_by(locks: &str, file: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (kind, process, of) = (fields.next()?, fields.nth(2)?, fields.next()?);
        (kind == "FLOCK" && of == file).then(|| process.parse().ok().filter(|&process| process != 0)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_was_killed_ends_and_one_that_sleeps_runs() {
        let mut child = Command::new("sleep").arg("100").spawn().expect("it starts");
        assert_eq!(fate(child.id()), Fate::Runs);
        child.kill().expect("killed");
        assert_ne!(fate(child.id()), Fate::Runs, "from the moment on in which the signal is sent");
        assert!(!outlives_its_end(child.id()));
        child.wait().expect("it has ended");
        assert_eq!(fate(child.id()), Fate::HasEnded);
        assert!(outlives_its_end(std::process::id()), "it is not waited for");
    }

    #[test]
    fn the_signal_and_the_flag_of_the_kernel_tell() {
        let rest = "7 8 9 10 11 12 13 14 15 16 17 18 19 20";
        let stat = |state: &str, flags: u64| format!("7 (a) b) {state} 1 2 3 4 5 {flags} {rest}");
        let cases = [
            ("S", 0x40_4040, "SigPnd:\t0000000000000000\nShdPnd:\t0000000000004002\n", Fate::Runs),
            ("S", 0x40_4040, "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n", Fate::Ends),
            ("R", 0x40_4040, "SigPnd:\t0000000000000100\n", Fate::Ends),
            ("R", 0x40_4044, "", Fate::Ends),
            ("Z", 0x40_4044, "", Fate::HasEnded),
        ];
        for (state, flags, status, expected) in cases {
            assert_eq!(fate_by(&stat(state, flags), status), expected, "{state} {flags:x} {status}");
        }
        assert_eq!(fate_by("", ""), Fate::HasEnded);
    }

    #[test]
    fn a_lock_is_told_by_the_file_and_its_holder() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:19:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 12 00:19:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 00:19:77 0 EOF\n3: FLOCK  ADVISORY  READ  0 fe:00:5 0 EOF\n";
        assert_eq!(["00:19:77", "fe:00:5", "00:19:7"].map(|file| holder_by(locks, file)), [Some(12), None, None]);
    }

    #[test]
    fn a_lock_is_had_unless_a_process_that_runs_has_it() {
        let path = std::env::temp_dir().join(format!("subflow-lock-{}", std::process::id()));
        let [first, second] = [0; 2].map(|_| File::options().append(true).create(true).open(&path).expect("a file"));
        assert!(try_lock(&first).expect("it can be tried"));
        assert!(!try_lock(&second).expect("it can be tried"), "this process has it, and runs");
        drop(first);
        // A child that another test starts has a copy of the descriptor until it executes its program.
        let tries = (0..100).map(|_| try_lock(&second).expect("it can be tried"));
        let mut tries = tries.inspect(|_| std::thread::sleep(PAUSE));
        assert!(tries.any(|locked| locked));
        fs::remove_file(&path).expect("it is ours");
    }
}
