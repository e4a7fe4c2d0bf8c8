//! What can go wrong between us and the machine, in words that say what is missing and how to get it.

use std::io;

/// The result of a call that the machine may refuse.
pub type Result<T> = core::result::Result<T, Error>;

/// Why the machine did not do it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine lacks something that the run cannot do without.
    #[error("{missing}; {remedy}")]
    Missing {
        /// What is missing.
        missing: String,
        /// How to get it.
        remedy: String,
    },
    /// Something of the same name is there already.
    #[error(
        "the network namespace {0} exists already; `subflow cleanup` removes what a run that was killed left behind"
    )]
    NameClash(String),
    /// A port that a flow listens on is taken.
    #[error("port {0} of {1} is in use already; give the flow another with `port = …`")]
    PortInUse(u16, String),
    /// The operating system refused a call.
    #[error("{action}: {source}")]
    System {
        /// What was being done.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel's answer makes no sense to us.
    #[error("{0}")]
    Unexpected(String),
}

impl Error {
    /// Something that is missing, and how to get it.
    pub fn missing(missing: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Missing { missing: missing.into(), remedy: remedy.into() }
    }
}

/// Says what was being done when a call failed.
pub(crate) trait While<T> {
    /// `action` is what was being done, as "cannot …".
    fn during(self, action: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> While<T> for core::result::Result<T, E> {
    fn during(self, action: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::System { action: action(), source: source.into() })
    }
}
