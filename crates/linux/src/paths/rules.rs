//! What a driver goes by: the path manager of each connection, and how each interface is used.

use std::fmt;
use std::net::SocketAddr;

use subflow_policy::path_manager::{FourTuple, PathManagement};

/// How connections use an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceRule {
    /// Whether its addresses are used for subflows at all.
    pub used: bool,
    /// Whether its subflows are backups (flag B of MP_JOIN, MP_PRIO).
    pub backup: bool,
    /// Its place in the order in which path managers know the addresses, the lowest first. It decides where the peer
    /// accepts fewer subflows than this host would open.
    pub priority: u32,
}

impl Default for InterfaceRule {
    fn default() -> Self {
        Self { used: true, backup: false, priority: 100 }
    }
}

/// The rules of all interfaces by name. The first that matches holds; without one, the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceRules(Vec<(String, InterfaceRule)>);

impl InterfaceRules {
    /// Adds the rule for the interfaces named `pattern`, in which one `*` stands for any characters.
    pub fn add(&mut self, pattern: impl Into<String>, rule: InterfaceRule) {
        self.0.push((pattern.into(), rule));
    }

    /// The rule for the interface `name`.
    pub fn of(&self, name: &str) -> InterfaceRule {
        let first = self.0.iter().find(|(pattern, _)| matches(pattern, name));
        first.map(|&(_, rule)| rule).unwrap_or_default()
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    }
}

/// A subflow that a connection is to have whatever its path manager says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSubflow {
    /// The local end; port 0 lets the kernel choose.
    pub local: SocketAddr,
    /// The remote end.
    pub remote: SocketAddr,
    /// Whether it is a backup.
    pub backup: bool,
}

/// What manages the paths of a connection.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its path manager.
    pub path_manager: PathManagement,
    /// Subflows that it is to have from the start.
    pub subflows: Vec<NamedSubflow>,
}

/// Chooses the plan of a connection by its initial subflow, and by whether this host sent the first SYN.
type Choice = dyn Fn(&FourTuple, bool) -> Plan + Send + Sync;

/// The rules of a driver.
pub struct Rules {
    /// Chooses the plan of each new connection.
    pub plan: Box<Choice>,
    /// How the interfaces are used.
    pub interfaces: InterfaceRules,
}

impl Rules {
    /// The same path manager for all connections.
    pub fn uniform(path_manager: PathManagement, interfaces: InterfaceRules) -> Self {
        let plan = move |_: &FourTuple, _| Plan { path_manager: path_manager.clone(), subflows: Vec::new() };
        Self { plan: Box::new(plan), interfaces }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_matches_holds() {
        let rule = |priority| InterfaceRule { priority, ..InterfaceRule::default() };
        let mut rules = InterfaceRules::default();
        rules.add("wlan0", rule(1));
        rules.add("wlan*", rule(2));
        rules.add("*.7", rule(3));
        let priorities = ["wlan0", "wlan1", "wlan", "eth0.7", "wlan1.7", "eth0", ".", "wla"];
        assert_eq!(priorities.map(|name| rules.of(name).priority), [1, 2, 2, 3, 2, 100, 100, 100]);
        assert!(!matches("ab*ba", "aba"), "the two parts do not overlap");
    }
}
