//! Algorithms by name, as scenarios choose them. The policy crate keeps the catalogues; here a name is one that is
//! known.

use subflow_policy::bottleneck::{BottleneckDetection, DetectorEntry, Parameters};
use subflow_policy::congestion::{Algorithm, Options};
use subflow_policy::path_manager::{Options as PathManagerOptions, PathManagement};
use subflow_policy::scheduler::{Options as SchedulerOptions, Scheduling};

use super::TcpOptions;

/// One line of a catalogue: what there is to know of an algorithm before it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined; empty where there is nothing to cite.
    pub source: &'static str,
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $catalogue:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(&'static str);

        impl $name {
            /// All entries of the catalogue.
            pub fn catalogue() -> Vec<CatalogueEntry> {
                $catalogue
            }
            /// The algorithm with this name or alias, if there is one.
            pub fn parse(name: &str) -> Option<Self> {
                let known = |entry: &CatalogueEntry| entry.name == name || entry.aliases.contains(&name);
                Self::catalogue().into_iter().find(known).map(|entry| Self(entry.name))
            }
            /// Its name.
            pub fn name(self) -> &'static str {
                self.0
            }
        }
    };
}

names! {
    /// The name of a congestion-control algorithm.
    CongestionName,
    Algorithm::all()
        .iter()
        .map(|a| CatalogueEntry { name: a.name, aliases: &[], summary: a.summary, source: a.source })
        .collect()
}
names! {
    /// The name of a packet scheduler.
    SchedulerName,
    Scheduling::all()
        .iter()
        .map(|s| CatalogueEntry { name: s.name, aliases: s.aliases, summary: s.description, source: s.source })
        .collect()
}
names! {
    /// The name of a path manager.
    PathManagerName,
    PathManagement::all()
        .iter()
        .map(|p| CatalogueEntry { name: p.name, aliases: p.aliases, summary: p.description, source: p.source })
        .collect()
}

names! {
    /// The name of a shared-bottleneck detector.
    DetectorName,
    BottleneckDetection::all()
        .iter()
        .map(|d| CatalogueEntry { name: d.name, aliases: d.aliases, summary: d.description, source: d.source })
        .collect()
}

impl DetectorName {
    /// Its default parameters.
    pub fn defaults(self) -> Parameters {
        self.entry().defaults
    }
    pub(super) fn entry(self) -> &'static DetectorEntry {
        BottleneckDetection::entry(self.0).expect("the name came out of the catalogue")
    }
}

impl CongestionName {
    /// A new instance of the algorithm, for one connection.
    pub fn build(self, stack: &TcpOptions) -> Algorithm {
        let TcpOptions { hystart, fixed_point, two_segment_floor, cmt_rpv2, .. } = *stack;
        let options = Options { hystart, fixed_point, two_segment_floor, cmt_rpv2 };
        Algorithm::with_options(self.0, options).expect("the name came out of the catalogue")
    }
}

impl PathManagerName {
    /// The options that it takes.
    pub fn options(self) -> &'static [&'static str] {
        let entry = PathManagement::all().iter().find(|entry| entry.name == self.0);
        entry.expect("the name came out of the catalogue").options
    }
}

/// A path manager with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathManager {
    /// Which one.
    pub name: PathManagerName,
    /// Its options; those of others are at their defaults.
    pub options: PathManagerOptions,
}

impl PathManager {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.name.name()
    }
    /// A new instance of the path manager, for one connection.
    pub fn build(self) -> PathManagement {
        PathManagement::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}

impl SchedulerName {
    /// The options that it takes.
    pub fn options(self) -> &'static [&'static str] {
        let entry = Scheduling::all().iter().find(|entry| entry.name == self.0);
        entry.expect("the name came out of the catalogue").options
    }
}

/// A packet scheduler with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Which one.
    pub name: SchedulerName,
    /// Its options; those of others are at their defaults.
    pub options: SchedulerOptions,
}

impl Scheduler {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.name.name()
    }
    /// A new instance of the scheduler, for one connection.
    pub fn build(self) -> Scheduling {
        Scheduling::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}
