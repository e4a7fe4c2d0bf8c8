//! The programs of scenarios: whether they run, and where their output goes.

use std::path::Path;
use std::sync::Arc;

use subflow_lab::program_output::{ProgramOutput, refuse_programs};
use subflow_report::output::RunFiles;
use subflow_scenario::sweep::Plan;

use crate::arguments::{Platform, Run};
use crate::failure::Failure;

/// The folder of their output, below the folder for the results.
const FOLDER: &str = "programs";

/// Removes the programs from `plan` if the command says so; otherwise fails if the simulator would have to run them.
pub(super) fn select(plan: &mut Plan, arguments: &Run) -> Result<(), Failure> {
    if !arguments.without_programs {
        return match arguments.on {
            Platform::Linux => Ok(()),
            Platform::Simulator => Ok(plan.points.iter().try_for_each(|point| refuse_programs(&point.scenario))?),
        };
    }
    for point in &mut plan.points {
        if point.scenario.flows.is_empty() {
            return Err(Failure::bad_input(
                "--without-programs leaves nothing to run: the scenario has no flows",
                "add flows, or run the programs with --on linux",
            ));
        }
        Arc::make_mut(&mut point.scenario).programs.clear();
    }
    Ok(())
}

/// Whether a program runs at any point.
fn are_run(plan: &Plan) -> bool {
    plan.points.iter().any(|point| !point.scenario.programs.is_empty())
}

/// The folder for the output of the programs of `plan`, below the folder `out` for the results.
pub(super) fn prepare(arguments: &Run, plan: &Plan, out: Option<&Path>) -> Result<Option<RunFiles>, Failure> {
    let Some(out) = out.filter(|_| are_run(plan)) else { return Ok(None) };
    let files = RunFiles::for_programs(out.join(FOLDER), plan, arguments.force)?;
    // What runs that are kept have printed stays.
    if !arguments.resume {
        files.begin()?;
    }
    Ok(Some(files))
}

/// Where the output of the programs goes: to the terminal, and to the folder that was prepared.
pub(super) fn output(arguments: &Run, plan: &Plan) -> ProgramOutput {
    let folder = arguments.output.folder(plan, arguments.suffix()).map(|out| out.join(FOLDER));
    ProgramOutput { folder: folder.filter(|folder| are_run(plan) && folder.is_dir()), terminal: true }
}

/// What a store knows runs by, besides their scenarios: without the programs of a scenario they are others.
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(super) fn identity(arguments: &Run) -> &'static str {
    if arguments.without_programs { ", without programs" } else { "" }
}
