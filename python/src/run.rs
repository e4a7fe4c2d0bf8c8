//! Runs in the background, while this thread listens to Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use subflow_lab::execute::{Progress, execute_with};
use subflow_lab::results::Experiment;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::{RunError, Stop};
use subflow_scenario::Scenario;
use subflow_scenario::sweep::Plan;

use crate::algorithms::{Failures, simulate_with_python};
use crate::error::failed;

/// How often signals are looked at and progress is shown.
const INTERVAL: Duration = Duration::from_millis(50);

type Outcome = Result<Experiment, RunError>;

/// Does all runs of `plan` on `jobs` threads (0: one for each core) without the interpreter. Ends them, and waits for
/// their end, if a signal raises an exception (Ctrl-C) or `progress` does.
pub(crate) fn run(
    py: Python<'_>,
    plan: &Arc<Plan>,
    jobs: usize,
    series: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Experiment> {
    let stop = Stop::default();
    let done = Arc::new(AtomicUsize::new(0));
    let total = plan.jobs().len();
    let failures = Arc::new(Failures::default());
    let mut outcome = begin(Arc::clone(plan), jobs, series, stop.clone(), Arc::clone(&done), Arc::clone(&failures));
    let mut shown = None;
    let mut show = |outcome: &Option<Outcome>| {
        py.check_signals()?;
        let count = done.load(Ordering::Relaxed);
        // After a failure nothing more is done: the last count is shown with results only.
        if !matches!(outcome, Some(Err(_))) && shown.replace(count) != Some(count) {
            progress.map_or(Ok(()), |progress| progress.call1((count, total)).map(|_| ()))?;
        }
        Ok(())
    };
    loop {
        let arrived = next(py, &mut outcome)?;
        if let Err(error) = show(&arrived) {
            stop.request();
            if arrived.is_none() {
                wait(py, &mut outcome);
            }
            return Err(error);
        }
        if let Some(outcome) = arrived {
            return outcome.map_err(|error| failed(py, &error, failures.cause_of(&error)));
        }
    }
}

fn begin(
    plan: Arc<Plan>,
    jobs: usize,
    series: bool,
    stop: Stop,
    done: Arc<AtomicUsize>,
    failures: Arc<Failures>,
) -> Receiver<Outcome> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let options = RunOptions { series, stop: Some(stop), ..RunOptions::default() };
        let count = |progress: Progress| {
            done.fetch_max(progress.done, Ordering::Relaxed);
        };
        let has_python = !plan.document.custom.is_empty();
        let run = |scenario: &Scenario, seed, options: &RunOptions| match has_python {
            true => simulate_with_python(scenario, seed, options, &failures),
            false => simulate(scenario, seed, options),
        };
        // Nobody receives it only if the caller is gone.
        let _ = sender.send(execute_with(&plan, jobs, &options, &count, run));
    });
    receiver
}

/// The outcome, if it comes within the interval.
fn next(py: Python<'_>, receiver: &mut Receiver<Outcome>) -> PyResult<Option<Outcome>> {
    match py.detach(move || receiver.recv_timeout(INTERVAL)) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => {
            Err(PyRuntimeError::new_err("internal error: the runs ended in a panic"))
        }
    }
}

/// Waits until the runs have ended. Their outcome does not matter any more.
fn wait(py: Python<'_>, receiver: &mut Receiver<Outcome>) {
    let _ = py.detach(move || receiver.recv());
}
