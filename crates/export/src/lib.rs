//! Networks of scenarios as the input of other tools, so that results can be checked there.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! [`export`] takes a scenario and a [`Target`], and writes what that tool reads: hosts with their interfaces, routers,
//! links with rate, delay, queue and loss, shortest paths, and the traffic as far as the tool has it. What it cannot
//! express is listed in [`Exported::notes`], and at the beginning of the text.
//!
//! ```
//! use subflow_export::{Target, export};
//! use subflow_quantity::{Duration, Rate};
//! use subflow_scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//!
//! let scenario = ScenarioBuilder::new("pair")
//!     .duration(Duration::from_secs(10))
//!     .host("client", ["eth"])
//!     .host("server", ["eth"])
//!     .link("cable", LinkBuilder::between("client", "server").rate(Rate::from_mbit(20)).delay(Duration::from_millis(10)))
//!     .flow("bulk", FlowBuilder::tcp("client", "server"))
//!     .scenario()
//!     .expect("a good scenario");
//! let exported = export(&scenario, Target::Mininet).expect("Mininet has all of this");
//! assert!(exported.text.contains("bw=20"));
//! ```

mod commands;
mod conditions;
mod htsim;
mod layout;
mod mininet;
mod netem;
mod ns3;
mod routes;

use std::fmt;

use subflow_scenario::Scenario;

/// The tool that a network is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A shell script that makes network namespaces and configures their queues with `tc`.
    Netem,
    /// A Python program that uses Mininet's API.
    Mininet,
    /// A C++ program for ns-3 (3.37 or later).
    Ns3,
    /// A file that htsim's `GenericTopology` loads.
    Htsim,
}

impl Target {
    /// All, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Netem, Self::Mininet, Self::Ns3, Self::Htsim];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Netem => "netem",
            Self::Mininet => "mininet",
            Self::Ns3 => "ns3",
            Self::Htsim => "htsim",
        }
    }
}

/// What another tool reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file. Its first lines are comments: how it is run, and the notes.
    pub text: String,
    /// What the tool cannot express, a line each.
    pub notes: Vec<String>,
}

/// Why the tool cannot have the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportError {
    /// What is in the way, in one sentence without a full stop.
    pub message: String,
    /// The way out; may be empty.
    pub help: String,
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExportError {}

/// Writes the network of `scenario` for `target`.
///
/// # Errors
///
/// If the tool cannot have the network at all; what it lacks in part is a note.
pub fn export(scenario: &Scenario, target: Target) -> Result<Exported, ExportError> {
    let layout = layout::Layout::new(scenario, target)?;
    match target {
        Target::Netem => Ok(netem::write(layout)),
        Target::Mininet => Ok(mininet::write(layout)),
        Target::Ns3 => Ok(ns3::write(layout)),
        Target::Htsim => htsim::write(layout),
    }
}

/// Notes in the order in which they came up; what several things have in common is one note.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Vec<(Vec<String>, String)>);

impl Notes {
    /// Adds what is to be said of `named`; empty for the whole network.
    pub(crate) fn add(&mut self, named: &str, text: impl Into<String>) {
        let text = text.into();
        let known = self.0.iter_mut().find(|(_, known)| *known == text);
        let names = match known {
            Some((names, _)) => names,
            None => {
                self.0.push((Vec::new(), text));
                &mut self.0.last_mut().expect("it was just added").0
            }
        };
        if !named.is_empty() && !names.iter().any(|known| known == named) {
            names.push(named.to_owned());
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        const SHOWN: usize = 6;
        let line = |(names, text): &(Vec<String>, String)| match names.len() {
            0 => text.clone(),
            n if n > SHOWN => format!("{} and {} others: {text}", names[..SHOWN].join(", "), n - SHOWN),
            _ => format!("{}: {text}", names.join(", ")),
        };
        self.0.iter().map(line).collect()
    }

    /// The beginning of a file: what it is, how it is run, and the notes, each line after `comment`.
    pub(crate) fn heading(&self, comment: &str, title: &str, usage: &str) -> String {
        let title = title.replace(['\n', '\r'], " ");
        let mut lines = vec![format!("{title}. Written by `subflow export`."), usage.to_owned()];
        lines.extend(self.lines().into_iter().map(|note| format!("- {note}")));
        lines.into_iter().map(|line| format!("{comment} {line}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_links_have_in_common_is_one_note() {
        let mut notes = Notes::default();
        notes.add("wifi up", "no jitter");
        notes.add("", "no programs");
        notes.add("wifi down", "no jitter");
        notes.add("wifi down", "no jitter");
        assert_eq!(notes.lines(), ["wifi up, wifi down: no jitter", "no programs"]);
        for number in 0..9 {
            notes.add(&format!("l{number}"), "no jitter");
        }
        assert_eq!(notes.lines()[0], "wifi up, wifi down, l0, l1, l2, l3 and 5 others: no jitter");
        assert!(notes.heading("#", "a\nb", "run it").starts_with("# a b. Written"));
    }
}
