//! Experiments that run twice: in the simulator, and in real time on Linux with the kernel's TCP and MPTCP.
//!
//! A paper names them in its file: its experiments with `on_linux = true`; [`reproduce_on_linux`] runs and compares them. This module knows no
//! system: what runs a scenario in real time is an [`Emulator`] of its caller, so that it builds everywhere.

mod report;

use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_cells};
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::{mean, quantile};
use subflow_scenario::Scenario;

use crate::study::{Cell, Row, Sample};
use crate::{Done, ReproduceError, Request, Study};

/// What the routers of a scenario become on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routers {
    /// They stay the simulator's, in real time.
    Simulated,
    /// Open vSwitch bridges with the OpenFlow controller.
    OpenVSwitch,
}

/// A cell that runs in the simulator and on Linux.
pub(crate) struct Emulation {
    pub(crate) cell: Cell,
    /// What distinguishes it from others of its item.
    pub(crate) case: String,
    pub(crate) routers: Routers,
    /// The number of runs of each kind, with seeds from 1.
    pub(crate) runs: u64,
    /// The figures of a run, at least one.
    pub(crate) quantities: Vec<Quantity>,
}

/// A figure of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    /// Its unit; may be empty.
    pub(crate) unit: &'static str,
    pub(crate) published: Option<f64>,
    /// The largest deviation of the emulated from the simulated figure, as a share of the latter, with which both
    /// agree; `None` if they are not judged.
    pub(crate) bound: Option<f64>,
    /// Its value in a run.
    pub(crate) of: fn(&RunResult) -> f64,
}

/// What runs scenarios in real time.
pub trait Emulator {
    /// Checks that `scenario` can run here, before anything is created.
    ///
    /// # Errors
    ///
    /// If the machine or the user's rights do not suffice, or the scenario uses what Linux does not have.
    fn check(&self, scenario: &Scenario, routers: Routers) -> Result<(), RunError>;

    /// Runs `scenario` once.
    ///
    /// # Errors
    ///
    /// If the run fails or is interrupted. A run that was too late is no error; its results contain the objections.
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        routers: Routers,
        options: &RunOptions,
    ) -> Result<RunResult, RunError>;
}

/// The names of the items of `paper` that run on Linux, in its order.
pub fn items_on_linux(paper: &Study) -> Vec<String> {
    let emulations = paper.emulations(true);
    let has = |name: &str| emulations.iter().any(|emulation| emulation.cell.item == name);
    paper.items().iter().map(|item| item.name.clone()).filter(|name| has(name)).collect()
}

/// Runs the emulations of `paper` that `request` asks for, first in the simulator, then by `emulator`, one after the
/// other. A run whose objections say that it is not valid is repeated up to three times.
///
/// # Errors
///
/// The first failure of a check or a run.
pub fn reproduce_on_linux(
    paper: &Study,
    request: &Request,
    emulator: &dyn Emulator,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Done, ReproduceError> {
    let mut emulations = paper.emulations(request.quick);
    emulations.retain(|emulation| request.wants(&emulation.cell.item));
    if let Some(runs) = request.runs {
        emulations.iter_mut().for_each(|emulation| emulation.runs = runs);
    }
    for emulation in &emulations {
        emulator.check(&scenario(paper, emulation, 1), emulation.routers)?;
    }
    let simulated = run_cells(
        &emulations,
        |emulation| emulation.runs,
        request.jobs,
        progress,
        |emulation, seed| {
            let result = simulate(&scenario(paper, emulation, seed), seed, &options(emulation))?;
            Ok(emulation.quantities.iter().map(|quantity| (quantity.of)(&result)).collect())
        },
    )?;
    let total: u64 = emulations.iter().map(|emulation| emulation.runs).sum();
    let mut measured = Vec::new();
    let mut done = 0;
    for (emulation, simulated) in emulations.into_iter().zip(simulated) {
        let emulated = (1..=emulation.runs)
            .map(|seed| {
                progress(Progress { done, total: total as usize });
                done += 1;
                valid_run(&emulation, &scenario(paper, &emulation, seed), seed, emulator)
            })
            .collect::<Result<Vec<_>, _>>()?;
        measured.push(Measured::new(emulation, simulated, emulated));
    }
    progress(Progress { done, total: total as usize });
    let without_valid_runs = measured.iter().filter(|measured| measured.emulated.runs.is_empty()).count();
    Ok(Done { reproduction: report::reproduction(paper, &measured), failed_runs: 0, without_valid_runs })
}

fn options(emulation: &Emulation) -> RunOptions {
    RunOptions { series: emulation.cell.experiment.series, ..RunOptions::default() }
}

/// The scenario of the run with a seed, the same for both kinds.
fn scenario(paper: &Study, emulation: &Emulation, seed: u64) -> Scenario {
    emulation.cell.scenario(&paper.folder, seed).expect("tests read each scenario of the program")
}

/// The attempts at a run in real time, until one is valid.
const ATTEMPTS: u32 = 3;

/// A run in real time: its last attempt.
struct RealRun {
    /// Its figures, in the order of the quantities.
    values: Sample,
    /// The reasons why it is not valid; none if it is.
    objections: Vec<String>,
    attempts: u32,
}

/// An emulation with its runs, whose samples are in the order of the quantities.
pub(crate) struct Measured {
    pub(crate) emulation: Emulation,
    pub(crate) simulated: Row,
    /// The valid runs on Linux.
    pub(crate) emulated: Row,
    /// Those that are not valid, for reports only, and why the first one is not.
    invalid: Row,
    objections: Vec<String>,
    /// Attempts that were followed by another one.
    repeated: u32,
}

/// Runs `emulation` in real time until a run is valid or there were enough attempts.
fn valid_run(
    emulation: &Emulation,
    scenario: &Scenario,
    seed: u64,
    emulator: &dyn Emulator,
) -> Result<RealRun, RunError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let result = emulator.run(scenario, seed, emulation.routers, &options(emulation))?;
        if result.objections().is_empty() || attempts == ATTEMPTS {
            let values = emulation.quantities.iter().map(|quantity| (quantity.of)(&result)).collect();
            return Ok(RealRun { values, objections: result.objections().to_vec(), attempts });
        }
    }
}

impl Measured {
    fn new(emulation: Emulation, simulated: Vec<Sample>, on_linux: Vec<RealRun>) -> Self {
        let repeated = on_linux.iter().map(|run| run.attempts - 1).sum();
        let (valid, invalid): (Vec<_>, Vec<_>) = on_linux.into_iter().partition(|run| run.objections.is_empty());
        let objections = invalid.first().map_or_else(Vec::new, |run| run.objections.clone());
        let row = |runs| Row { cell: emulation.cell.clone(), runs };
        let real = |runs: Vec<RealRun>| row(runs.into_iter().map(|run| run.values).collect());
        let (emulated, invalid) = (real(valid), real(invalid));
        Self { simulated: row(simulated), emulated, invalid, objections, repeated, emulation }
    }

    /// How far the mean of the valid runs on Linux is from the simulated one, as a share of the latter.
    pub(crate) fn deviation(&self, quantity: usize) -> Option<f64> {
        share(mean(&self.emulated.samples(quantity))?, mean(&self.simulated.samples(quantity))?)
    }

    /// The largest deviation of the quartiles; `None` with fewer runs of a kind than have quartiles.
    fn deviation_of_quartiles(&self, quantity: usize) -> Option<f64> {
        const FEWEST: usize = 8;
        let (simulated, emulated) = (self.simulated.samples(quantity), self.emulated.samples(quantity));
        if simulated.len().min(emulated.len()) < FEWEST {
            return None;
        }
        let of = |p| share(quantile(&emulated, p)?, quantile(&simulated, p)?);
        [0.25, 0.5, 0.75].into_iter().filter_map(of).max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }
}

fn share(value: f64, of: f64) -> Option<f64> {
    (of != 0.0).then(|| value / of - 1.0)
}

#[cfg(test)]
mod tests;
