//! The path managers by name, with static dispatch.

use super::{Command, Event, FullMesh, Passive, PathManager};

/// One of the path managers, chosen by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there is one per connection")]
pub enum PathManagement {
    /// `default`.
    Passive(Passive),
    /// `full-mesh`.
    FullMesh(FullMesh),
}

/// What there is to know about a path manager before it is chosen.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PathManagerEntry {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence without a full stop.
    pub description: &'static str,
    /// Where it was published.
    pub source: &'static str,
    new: fn() -> PathManagement,
}

impl PathManagerEntry {
    /// The path manager in its initial state, every option at its default.
    pub fn create(&self) -> PathManagement {
        (self.new)()
    }
}

const ALL: &[PathManagerEntry] = &[
    PathManagerEntry {
        name: "default",
        aliases: &["passive"],
        description: "no subflow beyond the initial one and those that the peer opens",
        source: "lima2017, section 3.3.1; Linux MPTCP 0.9x, default",
        new: || PathManagement::Passive(Passive),
    },
    PathManagerEntry {
        name: "full-mesh",
        aliases: &["fullmesh"],
        description: "one subflow, or more, from every local address to every remote address",
        source: "lima2017, section 3.3.4; Linux MPTCP 0.9x, fullmesh",
        new: || PathManagement::FullMesh(FullMesh::default()),
    },
];

impl PathManagement {
    /// All path managers, in the order in which they are listed.
    pub fn all() -> &'static [PathManagerEntry] {
        ALL
    }

    /// The path manager of this name or alias, in its initial state, every option at its default.
    pub fn from_name(name: &str) -> Option<Self> {
        let entry = ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        Some(entry.create())
    }

    /// Its name in [`PathManagement::all`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passive(_) => "default",
            Self::FullMesh(_) => "full-mesh",
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_makes_the_path_manager_it_names() {
        for entry in PathManagement::all() {
            assert_eq!(entry.create().name(), entry.name);
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(PathManagement::from_name(name).map(|m| m.name()), Some(entry.name));
            }
        }
        assert!(PathManagement::from_name("mesh").is_none());
    }
}
