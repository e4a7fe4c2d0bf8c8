//! How much of the congestion window is used, and what becomes of one that is not (Linux `tcp_cwnd_validate` and
//! `tcp_cwnd_restart`, in the spirit of RFC 7661; RFC 5681, section 4.1).

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::Instant;

use super::Connection;

/// How much of the window was used.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowUse {
    /// Something was sent since this was last brought up to date.
    pub(super) has_sent: bool,
    /// The window was full in this round.
    limited: bool,
    /// Most packets out in this round.
    most_out: u32,
    /// The round ends when this offset is acknowledged.
    round_end: u64,
    /// Most packets out since the window was last full.
    used: u32,
    /// When it was last full, or was last reduced for want of use.
    full_at: Instant,
}

impl Connection {
    /// After an idle time of an RTO the window starts anew (RFC 5681, section 4.1; Linux `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self, now: Instant, cc: &mut Controller) {
        let rto = self.backed_off_rto();
        let mut idle = now.since(self.send.last_sent_at);
        if !self.config.slow_start_after_idle || idle <= rto || rto.is_zero() {
            return;
        }
        let ssthresh = self.threshold_to_restore(cc);
        let path = cc.path_mut(self.path);
        let restart = self.config.initial_window.min(path.cwnd);
        path.ssthresh = ssthresh;
        while idle > rto && path.cwnd > restart {
            path.cwnd /= 2;
            idle -= rto;
        }
        path.cwnd = path.cwnd.max(restart);
        path.credit = 0;
        self.window_use = WindowUse { has_sent: self.window_use.has_sent, full_at: now, ..WindowUse::default() };
        self.send.last_sent_at = now;
    }

    /// Once nothing more can be sent: notes how much of the window is used, and arms the timers for what is out.
    pub(super) fn on_transmission_over(&mut self, now: Instant, cc: &mut Controller) {
        let has_sent = core::mem::take(&mut self.window_use.has_sent);
        let full = self.sent.in_flight() >= cc.path(self.path).cwnd && (has_sent || !self.queue.is_empty());
        if has_sent || full {
            self.validate_window(full, now, cc);
        }
        if has_sent {
            self.schedule_loss_probe(now, false, cc);
        } else if self.sent.is_empty() && !self.queue.is_empty() && self.timer.is_none() && self.state.may_send() {
            self.arm_window_probe(now);
        }
    }

    /// A window that has not been full for an RTO comes half way down to what was used of it (Linux
    /// `tcp_cwnd_application_limited`).
    fn validate_window(&mut self, full: bool, now: Instant, cc: &mut Controller) {
        let out = self.sent.packets_out();
        let rto = self.backed_off_rto();
        let usage = &mut self.window_use;
        if self.send.una >= usage.round_end || full || (!usage.limited && out > usage.most_out) {
            usage.limited = full;
            usage.most_out = out;
            usage.round_end = self.send.nxt;
        }
        if self.was_window_limited(cc) {
            self.window_use.used = 0;
            self.window_use.full_at = now;
            return;
        }
        let usage = &mut self.window_use;
        usage.used = usage.used.max(out);
        if self.config.slow_start_after_idle && now.since(usage.full_at) >= rto {
            let used = core::mem::take(&mut usage.used).max(self.config.initial_window);
            usage.full_at = now;
            let ssthresh = self.threshold_to_restore(cc);
            let path = cc.path_mut(self.path);
            if path.state == RecoveryState::Open && used < path.cwnd {
                path.ssthresh = ssthresh;
                path.cwnd = (path.cwnd + used) / 2;
            }
        }
    }

    /// Whether the window was the limit, so that it may grow.
    pub(crate) fn was_window_limited(&self, cc: &Controller) -> bool {
        let path = cc.path(self.path);
        let usage = &self.window_use;
        !self.config.window_validation || usage.limited || (path.in_slow_start() && path.cwnd < 2 * usage.most_out)
    }
}
