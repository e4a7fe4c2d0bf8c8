//! The threads of single runs, `--threads`, and the runs at once, `--jobs`.

use std::thread::available_parallelism;

use subflow_lab::simulate::{Division, RunOptions, Undivided};
use subflow_scenario::sweep::Plan;

use crate::arguments::{Platform, Run};
use crate::failure::Failure;
use crate::output::say;

/// Fails if there are threads for runs in real time, which have their own.
pub(super) fn check(arguments: &Run) -> Result<(), Failure> {
    match (arguments.on, arguments.threads) {
        (Platform::Linux, Some(_)) => Err(Failure::bad_input(
            "--threads cannot be used with --on linux",
            "runs in real time have one thread for the network and one for each kernel: remove --threads",
        )),
        _ => Ok(()),
    }
}

/// The number of threads of a run.
pub(super) fn of_a_run(arguments: &Run) -> usize {
    arguments.threads.map_or(1, usize::from)
}

/// How many runs are done at once; 0 for one for each core. Without `--jobs`, all their threads have a core.
pub(super) fn runs_at_once(arguments: &Run) -> usize {
    match (arguments.jobs, of_a_run(arguments)) {
        (Some(jobs), _) => usize::from(jobs),
        (None, 1) => 0,
        (None, threads) => (available_parallelism().map_or(1, usize::from) / threads).max(1),
    }
}

/// Says on standard error, in one line, if runs have fewer threads than asked for, and why.
pub(super) fn explain(plan: &Plan, options: &RunOptions) {
    if options.threads < 2 {
        return;
    }
    let divided = plan.points.iter().map(|point| Division::of(&point.scenario, options));
    let (mut whole, mut fewest, mut why) = (0, options.threads, Undivided::OneThread);
    for divided in divided {
        match divided {
            Ok(division) => fewest = fewest.min(division.parts()),
            Err(reason) => (whole, why) = (whole + 1, reason),
        }
    }
    match (whole, plan.points.len()) {
        (0, _) if fewest == options.threads => {}
        (0, _) => say(&format!("--threads: {fewest} threads, because the network divides into {fewest} parts")),
        (1, 1) => say(&format!("--threads: one thread, because {why}")),
        (whole, points) => say(&format!("--threads: one thread at {whole} of {points} points, because {why}")),
    }
}
