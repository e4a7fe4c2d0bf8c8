//! What happens to links while a run goes on.

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
