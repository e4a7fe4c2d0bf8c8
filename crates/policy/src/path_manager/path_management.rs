//! The path managers by name, with static dispatch.

use std::num::NonZeroU8;

use crate::custom::{CustomPathManager, FlowEnd};

use super::{Binder, Command, Event, FullMesh, NDiffPorts, Passive, PathManager, SingleMesh};

/// One of the path managers, chosen by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PathManagement {
    /// `default`.
    Passive(Passive),
    /// `full-mesh`.
    FullMesh(FullMesh),
    /// `single-mesh`.
    SingleMesh(SingleMesh),
    /// `ndiffports`.
    NDiffPorts(NDiffPorts),
    /// `binder`.
    Binder(Binder),
    /// One that is not in the catalogue.
    Custom(Box<dyn CustomPathManager>),
}

/// Options of the path managers. [`PathManagerEntry::options`] lists those that each of them uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `subflows_per_pair`: the number of subflows that `full-mesh` opens on each pair of addresses.
    pub subflows_per_pair: NonZeroU8,
    /// `n`: the number of subflows that `ndiffports` opens, including the initial one.
    pub n: NonZeroU8,
}

impl Default for Options {
    fn default() -> Self {
        Self { subflows_per_pair: NonZeroU8::MIN, n: NDiffPorts::DEFAULT_N }
    }
}

/// The catalogue entry of a path manager.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PathManagerEntry {
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
    new: fn(&Options) -> PathManagement,
}

impl PathManagerEntry {
    /// Creates the path manager with these options.
    pub fn create(&self, options: &Options) -> PathManagement {
        (self.new)(options)
    }
}

const ALL: &[PathManagerEntry] = &[
    PathManagerEntry {
        name: "default",
        aliases: &["passive"],
        description: "no subflow beyond the initial one and those that the peer opens",
        source: "lima2017, section 3.3.1; Linux MPTCP 0.9x, default",
        options: &[],
        new: |_| PathManagement::Passive(Passive),
    },
    PathManagerEntry {
        name: "full-mesh",
        aliases: &["fullmesh"],
        description: "one subflow, or more, from every local address to every remote address",
        source: "lima2017, section 3.3.4; Linux MPTCP 0.9x, fullmesh",
        options: &["subflows_per_pair"],
        new: |options| PathManagement::FullMesh(FullMesh::new(options.subflows_per_pair)),
    },
    PathManagerEntry {
        name: "single-mesh",
        aliases: &["singlemesh"],
        description: "one subflow from every local address",
        source: "lima2017, section 4.2, Algorithm 7",
        options: &[],
        new: |_| PathManagement::SingleMesh(SingleMesh::default()),
    },
    PathManagerEntry {
        name: "ndiffports",
        aliases: &[],
        description: "n subflows from different ports between the two addresses of the initial one",
        source: "lima2017, section 3.3.3; Linux MPTCP 0.9x, ndiffports",
        options: &["n"],
        new: |options| PathManagement::NDiffPorts(NDiffPorts::new(options.n)),
    },
    PathManagerEntry {
        name: "binder",
        aliases: &[],
        description: "one subflow through each gateway of the client's interfaces",
        source: "Boccassi, Fayed, Marina, LCDNet 2013; lima2017, section 3.3.2; Linux MPTCP 0.9x, binder",
        options: &[],
        new: |_| PathManagement::Binder(Binder::default()),
    },
];

impl PathManagement {
    /// All path managers, in listing order.
    pub fn all() -> &'static [PathManagerEntry] {
        ALL
    }

    /// Creates the path manager with this name or alias, with default options.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::with_options(name, &Options::default())
    }

    /// Creates the path manager with this name or alias. Options that it does not use have no effect.
    pub fn with_options(name: &str, options: &Options) -> Option<Self> {
        let entry = ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        Some(entry.create(options))
    }

    /// Its name in [`PathManagement::all`]; `custom` if it is not there.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passive(_) => "default",
            Self::FullMesh(_) => "full-mesh",
            Self::SingleMesh(_) => "single-mesh",
            Self::NDiffPorts(_) => "ndiffports",
            Self::Binder(_) => "binder",
            Self::Custom(_) => "custom",
        }
    }
}

/// `default`.
impl Default for PathManagement {
    fn default() -> Self {
        Self::Passive(Passive)
    }
}

impl PathManager for PathManagement {
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
        match self {
            Self::Passive(manager) => manager.on_event(event, commands),
            Self::FullMesh(manager) => manager.on_event(event, commands),
            Self::SingleMesh(manager) => manager.on_event(event, commands),
            Self::NDiffPorts(manager) => manager.on_event(event, commands),
            Self::Binder(manager) => manager.on_event(event, commands),
            Self::Custom(manager) => manager.on_event(event, commands),
        }
    }

    fn begin(&mut self, end: FlowEnd) {
        match self {
            Self::Passive(manager) => manager.begin(end),
            Self::FullMesh(manager) => manager.begin(end),
            Self::SingleMesh(manager) => manager.begin(end),
            Self::NDiffPorts(manager) => manager.begin(end),
            Self::Binder(manager) => manager.begin(end),
            Self::Custom(manager) => manager.begin(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_makes_the_path_manager_it_names() {
        for entry in PathManagement::all() {
            assert_eq!(entry.create(&Options::default()).name(), entry.name);
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(PathManagement::from_name(name).map(|m| m.name()), Some(entry.name));
            }
        }
        assert!(PathManagement::from_name("mesh").is_none());
    }
}
