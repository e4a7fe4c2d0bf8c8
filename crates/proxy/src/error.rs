//! Why a proxy cannot start, or has to end.

/// The result of what the proxy does to the machine.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a proxy cannot start, or has to end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine lacks something, or a setting does not fit it.
    #[error("{problem}")]
    BadInput {
        /// What is wrong.
        problem: String,
        /// The way out.
        help: String,
    },
    /// The machine refused a change.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(crate) fn bad_input(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::BadInput { problem: problem.into(), help: help.into() }
    }
}
