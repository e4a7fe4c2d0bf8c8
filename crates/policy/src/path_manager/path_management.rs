//! The path managers by name, with static dispatch. A new one is one file and one line in the table below.

use std::num::NonZeroU8;
use std::sync::Arc;

use crate::custom::{CustomPathManager, FlowEnd};

use super::{Binder, Command, Event, FullMesh, NDiffPorts, Passive, PathManager, SingleMesh};

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

macro_rules! path_managers {
    ($($variant:ident($build:expr): $name:literal, [$($alias:literal),*], options [$($option:literal),*],
       $description:literal, $source:literal;)+) => {
        /// One of the path managers, chosen by name.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum PathManagement {
            $(#[doc = concat!("`", $name, "`.")] $variant($variant),)+
            /// One that is not in the catalogue, with its name.
            Custom(Arc<str>, Box<dyn CustomPathManager>),
        }

        const ALL: &[PathManagerEntry] = &[$(PathManagerEntry {
            name: $name,
            aliases: &[$($alias),*],
            description: $description,
            source: $source,
            options: &[$($option),*],
            new: |options| PathManagement::$variant(($build)(options)),
        }),+];

        impl PathManagement {
            /// Its name in [`PathManagement::all`], or that of the custom one.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Custom(name, _) => name,
                }
            }
        }

        // Every method goes to every path manager: one that overrides a default of the trait is asked.
        impl PathManager for PathManagement {
            fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
                match self {
                    $(Self::$variant(manager) => manager.on_event(event, commands),)+
                    Self::Custom(_, manager) => manager.on_event(event, commands),
                }
            }
            fn begin(&mut self, end: FlowEnd) {
                match self {
                    $(Self::$variant(manager) => manager.begin(end),)+
                    Self::Custom(_, manager) => manager.begin(end),
                }
            }
        }
    };
}

path_managers! {
    Passive(|_| Passive): "default", ["passive"], options [],
        "no subflow beyond the initial one and those that the peer opens",
        "lima2017, section 3.3.1; Linux MPTCP 0.9x, default";
    FullMesh(|o: &Options| FullMesh::new(o.subflows_per_pair)): "full-mesh", ["fullmesh"],
        options ["subflows_per_pair"],
        "one subflow, or more, from every local address to every remote address",
        "lima2017, section 3.3.4; Linux MPTCP 0.9x, fullmesh";
    SingleMesh(|_| SingleMesh::default()): "single-mesh", ["singlemesh"], options [],
        "one subflow from every local address",
        "lima2017, section 4.2, Algorithm 7";
    NDiffPorts(|o: &Options| NDiffPorts::new(o.n)): "ndiffports", [], options ["n"],
        "n subflows from different ports between the two addresses of the initial one",
        "lima2017, section 3.3.3; Linux MPTCP 0.9x, ndiffports";
    Binder(|_| Binder::default()): "binder", [], options [],
        "one subflow through each gateway of the client's interfaces",
        "Boccassi, Fayed, Marina, LCDNet 2013; lima2017, section 3.3.2; Linux MPTCP 0.9x, binder";
}

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
}

/// `default`.
impl Default for PathManagement {
    fn default() -> Self {
        Self::Passive(Passive)
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
                assert_eq!(PathManagement::from_name(name).as_ref().map(PathManagement::name), Some(entry.name));
            }
        }
        assert!(PathManagement::from_name("mesh").is_none());
    }
}
