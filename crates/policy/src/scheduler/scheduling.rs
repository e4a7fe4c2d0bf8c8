//! The schedulers by name, with static dispatch.

use subflow_quantity::Ratio;

use crate::bottleneck::Correlations;
use crate::custom::{CustomScheduler, FlowEnd};

use super::{
    Adaptive, Assignment, Blest, Ecf, HighestSendingRate, LargestWindowSpace, LinuxDefault, LowestLatency,
    LowestTimeSpace, QueueView, RedDiversity, RedModule, Redundant, RoundRobin, Scheduler, SubflowView, blest,
};

/// One of the schedulers, chosen by name. It is an enum so that a decision per packet needs no dynamic call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Scheduling {
    /// `ll`.
    LowestLatency(LowestLatency),
    /// `rr`.
    RoundRobin(RoundRobin),
    /// `redundant`.
    Redundant(Redundant),
    /// `red-diversity`.
    RedDiversity(RedDiversity),
    /// `red-module`.
    RedModule(RedModule),
    /// `lws`.
    LargestWindowSpace(LargestWindowSpace),
    /// `lts`.
    LowestTimeSpace(LowestTimeSpace),
    /// `hsr`.
    HighestSendingRate(HighestSendingRate),
    /// `blest`.
    Blest(Blest),
    /// `ecf`.
    Ecf(Ecf),
    /// `adaptive`.
    Adaptive(Adaptive),
    /// `linux-default`.
    LinuxDefault(LinuxDefault),
    /// One that is not in the catalogue.
    Custom(Box<dyn CustomScheduler>),
}

/// Options of the schedulers. [`SchedulerEntry::options`] lists those that each of them uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `oldest_first`: whether round robin takes the first unused subflow instead of the last.
    pub oldest_first: bool,
    /// `beta`: ECF's hysteresis β.
    pub beta: Ratio,
    /// `lambda`, `lambda_min`, `lambda_max`: initial value and bounds of BLEST's λ.
    pub lambda: blest::Bounds,
}

impl Default for Options {
    fn default() -> Self {
        Self { oldest_first: false, beta: Ecf::DEFAULT_BETA, lambda: blest::Bounds::default() }
    }
}

/// The catalogue entry of a scheduler.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SchedulerEntry {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence without a full stop.
    pub description: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Names of the [`Options`] that it uses.
    pub options: &'static [&'static str],
    new: fn(&Options) -> Scheduling,
}

impl SchedulerEntry {
    /// Creates the scheduler with these options.
    pub fn create(&self, options: &Options) -> Scheduling {
        (self.new)(options)
    }
}

const ALL: &[SchedulerEntry] = &[
    SchedulerEntry {
        name: "ll",
        aliases: &["min-rtt", "default"],
        description: "the subflow with the lowest smoothed RTT",
        source: "lima2017, Algorithm 1; Linux MPTCP 0.9x, default",
        options: &[],
        new: |_| Scheduling::LowestLatency(LowestLatency),
    },
    SchedulerEntry {
        name: "rr",
        aliases: &["round-robin"],
        description: "one subflow after the other, one segment per turn",
        source: "lima2017, Algorithm 2; Linux MPTCP 0.9x, roundrobin",
        options: &["oldest_first"],
        new: |options| Scheduling::RoundRobin(RoundRobin::new(options.oldest_first)),
    },
    SchedulerEntry {
        name: "redundant",
        aliases: &["rdr"],
        description: "all data on every subflow, on the fastest first",
        source: "lima2017, Algorithm 3; Linux MPTCP 0.9x, redundant",
        options: &[],
        new: |_| Scheduling::Redundant(Redundant::default()),
    },
    SchedulerEntry {
        name: "red-diversity",
        aliases: &["red"],
        description: "the subflow least correlated with the others, and copies on subflows correlated with no carrier",
        source: "red2018, section 3.2",
        options: &[],
        new: |_| Scheduling::RedDiversity(RedDiversity::default()),
    },
    SchedulerEntry {
        name: "red-module",
        aliases: &[],
        description: "all data on each subflow of a list of weakly correlated ones, made every 2 s, and on the \
            initial one",
        source: "the kernel module of red2018 (ccsc-research/red-scheduler)",
        options: &[],
        new: |_| Scheduling::RedModule(RedModule::default()),
    },
    SchedulerEntry {
        name: "lws",
        aliases: &["largest-window-space"],
        description: "the subflow with the most window space",
        source: "lima2017, Algorithm 4",
        options: &[],
        new: |_| Scheduling::LargestWindowSpace(LargestWindowSpace),
    },
    SchedulerEntry {
        name: "lts",
        aliases: &["lowest-time-space"],
        description: "the subflow with the least smoothed RTT per packet of window space",
        source: "lima2017, Algorithm 5",
        options: &[],
        new: |_| Scheduling::LowestTimeSpace(LowestTimeSpace),
    },
    SchedulerEntry {
        name: "hsr",
        aliases: &["highest-sending-rate"],
        description: "the subflow with the largest window per latest RTT",
        source: "lima2017, Algorithm 6",
        options: &[],
        new: |_| Scheduling::HighestSendingRate(HighestSendingRate),
    },
    SchedulerEntry {
        name: "blest",
        aliases: &[],
        description: "the lowest RTT, but no slow subflow if it would fill the send window that the fast one needs",
        source: "Ferlin et al., IFIP Networking 2016; Linux MPTCP 0.95",
        options: &["lambda", "lambda_min", "lambda_max"],
        new: |options| Scheduling::Blest(Blest::new(options.lambda)),
    },
    SchedulerEntry {
        name: "ecf",
        aliases: &["earliest-completion-first"],
        description: "the lowest RTT, but waits for the fast subflow if the data completes earlier that way",
        source: "Lim et al., CoNEXT 2017; Linux MPTCP 0.95",
        options: &["beta"],
        new: |options| Scheduling::Ecf(Ecf::new(options.beta)),
    },
    SchedulerEntry {
        name: "adaptive",
        aliases: &[],
        description: "ll, lws, lts or hsr, by loss, rates and delays, with bounds for subflows that would block the others",
        source: "this project, after the future work of lima2017",
        options: &[],
        new: |_| Scheduling::Adaptive(Adaptive::default()),
    },
    SchedulerEntry {
        name: "linux-default",
        aliases: &["linux"],
        description: "the subflow whose queue drains first at its pacing rate, in bursts of 64 KB beyond its window",
        source: "Linux 6.12, net/mptcp/protocol.c, mptcp_subflow_get_send",
        options: &[],
        new: |_| Scheduling::LinuxDefault(LinuxDefault::default()),
    },
];

impl Scheduling {
    /// All schedulers, in listing order.
    pub fn all() -> &'static [SchedulerEntry] {
        ALL
    }

    /// Creates the scheduler with this name or alias, with default options.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::with_options(name, &Options::default())
    }

    /// Creates the scheduler with this name or alias. Options that it does not use have no effect.
    pub fn with_options(name: &str, options: &Options) -> Option<Self> {
        let entry = ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        Some(entry.create(options))
    }

    /// Its name in [`Scheduling::all`]; `custom` if it is not there.
    pub fn name(&self) -> &'static str {
        match self {
            Self::LowestLatency(_) => "ll",
            Self::RoundRobin(_) => "rr",
            Self::Redundant(_) => "redundant",
            Self::RedDiversity(_) => "red-diversity",
            Self::RedModule(_) => "red-module",
            Self::LargestWindowSpace(_) => "lws",
            Self::LowestTimeSpace(_) => "lts",
            Self::HighestSendingRate(_) => "hsr",
            Self::Blest(_) => "blest",
            Self::Ecf(_) => "ecf",
            Self::Adaptive(_) => "adaptive",
            Self::LinuxDefault(_) => "linux-default",
            Self::Custom(_) => "custom",
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
            Self::Redundant(scheduler) => scheduler.next(subflows, queue),
            Self::RedDiversity(scheduler) => scheduler.next(subflows, queue),
            Self::RedModule(scheduler) => scheduler.next(subflows, queue),
            Self::LargestWindowSpace(scheduler) => scheduler.next(subflows, queue),
            Self::LowestTimeSpace(scheduler) => scheduler.next(subflows, queue),
            Self::HighestSendingRate(scheduler) => scheduler.next(subflows, queue),
            Self::Blest(scheduler) => scheduler.next(subflows, queue),
            Self::Ecf(scheduler) => scheduler.next(subflows, queue),
            Self::Adaptive(scheduler) => scheduler.next(subflows, queue),
            Self::LinuxDefault(scheduler) => scheduler.next(subflows, queue),
            Self::Custom(scheduler) => scheduler.next(subflows, queue),
        }
    }

    fn queues_ahead(&self) -> bool {
        match self {
            Self::LinuxDefault(scheduler) => scheduler.queues_ahead(),
            Self::Custom(scheduler) => scheduler.queues_ahead(),
            _ => false,
        }
    }

    fn repeats(&self) -> bool {
        match self {
            Self::Redundant(scheduler) => scheduler.repeats(),
            Self::RedDiversity(scheduler) => scheduler.repeats(),
            Self::RedModule(scheduler) => scheduler.repeats(),
            Self::Custom(scheduler) => scheduler.repeats(),
            _ => false,
        }
    }

    fn goes_by_correlations(&self) -> bool {
        match self {
            Self::RedDiversity(scheduler) => scheduler.goes_by_correlations(),
            Self::Custom(scheduler) => scheduler.goes_by_correlations(),
            _ => false,
        }
    }

    fn on_correlations(&mut self, correlations: &Correlations) {
        match self {
            Self::RedDiversity(scheduler) => scheduler.on_correlations(correlations),
            Self::Custom(scheduler) => scheduler.on_correlations(correlations),
            _ => {}
        }
    }

    fn on_replaced(&mut self, subflow: usize, last: &SubflowView) {
        match self {
            Self::RoundRobin(scheduler) => scheduler.on_replaced(subflow, last),
            Self::Redundant(scheduler) => scheduler.on_replaced(subflow, last),
            Self::RedModule(scheduler) => scheduler.on_replaced(subflow, last),
            Self::Adaptive(scheduler) => scheduler.on_replaced(subflow, last),
            Self::LinuxDefault(scheduler) => scheduler.on_replaced(subflow, last),
            Self::Custom(scheduler) => scheduler.on_replaced(subflow, last),
            // These keep nothing of a single subflow; the correlations of RED are the detector's.
            Self::LowestLatency(_)
            | Self::RedDiversity(_)
            | Self::LargestWindowSpace(_)
            | Self::LowestTimeSpace(_)
            | Self::HighestSendingRate(_)
            | Self::Blest(_)
            | Self::Ecf(_) => {}
        }
    }

    fn begin(&mut self, end: FlowEnd) {
        if let Self::Custom(scheduler) = self {
            scheduler.begin(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_makes_the_scheduler_it_names() {
        for entry in Scheduling::all() {
            assert_eq!(entry.create(&Options::default()).name(), entry.name);
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
