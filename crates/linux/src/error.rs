//! Errors of calls to the operating system. They say what is missing and how to provide it.

use std::io;

/// The result of a call to the operating system.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a call to the operating system failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine lacks something that the run needs.
    #[error("{missing}; {remedy}")]
    Missing {
        /// What is missing.
        missing: String,
        /// How to provide it.
        remedy: String,
    },
    /// There is already something with the same name.
    #[error("the network namespace {0} already exists; `subflow cleanup` removes the namespaces of killed runs")]
    NameClash(String),
    /// The port of a listening flow is in use.
    #[error("port {0} of {1} is in use already; give the flow another with `port = …`")]
    PortInUse(u16, String),
    /// The operating system refused a call.
    #[error("{action}: {source}")]
    System {
        /// The failed action.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The kernel's answer cannot be interpreted.
    #[error("{0}")]
    Unexpected(String),
}

impl Error {
    /// Creates the error for something that is missing, with how to provide it.
    pub fn missing(missing: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Missing { missing: missing.into(), remedy: remedy.into() }
    }

    /// Whether a list of the kernel's changed each time while it was given, so that it may be asked for later.
    pub fn is_torn_list(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::Interrupted)
    }
}

/// Adds the failed action to an error.
pub(crate) trait While<T> {
    /// `action` describes the failed action, as "cannot …".
    fn during(self, action: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> While<T> for core::result::Result<T, E> {
    fn during(self, action: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::System { action: action(), source: source.into() })
    }
}
