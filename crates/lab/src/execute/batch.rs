//! Distributes many runs over the cores, for publications whose configurations come from tables instead of sweeps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::Progress;
use crate::RunError;

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
