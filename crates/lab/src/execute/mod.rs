//! Distributes the runs of a plan, or other jobs, over the cores and returns their results in order.

mod probe;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::iter::{IntoParallelRefIterator, ParallelBridge, ParallelIterator};
use subflow_scenario::Scenario;
use subflow_scenario::sweep::{Job, Plan, SeriesKept};

use crate::results::{Experiment, Run, RunResult};
use crate::simulate::{RunOptions, simulate};
use crate::{CpuTimer, RunError};

pub use probe::{Probe, probe};

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

/// Calls `run` for each of `jobs` on `threads` threads (0: one for each core) and returns the results in the order of
/// the jobs. They do not depend on the number of threads. If several jobs fail, the error of the first one is returned.
pub fn run_all<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    run: impl Fn(&J) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let (done, total) = (AtomicUsize::new(0), jobs.len());
    let one = |job: &J| {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(job)))
            .unwrap_or_else(|_| Err(RunError::Defect("a run ended in a panic".to_owned())));
        progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
        outcome
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| RunError::System(format!("cannot start the threads: {error}")))?;
    let outcomes: Vec<Result<T, RunError>> = pool.install(|| jobs.par_iter().map(one).collect());
    outcomes.into_iter().collect()
}

/// Calls `run` for each of `cells` with the seeds from 1 to `runs`, and returns the results by cell.
pub fn run_cells<C: Sync, T: Send>(
    cells: &[C],
    runs: impl Fn(&C) -> u64,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    run: impl Fn(&C, u64) -> Result<T, RunError> + Sync,
) -> Result<Vec<Vec<T>>, RunError> {
    let jobs: Vec<(&C, u64)> = cells.iter().flat_map(|cell| (1..=runs(cell)).map(move |seed| (cell, seed))).collect();
    let mut outcomes = run_all(&jobs, threads, progress, |&(cell, seed)| run(cell, seed))?.into_iter();
    Ok(cells.iter().map(|cell| outcomes.by_ref().take(runs(cell) as usize).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_jobs_and_the_first_failure_is_returned() {
        let jobs: Vec<usize> = (0..50).collect();
        let squares = run_all(&jobs, 4, &|_| {}, |&n| Ok(n * n)).expect("no job fails");
        assert_eq!(squares[7], 49);
        let failing = |&n: &usize| if n % 20 == 13 { Err(RunError::Result(format!("job {n}"))) } else { Ok(n) };
        assert_eq!(run_all(&jobs, 4, &|_| {}, failing), Err(RunError::Result("job 13".to_owned())));
    }

    #[test]
    fn every_cell_gets_the_results_of_its_own_seeds() {
        let by_cell = run_cells(&[2_u64, 0, 3], |&cell| cell, 2, &|_| {}, |&cell, seed| Ok((cell, seed)));
        assert_eq!(by_cell, Ok(vec![vec![(2, 1), (2, 2)], Vec::new(), vec![(3, 1), (3, 2), (3, 3)]]));
    }
}
