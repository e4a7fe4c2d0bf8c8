//! Tail loss probes (RFC 8985, section 7; timing as in Linux `tcp_schedule_loss_probe`).

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_wire::TcpSegment;

use super::Connection;
use super::ack_input::AckFindings;
use super::loss_detection::TIMER_MARGIN;
use super::recovery::LossProbe;
use super::timers::Purpose;

impl Connection {
    /// Starts the probe timer if a probe is possible, and returns whether it is. With `restart` the retransmission
    /// timeout is measured from `now`, otherwise from the head's last transmission.
    pub(super) fn schedule_loss_probe(&mut self, now: Instant, restart: bool, cc: &Controller) -> bool {
        let state = self.recovery_state(cc);
        let possible = self.config.tail_loss_probe
            && self.negotiated.sack
            && !self.sent.is_empty()
            && self.recovery.probe().is_none()
            && matches!(state, RecoveryState::Open | RecoveryState::WindowReduced);
        if !possible || self.timer.is_pending(Purpose::Reordering) {
            return false;
        }
        let mut delay = match self.rto.rtt().srtt() {
            Some(srtt) if self.sent.packets_out() == 1 => srtt * 2 + self.config.min_rto,
            Some(srtt) => srtt * 2 + TIMER_MARGIN,
            None => self.config.initial_rto,
        };
        let rto = self.rto.backed_off();
        let left = match self.sent.head() {
            Some(head) if !restart => rto - now.since(head.sent_at),
            _ => rto,
        };
        if left > Duration::ZERO {
            delay = delay.min(left);
        }
        self.timer.arm(Purpose::LossProbe, now, delay);
        true
    }

    /// Builds the probe: new data if there is any and the peer's window admits it, otherwise the last segment again, unless
    /// that has not left the own host's queue yet.
    pub(super) fn next_loss_probe(
        &mut self,
        segment: &mut TcpSegment,
        now: Instant,
        cc: &mut Controller,
    ) -> Option<u64> {
        if self.sent.is_empty() || self.recovery.probe().is_some() {
            self.rearm_retransmission(now);
            return None;
        }
        if self.is_last_an_mtu_probe() {
            self.on_mtu_probe_lost(now, cc);
            return self.next_retransmission(segment, now, cc);
        }
        let has_new = self.send.queue().bytes() > 0 && self.lifecycle.may_send() && self.admits_next();
        if has_new && !self.pacer.admits(now) {
            // It leaves soon, and is as good as a probe.
            self.rearm_retransmission(now);
            return None;
        }
        if !has_new && self.is_last_in_host_queue(now) {
            self.rearm_retransmission(now);
            return None;
        }
        self.counters.loss_probes += 1;
        let probe = if has_new { self.send_new(segment, now, cc) } else { self.probe_with_last(segment, now, cc) };
        self.recovery.on_probe_sent(LossProbe { end: self.send.next(), is_retransmission: !has_new });
        self.timer.stop();
        self.rearm_retransmission(now);
        Some(probe)
    }

    /// Processes an acknowledgment while a probe is outstanding (RFC 8985, section 7.4.2).
    pub(super) fn on_ack_of_probe(&mut self, findings: &AckFindings, now: Instant, cc: &mut Controller) {
        let Some(LossProbe { end, is_retransmission }) = self.recovery.probe() else { return };
        if findings.acknowledgment < end {
            return;
        }
        if !is_retransmission || findings.dsack_of_probe {
            self.recovery.end_probe();
        } else if findings.acknowledgment > end {
            // The probe repaired a loss: the congestion window is reduced.
            self.reduce_once(now, cc);
        } else if findings.duplicate {
            self.recovery.end_probe();
        }
    }
}
