//! The protocol that the hosts of a case speak.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the hosts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// Plain TCP.
    Tcp,
    /// MPTCP, at one end possibly plain TCP.
    Mptcp,
    /// SCTP.
    Sctp,
}

impl Stack {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Mptcp, Self::Sctp];

    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Sctp => "sctp",
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stack {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|stack| stack.name() == name).ok_or_else(|| format!("no stack is called {name:?}"))
    }
}
