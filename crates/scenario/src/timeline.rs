//! What happens to links and hosts while a run goes on.

use std::net::IpAddr;

use subflow_network::LinkChange;
use subflow_quantity::Duration;

/// One change of one link at one time.
#[derive(Clone, Debug)]
pub struct LinkEvent {
    /// When; before the end of the run.
    pub at: Duration,
    /// Index into [`Scenario::links`](super::Scenario::links).
    pub link: usize,
    /// What changes in the direction from the link's first to its second end.
    pub up: Vec<LinkChange>,
    /// What changes in the direction from the link's second to its first end.
    pub down: Vec<LinkChange>,
}

/// A host loses addresses, or has them again, and knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEvent {
    /// When; before the end of the run.
    pub at: Duration,
    /// Index into [`Scenario::hosts`](super::Scenario::hosts).
    pub host: usize,
    /// Which addresses.
    pub addresses: Vec<IpAddr>,
    /// Whether the host has them from then on.
    pub present: bool,
}
