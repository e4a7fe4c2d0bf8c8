//! How an exception in an algorithm ends its run, and only that: the algorithm unwinds with the exception, and the
//! caller of the run catches it. The transports have no error that could carry it, and nothing of the run is used
//! afterwards.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

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

/// The exceptions of runs that failed, by number of the run.
#[derive(Default)]
pub(crate) struct Failures(Mutex<BTreeMap<usize, PyErr>>);

impl Failures {
    /// The exception of the run that ended with `error`, if it ended with one.
    pub(crate) fn cause_of(&self, error: &RunError) -> Option<PyErr> {
        let run = error.run?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&run)
    }
}

/// Simulates a scenario whose algorithms may be Python's. The thread is known to the interpreter during the run: each
/// call of an algorithm takes only the interpreter's lock, and makes no new state of a thread.
pub(crate) fn simulate_with_python(
    scenario: &Scenario,
    seed: u64,
    options: &RunOptions,
    failures: &Failures,
) -> Result<RunResult, RunError> {
    let run = || Python::attach(|py| py.detach(|| simulate(scenario, seed, options)));
    let panic = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => return outcome,
        Err(panic) => panic,
    };
    let Failure { algorithm, error } = *panic.downcast::<Failure>().unwrap_or_else(|panic| resume_unwind(panic));
    let message = format!("{algorithm}: {error}");
    failures.0.lock().unwrap_or_else(PoisonError::into_inner).insert(options.run, error);
    Err(RunError::failed(message))
}
