//! The schedulers by name, with static dispatch. A new one is one file and one line in the table below.

use std::sync::Arc;

use subflow_quantity::Ratio;

use crate::bottleneck::Correlations;
use crate::custom::{CustomScheduler, FlowEnd};

use super::{
    Adaptive, Assignment, Blest, Ecf, HighestSendingRate, LargestWindowSpace, LinuxDefault, LowestLatency,
    LowestTimeSpace, QueueView, RedDiversity, RedModule, Redundant, RoundRobin, Scheduler, SubflowView, blest,
};

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

macro_rules! schedulers {
    ($($variant:ident($build:expr): $name:literal, [$($alias:literal),*], options [$($option:literal),*],
       $description:literal, $source:literal;)+) => {
        /// One of the schedulers, chosen by name. It is an enum so that a decision per packet needs no dynamic call.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum Scheduling {
            $(#[doc = concat!("`", $name, "`.")] $variant($variant),)+
            /// One that is not in the catalogue, with its name.
            Custom(Arc<str>, Box<dyn CustomScheduler>),
        }

        const ALL: &[SchedulerEntry] = &[$(SchedulerEntry {
            name: $name,
            aliases: &[$($alias),*],
            description: $description,
            source: $source,
            options: &[$($option),*],
            new: |options| Scheduling::$variant(($build)(options)),
        }),+];

        impl Scheduling {
            /// Its name in [`Scheduling::all`], or that of the custom one.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Custom(name, _) => name,
                }
            }
        }

        // Every method goes to every scheduler: one that overrides a default of the trait is asked.
        impl Scheduler for Scheduling {
            fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
                match self {
                    $(Self::$variant(scheduler) => scheduler.next(subflows, queue),)+
                    Self::Custom(_, scheduler) => scheduler.next(subflows, queue),
                }
            }
            fn queues_ahead(&self) -> bool {
                match self {
                    $(Self::$variant(scheduler) => scheduler.queues_ahead(),)+
                    Self::Custom(_, scheduler) => scheduler.queues_ahead(),
                }
            }
            fn repeats(&self) -> bool {
                match self {
                    $(Self::$variant(scheduler) => scheduler.repeats(),)+
                    Self::Custom(_, scheduler) => scheduler.repeats(),
                }
            }
            fn goes_by_correlations(&self) -> bool {
                match self {
                    $(Self::$variant(scheduler) => scheduler.goes_by_correlations(),)+
                    Self::Custom(_, scheduler) => scheduler.goes_by_correlations(),
                }
            }
            fn on_correlations(&mut self, correlations: &Correlations) {
                match self {
                    $(Self::$variant(scheduler) => scheduler.on_correlations(correlations),)+
                    Self::Custom(_, scheduler) => scheduler.on_correlations(correlations),
                }
            }
            fn on_replaced(&mut self, subflow: usize, last: &SubflowView) {
                match self {
                    $(Self::$variant(scheduler) => scheduler.on_replaced(subflow, last),)+
                    Self::Custom(_, scheduler) => scheduler.on_replaced(subflow, last),
                }
            }
            fn begin(&mut self, end: FlowEnd) {
                match self {
                    $(Self::$variant(scheduler) => scheduler.begin(end),)+
                    Self::Custom(_, scheduler) => scheduler.begin(end),
                }
            }
        }
    };
}

schedulers! {
    LowestLatency(|_| LowestLatency): "ll", ["min-rtt", "minrtt", "default"], options [],
        "the subflow with the lowest smoothed RTT",
        "lima2017, Algorithm 1; Linux MPTCP 0.9x, default";
    RoundRobin(|o: &Options| RoundRobin::new(o.oldest_first)): "rr", ["round-robin"], options ["oldest_first"],
        "one subflow after the other, one segment per turn",
        "lima2017, Algorithm 2; Linux MPTCP 0.9x, roundrobin";
    Redundant(|_| Redundant::default()): "redundant", ["rdr"], options [],
        "all data on every subflow, on the fastest first",
        "lima2017, Algorithm 3; Linux MPTCP 0.9x, redundant";
    RedDiversity(|_| RedDiversity::default()): "red-diversity", ["red"], options [],
        "the subflow least correlated with the others, and copies on subflows correlated with no carrier",
        "red2018, section 3.2";
    RedModule(|_| RedModule::default()): "red-module", [], options [],
        "all data on each subflow of a list of weakly correlated ones, made every 2 s, and on the initial one",
        "the kernel module of red2018 (ccsc-research/red-scheduler)";
    LargestWindowSpace(|_| LargestWindowSpace): "lws", ["largest-window-space"], options [],
        "the subflow with the most window space",
        "lima2017, Algorithm 4";
    LowestTimeSpace(|_| LowestTimeSpace): "lts", ["lowest-time-space"], options [],
        "the subflow with the least smoothed RTT per packet of window space",
        "lima2017, Algorithm 5";
    HighestSendingRate(|_| HighestSendingRate): "hsr", ["highest-sending-rate"], options [],
        "the subflow with the largest window per latest RTT",
        "lima2017, Algorithm 6";
    Blest(|o: &Options| Blest::new(o.lambda)): "blest", [], options ["lambda", "lambda_min", "lambda_max"],
        "the lowest RTT, but no slow subflow if it would fill the send window that the fast one needs",
        "Ferlin et al., IFIP Networking 2016; Linux MPTCP 0.95";
    Ecf(|o: &Options| Ecf::new(o.beta)): "ecf", ["earliest-completion-first"], options ["beta"],
        "the lowest RTT, but waits for the fast subflow if the data completes earlier that way",
        "Lim et al., CoNEXT 2017; Linux MPTCP 0.95";
    Adaptive(|_| Adaptive::default()): "adaptive", [], options [],
        "ll, lws, lts or hsr, by loss, rates and delays, with bounds for subflows that would block the others",
        "this project, after the future work of lima2017";
    LinuxDefault(|_| LinuxDefault::default()): "linux-default", ["linux"], options [],
        "the subflow whose queue drains first at its pacing rate, in bursts of 64 KB beyond its window",
        "Linux 6.12, net/mptcp/protocol.c, mptcp_subflow_get_send";
}

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
}

/// `ll`.
impl Default for Scheduling {
    fn default() -> Self {
        Self::LowestLatency(LowestLatency)
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
                assert_eq!(Scheduling::from_name(name).as_ref().map(Scheduling::name), Some(entry.name));
            }
        }
    }

    #[test]
    fn what_a_scheduler_overrides_is_asked_of_it() {
        let those = |asked: fn(&Scheduling) -> bool| -> Vec<_> {
            let all = Scheduling::all().iter();
            all.filter(|entry| asked(&entry.create(&Options::default()))).map(|entry| entry.name).collect()
        };
        assert_eq!(those(Scheduling::queues_ahead), ["linux-default"]);
        // `red-module` always repeats, `red-diversity` only while it places copies: a new one does not.
        assert_eq!(those(Scheduling::repeats), ["redundant", "red-module"]);
        assert_eq!(those(Scheduling::goes_by_correlations), ["red-diversity"]);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Scheduling::all().iter().flat_map(|e| e.aliases.iter().chain([&e.name])).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(Scheduling::from_name("lowest-latency-first").is_none());
    }
}
