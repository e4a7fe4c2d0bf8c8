//! The states of loss recovery (Linux `tcp_fastretrans_alert`): Open, Disorder, WindowReduced, Recovery, Loss.

use subflow_policy::congestion::{Controller, Loss, RecoveryState};
use subflow_quantity::Instant;

use super::ack_input::AckFindings;
use super::recovery::Transmission;
use super::sent_segments::Tags;
use super::{Config, Connection};
use crate::Note;

impl Connection {
    pub(super) fn recovery_state(&self, cc: &Controller) -> RecoveryState {
        cc.path(self.path).state()
    }

    pub(crate) fn enter_state(&mut self, state: RecoveryState, cc: &mut Controller) {
        if self.recovery_state(cc) != state {
            self.note_state_changed_by(cc, |cc, path| cc.on_state(path, state));
        }
    }

    /// Notes the new recovery state if `event` changes it.
    pub(super) fn note_state_changed_by(&mut self, cc: &mut Controller, event: impl FnOnce(&mut Controller, usize)) {
        let old = self.recovery_state(cc);
        event(cc, self.path);
        let new = self.recovery_state(cc);
        if old != new && self.notes.is_some() {
            self.note(Note::State { old, new });
        }
    }

    /// Updates the recovery state on an acknowledgment that is not plain progress in Open (Linux
    /// `tcp_fastretrans_alert`).
    pub(super) fn on_dubious_ack(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        if findings.is_echo {
            cc.forget_undo(self.path);
        }
        if self.check_reneging(findings, now, cc) {
            return;
        }
        if self.send.una() >= self.recovery.point() {
            match self.recovery_state(cc) {
                RecoveryState::WindowReduced if self.send.una() > self.recovery.point() => {
                    cc.leave_recovery(self.path);
                    self.enter_state(RecoveryState::Open, cc);
                }
                RecoveryState::Recovery => {
                    self.forget_duplicate_acks();
                    if !self.leave_recovery(cc) {
                        return;
                    }
                    // A later D-SACK may still undo it.
                    if self.undo.is_possible() {
                        cc.leave_recovery(self.path);
                    }
                }
                _ => {}
            }
        }
        match self.recovery_state(cc) {
            RecoveryState::Open => {
                self.undo.forget_retransmissions();
                self.on_ack_outside_recovery(findings, now, cc);
            }
            RecoveryState::Disorder | RecoveryState::WindowReduced => self.on_ack_outside_recovery(findings, now, cc),
            RecoveryState::Recovery => self.on_ack_in_recovery(findings, now, cc),
            RecoveryState::Loss => self.on_ack_in_loss(findings, now, cc),
        }
    }

    fn on_ack_outside_recovery(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        if findings.una_advanced {
            self.forget_duplicate_acks();
        }
        self.count_duplicate_ack(findings);
        if self.recovery_state(cc) != RecoveryState::WindowReduced {
            self.try_undo_by_dsack(cc);
        }
        self.detect_losses(findings, now, cc);
        if self.sent.lost_out() == 0 {
            return self.stay_open(findings, now, cc);
        }
        if self.is_mtu_probe_lost(cc) {
            return self.on_mtu_probe_lost(now, cc);
        }
        self.enter_recovery(false, now, cc);
        self.recovery.request(Transmission::LostSegments);
    }

    fn on_ack_in_recovery(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        self.count_duplicate_ack(findings);
        if findings.una_advanced && self.undo_on_partial_ack(findings.prior_una, cc) {
            return;
        }
        if self.try_undo_by_dsack(cc) {
            self.keep_open(cc);
        }
        self.detect_losses(findings, now, cc);
        if self.recovery_state(cc) != RecoveryState::Recovery {
            if self.sent.lost_out() == 0 {
                return;
            }
            // The reduction was undone, but a loss was detected: a new episode begins.
            self.enter_recovery(false, now, cc);
        }
        self.recovery.request(Transmission::LostSegments);
    }

    fn on_ack_in_loss(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        self.process_loss(findings, cc);
        self.detect_losses(findings, now, cc);
        let state = self.recovery_state(cc);
        if state == RecoveryState::Open || findings.lost_retransmission {
            self.on_ack_outside_recovery(findings, now, cc);
        }
    }

    /// Updates the state after a timeout (Linux `tcp_process_loss`; F-RTO: RFC 5682, section 3.1).
    fn process_loss(&mut self, findings: &AckFindings, cc: &mut Controller) {
        let recovered = self.send.una() >= self.recovery.point();
        if findings.una_advanced && self.try_undo_loss(false, cc) {
            return;
        }
        if self.recovery.tests_timeout() {
            if findings.original_acknowledged && self.try_undo_loss(true, cc) {
                return;
            }
            if self.send.next() > self.recovery.point() {
                if findings.newly_sacked > 0 || findings.duplicate {
                    self.recovery.end_timeout_test();
                }
            } else if findings.una_advanced && !recovered {
                self.recovery.last_until(self.send.next());
                if !self.send.queue().is_empty() && self.send.admits(1) {
                    self.recovery.request(Transmission::NewDataFirst);
                    return;
                }
                self.recovery.end_timeout_test();
            }
        }
        if recovered {
            self.leave_recovery(cc);
            return;
        }
        if self.send.next() > self.recovery.point() && findings.duplicate {
            // A duplicate acknowledgment of the new data that F-RTO sent.
            self.count_duplicate_ack(findings);
        } else if findings.una_advanced {
            self.forget_duplicate_acks();
        }
        self.recovery.request(Transmission::LostSegments);
    }

    /// Enters fast recovery (RFC 6675, section 5, step 4), for a loss that an acknowledgment or a timer detected.
    pub(crate) fn enter_recovery(&mut self, by_timer: bool, now: Instant, cc: &mut Controller) {
        self.begin_undo_episode();
        self.counters.recoveries += 1;
        if self.recovery_state(cc).is_reducing() {
            return self.enter_state(RecoveryState::Recovery, cc);
        }
        self.recovery.begin_reduction(self.send.next());
        let loss = Loss { now, in_flight: self.sent.in_flight(), by_timer };
        self.note_state_changed_by(cc, |cc, path| cc.enter_recovery(path, &loss));
        self.ecn.on_reduction();
    }

    /// Reduces the congestion window once, without fast recovery: a tail loss probe repaired a loss (RFC 8985, section
    /// 7.4.2).
    pub(super) fn reduce_once(&mut self, now: Instant, cc: &mut Controller) {
        self.recovery.begin_reduction(self.send.next());
        self.undo.rule_out();
        let loss = Loss { now, in_flight: self.sent.in_flight(), by_timer: false };
        self.note_state_changed_by(cc, |cc, path| cc.reduce_once(path, &loss));
        self.ecn.on_reduction();
        self.keep_open(cc);
    }

    /// No loss was found (Linux `tcp_try_to_open`).
    fn stay_open(&mut self, findings: &AckFindings, now: Instant, cc: &mut Controller) {
        if !self.sent.any_retransmitted() {
            self.undo.forget_retransmissions();
        }
        if findings.is_echo {
            self.reduce_for_mark(now, cc);
        }
        if self.recovery_state(cc) != RecoveryState::WindowReduced {
            self.keep_open(cc);
        }
    }

    /// Enters Open, or Disorder while segments are SACKed, lost or retransmitted (Linux `tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, cc: &mut Controller) {
        let disorder = self.sent.sacked_out() + self.sent.lost_out() > 0 || self.sent.any_retransmitted();
        let state = if disorder { RecoveryState::Disorder } else { RecoveryState::Open };
        if self.recovery_state(cc) != state {
            self.enter_state(state, cc);
            self.recovery.last_until(self.send.next());
        }
    }

    /// If the receiver has reneged, all SACK information is discarded, and what is outstanding is lost.
    fn check_reneging(&mut self, findings: &AckFindings, now: Instant, cc: &mut Controller) -> bool {
        if !findings.una_advanced || !self.forget_reneged_sacks() {
            return false;
        }
        self.enter_loss(now, cc);
        self.recovery.request(Transmission::LostSegments);
        true
    }

    /// Discards all SACK information if the receiver has reneged, that is, dropped SACKed data (RFC 2018, section 8):
    /// it has SACKed the earliest segment, and does not acknowledge it. Returns whether it has.
    pub(super) fn forget_reneged_sacks(&mut self) -> bool {
        if !self.sent.head().is_some_and(|head| head.tags.has(Tags::SACKED)) {
            return false;
        }
        self.sent.forget_sacks();
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_reneging();
        }
        self.reported_sacks.forget();
        true
    }
}

impl Config {
    /// Whether RACK replaces the duplicate threshold.
    pub(super) fn uses_rack(&self) -> bool {
        self.loss_detection == super::config::LossDetection::Rack
    }
}
