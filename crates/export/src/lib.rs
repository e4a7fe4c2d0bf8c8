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
mod notes;
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
