//! Algorithms by name, as scenarios choose them. The policy crate keeps the catalogues; here a name is one that is
//! known.

use std::borrow::Cow;
use std::sync::Arc;

use subflow_policy::bottleneck::{BottleneckDetection, DetectorEntry, Parameters};
use subflow_policy::catalogue::Description;
use subflow_policy::congestion::{Algorithm, Options, cubic, wvegas};
use subflow_policy::path_manager::{Options as PathManagerOptions, PathManagement};
use subflow_policy::scheduler::{Options as SchedulerOptions, Scheduling};

use super::custom::Prototypes;

/// The entry with this name or alias.
fn find(catalogue: &[Description], name: &str) -> Option<&'static str> {
    let known = |entry: &&Description| entry.name == name || entry.aliases.contains(&name);
    catalogue.iter().find(known).map(|entry| entry.name)
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident of $algorithm:ty, $catalogue:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            name: Cow<'static, str>,
            /// A prototype of one that is not in the catalogue.
            custom: Option<Arc<$algorithm>>,
        }

        impl $name {
            /// All entries of the catalogue.
            pub(crate) fn catalogue() -> Vec<Description> {
                $catalogue
            }
            /// The algorithm with this name or alias, if there is one.
            pub(crate) fn parse(name: &str) -> Option<Self> {
                find(&Self::catalogue(), name).map(|name| Self { name: name.into(), custom: None })
            }
            /// The algorithm with this name or alias, which may be one of `custom`.
            pub(crate) fn parse_with(name: &str, custom: &Prototypes<$algorithm>) -> Option<Self> {
                let own = custom.iter().find(|(known, _)| known == name);
                let own = own.map(|(name, custom)| Self { name: name.clone().into(), custom: Some(custom.clone()) });
                own.or_else(|| Self::parse(name))
            }
            /// Its name.
            pub(crate) fn name(&self) -> &str {
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
        .map(|a| Description { name: a.name, aliases: &[], summary: a.summary, source: a.source })
        .collect()
}
names! {
    /// The name of a packet scheduler.
    SchedulerName of Scheduling,
    Scheduling::all()
        .iter()
        .map(|s| Description { name: s.name, aliases: s.aliases, summary: s.description, source: s.source })
        .collect()
}
names! {
    /// The name of a path manager.
    PathManagerName of PathManagement,
    PathManagement::all()
        .iter()
        .map(|p| Description { name: p.name, aliases: p.aliases, summary: p.description, source: p.source })
        .collect()
}

/// The name of a shared-bottleneck detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetectorName(&'static str);

impl DetectorName {
    /// All entries of the catalogue.
    pub(crate) fn catalogue() -> Vec<Description> {
        BottleneckDetection::all()
            .iter()
            .map(|d| Description { name: d.name, aliases: d.aliases, summary: d.description, source: d.source })
            .collect()
    }
    /// The detector with this name or alias, if there is one.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        find(&Self::catalogue(), name).map(Self)
    }
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.0
    }
}

impl DetectorName {
    /// Its default parameters.
    pub(crate) fn defaults(self) -> Parameters {
        self.entry().defaults
    }
    pub(crate) fn entry(self) -> &'static DetectorEntry {
        BottleneckDetection::entry(self.0).expect("the name came out of the catalogue")
    }
}

impl CongestionName {
    /// The options that it takes.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        let entry = Algorithm::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A congestion control with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Congestion {
    /// Which one.
    pub(crate) name: CongestionName,
    /// CUBIC's constants.
    pub(crate) cubic: cubic::Constants,
    /// Those of wVegas.
    pub(crate) wvegas: wvegas::Constants,
}

impl Congestion {
    /// One with its options at their defaults.
    pub(crate) fn new(name: CongestionName) -> Self {
        Self { name, cubic: cubic::Constants::default(), wvegas: wvegas::Constants::default() }
    }
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.name.name()
    }
    /// A new instance of the algorithm, for one connection.
    pub(crate) fn build(&self, stack: &Options) -> Algorithm {
        if let Some(prototype) = &self.name.custom {
            return Algorithm::clone(prototype);
        }
        let Self { cubic, wvegas, .. } = *self;
        let options = Options { cubic, wvegas, ..*stack };
        Algorithm::with_options(self.name(), options).expect("the name came out of the catalogue")
    }
}

impl PathManagerName {
    /// The options that it takes.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        let entry = PathManagement::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A path manager with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathManager {
    /// Which one.
    pub(crate) name: PathManagerName,
    /// Its options; those of others are at their defaults.
    pub(crate) options: PathManagerOptions,
}

impl PathManager {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.name.name()
    }
    /// A new instance of the path manager, for one connection.
    pub(crate) fn build(&self) -> PathManagement {
        if let Some(prototype) = &self.name.custom {
            return PathManagement::clone(prototype);
        }
        PathManagement::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}

impl SchedulerName {
    /// The options that it takes.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        let entry = Scheduling::all().iter().find(|entry| entry.name == self.name);
        // One that is not in the catalogue takes its options where it is made.
        entry.map_or(&[], |entry| entry.options)
    }
}

/// A packet scheduler with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scheduler {
    /// Which one.
    pub(crate) name: SchedulerName,
    /// Its options; those of others are at their defaults.
    pub(crate) options: SchedulerOptions,
}

impl Scheduler {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.name.name()
    }
    /// A new instance of the scheduler, for one connection.
    pub(crate) fn build(&self) -> Scheduling {
        if let Some(prototype) = &self.name.custom {
            return Scheduling::clone(prototype);
        }
        Scheduling::with_options(self.name(), &self.options).expect("the name came out of the catalogue")
    }
}
