//! Fast recovery (RFC 9260, section 7.2.4), of the association or of each destination (leitner2019, section 3.2).

use subflow_policy::congestion::{Loss, RecoveryState};
use subflow_quantity::Instant;

use super::Association;
use super::config::RecoveryScope;

/// Whether fast recovery lasts, and until when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastRecovery {
    /// The exit point: the TSN up to which everything is to be acknowledged.
    exit: Option<u64>,
}

impl FastRecovery {
    #[inline]
    pub(super) fn lasts(&self) -> bool {
        self.exit.is_some()
    }

    fn enter(&mut self, exit: u64) {
        self.exit = Some(exit);
    }

    /// Everything up to `cumulative` is acknowledged. Returns whether fast recovery ends with it.
    #[inline]
    fn leave(&mut self, cumulative: u64) -> bool {
        self.exit.take_if(|exit| *exit <= cumulative).is_some()
    }

    fn abort(&mut self) {
        self.exit = None;
    }
}

impl Association {
    /// Whether a destination is in fast recovery: its own, or that of the association.
    #[inline]
    pub(super) fn is_recovering(&self, index: usize) -> bool {
        match self.config.fast_recovery {
            RecoveryScope::Association => self.recovery.lasts(),
            RecoveryScope::Destination => self.destinations[index].recovery.lasts(),
        }
    }

    /// The fast recovery of a destination: its own, or that of the association.
    fn recovery_of(&mut self, index: usize) -> &mut FastRecovery {
        match self.config.fast_recovery {
            RecoveryScope::Association => &mut self.recovery,
            RecoveryScope::Destination => &mut self.destinations[index].recovery,
        }
    }

    /// Chunks sent to the destinations in `indicated`, a set of bits, need fast retransmission. The windows of these
    /// destinations are reduced, unless they are in fast recovery.
    pub(super) fn enter_recovery(&mut self, indicated: u64, now: Instant) {
        let exit = self.outbound.queue.next_tsn() - 1;
        let held = self.recovery.lasts();
        for index in (0..self.destinations.len()).filter(|index| indicated >> index & 1 == 1) {
            self.destinations[index].burst.require_fast_packet();
            let reduce = match self.config.fast_recovery {
                RecoveryScope::Association => !held,
                RecoveryScope::Destination => !self.destinations[index].recovery.lasts(),
            };
            if reduce {
                self.reduce_window(index, exit, now);
            }
            if self.config.single_fast_packet {
                self.allow_retransmission_packet(index);
            }
        }
    }

    /// Section 7.2.3 for a fast retransmission; fast recovery lasts until everything up to `exit` is acknowledged.
    fn reduce_window(&mut self, index: usize, exit: u64, now: Instant) {
        let in_flight = self.destinations[index].flight.amount();
        let loss = Loss { now, in_flight, by_timer: false };
        self.note_state_changed_by(index, |congestion| congestion.enter_recovery(index, &loss));
        self.destinations[index].counters.fast_recoveries += 1;
        self.recovery_of(index).enter(exit);
    }

    /// Everything up to `cumulative` is acknowledged: fast recovery may be over. The exit point of a destination is a
    /// TSN of the association, too (leitner2019, section 3.2).
    pub(super) fn leave_recovery(&mut self, cumulative: u64) {
        let all = self.recovery.leave(cumulative);
        for index in 0..self.destinations.len() {
            let own = self.destinations[index].recovery.leave(cumulative);
            if (all || own) && self.congestion.path(index).state() == RecoveryState::Recovery {
                self.enter_state(index, RecoveryState::Open);
            }
        }
    }

    /// A timeout ends fast recovery (Linux, `sctp_transport_lower_cwnd`).
    pub(super) fn end_recovery_by_timeout(&mut self, index: usize) {
        self.recovery_of(index).abort();
    }
}
