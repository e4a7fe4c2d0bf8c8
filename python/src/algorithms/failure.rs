//! How an exception in an algorithm ends its run, and only that: the algorithm unwinds with the exception, and the
//! caller of the run catches it. The transports have no error that could carry it, and nothing of the run is used
//! afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use subflow_lab::RunError;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;

/// An exception on its way out of a run.
struct Failure {
    /// Whose it is.
    algorithm: String,
    error: PyErr,
}

/// Ends the run in which `algorithm` raised `error`.
pub(super) fn end_run(algorithm: String, error: PyErr) -> ! {
    resume_unwind(Box::new(Failure { algorithm, error }))
}

/// The exceptions of runs that failed, and the threads of those under way.
#[derive(Default)]
pub(crate) struct Failures {
    by_run: Mutex<BTreeMap<usize, PyErr>>,
    /// As the interpreter knows them. Runs take this lock without that of the interpreter, so that who has both can wait.
    threads: Mutex<BTreeSet<u64>>,
}

impl Failures {
    /// The exception of the run that ended with `error`, if it ended with one.
    pub(crate) fn cause_of(&self, error: &RunError) -> Option<PyErr> {
        lock(&self.by_run).remove(&error.run()?)
    }

    /// Raises `KeyboardInterrupt` in the runs under way, at their next step in Python. Their ends are requested
    /// otherwise; this ends algorithms that do not return.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let interrupt = py.import("subflow._interrupt")?.getattr("interrupt")?;
        // With the lock, so that none of the threads ends and leaves its number to another one.
        let threads = lock(&self.threads);
        threads.iter().try_for_each(|thread| interrupt.call1((thread,)).map(|_| ()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Simulates a scenario whose algorithms may be Python's. The thread is known to the interpreter during the run: each
/// call of an algorithm takes only the interpreter's lock, and makes no new state of a thread.
pub(crate) fn simulate_with_python(
    scenario: &Scenario,
    seed: u64,
    options: &RunOptions,
    failures: &Failures,
) -> Result<RunResult, RunError> {
    let ended = Python::attach(|py| -> PyResult<_> {
        let thread = py.import("threading")?.call_method0("get_ident")?.extract::<u64>()?;
        let run = || {
            lock(&failures.threads).insert(thread);
            let ended = catch_unwind(AssertUnwindSafe(|| simulate(scenario, seed, options)));
            lock(&failures.threads).remove(&thread);
            ended
        };
        Ok(py.detach(run))
    });
    let panic = match ended {
        Ok(Ok(outcome)) => return outcome,
        Ok(Err(panic)) => panic,
        Err(error) => return Err(RunError::Algorithm(format!("the run cannot begin: {error}"))),
    };
    let Failure { algorithm, error } = *panic.downcast::<Failure>().unwrap_or_else(|panic| resume_unwind(panic));
    let message = format!("{algorithm}: {error}");
    lock(&failures.by_run).insert(options.run, error);
    Err(RunError::Algorithm(message))
}
