//! Algorithms by name, as scenarios choose them. The policy crate keeps the catalogues; here a name is one that is
//! known.

use std::borrow::Cow;
use std::sync::Arc;

use subflow_policy::bottleneck::{BottleneckDetection, DetectorEntry, Parameters};
use subflow_policy::congestion::{Algorithm, Options, cubic, wvegas};
use subflow_policy::path_manager::{Options as PathManagerOptions, PathManagement};
use subflow_policy::scheduler::{Options as SchedulerOptions, Scheduling};

use super::TcpOptions;
use super::custom::Prototypes;

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

/// The entry with this name or alias.
fn find(catalogue: &[CatalogueEntry], name: &str) -> Option<&'static str> {
    let known = |entry: &&CatalogueEntry| entry.name == name || entry.aliases.contains(&name);
    catalogue.iter().find(known).map(|entry| entry.name)
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident of $algorithm:ty, $catalogue:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            name: Cow<'static, str>,
            /// A prototype of one that is not in the catalogue.
            custom: Option<Arc<$algorithm>>,
        }

        impl $name {
            /// All entries of the catalogue.
            pub fn catalogue() -> Vec<CatalogueEntry> {
                $catalogue
            }
            /// The algorithm with this name or alias, if there is one.
            pub fn parse(name: &str) -> Option<Self> {
                find(&Self::catalogue(), name).map(|name| Self { name: name.into(), custom: None })
            }
            /// The algorithm with this name or alias, which may be one of `custom`.
            pub(crate) fn parse_with(name: &str, custom: &Prototypes<$algorithm>) -> Option<Self> {
                let own = custom.iter().find(|(known, _)| known == name);
                let own = own.map(|(name, custom)| Self { name: name.clone().into(), custom: Some(custom.clone()) });
                own.or_else(|| Self::parse(name))
            }
            /// Its name.
            pub fn name(&self) -> &str {
                &self.name
            }
        }

        /// Two custom algorithms are equal if they have the same prototype.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                let prototype = |name: &Self| name.custom.as_ref().map(Arc::as_ptr);
                self.name == other.name && prototype(self) == prototype(other)
            }
        }

        impl Eq for $name {}
    };
}

names! {
    /// The name of a congestion-control algorithm.
    CongestionName of Algorithm,
    Algorithm::all()
        .iter()
        .map(|a| CatalogueEntry { name: a.name, aliases: &[], summary: a.summary, source: a.source })
        .collect()
}
names! {
    /// The name of a packet scheduler.
    SchedulerName of Scheduling,
    Scheduling::all()
        .iter()
        .map(|s| CatalogueEntry { name: s.name, aliases: s.aliases, summary: s.description, source: s.source })
        .collect()
}
names! {
    /// The name of a path manager.
    PathManagerName of PathManagement,
    PathManagement::all()
        .iter()
        .map(|p| CatalogueEntry { name: p.name, aliases: p.aliases, summary: p.description, source: p.source })
        .collect()
}

/// The name of a shared-bottleneck detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectorName(&'static str);

impl DetectorName {
    /// All entries of the catalogue.
    pub fn catalogue() -> Vec<CatalogueEntry> {
        BottleneckDetection::all()
            .iter()
            .map(|d| CatalogueEntry { name: d.name, aliases: d.aliases, summary: d.description, source: d.source })
            .collect()
    }
    /// The detector with this name or alias, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        find(&Self::catalogue(), name).map(Self)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
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
    /// The options that it takes.
    pub fn options(&self) -> &'static [&'static str] {
        let entry = Algorithm::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A congestion control with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Which one.
    pub name: CongestionName,
    /// CUBIC's constants.
    pub cubic: cubic::Constants,
    /// Those of wVegas.
    pub wvegas: wvegas::Constants,
}

impl Congestion {
    /// One with its options at their defaults.
    pub fn new(name: CongestionName) -> Self {
        Self { name, cubic: cubic::Constants::default(), wvegas: wvegas::Constants::default() }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.name()
    }
    /// Whether its options are at their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::new(self.name.clone())
    }
    /// A new instance of the algorithm, for one connection.
    pub fn build(&self, stack: &TcpOptions) -> Algorithm {
        if let Some(prototype) = &self.name.custom {
            return Algorithm::clone(prototype);
        }
        let TcpOptions { hystart, fixed_point, two_segment_floor, cmt_rpv2, .. } = *stack;
        let Self { cubic, wvegas, .. } = *self;
        let options = Options { hystart, fixed_point, two_segment_floor, cmt_rpv2, cubic, wvegas };
        Algorithm::with_options(self.name(), options).expect("the name came out of the catalogue")
    }
}

impl PathManagerName {
    /// The options that it takes.
    pub fn options(&self) -> &'static [&'static str] {
        let entry = PathManagement::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A path manager with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathManager {
    /// Which one.
    pub name: PathManagerName,
    /// Its options; those of others are at their defaults.
    pub options: PathManagerOptions,
}

impl PathManager {
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.name()
    }
    /// A new instance of the path manager, for one connection.
    pub fn build(&self) -> PathManagement {
        if let Some(prototype) = &self.name.custom {
            return PathManagement::clone(prototype);
        }
        PathManagement::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}

impl SchedulerName {
    /// The options that it takes.
    pub fn options(&self) -> &'static [&'static str] {
        let entry = Scheduling::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A packet scheduler with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Which one.
    pub name: SchedulerName,
    /// Its options; those of others are at their defaults.
    pub options: SchedulerOptions,
}

impl Scheduler {
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.name()
    }
    /// A new instance of the scheduler, for one connection.
    pub fn build(&self) -> Scheduling {
        if let Some(prototype) = &self.name.custom {
            return Scheduling::clone(prototype);
        }
        Scheduling::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}
