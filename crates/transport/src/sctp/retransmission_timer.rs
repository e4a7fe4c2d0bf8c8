//! T3-rtx of a destination (RFC 9260, sections 6.3.2 and 6.3.3).

use subflow_policy::congestion::Timeout;
use subflow_quantity::{Duration, Instant};

use super::config::{Config, RtoLimits};
use super::path_failure::Unanswered;
use super::{Association, RtoEstimator};
use crate::Note;

/// The timer, with the estimate of the RTT that its timeout follows.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionTimer {
    estimate: RtoEstimator,
    /// When it expires, where it runs.
    at: Option<Instant>,
    /// What it starts with after it has expired, where that is not the RTO (see [`Config::late_back_off`]).
    restart_with: Option<Duration>,
}

impl RetransmissionTimer {
    pub(super) fn new(limits: RtoLimits) -> Self {
        Self { estimate: RtoEstimator::new(limits), at: None, restart_with: None }
    }

    #[inline]
    pub(super) fn estimate(&self) -> &RtoEstimator {
        &self.estimate
    }

    #[inline]
    pub(super) fn rto(&self) -> Duration {
        self.estimate.rto()
    }

    /// When it expires, where it runs.
    #[inline]
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// An RTT was measured.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.estimate.sample(rtt);
    }

    /// Something sent there was not answered in time: the RTO doubles.
    pub(super) fn back_off(&mut self) {
        self.estimate.back_off();
    }

    /// Data is sent: starts it unless it runs (rule R1).
    #[inline]
    pub(super) fn on_data_sent(&mut self, config: &Config, now: Instant) {
        let timeout = self.restart_with.take().unwrap_or(self.estimate.rto());
        if self.at.is_none() {
            self.at = Some(config.deadline(now, timeout));
        }
    }

    /// Starts it anew with the RTO (rule R3).
    #[inline]
    pub(super) fn restart(&mut self, config: &Config, now: Instant) {
        self.at = Some(config.deadline(now, self.estimate.rto()));
    }

    /// Nothing is in flight any more (rule R2), or its earliest chunk is about to be sent again.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    /// The event after an expiration is over: it starts with the RTO from now on.
    #[inline]
    pub(super) fn end_event(&mut self) {
        self.restart_with = None;
    }

    /// Data was not acknowledged in time (rule E2).
    fn back_off_for_data(&mut self, late: bool) {
        self.restart_with = late.then(|| self.estimate.rto());
        self.estimate.back_off();
    }
}

impl Association {
    /// T3 of a destination expired.
    pub(super) fn on_t3(&mut self, index: usize, now: Instant) {
        self.destinations[index].timer.stop();
        if self.destinations[index].flight.bytes() == 0 {
            // Only a FORWARD-TSN waits for an answer.
            if self.outbound.repeat_forward_tsn() {
                self.destinations[index].timer.back_off();
                self.keep_timer_running(now);
                self.on_destination_error(index, Unanswered::Data, now);
            }
            return;
        }
        let is_answered_probe = self
            .peer
            .window
            .is_answered_probe(self.outbound.queue.in_flight(), self.destinations[index].flight.chunks());
        self.destinations[index].counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(index, Note::Timeout { in_a_row: self.destinations.errors() + 1 });
        }
        self.lower_window(index, now);
        self.destinations[index].timer.back_off_for_data(self.config.late_back_off);
        // Rule E3: one packet now, further ones as the window allows.
        self.allow_retransmission_packet(index);
        let in_flight = self.outbound.queue.iter().filter(|(_, chunk)| chunk.is_in_flight());
        let tsns: Vec<u64> = in_flight.filter(|(_, chunk)| chunk.destination() == index).map(|(tsn, _)| tsn).collect();
        for tsn in tsns {
            self.mark_lost(tsn);
        }
        self.outbound.queue.lose_copies(index, &mut self.destinations[index].flight);
        if !is_answered_probe {
            self.on_destination_error(index, Unanswered::Data, now);
        }
        if !self.phase.is_closed() {
            self.advance_abandoned_point(now);
        }
    }

    /// Section 7.2.3.
    fn lower_window(&mut self, index: usize, now: Instant) {
        let in_flight = self.destinations[index].flight.amount();
        let timeout = Timeout { now, in_flight, repeated: false };
        self.note_state_changed_by(index, |congestion| congestion.on_timeout(index, &timeout));
        self.end_recovery_by_timeout(index);
    }

    /// A FORWARD-TSN may be lost, so a T3 timer has to run (RFC 3758, section 3.5, rule C5).
    pub(super) fn keep_timer_running(&mut self, now: Instant) {
        if !self.destinations.any_timer_runs() {
            let index = self.destinations.current();
            self.destinations[index].timer.restart(&self.config, now);
        }
    }
}
