//! The failure of paths and of the association: potentially failed, inactive, active again (RFC 9260, sections 8.1 and
//! 8.2; RFC 7829, section 3).
//!
//! A destination with an unanswered packet first becomes potentially failed: new data and retransmissions are sent to
//! others while one of these is active, and a HEARTBEAT is sent once per RTO. Further timeouts make it inactive; an
//! answer makes it active.

use subflow_quantity::Instant;

use super::Association;
use super::reachability::{Failure, Reachability};
use crate::tcp::Closed;

/// The kind of unanswered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// DATA, FORWARD-TSN, SHUTDOWN.
    Data,
    /// A HEARTBEAT.
    Heartbeat,
}

impl Association {
    /// A packet to a destination was not answered.
    pub(super) fn on_destination_error(&mut self, index: usize, what: Unanswered, now: Instant) {
        let counts = self.counts_for_association(index, what);
        match self.destinations[index].health.on_unanswered(&self.config, now) {
            Some(Failure::Suspected) => self.on_suspected(index, what, now),
            Some(Failure::Certain) => self.on_failed(index, what, now),
            None => {}
        }
        self.alternate_source(index);
        if counts && self.destinations.count_error() > self.config.association_max_retransmissions {
            self.abort_with(Vec::new(), Closed::TimedOut);
        }
    }

    /// RFC 9260, section 8.1: HEARTBEATs count only on a path that carries data, otherwise the failure of another path
    /// would end an association that works; and only while that path is idle, otherwise one failure would count twice.
    /// Probes of an unconfirmed address do not count.
    fn counts_for_association(&self, index: usize, what: Unanswered) -> bool {
        match what {
            Unanswered::Data => self.destinations[index].reachability() != Reachability::Unconfirmed,
            Unanswered::Heartbeat => {
                self.destinations.takes_data(index) && self.destinations[index].flight.bytes() == 0
            }
        }
    }

    /// RFC 7829, section 3.2.
    fn on_suspected(&mut self, index: usize, what: Unanswered, now: Instant) {
        self.destinations[index].counters.suspicions += 1;
        self.reassign_queue(index);
        // An unanswered HEARTBEAT is followed by the next one in any case.
        if what == Unanswered::Data {
            self.start_heartbeat(index, now);
        }
    }

    fn on_failed(&mut self, index: usize, what: Unanswered, now: Instant) {
        self.destinations[index].counters.failures += 1;
        self.congestion.set_established(index, false);
        self.reassign_queue(index);
        // Without HB.interval none may be scheduled.
        if what == Unanswered::Data && self.destinations[index].heartbeat.at().is_none() {
            self.start_heartbeat(index, now);
        }
    }

    /// Data last sent to a destination is acknowledged. The association's error count is reset, and so is that of the
    /// destination if the acknowledgment is a proof (section 8.2).
    pub(super) fn on_answered(&mut self, index: usize, proven: bool) {
        self.destinations.on_answer();
        if proven && self.destinations[index].health.is_revived_by_data(&self.config) {
            self.set_active(index);
        }
    }

    /// The destination is known to work.
    pub(super) fn set_active(&mut self, index: usize) {
        self.destinations[index].health.activate();
        self.congestion.set_established(index, true);
        // Data that was assigned to others while none was active has not been sent.
        for other in 0..self.destinations.len() {
            if !self.destinations[other].is_active() && !self.destinations[other].assigned.is_empty() {
                self.reassign_queue(other);
            }
        }
    }
}
