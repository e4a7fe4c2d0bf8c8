//! A script: its header and its steps.

use core::fmt;
use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Duration;
use subflow_scenario::file::Place;
use subflow_transport::Change;

use crate::expression::Expression;
use crate::settings::Settings;
use crate::vocabulary::Protocol;

/// What a script holds the stack to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The document.
    pub document: Document,
    /// Section, such as `3.10.7.4`.
    pub section: String,
    /// The RFC's own label of the requirement, or what kind it is: `MUST-8`, `SHOULD`; may be empty.
    pub label: String,
}

/// A document with requirements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// The RFC of this number.
    Rfc(u32),
    /// The Internet-Draft of this name, with its version.
    Draft(String),
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rfc(number) => write!(f, "RFC {number}"),
            Self::Draft(name) => f.write_str(name),
        }
    }
}

/// A script that was read and is valid.
#[derive(Clone, Debug)]
pub struct Script {
    /// The protocol.
    pub protocol: Protocol,
    /// The requirement.
    pub requirement: Requirement,
    /// What the script shows, in one sentence.
    pub claim: String,
    pub(crate) settings: Settings,
    /// Addresses of the host in their order; empty: those of the paths.
    pub(crate) host: Vec<IpAddr>,
    pub(crate) paths: Vec<Path>,
    /// By how much a packet may leave earlier or later than the script says.
    pub(crate) tolerance: Duration,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// The addresses of the host, in their order.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let mut addresses = self.host.clone();
        if addresses.is_empty() {
            for path in &self.paths {
                if !addresses.contains(&path.local.ip()) {
                    addresses.push(path.local.ip());
                }
            }
        }
        addresses
    }
}

/// A pair of addresses and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) name: String,
    /// The host's end. Port 0 becomes that of the first packet that fits.
    pub(crate) local: SocketAddr,
    /// The peer's end. Port 0 as above.
    pub(crate) remote: SocketAddr,
}

impl Path {
    /// The ports at the start of the header of a packet that leaves.
    pub(crate) fn ports(&self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.local.port().to_be_bytes(), self.remote.port().to_be_bytes());
        [a, b, c, d]
    }
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) place: Place,
    pub(crate) when: When,
    pub(crate) what: What,
}

/// The time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// Whether the times count from the step before.
    pub(crate) relative: bool,
    pub(crate) earliest: Duration,
    /// The end of a range; `None` for one instant.
    pub(crate) latest: Option<Duration>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A packet of the peer arrives.
    Arrive { path: usize, items: Vec<Item> },
    /// A packet leaves.
    Leave { path: usize, items: Vec<Item> },
    /// Nothing leaves until then.
    Silence,
    /// An option of the connection changes.
    Change(Change),
    /// The application, the host or the script acts.
    Act { verb: String, arguments: Vec<Expression> },
}

/// A named part of a packet: flag, field, option, chunk, parameter.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// `no NAME`: it must be absent.
    pub(crate) absent: bool,
    pub(crate) values: Vec<Expression>,
    pub(crate) parts: Vec<Item>,
}
