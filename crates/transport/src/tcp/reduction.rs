//! Reduction of the congestion window in recovery: proportional rate reduction (RFC 6937; Linux `tcp_cwnd_reduction`).

use subflow_policy::congestion::{Controller, Path, RecoveryState};
use subflow_quantity::Instant;

use super::Connection;
use super::config::WindowReduction;

/// Variables of RFC 6937, in packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reduction {
    /// Window when recovery began (RFC 6937: RecoverFS).
    prior_cwnd: u32,
    /// Packets delivered since (prr_delivered).
    delivered: u32,
    /// Packets sent since (prr_out).
    sent: u32,
}

impl Reduction {
    /// A packet was sent during the reduction.
    pub(crate) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// Window before the reduction.
    pub(crate) fn prior_cwnd(&self) -> u32 {
        self.prior_cwnd
    }

    pub(crate) fn note_prior_cwnd(&mut self, cwnd: u32) {
        self.prior_cwnd = cwnd;
    }

    /// RFC 6937, section 3: the number of packets that may be sent now that `newly` were delivered, `in_flight` are in
    /// flight and the target is `ssthresh`.
    fn quota(&mut self, newly: u32, in_flight: u32, ssthresh: u32, progress: bool) -> u32 {
        self.delivered += newly;
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let (delivered, sent) = (i64::from(self.delivered), i64::from(self.sent));
        let quota = if room < 0 {
            let scaled = u64::from(ssthresh) * u64::from(self.delivered) + u64::from(self.prior_cwnd) - 1;
            (scaled / u64::from(self.prior_cwnd)) as i64 - sent
        } else {
            let conserved = (delivered - sent).max(i64::from(newly));
            room.min(conserved + i64::from(progress))
        };
        // The first retransmission is always sent.
        quota.max(i64::from(self.sent == 0)) as u32
    }
}

impl Connection {
    pub(crate) fn begin_reduction(&mut self, now: Instant, cc: &mut Controller) {
        self.recovery.point = self.send.nxt;
        self.recovery.probe = None;
        let cwnd = cc.path(self.path).cwnd;
        self.recovery.reduction = Reduction { prior_cwnd: cwnd.max(1), delivered: 0, sent: 0 };
        cc.path_mut(self.path).credit = 0;
        cc.ssthresh_after_loss(self.path, now);
    }

    /// An acknowledgment in Recovery or WindowReduced reported `newly` packets delivered.
    pub(crate) fn reduce_window(&mut self, newly: u32, newly_lost: bool, una_advanced: bool, cc: &mut Controller) {
        if newly == 0 || self.config.window_reduction == WindowReduction::Immediate {
            return;
        }
        let in_flight = self.sent.in_flight();
        let ssthresh = cc.path(self.path).ssthresh;
        let quota = self.recovery.reduction.quota(newly, in_flight, ssthresh, una_advanced && !newly_lost);
        cc.path_mut(self.path).cwnd = (in_flight + quota).max(1);
    }

    pub(crate) fn end_reduction(&mut self, cc: &mut Controller) {
        let path = cc.path_mut(self.path);
        if path.ssthresh < Path::INFINITE {
            path.cwnd = path.ssthresh;
        }
    }

    /// After fast recovery the congestion window is set to the slow start threshold, unless the reduction was undone.
    /// A later D-SACK may still undo it.
    pub(crate) fn end_reduction_after_recovery(&mut self, cc: &mut Controller) {
        if self.recovery_state(cc) == RecoveryState::WindowReduced || self.recovery.undo.marker.is_some() {
            self.end_reduction(cc);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937, section 4: a window of 20, one loss, threshold 10: one packet is sent for every two delivered.
    #[test]
    fn while_the_pipe_is_above_the_threshold_half_of_what_is_delivered_leaves() {
        let mut prr = Reduction { prior_cwnd: 20, delivered: 0, sent: 0 };
        let mut in_flight = 18;
        let mut left = 0;
        for _ in 0..16 {
            in_flight -= 1;
            let quota = prr.quota(1, in_flight, 10, false);
            (0..quota).for_each(|_| prr.on_sent());
            in_flight += quota;
            left += quota;
        }
        assert_eq!((left, in_flight), (8, 10));
    }

    #[test]
    fn below_the_threshold_packets_are_conserved_and_progress_adds_one() {
        let mut prr = Reduction { prior_cwnd: 20, delivered: 3, sent: 3 };
        assert_eq!(prr.quota(1, 4, 10, false), 1);
        assert_eq!(prr.quota(1, 4, 10, true), 3);
    }
}
