//! Peers without SACK: each duplicate acknowledgment tells that one segment has left the network, not which (RFC 5681,
//! section 3.2; RFC 6582, NewReno). As in Linux (`tcp_add_reno_sack`) they are counted in place of SACKed segments, so
//! that one pipe, one state machine and one window reduction serve both kinds of peer.

use subflow_policy::congestion::{Controller, RecoveryState};

use super::Connection;
use super::ack_input::AckFindings;
use super::sent_segment::Tags;

impl Connection {
    /// A duplicate acknowledgment: one more segment arrived above the hole.
    pub(crate) fn count_duplicate_ack(&mut self, findings: &AckFindings) {
        if self.negotiated.sack || !findings.duplicate {
            return;
        }
        let before = self.sent.sacked_out;
        self.sent.sacked_out += 1;
        self.limit_duplicate_acks();
        self.recovery.delivered += u64::from(self.sent.sacked_out > before);
    }

    /// `acknowledged` segments were acknowledged cumulatively: all but the one that filled the hole had been counted
    /// when their duplicate acknowledgments came.
    pub(crate) fn uncount_duplicate_acks(&mut self, acknowledged: u32) {
        if acknowledged == 0 {
            return;
        }
        let counted = self.sent.sacked_out;
        self.recovery.delivered += u64::from(acknowledged.saturating_sub(counted).max(1));
        self.sent.sacked_out = counted.saturating_sub(acknowledged - 1);
        self.limit_duplicate_acks();
    }

    /// What was counted belongs to the past (Linux `tcp_reset_reno_sack`).
    pub(crate) fn forget_duplicate_acks(&mut self) {
        if !self.negotiated.sack {
            self.sent.sacked_out = 0;
        }
    }

    /// There is at least one hole, and it was not delivered: more duplicates than that leaves are due to reordering.
    fn limit_duplicate_acks(&mut self) {
        let out = self.sent.packets_out();
        let holes = self.sent.lost_out.max(1).min(out);
        if self.sent.sacked_out + holes > out {
            self.sent.sacked_out = out - holes;
            self.note_reordering_degree(out);
        }
    }

    /// NewReno: the third duplicate, or in recovery a partial acknowledgment, means that the head is lost.
    pub(crate) fn mark_head_lost(&mut self, una_advanced: bool, cc: &Controller) {
        let proven = match self.recovery_state(cc) {
            RecoveryState::Recovery => una_advanced,
            RecoveryState::Loss => false,
            _ => self.sent.sacked_out >= self.recovery.reordering,
        };
        if proven && self.sent.head().is_some_and(|head| !head.tags.has(Tags::LOST)) {
            self.sent.mark_lost(self.sent.head_id());
            self.limit_duplicate_acks();
        }
    }

    /// RFC 6582, section 3.2, "Heuristics": recovery is held until something above its point is acknowledged, or what
    /// the retransmissions stirred up would look like three more duplicates.
    pub(crate) fn must_hold_recovery(&self) -> bool {
        !self.negotiated.sack && self.send.una == self.recovery.point
    }
}
