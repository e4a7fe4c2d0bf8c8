//! Why a proxy cannot start, or has to end, and whose fault it is.

use std::io;

use rustix::io::Errno;

/// The result of what the proxy does to the machine.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a proxy cannot start, or has to end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings do not fit the machine.
    #[error("{problem}")]
    Settings {
        /// What is wrong.
        problem: String,
        /// What to set instead.
        help: String,
    },
    /// The machine lacks something, or does not permit it.
    #[error("{problem}")]
    Machine {
        /// What is missing.
        problem: String,
        /// How to provide it.
        help: String,
    },
    /// The operating system refused a call.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried, such as `start`.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A command that changes the machine failed.
    #[error("`{line}` failed: {said}")]
    Command {
        /// The command.
        line: String,
        /// What it wrote to standard error.
        said: String,
        /// Why, as far as a caller has to know.
        cause: CommandFailure,
    },
    /// What the kernel is asked through [`subflow_linux`].
    #[error(transparent)]
    Kernel(#[from] subflow_linux::Error),
    /// What a command prints is not what it should be.
    #[error("{0}")]
    Unexpected(String),
    /// Changes of the machine that cannot be undone now.
    #[error("{0}")]
    NotUndone(String),
    /// An error, and another one of what was done whatever came of the first.
    #[error("{first}; {later}")]
    Both {
        /// The first one.
        first: Box<Error>,
        /// The later one.
        later: Box<Error>,
    },
}

/// Why a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFailure {
    /// What it was for does not exist.
    NoSuchObject,
    /// It did not run, or anything else.
    Other,
}

impl Error {
    pub(crate) fn settings(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Settings { problem: problem.into(), help: help.into() }
    }

    pub(crate) fn machine(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Machine { problem: problem.into(), help: help.into() }
    }

    pub(crate) fn system(action: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System { action: action.into(), source: source.into() }
    }

    /// Whether something failed because what it was for does not exist. A command that does not exist is another error.
    pub(crate) fn is_of_missing_object(&self) -> bool {
        match self {
            Self::Command { cause, .. } => *cause == CommandFailure::NoSuchObject,
            Self::System { source, .. } => Errno::from_io_error(source).is_some_and(|errno| {
                // With a family that the kernel does not have, nothing of it can be there.
                [Errno::NOENT, Errno::SRCH, Errno::NODEV, Errno::NXIO, Errno::AFNOSUPPORT, Errno::OPNOTSUPP]
                    .contains(&errno)
            }),
            _ => false,
        }
    }
}

impl CommandFailure {
    /// Why a command failed that wrote this to standard error in the locale C: iproute2, nft and iptables have no
    /// other way to tell.
    pub(crate) fn of_words(said: &str) -> Self {
        const MISSING: [&str; 8] = [
            "No such file or directory",
            "No such process",
            "No such device",
            "does not exist",
            "Cannot find device",
            "Bad rule (does a matching rule exist",
            "No chain/target/match by that name",
            // A family that the kernel does not have.
            "not supported",
        ];
        if MISSING.iter().any(|words| said.contains(words)) { Self::NoSuchObject } else { Self::Other }
    }
}

/// The outcome of one thing, and of another that was done whatever came of the first.
pub(crate) fn both(first: Result<()>, later: Result<()>) -> Result<()> {
    match (first, later) {
        (Err(first), Err(later)) => Err(Error::Both { first: Box::new(first), later: Box::new(later) }),
        (first, later) => first.and(later),
    }
}
