//! The schedulers by name, with static dispatch.

use super::{Assignment, LinuxDefault, LowestLatency, QueueView, RoundRobin, Scheduler, SubflowView};

/// One of the schedulers, chosen by name. An enum, so that a decision per packet costs no dynamic call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Scheduling {
    /// `ll`.
    LowestLatency(LowestLatency),
    /// `rr`.
    RoundRobin(RoundRobin),
    /// `linux-default`.
    LinuxDefault(LinuxDefault),
}

/// What there is to know about a scheduler before it is chosen.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SchedulerEntry {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence without a full stop.
    pub description: &'static str,
    /// Where it was published.
    pub source: &'static str,
    new: fn() -> Scheduling,
}

impl SchedulerEntry {
    /// The scheduler in its initial state.
    pub fn create(&self) -> Scheduling {
        (self.new)()
    }
}

const ALL: &[SchedulerEntry] = &[
    SchedulerEntry {
        name: "ll",
        aliases: &["min-rtt", "default"],
        description: "the subflow with the lowest smoothed RTT",
        source: "lima2017, Algorithm 1; Linux MPTCP 0.9x, default",
        new: || Scheduling::LowestLatency(LowestLatency),
    },
    SchedulerEntry {
        name: "rr",
        aliases: &["round-robin"],
        description: "one subflow after the other, one segment per turn",
        source: "lima2017, Algorithm 2; Linux MPTCP 0.9x, roundrobin",
        new: || Scheduling::RoundRobin(RoundRobin::default()),
    },
    SchedulerEntry {
        name: "linux-default",
        aliases: &["linux"],
        description: "the subflow whose queue drains first at its pacing rate, in bursts of 64 KB queued ahead of its window",
        source: "Linux 6.12, net/mptcp/protocol.c, mptcp_subflow_get_send",
        new: || Scheduling::LinuxDefault(LinuxDefault::default()),
    },
];

impl Scheduling {
    /// All schedulers, in the order in which they are listed.
    pub fn all() -> &'static [SchedulerEntry] {
        ALL
    }

    /// The scheduler of this name or alias, in its initial state.
    pub fn from_name(name: &str) -> Option<Self> {
        let entry = ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        Some(entry.create())
    }

    /// Its name in [`Scheduling::all`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::LowestLatency(_) => "ll",
            Self::RoundRobin(_) => "rr",
            Self::LinuxDefault(_) => "linux-default",
        }
    }
}

/// `ll`.
impl Default for Scheduling {
    fn default() -> Self {
        Self::LowestLatency(LowestLatency)
    }
}

impl Scheduler for Scheduling {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        match self {
            Self::LowestLatency(scheduler) => scheduler.next(subflows, queue),
            Self::RoundRobin(scheduler) => scheduler.next(subflows, queue),
            Self::LinuxDefault(scheduler) => scheduler.next(subflows, queue),
        }
    }

    fn queues_ahead(&self) -> bool {
        match self {
            Self::LowestLatency(scheduler) => scheduler.queues_ahead(),
            Self::RoundRobin(scheduler) => scheduler.queues_ahead(),
            Self::LinuxDefault(scheduler) => scheduler.queues_ahead(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_makes_the_scheduler_it_names() {
        for entry in Scheduling::all() {
            assert_eq!(entry.create().name(), entry.name);
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(Scheduling::from_name(name).map(|s| s.name()), Some(entry.name));
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Scheduling::all().iter().flat_map(|e| e.aliases.iter().chain([&e.name])).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(Scheduling::from_name("lowest-latency-first").is_none());
    }
}
