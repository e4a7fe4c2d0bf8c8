//! Errors of a run of a valid scenario.

use subflow_scenario::sweep::{Job, Plan};

/// The error of a run that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(run, seed, parameters))]
pub struct RunError {
    /// Description of the error.
    pub message: String,
    /// Whether nothing was run, because the scenario cannot run in real time, or the machine lacks what it takes.
    pub refused: bool,
    /// The number of the run, once it is known.
    pub run: Option<usize>,
    /// Its seed.
    pub seed: Option<u64>,
    /// Its point of the sweep, as `path = value` joined by commas; may be empty.
    pub parameters: String,
}

impl RunError {
    /// An error with this description.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), refused: false, run: None, seed: None, parameters: String::new() }
    }

    /// The error of a run that was not begun, with what is missing and how to get it.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { refused: true, ..Self::failed(message) }
    }

    /// Adds the run of `plan` in which the error occurred.
    #[must_use]
    pub fn in_job(self, plan: &Plan, job: Job) -> Self {
        let parameters = &plan.points[job.point].parameters;
        let parameters: Vec<String> = parameters.iter().map(|(path, value)| format!("{path} = {value}")).collect();
        Self { run: Some(job.run), seed: Some(job.seed), parameters: parameters.join(", "), ..self }
    }
}

#[cfg(all(target_os = "linux", feature = "linux"))]
impl From<subflow_linux::Error> for RunError {
    fn from(error: subflow_linux::Error) -> Self {
        use subflow_linux::Error;
        match error {
            Error::Missing { .. } | Error::NameClash(_) | Error::PortInUse(..) => Self::refused(error.to_string()),
            Error::System { .. } | Error::Unexpected(_) => Self::failed(error.to_string()),
        }
    }
}

fn place(run: &Option<usize>, seed: &Option<u64>, parameters: &str) -> String {
    match (run, seed) {
        (Some(run), Some(seed)) if parameters.is_empty() => format!("run {run} (seed {seed}): "),
        (Some(run), Some(seed)) => format!("run {run} (seed {seed}, {parameters}): "),
        _ => String::new(),
    }
}
