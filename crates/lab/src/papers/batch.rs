//! Many runs over the cores, for papers whose configurations come from tables instead of sweeps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::execute::{Progress, RunError};

/// Does `run` for each of `jobs` on `threads` threads (0: one for each core) and returns the results in the order of the
/// jobs. The number of threads changes nothing about them; of several failures the first job's is told.
pub(super) fn run_all<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    run: impl Fn(&J) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let (done, total) = (AtomicUsize::new(0), jobs.len());
    let one = |job: &J| {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(job)))
            .unwrap_or_else(|_| Err(RunError::failed("internal error: a run ended in a panic")));
        progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
        outcome
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| RunError::failed(format!("cannot start the threads: {error}")))?;
    let outcomes: Vec<Result<T, RunError>> = pool.install(|| jobs.par_iter().map(one).collect());
    outcomes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_jobs_and_the_first_failure_wins() {
        let jobs: Vec<usize> = (0..50).collect();
        let squares = run_all(&jobs, 4, &|_| {}, |&n| Ok(n * n)).expect("no job fails");
        assert_eq!(squares[7], 49);
        let failing = |&n: &usize| if n % 20 == 13 { Err(RunError::failed(format!("job {n}"))) } else { Ok(n) };
        assert_eq!(run_all(&jobs, 4, &|_| {}, failing), Err(RunError::failed("job 13")));
    }
}
