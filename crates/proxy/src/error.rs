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

    /// Whether a command or a write has failed because what it was for does not exist: in the words of the C library,
    /// iproute2 and iptables. What a command cannot find itself is another error.
    pub(crate) fn is_of_missing_object(&self) -> bool {
        const WORDS: [&str; 8] = [
            "No such file or directory",
            "No such process",
            "No such device",
            "does not exist",
            "Cannot find device",
            "Bad rule (does a matching rule exist",
            "No chain/target/match by that name",
            // A family that the kernel does not have: nothing of it can be there.
            "not supported",
        ];
        matches!(self, Self::Failed(why) if WORDS.iter().any(|words| why.contains(words)))
    }

    /// This error, and another one that came after it.
    pub(crate) fn and(self, later: &Self) -> Self {
        match self {
            Self::BadInput { problem, help } => Self::BadInput { problem: format!("{problem}; {later}"), help },
            Self::Failed(why) => Self::Failed(format!("{why}; {later}")),
        }
    }
}

/// The outcome of one thing, and of another that was done whatever came of the first.
pub(crate) fn both(first: Result<()>, later: Result<()>) -> Result<()> {
    match (first, later) {
        (Err(first), Err(later)) => Err(first.and(&later)),
        (first, later) => first.and(later),
    }
}
