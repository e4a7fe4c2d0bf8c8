//! Experiments that run twice: in the simulator, and in real time on Linux with the kernel's TCP and MPTCP.
//!
//! A paper names them in its file: its experiments with `on_linux = true`; [`reproduce_on_linux`] runs and compares them. This module knows no
//! system: what runs a scenario in real time is an [`Emulator`] of its caller, so that it builds everywhere.

mod measurement;
mod report;

use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_cells};
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_report::Reproduction;
use subflow_scenario::Scenario;

use crate::study::Cell;
use crate::{ReproduceError, Request, Study};
pub(crate) use measurement::Measured;

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

/// A reproduction with runs on Linux.
#[derive(Clone, Debug, PartialEq)]
pub struct OnLinux {
    /// Its tables, figures, findings and notes.
    pub reproduction: Reproduction,
    /// The number of cases that no valid run on Linux is of.
    pub without_valid_runs: usize,
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
) -> Result<OnLinux, ReproduceError> {
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
                measurement::valid_run(&emulation, &scenario(paper, &emulation, seed), seed, emulator)
            })
            .collect::<Result<Vec<_>, _>>()?;
        measured.push(Measured { emulation, simulated, emulated });
    }
    progress(Progress { done, total: total as usize });
    let without_valid_runs = measured.iter().filter(|measured| measured.valid_runs() == 0).count();
    Ok(OnLinux { reproduction: report::reproduction(paper, &measured), without_valid_runs })
}

fn options(emulation: &Emulation) -> RunOptions {
    RunOptions { series: emulation.cell.experiment.series, ..RunOptions::default() }
}

/// The scenario of the run with a seed, the same for both kinds.
fn scenario(paper: &Study, emulation: &Emulation, seed: u64) -> Scenario {
    emulation.cell.scenario(&paper.folder, seed).expect("tests read each scenario of the program")
}

#[cfg(test)]
mod tests;
