//! One run of a scenario in the simulator.

use std::path::PathBuf;

use crate::execute::RunError;
use crate::results::RunResult;
use crate::scenario::Scenario;

/// What a run is to leave behind besides its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Write a capture per host here, as `RUN-HOST.pcapng`; the directory exists.
    pub pcap: Option<PathBuf>,
    /// Number of the run, for names of files.
    pub run: usize,
    /// Keep metrics over time ([`RunResult::series`]).
    pub series: bool,
}

/// Runs `scenario` once, with every random stream made from `seed`.
pub fn simulate(_scenario: &Scenario, _seed: u64, _options: &RunOptions) -> Result<RunResult, RunError> {
    Err(RunError::failed("the simulator is not connected yet"))
}
