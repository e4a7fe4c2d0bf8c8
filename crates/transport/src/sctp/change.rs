//! Options that change during an association.

use std::sync::Arc;

use subflow_quantity::{Duration, Instant};

use super::Association;
use crate::Change;

/// The longest SACK.Delay that may be configured (RFC 9260, section 6.2).
const LONGEST_SACK_DELAY: Duration = Duration::from_millis(500);

impl Association {
    pub(crate) fn change(&mut self, change: Change, now: Instant) -> bool {
        let config = Arc::make_mut(&mut self.config);
        match change {
            Change::Nagle(on) => config.nagle = on,
            Change::PathRetries(most) => config.path_max_retransmissions = most,
            Change::AssociationRetries(most) => config.association_max_retransmissions = most,
            Change::SackDelay(delay) => config.sack_delay = delay.min(LONGEST_SACK_DELAY),
            Change::Heartbeats(interval) => {
                config.heartbeat_interval = interval;
                for index in 0..self.destinations.len() {
                    self.reschedule_heartbeat(index, now);
                }
            }
            Change::Acknowledgments(_) | Change::Retries(_) => return false,
        }
        true
    }
}
