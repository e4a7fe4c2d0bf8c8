//! `/proc/PID/stat` (proc_pid_stat(5)): `PID (NAME) STATE PARENT GROUP …`.

use std::fs;

/// What the kernel says of a process in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    /// The letter of its state.
    pub(crate) state: char,
    /// The process that started it; 0 if that is in another PID namespace, or there is none.
    pub(crate) parent: u32,
    /// Its process group.
    pub(crate) group: u32,
    /// The flags of the kernel (`PF_…` in Linux `include/linux/sched.h`).
    pub(crate) flags: u64,
    /// The CPU time that it has used, in units of USER_HZ.
    pub(crate) ticks: u64,
    /// When it started, in units of USER_HZ from the start of the machine on.
    pub(crate) started: u64,
}

impl ProcessStat {
    /// That of a process; `None` if it does not exist.
    pub(crate) fn of(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Reads the line. The name, which is in parentheses, may contain any character.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // The manual counts fields from 1; the state is the third.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: number(4)?.try_into().ok()?,
            group: number(5)?.try_into().ok()?,
            flags: number(9)?,
            ticks: number(14)?.saturating_add(number(15)?),
            started: number(22)?,
        })
    }

    /// Whether it has ended, and only its exit code is left.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let line = "4711 (a ) b (c) S 1 4700 4700 0 -1 4194560 9 8 7 6 150 50 3 2 20 0 1 0 98765 1000 200\n";
        let found = ProcessStat::parse(line).expect("it is whole");
        let expected =
            ProcessStat { state: 'S', parent: 1, group: 4700, flags: 4_194_560, ticks: 200, started: 98_765 };
        assert_eq!((found, found.has_ended()), (expected, false));
        assert!(ProcessStat::parse(&line.replace(" S ", " Z ")).is_some_and(ProcessStat::has_ended));
        assert_eq!([ProcessStat::parse("4711"), ProcessStat::parse("4711 (a) S 1 4700")], [None, None]);
    }

    #[test]
    fn the_group_of_this_process_is_the_one_that_the_system_tells() {
        let own = ProcessStat::of(std::process::id()).expect("it runs");
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        assert_eq!((own.group, own.parent), (group as u32, std::os::unix::process::parent_id()));
    }
}
