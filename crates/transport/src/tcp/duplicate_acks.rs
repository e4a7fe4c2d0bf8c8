//! Peers without SACK: a duplicate acknowledgment indicates that some segment has left the network (RFC 5681, section
//! 3.2; NewReno, RFC 6582). As in Linux (`tcp_add_reno_sack`), duplicate acknowledgments are counted as SACKed
//!    segments, so that the pipe, the state machine and the window reduction are the same with and without SACK.

use subflow_policy::congestion::{Controller, RecoveryState};

use super::Connection;
use super::ack_input::AckFindings;
use super::sent_segments::Tags;

impl Connection {
    /// Counts a duplicate acknowledgment as one SACKed segment above the hole.
    pub(super) fn count_duplicate_ack(&mut self, findings: &AckFindings) {
        if self.negotiated.sack || !findings.duplicate {
            return;
        }
        match self.sent.count_duplicate() {
            true => self.recovery.on_delivered(1),
            false => self.note_reordering_degree(self.sent.packets_out()),
        }
    }

    /// `acknowledged` segments were acknowledged cumulatively: all but the one that filled the hole had been counted
    /// by their duplicate acknowledgments.
    pub(super) fn uncount_duplicate_acks(&mut self, acknowledged: u32) {
        if acknowledged == 0 {
            return;
        }
        self.recovery.on_delivered(acknowledged.saturating_sub(self.sent.sacked_out()).max(1));
        self.sent.uncount_duplicates(acknowledged - 1);
        self.limit_duplicate_acks();
    }

    /// Resets the count (Linux `tcp_reset_reno_sack`).
    pub(super) fn forget_duplicate_acks(&mut self) {
        if !self.negotiated.sack {
            self.sent.forget_duplicates();
        }
    }

    /// Duplicates in excess of the segments that can have caused them are due to reordering.
    fn limit_duplicate_acks(&mut self) {
        if self.sent.limit_duplicates() {
            self.note_reordering_degree(self.sent.packets_out());
        }
    }

    /// NewReno: the third duplicate acknowledgment, or in recovery a partial acknowledgment, proves the head lost.
    pub(super) fn mark_head_lost(&mut self, una_advanced: bool, cc: &Controller) {
        let proven = match self.recovery_state(cc) {
            RecoveryState::Recovery => una_advanced,
            RecoveryState::Loss => false,
            _ => self.sent.sacked_out() >= self.reordering.degree(),
        };
        if proven && self.sent.head().is_some_and(|head| !head.tags.has(Tags::LOST)) {
            self.lose(self.sent.head_id());
            self.limit_duplicate_acks();
        }
    }

    /// Whether recovery continues until data above the recovery point is acknowledged, because duplicates that the
    /// retransmissions caused would otherwise start another fast retransmit (RFC 6582, section 4.1).
    pub(super) fn must_hold_recovery(&self) -> bool {
        !self.negotiated.sack && self.send.una() == self.recovery.point()
    }
}
