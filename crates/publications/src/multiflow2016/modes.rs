//! The ways of routing that are compared.

/// A way of routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) name: &'static str,
    /// The lines of `[routing]`.
    pub(super) routing: &'static str,
    /// Subflows that join the initial one.
    pub(super) joins: usize,
}

impl Mode {
    /// Whether a controller routes.
    pub(super) fn is_controlled(self) -> bool {
        !self.routing.contains("ecmp")
    }

    /// Whether it places the joins alone, as published.
    pub(super) fn joins_only(self) -> bool {
        self.routing == "mode = \"multiflow\""
    }
}

/// The paper's three; MultiFlow where its two subflows are joins, next to an initial one; then with each of our changes
/// alone, and with all of them.
pub(super) const MODES: [Mode; 8] = [
    Mode { name: "ecmp-packet", routing: "mode = \"ecmp-packet\"", joins: 1 },
    Mode { name: "ecmp-flow", routing: "mode = \"ecmp-flow\"", joins: 1 },
    Mode { name: "multiflow", routing: "mode = \"multiflow\"", joins: 1 },
    Mode { name: "multiflow, two joins", routing: "mode = \"multiflow\"", joins: 2 },
    Mode { name: "multiflow, random ties", routing: "mode = \"multiflow\"\nties = \"random\"", joins: 1 },
    Mode { name: "multiflow, load-aware", routing: "mode = \"multiflow\"\nties = \"least-loaded\"", joins: 1 },
    Mode { name: "multiflow, initial included", routing: "mode = \"multiflow\"\ninitial = \"included\"", joins: 1 },
    Mode { name: "disjoint", routing: "mode = \"disjoint\"", joins: 1 },
];

/// The names of those that the paper measured, and of our reading of it.
pub(super) const OF_THE_PAPER: [&str; 4] = ["ecmp-packet", "ecmp-flow", "multiflow", "multiflow, two joins"];

/// Those that leave failed links after 50 ms.
pub(super) const REROUTING: [Mode; 3] = [
    Mode { name: "ecmp-flow, re-routed", routing: "mode = \"ecmp-flow\"\nreroute_after = \"50 ms\"", joins: 1 },
    Mode { name: "multiflow, re-routed", routing: "mode = \"multiflow\"\nreroute_after = \"50 ms\"", joins: 1 },
    Mode { name: "disjoint, re-routed", routing: "mode = \"disjoint\"\nreroute_after = \"50 ms\"", joins: 1 },
];

/// The mode of this name.
#[cfg(test)]
pub(super) fn mode(name: &str) -> Mode {
    *MODES.iter().chain(&REROUTING).find(|mode| mode.name == name).expect("a mode's name")
}
