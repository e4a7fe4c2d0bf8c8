//! Which acknowledgments grow windows, and fast recovery (RFC 9260, section 7.2; leitner2019, chapter 3).

use subflow_policy::congestion::{Ack, DeliverySample, Loss, RecoveryState};
use subflow_quantity::Instant;

use super::Association;
use super::config::{RecoveryScope, WindowGrowth};
use super::outbound::DestinationUpdate;

impl Association {
    /// `update.bytes` sent to a destination are newly acknowledged: its window may grow, where the mode allows it.
    pub(super) fn grow_window(&mut self, index: usize, update: &DestinationUpdate, now: Instant) {
        let path = self.congestion.path(index);
        let slow_start = path.cwnd() <= path.ssthresh();
        let window_limited = update.flight_before >= u64::from(path.cwnd());
        let acked = path.counted(u32::try_from(update.bytes).unwrap_or(u32::MAX));
        if path.state() == RecoveryState::Loss {
            self.enter_state(index, RecoveryState::Open);
        }
        let destination = &self.destinations[index];
        let ack = Ack {
            now,
            acked,
            rtt: destination.rto.latest(),
            una: destination.counters.bytes_acknowledged,
            nxt: destination.counters.data_bytes_sent,
            in_flight: u32::try_from(update.flight_before).unwrap_or(u32::MAX),
        };
        let sample = DeliverySample {
            ack,
            delivered: ack.una,
            lost: 0,
            in_flight: destination.flight.amount(),
            ce: 0,
            advanced: self.newly_acked.cumulative_advanced(),
            progress: self.may_grow(index, slow_start),
            window_limited,
        };
        self.congestion.on_sample(index, &ack);
        self.congestion.on_delivered(index, &sample);
    }

    fn may_grow(&self, index: usize, slow_start: bool) -> bool {
        if self.is_recovering(index) && (slow_start || !self.config.avoidance_in_recovery) {
            return false;
        }
        match self.config.window_growth {
            WindowGrowth::Rfc4960 => self.newly_acked.cumulative_advanced(),
            WindowGrowth::Rfc9260 | WindowGrowth::PerDestination => true,
            WindowGrowth::Cuc(_) => self.destinations[index].cuc.has_new(),
        }
    }

    /// Whether a destination is in fast recovery: its own, or that of the association.
    pub(super) fn is_recovering(&self, index: usize) -> bool {
        match self.config.fast_recovery {
            RecoveryScope::Association => self.recovery_exit.is_some(),
            RecoveryScope::Destination => self.destinations[index].recovery_exit.is_some(),
        }
    }

    /// Chunks sent to the destinations in `indicated`, a set of bits, need fast retransmission. The windows of these
    /// destinations are reduced, unless they are in fast recovery.
    pub(super) fn enter_recovery(&mut self, indicated: u64, now: Instant) {
        let exit = self.outbound.queue.next_tsn() - 1;
        let held = self.recovery_exit.is_some();
        for index in (0..self.destinations.len()).filter(|index| indicated >> index & 1 == 1) {
            self.destinations[index].fast_packet = true;
            let reduce = match self.config.fast_recovery {
                RecoveryScope::Association => !held,
                RecoveryScope::Destination => self.destinations[index].recovery_exit.is_none(),
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
        match self.config.fast_recovery {
            RecoveryScope::Association => self.recovery_exit = Some(exit),
            RecoveryScope::Destination => self.destinations[index].recovery_exit = Some(exit),
        }
    }

    /// Everything up to the exit point is acknowledged: fast recovery is over. The exit point of a destination is a TSN
    /// of the association, too (leitner2019, section 3.2).
    pub(super) fn leave_recovery(&mut self, cumulative: u64) {
        let is_over = |exit: &mut Option<u64>| exit.take_if(|exit| *exit <= cumulative).is_some();
        let all = is_over(&mut self.recovery_exit);
        for index in 0..self.destinations.len() {
            let own = is_over(&mut self.destinations[index].recovery_exit);
            if (all || own) && self.congestion.path(index).state() == RecoveryState::Recovery {
                self.enter_state(index, RecoveryState::Open);
            }
        }
    }

    /// A timeout ends fast recovery (Linux, `sctp_transport_lower_cwnd`).
    pub(super) fn end_recovery_by_timeout(&mut self, index: usize) {
        match self.config.fast_recovery {
            RecoveryScope::Association => self.recovery_exit = None,
            RecoveryScope::Destination => self.destinations[index].recovery_exit = None,
        }
    }

    /// A window that was not used shrinks for every RTO without data (section 7.2.1).
    pub(super) fn decay_idle_window(&mut self, index: usize, now: Instant) {
        if !self.config.idle_decay || self.destinations[index].flight.bytes() > 0 {
            return;
        }
        let destination = &mut self.destinations[index];
        let due = destination.idle_timeouts(now);
        // If the window is queried repeatedly meanwhile, it does not shrink again.
        let halvings = due.saturating_sub(destination.halvings).min(31) as u32;
        destination.halvings = destination.halvings.max(due);
        if halvings > 0 {
            self.congestion.restart_after_idle(index, halvings);
        }
    }
}
