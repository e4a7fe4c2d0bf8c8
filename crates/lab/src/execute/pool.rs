//! Runs a plan on a pool of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::iter::{ParallelBridge, ParallelIterator};
use subflow_scenario::Scenario;
use subflow_scenario::sweep::{Job, Plan, SeriesKept};

use crate::results::{Experiment, Run, RunResult};
use crate::simulate::{RunOptions, simulate};
use crate::{CpuTimer, RunError};

/// Number of sweep points whose metrics over time are kept with [`SeriesKept::First`].
const MOST_POINTS_WITH_SERIES: usize = 100;

/// Progress of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished runs.
    pub done: usize,
    /// All runs.
    pub total: usize,
}

/// Runs a plan on `threads` threads (0: one for each core) and computes its statistics. `options.run` is set for each
/// run.
///
/// Results do not depend on the number of threads. After the first failure, runs that have begun are finished and no
/// other run begins. If several runs fail, the error of the one with the lowest number is returned.
pub fn execute(
    plan: &Plan,
    threads: usize,
    options: &RunOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Experiment, RunError> {
    execute_with(plan, threads, options, progress, simulate)
}

/// Whether metrics over time of this run are kept, as [`Plan::series`] says.
pub fn keeps_series(plan: &Plan, job: Job) -> bool {
    match plan.series {
        SeriesKept::None => false,
        SeriesKept::First => job.seed == plan.points[job.point].scenario.seed && job.point < MOST_POINTS_WITH_SERIES,
        SeriesKept::All => true,
    }
}

/// Does one run of `plan` in the simulator, as [`execute`] does it.
pub fn run_job(plan: &Plan, job: Job, options: &RunOptions) -> Result<RunResult, RunError> {
    run_job_with(plan, job, options, simulate)
}

/// Like [`run_job`], but calls `run` with a scenario and a seed instead of [`simulate`].
///
/// # Errors
///
/// Those of `run`, which name the run.
pub fn run_job_with(
    plan: &Plan,
    job: Job,
    options: &RunOptions,
    run: impl Fn(&Scenario, u64, &RunOptions) -> Result<RunResult, RunError> + Sync,
) -> Result<RunResult, RunError> {
    guarded(plan, job, &|scenario: &Scenario, job: Job| run(scenario, job.seed, &of_job(plan, job, options)))
}

/// The options of one run of `plan`, whose metrics over time may not be kept.
fn of_job(plan: &Plan, job: Job, options: &RunOptions) -> RunOptions {
    RunOptions { run: job.run, series: options.series && keeps_series(plan, job), ..options.clone() }
}

/// Like [`execute`], but calls `one_run` with a scenario and a seed instead of [`simulate`].
pub fn execute_with(
    plan: &Plan,
    threads: usize,
    options: &RunOptions,
    progress: &(dyn Fn(Progress) + Sync),
    run: impl Fn(&Scenario, u64, &RunOptions) -> Result<RunResult, RunError> + Sync,
) -> Result<Experiment, RunError> {
    let run = |scenario: &Scenario, job: Job| run(scenario, job.seed, &of_job(plan, job, options));
    let jobs = plan.jobs();
    let total = jobs.len();
    let (done, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let one = |job: Job| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let outcome = guarded(plan, job, &run);
        match &outcome {
            Ok(_) => progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total }),
            Err(_) => failed.store(true, Ordering::Relaxed),
        }
        Some((job, outcome))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| RunError::System(format!("cannot start the threads: {error}")))?;
    // The bridge starts jobs in their order. When one fails, all earlier ones have begun and their results are seen.
    let mut outcomes: Vec<_> = pool.install(|| jobs.into_iter().par_bridge().filter_map(one).collect());
    outcomes.sort_by_key(|(job, _)| job.run);

    let mut runs = Vec::with_capacity(total);
    for (job, outcome) in outcomes {
        let Job { run, point, .. } = job;
        runs.push(Run { run, point, parameters: plan.points[point].parameters.clone(), result: outcome? });
    }
    Ok(Experiment::new(plan, runs))
}

/// Does one run. A panic in it is a bug; it makes the run fail instead of the whole process.
fn guarded(
    plan: &Plan,
    job: Job,
    run: &(impl Fn(&Scenario, Job) -> Result<RunResult, RunError> + Sync),
) -> Result<RunResult, RunError> {
    let scenario = &plan.points[job.point].scenario;
    let timer = CpuTimer::start();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(scenario, job)));
    let outcome = outcome.unwrap_or_else(|panic| Err(RunError::Defect(panic_text(&*panic).to_owned())));
    match outcome {
        Ok(mut result) => {
            // The simulator has measured its own loop, which is more exact.
            if result.engine.cpu_s == 0.0 {
                result.engine.cpu_s = timer.seconds();
            }
            Ok(result)
        }
        Err(error) => Err(error.in_job(plan, job)),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
