//! Links that change while packets are on them.

use subflow_quantity::Duration;

use super::Service;
use crate::LossConfig;

/// What happens to one direction of a link at some instant.
#[derive(Clone, Debug)]
pub enum LinkChange {
    /// It sends at another rate. The packet in transmission keeps what it has sent; its rest goes at the new rate.
    Service(Service),
    /// Packets that have not left yet propagate for this long. None overtakes one that left before it.
    Delay(Duration),
    /// Packets that have not left yet are lost by this model.
    Loss(LossConfig),
    /// Every queued packet, the one in transmission included, and every one that comes is dropped. What has left
    /// arrives.
    Down,
    /// It works again.
    Up,
}
