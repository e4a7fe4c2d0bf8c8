//! Congestion window validation: how much of the window is used (Linux `tcp_cwnd_validate`, similar to RFC 7661), and
//! idle periods (RFC 5681, section 4.1). The controller reduces what is not used.

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;

use super::Connection;

/// Use of the congestion window.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowUse {
    /// Data was sent since the last update.
    has_sent: bool,
    /// The window was full in this round.
    limited: bool,
    /// Most segments outstanding in this round.
    most_out: u32,
    /// The round ends when this offset is acknowledged.
    round_end: u64,
    /// Most segments outstanding since the window was last full.
    used: u32,
    /// Time at which the window was last full, or was last reduced here.
    full_at: Instant,
}

impl WindowUse {
    /// Data is sent for the first time.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.has_sent = true;
    }

    /// Whether data was sent since the last update.
    #[inline]
    pub(super) fn has_sent(&self) -> bool {
        self.has_sent
    }
}

impl Connection {
    /// Reports an idle period of more than an RTO.
    pub(super) fn restart_after_idle(&mut self, now: Instant, cc: &mut Controller) {
        let rto = self.rto.backed_off();
        let idle = self.send.idle(now);
        if !self.config.slow_start_after_idle || idle <= rto || rto.is_zero() {
            return;
        }
        let timeouts = (idle.as_nanos() - 1) / rto.as_nanos();
        cc.restart_after_idle(self.path, u32::try_from(timeouts).unwrap_or(u32::MAX));
        self.window_use = WindowUse { has_sent: self.window_use.has_sent, full_at: now, ..WindowUse::default() };
        self.send.restart_idle(now);
    }

    /// Updates the use of the window once nothing more can be sent, and starts the probe timers.
    pub(super) fn on_transmission_over(&mut self, now: Instant, cc: &mut Controller) {
        let has_sent = core::mem::take(&mut self.window_use.has_sent);
        let full = self.sent.in_flight() >= cc.path(self.path).cwnd() && (has_sent || !self.send.queue().is_empty());
        if has_sent || full {
            self.validate_window(full, now, cc);
        }
        if has_sent {
            self.schedule_loss_probe(now, false, cc);
        } else if self.sent.is_empty()
            && !self.send.queue().is_empty()
            && self.timer.purpose().is_none()
            && self.lifecycle.may_send()
        {
            self.arm_window_probe(now);
        }
    }

    /// Reports a window that has not been full for an RTO.
    fn validate_window(&mut self, full: bool, now: Instant, cc: &mut Controller) {
        let out = self.sent.packets_out();
        let rto = self.rto.backed_off();
        let usage = &mut self.window_use;
        if self.send.una() >= usage.round_end || full || (!usage.limited && out > usage.most_out) {
            usage.limited = full;
            usage.most_out = out;
            usage.round_end = self.send.next();
        }
        if self.was_window_limited(cc) {
            self.window_use.used = 0;
            self.window_use.full_at = now;
            return;
        }
        let usage = &mut self.window_use;
        usage.used = usage.used.max(out);
        if self.config.slow_start_after_idle && now.since(usage.full_at) >= rto {
            usage.full_at = now;
            cc.on_application_limited(self.path, core::mem::take(&mut usage.used));
        }
    }

    /// Whether the congestion window limited transmission, so that it may increase.
    pub(super) fn was_window_limited(&self, cc: &Controller) -> bool {
        let path = cc.path(self.path);
        let usage = &self.window_use;
        !self.config.window_validation || usage.limited || (path.in_slow_start() && path.cwnd() < 2 * usage.most_out)
    }
}
