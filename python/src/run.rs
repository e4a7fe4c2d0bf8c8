//! Runs in the background, while this thread listens to Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use subflow_lab::execute::{Progress, execute_with};
use subflow_lab::results::{Experiment, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::{RunError, Stop};
use subflow_scenario::Scenario;
use subflow_scenario::sweep::{Plan, SeriesKept};

use crate::algorithms::{Failures, simulate_with_python};
use crate::error::failed;

/// How often signals are looked at and progress is shown.
const INTERVAL: Duration = Duration::from_millis(50);

/// Of which runs metrics over time are kept: True, False, or "all".
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum SeriesOf {
    /// Of the first run of each point and of at most 100 points, or of none.
    #[pyo3(transparent, annotation = "bool")]
    First(bool),
    /// Of all runs, if it is "all".
    #[pyo3(transparent, annotation = "str")]
    Named(String),
}

impl SeriesOf {
    /// Whether any are kept. Sets in `plan` whether those of all runs are.
    pub(crate) fn set(&self, plan: &mut Plan) -> PyResult<bool> {
        match self {
            Self::First(any) => Ok(*any),
            Self::Named(name) if name == "all" => {
                plan.series = SeriesKept::All;
                Ok(true)
            }
            Self::Named(name) => {
                Err(PyValueError::new_err(format!("series: found {name:?}, expected True, False or \"all\"")))
            }
        }
    }
}

/// Does all runs of `plan`, `jobs` at once (0: one for each core), each on `threads` threads, without the interpreter.
/// Ends them, and waits for their end, if a signal raises an exception (Ctrl-C) or `progress` does.
pub(crate) fn run(
    py: Python<'_>,
    plan: &Arc<Plan>,
    (jobs, threads): (usize, usize),
    series: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Experiment> {
    let stop = Stop::default();
    let done = Arc::new(AtomicUsize::new(0));
    let total = plan.jobs().len();
    let failures = Arc::new(Failures::default());
    let work = {
        let (plan, done, failures) = (Arc::clone(plan), Arc::clone(&done), Arc::clone(&failures));
        let options = RunOptions { series, threads, stop: Some(stop.clone()), ..RunOptions::default() };
        let count = move |progress: Progress| {
            done.fetch_max(progress.done, Ordering::Relaxed);
        };
        move || execute_with(&plan, jobs, &options, &count, simulation(&plan, &failures))
    };
    let mut shown = None;
    let show = |outcome: Option<&Result<Experiment, RunError>>| {
        let count = done.load(Ordering::Relaxed);
        // After a failure nothing more is done: the last count is shown with results only.
        if !matches!(outcome, Some(Err(_))) && shown.replace(count) != Some(count) {
            progress.map_or(Ok(()), |progress| progress.call1((count, total)).map(|_| ()))?;
        }
        Ok(())
    };
    let outcome = in_background(py, &stop, &failures, work, show)?;
    outcome.map_err(|error| failed(py, &error, failures.cause_of(&error)))
}

/// How a run of `plan` is simulated, which may name algorithms in Python.
pub(crate) fn simulation<'a>(
    plan: &'a Plan,
    failures: &'a Failures,
) -> impl Fn(&Scenario, u64, &RunOptions) -> Result<RunResult, RunError> + Sync + use<'a> {
    let has_python = !plan.document.custom.is_empty();
    move |scenario, seed, options| match has_python {
        true => simulate_with_python(scenario, seed, options, failures),
        false => simulate(scenario, seed, options),
    }
}

/// Does `work` on another thread, without the interpreter, and calls `listen` at intervals and at its end. If a signal
/// or `listen` raises an exception, requests `stop`, interrupts algorithms in Python, and waits for the end of `work`.
pub(crate) fn in_background<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    failures: &Failures,
    work: impl FnOnce() -> T + Send + 'static,
    mut listen: impl FnMut(Option<&T>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    // Nobody receives the outcome only if the caller is gone.
    std::thread::spawn(move || drop(sender.send(work())));
    loop {
        let arrived = next(py, &mut receiver)?;
        if let Err(error) = py.check_signals().and_then(|()| listen(arrived.as_ref())) {
            stop.request();
            // The outcome does not matter any more. A panic is an end, too.
            while arrived.is_none() && matches!(next(py, &mut receiver), Ok(None)) {
                failures.interrupt(py)?;
            }
            return Err(error);
        }
        if let Some(outcome) = arrived {
            return Ok(outcome);
        }
    }
}

/// The outcome, if it comes within the interval.
fn next<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<Option<T>> {
    match py.detach(move || receiver.recv_timeout(INTERVAL)) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => {
            Err(PyRuntimeError::new_err("internal error: the runs ended in a panic"))
        }
    }
}
