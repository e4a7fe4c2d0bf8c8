//! What only Linux can do, and what other systems say instead.

use subflow_lab::execute::{Progress, RunError};
use subflow_lab::results::Experiment;
use subflow_lab::sweep::Plan;

#[cfg(target_os = "linux")]
use subflow_lab::{emulate, execute::execute_with};

use crate::failure::Failure;

/// Runs a plan in real time, one run after the other.
#[cfg(target_os = "linux")]
pub(crate) fn execute(plan: &Plan, progress: &(dyn Fn(Progress) + Sync)) -> Result<Experiment, Failure> {
    let stop = emulate::Stop::on_signals().map_err(|error| RunError::failed(error.to_string()))?;
    Ok(execute_with(plan, 1, progress, |scenario, job| emulate::emulate(scenario, job.seed, &stop))?)
}

/// Removes what killed runs left behind, and names it.
#[cfg(target_os = "linux")]
pub(crate) fn cleanup() -> Result<Vec<String>, Failure> {
    emulate::cleanup().map_err(|error| RunError::failed(error.to_string()).into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn execute(_: &Plan, _: &(dyn Fn(Progress) + Sync)) -> Result<Experiment, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cleanup() -> Result<Vec<String>, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
fn only_linux() -> Failure {
    RunError::failed("this system is not Linux: runs in real time need its network namespaces and MPTCP").into()
}
