//! The arguments that a scenario and its changes have, and those of sweeps done in parts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use subflow_scenario::sweep::SeriesKept;

use super::{Comparing, Output, names};

/// A scenario, and what to change in it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Source {
    /// The scenario, a TOML file, or - for standard input
    pub(crate) scenario: PathBuf,
    /// Set the value at PATH to VALUE (TOML, or else text), such as links.wifi.loss="2 %"
    #[arg(long, value_name = "PATH=VALUE", value_parser = names::profiles(), hide_possible_values = true)]
    pub(crate) set: Vec<String>,
    /// Run with each of these values at PATH, such as links.wifi.loss="none,1 %,2 %"; several options run all
    /// combinations. Replaces the sweep of the scenario over PATH
    #[arg(long, value_name = "PATH=V1,V2,…")]
    pub(crate) sweep: Vec<String>,
    /// Which combinations of the swept values have runs: full, random=N or latin-hypercube=N with N points. --set
    /// sweep.design.seed=K draws others
    #[arg(long, value_name = "NAME=POINTS", value_parser = design)]
    pub(crate) design: Option<String>,
    /// Seed of the first run
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// How many runs to do, each with its own seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: Option<u32>,
    /// The runs whose metrics over time are kept
    #[arg(long, value_enum, default_value_t = SeriesOf::Auto)]
    pub(crate) series: SeriesOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeriesOf {
    /// All runs if there are at most 100, otherwise as with first
    Auto,
    /// No run: least memory and CPU time, but no figures and no delays over time
    None,
    /// The first run of each point, and the first 100 points
    First,
    /// All runs: about a thousand times the memory of their other results
    All,
}

impl SeriesOf {
    /// Of which runs of a plan with so many they are kept.
    pub(crate) fn of(self, runs: usize) -> SeriesKept {
        match self {
            Self::Auto => SeriesKept::usual(runs),
            Self::First => SeriesKept::First,
            Self::None => SeriesKept::None,
            Self::All => SeriesKept::All,
        }
    }
}

/// A design as it is given: `full`, or a name with a number of points.
fn design(text: &str) -> Result<String, String> {
    match text.trim() == "full" || text.contains('=') {
        true => Ok(text.to_owned()),
        false => Err(format!("expected full, or a name and a number of points, such as {text}=50")),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Stores of `run --store`, which together have all runs; may be given several times
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) store: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) comparing: Comparing,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Write the results without the runs that failed
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Replace results of more runs than these
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The store of `run --store`, or the folder DIR.runs of an unfinished command; with --to, a scenario
    #[arg(value_name = "DIR|SCENARIO")]
    pub(crate) source: PathBuf,
    #[cfg(feature = "import")]
    #[command(flatten)]
    pub(crate) network: super::files::ExportNetwork,
}

/// One of several equal parts of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Which part, from 1.
    pub(crate) number: usize,
    /// How many parts there are.
    pub(crate) of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("expected K/N with K from 1 to N, such as 3/16".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_that_draws_needs_a_number_of_points() {
        assert_eq!(design("full"), Ok("full".to_owned()));
        assert_eq!(design("random=50"), Ok("random=50".to_owned()));
        assert!(design("random").is_err_and(|why| why.contains("such as random=50")));
    }
}
