//! Retransmission timeouts (RFC 6298, section 5), zero-window probes (RFC 9293, section 3.8.6.1), and black holes.
//!
//! A black hole is a router that drops large packets and does not tell why, or whose reports are filtered (RFC 2923,
//! section 2.1; RFC 4821, section 7.7; Linux `tcp_mtu_probing`). Timeouts in a row have two likely reasons: nothing
//! passes, or only large packets do not. Linux takes the second for granted. Here the earliest segment is first sent
//! again in small parts. If these are acknowledged, and the large segment behind them times out twice in a row, the path
//! MTU is lowered; otherwise it stays what it is. A path that was down for a while thus has small packets afterwards
//! only if both transmissions of that one segment are lost. Larger ones are tried again later (`mtu_search.rs`).

use subflow_policy::congestion::{Controller, RecoveryState, Timeout};
use subflow_quantity::{Duration, Instant};
use subflow_wire::TcpSegment;

use super::loss_detection::DUP_THRESH;
use super::recovery::Transmission;
use super::timers::Purpose;
use super::{Closed, Connection, State};
use crate::{Note, path_mtu};

impl Connection {
    pub(super) fn on_transmission_timer(&mut self, purpose: Purpose, now: Instant, cc: &mut Controller) {
        match purpose {
            Purpose::Retransmission => match self.state() {
                State::SynSent | State::SynReceived => self.on_syn_timeout(),
                _ => self.on_retransmission_timeout(now, cc),
            },
            Purpose::LossProbe => self.recovery.request(Transmission::LossProbe),
            Purpose::Reordering => self.on_reordering_timeout(now, cc),
            Purpose::WindowProbe => self.on_window_probe_timeout(now),
        }
    }

    fn on_retransmission_timeout(&mut self, now: Instant, cc: &mut Controller) {
        if self.sent.is_empty() {
            return;
        }
        if self.rto.retries() >= self.config.max_retries {
            return self.close(Closed::TimedOut);
        }
        self.counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(Note::Timeout { in_a_row: self.rto.retries() + 1 });
        }
        // Linux `tcp_timeout_mark_lost`.
        self.forget_reneged_sacks();
        self.look_for_black_hole(now, cc);
        self.enter_loss(now, cc);
        self.rto.on_expired();
        self.recovery.request(Transmission::Head);
        self.timer.arm(Purpose::Retransmission, now, self.rto.backed_off());
    }

    /// Marks outstanding segments lost and enters slow start (RFC 5681, section 3.1; Linux `tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Instant, cc: &mut Controller) {
        let state = self.recovery_state(cc);
        let new_recovery = !matches!(state, RecoveryState::Recovery | RecoveryState::Loss);
        self.mark_timed_out(now, cc);
        let first_of_episode = matches!(state, RecoveryState::Open | RecoveryState::Disorder)
            || self.send.una() >= self.recovery.point()
            || (state == RecoveryState::Loss && self.rto.retries() == 0);
        if first_of_episode {
            self.begin_undo_episode();
        }
        if new_recovery && self.sent.sacked_out() >= DUP_THRESH {
            self.reordering.reset();
        }
        let timeout = Timeout { now, in_flight: self.sent.in_flight(), repeated: !first_of_episode };
        self.note_state_changed_by(cc, |cc, path| cc.on_timeout(path, &timeout));
        self.ecn.on_reduction();
        let tests_timeout = self.config.frto && (new_recovery || self.rto.retries() > 0);
        self.recovery.begin_loss(self.send.next(), tests_timeout);
    }

    fn mark_timed_out(&mut self, now: Instant, cc: &Controller) {
        self.forget_duplicate_acks();
        let head = self.sent.head_id();
        let overdue: Vec<u32> = self
            .sent
            .ids()
            .filter(|&id| id == head || !self.is_too_young(self.sent.get(id).sent_at, now, cc))
            .collect();
        for id in overdue {
            self.lose(id);
        }
    }

    /// The reordering timer of RACK expired (RFC 8985, section 6.3).
    fn on_reordering_timeout(&mut self, now: Instant, cc: &mut Controller) {
        let in_flight = self.sent.in_flight();
        self.rack.examine_again();
        self.rack_mark_lost(now, cc);
        if self.is_mtu_probe_lost(cc) {
            self.on_mtu_probe_lost(now, cc);
        } else if self.sent.in_flight() != in_flight {
            if self.recovery_state(cc) != RecoveryState::Recovery && self.recovery_state(cc) != RecoveryState::Loss {
                self.enter_recovery(true, now, cc);
            }
            self.recovery.request(Transmission::LostSegments);
        }
        if self.timer.purpose().is_none() {
            self.rearm_retransmission(now);
        }
    }

    fn on_window_probe_timeout(&mut self, now: Instant) {
        if self.send.queue().is_empty() || !self.sent.is_empty() {
            return;
        }
        if self.rto.retries() >= self.config.max_retries {
            return self.close(Closed::TimedOut);
        }
        self.rto.on_window_probe_expired(self.config.max_retries);
        self.recovery.request(Transmission::WindowProbe);
        self.arm_window_probe(now);
    }

    /// Restarts the retransmission timer if segments are outstanding. If the probe or reordering timer was running,
    /// the timeout is measured from the head's last transmission (Linux `tcp_rearm_rto`).
    pub(super) fn rearm_retransmission(&mut self, now: Instant) {
        let Some(head) = self.sent.head() else {
            self.timer.stop();
            return;
        };
        let rto = self.rto.backed_off();
        let elapsed = match self.timer.purpose() {
            Some(Purpose::LossProbe | Purpose::Reordering) => now.since(head.sent_at),
            _ => Duration::ZERO,
        };
        let delay = (rto - elapsed).max(Duration::from_micros(1));
        self.timer.arm(Purpose::Retransmission, now, delay);
    }

    /// Starts the probe timer if a probe is possible, otherwise the retransmission timer (Linux `tcp_set_xmit_timer`).
    pub(super) fn set_transmission_timer(&mut self, now: Instant, cc: &Controller) {
        if !self.schedule_loss_probe(now, true, cc) {
            self.rearm_retransmission(now);
        }
    }

    /// Sends as much data as the send window admits, or a zero-window probe if it admits none (Linux
    /// `tcp_write_wakeup`).
    pub(super) fn probe_window(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        if self.send.admits(1) && self.send.queue().bytes() > 0 {
            return self.send_new(segment, now, cc);
        }
        self.build_window_probe(segment, now)
    }

    /// Makes the peer acknowledge what it has received, as a zero-window probe does.
    pub(crate) fn request_answer(&mut self) {
        self.recovery.request(Transmission::WindowProbe);
    }

    /// Starts the zero-window probe timer.
    pub(super) fn arm_window_probe(&mut self, now: Instant) {
        let delay = self.rto.backed_off().max(Duration::from_millis(200));
        self.timer.arm(Purpose::WindowProbe, now, delay);
    }
}

/// Timeouts in a row after which the size of packets may be their reason (Linux `tcp_retries1`). With each further one
/// the parts are smaller.
const SUSPICIOUS: u32 = 3;

/// Small parts that were sent to find out whether large segments are lost for their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Where they end.
    until: u64,
    /// The size of packet that the largest of them has.
    mtu: u16,
}

impl Connection {
    /// Called when the retransmission timer expires, before the earliest segment is sent again.
    pub(super) fn look_for_black_hole(&mut self, now: Instant, cc: &mut Controller) {
        let Some(head) = self.sent.head().filter(|_| self.config.black_hole_detection) else { return };
        let (start, end) = (head.start, head.end);
        let is_longer = |connection: &Self, mtu| end - start > u64::from(connection.size.within(mtu));
        self.trial = self.trial.filter(|trial| start <= trial.until);
        if let Some(Trial { until, mtu }) = self.trial
            && start == until
            && is_longer(self, mtu)
            && self.rto.retries() >= 1
        {
            self.trial = None;
            self.lower_path_mtu(mtu, now, cc);
            return self.search_mtu_later(now);
        }
        let Some(attempt) = (self.rto.retries() + 1).checked_sub(SUSPICIOUS) else { return };
        let version_6 = self.ends.local.is_ipv6();
        let Some(mtu) = path_mtu::without_report(self.size.path_mtu(), version_6, attempt as usize) else { return };
        if is_longer(self, mtu) {
            self.forget_mtu_probe();
            self.sent.cut_head(self.size.within(mtu).into());
            self.cut_snapshots();
            let until = self.trial.map(|trial| trial.until).filter(|&until| until > start);
            self.trial = Some(Trial { until: until.unwrap_or(end), mtu });
        }
    }
}
