//! Undo of spurious window reductions: detected by timestamps (Eifel, RFC 3522 and RFC 4015), D-SACK (RFC 3708) or
//! F-RTO.

use subflow_policy::congestion::{Controller, RecoveryState};

use super::Connection;
use crate::Note;

/// State of the current recovery episode as needed for an undo.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA when the episode began; `None` if no undo is possible.
    pub(crate) marker: Option<u64>,
    /// Retransmissions of this episode that no D-SACK has reported; negative if there were none (Linux
    /// `undo_retrans`).
    pub(crate) unreported: i64,
    /// TSval of the episode's first retransmission.
    pub(crate) first_retransmission: Option<u32>,
}

impl Connection {
    /// Begins a new episode of Recovery or Loss (Linux `tcp_init_undo`).
    pub(crate) fn begin_undo_episode(&mut self) {
        let probe = matches!(self.recovery.probe, Some((_, true)));
        let outstanding = i64::from(self.sent.retrans_out) + i64::from(probe);
        self.recovery.undo.marker = self.config.undo.then_some(self.send.una);
        self.recovery.undo.unreported = if outstanding == 0 { -1 } else { outstanding };
    }

    /// Whether TSecr precedes the first retransmission, which proves that the original arrived.
    fn original_arrived(&self) -> bool {
        match (self.recovery.undo.first_retransmission, self.latest_echo()) {
            (Some(first), Some(echo)) => (echo.wrapping_sub(first) as i32) < 0,
            (None, _) => true,
            _ => false,
        }
    }

    fn may_undo(&self) -> bool {
        self.recovery.undo.marker.is_some() && (self.recovery.undo.unreported == 0 || self.original_arrived())
    }

    fn undo_reduction(&mut self, unmark_losses: bool, cc: &mut Controller) {
        if unmark_losses {
            self.sent.forget_losses();
        }
        if cc.undo(self.path) {
            self.counters.undos += 1;
            if self.notes.is_some() {
                self.note(Note::Undone);
            }
        }
        self.recovery.undo.marker = None;
        self.recovery.rack.advanced = true;
    }

    /// Everything up to the recovery point is acknowledged: leaves Recovery or Loss, and undoes the reduction if it
    /// was spurious. Returns whether the state was left.
    pub(crate) fn leave_recovery(&mut self, cc: &mut Controller) -> bool {
        if self.may_undo() {
            self.undo_reduction(false, cc);
        } else {
            self.recovery.rack.on_recovery_left();
        }
        if self.must_hold_recovery() {
            if !self.sent.any_retransmitted() {
                self.recovery.undo.first_retransmission = None;
            }
            return false;
        }
        self.enter_state(RecoveryState::Open, cc);
        true
    }

    /// Undoes the reduction if D-SACKs have reported every retransmission of the episode.
    pub(crate) fn try_undo_by_dsack(&mut self, cc: &mut Controller) -> bool {
        if self.recovery.undo.marker.is_none() || self.recovery.undo.unreported != 0 {
            return false;
        }
        self.recovery.rack.on_needless_recovery();
        self.undo_reduction(false, cc);
        true
    }

    /// In Loss: undoes the reduction if timestamps, D-SACK or (`frto`) F-RTO prove the timeout spurious.
    pub(crate) fn try_undo_loss(&mut self, frto: bool, cc: &mut Controller) -> bool {
        if !self.config.undo || !(frto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(true, cc);
        self.retries = 0;
        self.enter_state(RecoveryState::Open, cc);
        true
    }

    /// In Recovery: undoes the reduction if a partial acknowledgment proves that a late original filled the hole.
    /// Returns whether no more segments are to be marked lost for now (Linux `tcp_try_undo_partial`).
    pub(crate) fn undo_on_partial_ack(&mut self, prior_una: u64, cc: &mut Controller) -> bool {
        if self.recovery.undo.marker.is_none() || !self.original_arrived() {
            return false;
        }
        self.note_reordering(prior_una);
        if self.sent.retrans_out > 0 {
            return true;
        }
        if !self.sent.any_retransmitted() {
            self.recovery.undo.first_retransmission = None;
        }
        self.undo_reduction(true, cc);
        self.keep_open(cc);
        false
    }
}
