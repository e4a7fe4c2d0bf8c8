//! Undo of spurious window reductions: detected by timestamps (Eifel, RFC 3522 and RFC 4015), D-SACK (RFC 3708) or
//! F-RTO.

use subflow_policy::congestion::{Controller, RecoveryState};

use super::Connection;
use crate::Note;

/// The evidence for and against the current recovery episode.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// SND.UNA when the episode began; `None` if no undo is possible.
    marker: Option<u64>,
    /// Retransmissions of this episode that no D-SACK has reported; negative if there were none (Linux
    /// `undo_retrans`).
    unreported: i64,
    /// TSval of the episode's first retransmission.
    first_retransmission: Option<u32>,
}

impl Undo {
    /// An episode begins with SND.UNA at `marker` and `outstanding` retransmissions.
    fn begin(&mut self, marker: Option<u64>, outstanding: i64) {
        self.marker = marker;
        self.unreported = if outstanding == 0 { -1 } else { outstanding };
    }

    /// Whether the episode may still be undone.
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// The episode is undone, or was justified.
    pub(super) fn rule_out(&mut self) {
        self.marker = None;
    }

    /// A segment is retransmitted with TSval `timestamp`.
    pub(super) fn on_retransmission(&mut self, timestamp: u32) {
        self.first_retransmission.get_or_insert(timestamp);
        self.unreported = self.unreported.max(0) + 1;
    }

    /// No retransmission is outstanding any more.
    #[inline]
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// A D-SACK reports that `segments` up to `end` arrived twice.
    pub(super) fn on_dsack(&mut self, end: u64, segments: i64) {
        if self.marker.is_some_and(|marker| end > marker) && self.unreported > 0 {
            self.unreported = (self.unreported - segments).max(0);
        }
    }

    /// Whether D-SACKs have reported every retransmission of the episode.
    fn is_all_reported(&self) -> bool {
        self.is_possible() && self.unreported == 0
    }

    /// Whether `echo`, the TSecr of an acknowledgment, precedes the first retransmission, which proves that the original
    /// arrived.
    fn original_arrived(&self, echo: Option<u32>) -> bool {
        match (self.first_retransmission, echo) {
            (Some(first), Some(echo)) => (echo.wrapping_sub(first) as i32) < 0,
            (None, _) => true,
            _ => false,
        }
    }
}

impl Connection {
    /// Begins a new episode of Recovery or Loss (Linux `tcp_init_undo`).
    pub(super) fn begin_undo_episode(&mut self) {
        let probe = self.recovery.probe().is_some_and(|probe| probe.is_retransmission);
        let outstanding = i64::from(self.sent.retrans_out()) + i64::from(probe);
        self.undo.begin(self.config.undo.then_some(self.send.una()), outstanding);
    }

    fn may_undo(&self) -> bool {
        let undo = &self.undo;
        undo.is_all_reported() || undo.is_possible() && undo.original_arrived(self.latest_echo())
    }

    fn undo_reduction(&mut self, unmark_losses: bool, cc: &mut Controller) {
        if unmark_losses {
            self.sent.forget_losses();
        }
        if cc.undo(self.path) {
            self.counters.undos += 1;
            self.ecn.on_undo();
            if self.notes.is_some() {
                self.note(Note::Undone);
            }
        }
        self.undo.rule_out();
        self.rack.examine_again();
    }

    /// Everything up to the recovery point is acknowledged: leaves Recovery or Loss, and undoes the reduction if it
    /// was spurious. Returns whether the state was left.
    pub(crate) fn leave_recovery(&mut self, cc: &mut Controller) -> bool {
        if self.may_undo() {
            self.undo_reduction(false, cc);
        } else {
            self.rack.on_recovery_left();
        }
        if self.must_hold_recovery() {
            if !self.sent.any_retransmitted() {
                self.undo.forget_retransmissions();
            }
            return false;
        }
        self.enter_state(RecoveryState::Open, cc);
        true
    }

    /// Undoes the reduction if D-SACKs have reported every retransmission of the episode.
    pub(super) fn try_undo_by_dsack(&mut self, cc: &mut Controller) -> bool {
        if !self.undo.is_all_reported() {
            return false;
        }
        self.rack.on_needless_recovery();
        self.undo_reduction(false, cc);
        true
    }

    /// In Loss: undoes the reduction if timestamps, D-SACK or (`frto`) F-RTO prove the timeout spurious.
    pub(super) fn try_undo_loss(&mut self, frto: bool, cc: &mut Controller) -> bool {
        if !self.config.undo || !(frto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(true, cc);
        self.rto.on_progress();
        self.enter_state(RecoveryState::Open, cc);
        true
    }

    /// In Recovery: undoes the reduction if a partial acknowledgment proves that a late original filled the hole.
    /// Returns whether no more segments are to be marked lost for now (Linux `tcp_try_undo_partial`).
    pub(super) fn undo_on_partial_ack(&mut self, prior_una: u64, cc: &mut Controller) -> bool {
        let undo = &self.undo;
        if !undo.is_possible() || !undo.original_arrived(self.latest_echo()) {
            return false;
        }
        self.note_reordering(prior_una);
        if self.sent.retrans_out() > 0 {
            return true;
        }
        if !self.sent.any_retransmitted() {
            self.undo.forget_retransmissions();
        }
        self.undo_reduction(true, cc);
        self.keep_open(cc);
        false
    }
}
