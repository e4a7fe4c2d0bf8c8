//! Errors of a run of a valid scenario: what went wrong, whose fault it is, and in which run.

use std::io;
use std::io::{Error, ErrorKind};
use std::path::Path;

use subflow_scenario::sweep::{Job, Parameters, Plan};

/// The error of a run that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The scenario asks for what runs in real time do not have. Nothing was run.
    #[error("{0}")]
    Scenario(String),
    /// The machine lacks what the run needs, or does not permit it. Nothing was run. The message says how to provide it.
    #[error("{0}")]
    Machine(String),
    /// The run was ended on request.
    #[error("{0}")]
    Stopped(&'static str),
    /// The scenario needs more than the simulator can hold.
    #[error("{0}")]
    TooLarge(String),
    /// A flow could not begin, or its connection failed where that is not part of the scenario.
    #[error("{0}")]
    Flow(String),
    /// A file of the run cannot be written, or has reached the limit that was set.
    #[error("{0}")]
    Write(String),
    /// The operating system refused a call.
    #[error("{0}")]
    System(String),
    /// An algorithm of another crate or program failed.
    #[error("{0}")]
    Algorithm(String),
    /// A result is not what the caller requires.
    #[error("{0}")]
    Result(String),
    /// A defect of Subflow.
    #[error("internal error: {0}")]
    Defect(String),
    /// The run failed when it was done, and a store has its message.
    #[error("{0}")]
    Stored(String),
    /// The error of a run that is one of several.
    #[error("run {run} (seed {seed}{}): {error}", swept(parameters))]
    InRun {
        /// The number of the run.
        run: usize,
        /// Its seed.
        seed: u64,
        /// Its point of the sweep; may be empty.
        parameters: Parameters,
        /// The error.
        error: Box<RunError>,
    },
}

impl RunError {
    /// The error of a run whose end was [asked for](crate::Stop).
    pub(crate) const STOPPED: Self = Self::Stopped("stopped on request");

    /// The error of a file that cannot be written; `what` names it, such as "the event log".
    pub(crate) fn write(what: &str, path: &Path, error: &io::Error) -> Self {
        let separator = if what.is_empty() { "" } else { " " };
        Self::Write(format!("cannot write {what}{separator}{}: {error}{}", path.display(), remedy(error)))
    }

    /// The number of the run in which it occurred, if it is one of several.
    pub fn run(&self) -> Option<usize> {
        match self {
            Self::InRun { run, .. } => Some(*run),
            _ => None,
        }
    }

    /// The error without the run in which it occurred.
    pub fn cause(&self) -> &Self {
        match self {
            Self::InRun { error, .. } => error.cause(),
            error => error,
        }
    }

    /// Whether nothing was run, because the scenario or the machine does not permit it.
    pub fn is_refusal(&self) -> bool {
        matches!(self.cause(), Self::Scenario(_) | Self::Machine(_))
    }

    /// Adds the run of `plan` in which the error occurred.
    #[must_use]
    pub fn in_job(self, plan: &Plan, job: Job) -> Self {
        let parameters = plan.points[job.point].parameters.clone();
        Self::InRun { run: job.run, seed: job.seed, parameters, error: Box::new(self) }
    }
}

#[cfg(all(target_os = "linux", feature = "linux"))]
impl From<subflow_linux::Error> for RunError {
    fn from(error: subflow_linux::Error) -> Self {
        use subflow_linux::Error;
        match error {
            Error::PortInUse(..) => Self::Scenario(error.to_string()),
            Error::Missing { .. } | Error::NameClash(_) => Self::Machine(error.to_string()),
            Error::System { .. } | Error::Unexpected(_) => Self::System(error.to_string()),
        }
    }
}

/// The swept values, as `, path = value` each.
fn swept(parameters: &Parameters) -> String {
    parameters.iter().map(|(path, value)| format!(", {path} = {value}")).collect()
}

/// What a user can do about an error of the operating system, as the end of a message; empty where it says enough.
pub fn remedy(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; free space on this disk, or choose a folder on another one"
        }
        _ => "",
    }
}
