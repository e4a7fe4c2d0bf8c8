//! The trait of congestion-control algorithms, and the additive increase that most of them share.

use subflow_quantity::{Duration, Instant};

use super::{Ack, DeliverySample, Loss, Outstanding, Path, PathModel, RecoveryState, Timeout, slow_start};
use crate::FlowEnd;

/// A congestion-control algorithm for one connection.
///
/// Most algorithms decide how a window [grows](Self::avoid_congestion) and
/// [what is left of it after a loss](Self::ssthresh_after_loss); the rest follows the [rules](super::Rules) of the
/// transport, which the default bodies apply: slow start, recovery, timeouts, idle times, undo, pacing. An algorithm of
/// another kind, such as a rate-based one, replaces those bodies: no window changes but by them. In all of them
/// `paths[path].state()` is the recovery state before the event.
pub trait CongestionControl {
    /// A path was added; `paths[path]` is new: the next one of the slice, or in the place of a closed one, of which
    /// nothing may be left. Paths are never removed from the slice: a closed one is not
    /// [established](Path::is_established).
    fn on_path_added(&mut self, _paths: &[Path], _path: usize) {}

    /// The handshake of the path is complete, which mostly has given a first RTT sample.
    fn on_established(&mut self, _paths: &[Path], _path: usize, _now: Instant) {}

    /// Called for every acknowledgment that delivers data or carries an RTT sample, in every recovery state, before
    /// losses are detected (Linux: `pkts_acked`).
    fn on_sample(&mut self, _paths: &mut [Path], _path: usize, _ack: &Ack) {}

    /// Called for every acknowledgment of outstanding data, in every recovery state, after losses were detected (Linux:
    /// `cong_control`). Reduces the window in recovery, and calls [`on_ack`](Self::on_ack) if the window may grow.
    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        if paths[path].take_delivery(sample) {
            self.on_ack(paths, path, &sample.ack);
        }
    }

    /// Called if the window of `paths[path]` may grow (Linux: `cong_avoid`): [slow start](Self::slow_start), then
    /// [`avoid_congestion`](Self::avoid_congestion) with what is left.
    #[inline]
    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        let mut left = ack.acked;
        if paths[path].in_slow_start() {
            left = self.slow_start(paths, path, ack.acked);
            if left == 0 {
                return;
            }
        }
        self.avoid_congestion(paths, path, ack, left);
    }

    /// Increases the window in slow start for `acked`, and returns the rest for congestion avoidance. By default as
    /// [`slow_start`] does.
    #[inline]
    fn slow_start(&mut self, paths: &mut [Path], path: usize, acked: u32) -> u32 {
        slow_start(&mut paths[path], acked)
    }

    /// Increases the window in congestion avoidance for `acked`, what slow start has left of `ack`. By default one
    /// quantum per window (Reno).
    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, _ack: &Ack, acked: u32) {
        let window = paths[path].cwnd;
        additive_increase(&mut paths[path], window, acked);
    }

    /// Returns the new slow-start threshold after a loss on `path`, at least one quantum.
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32;

    /// Fast recovery begins. The window becomes the new threshold, with TCP by proportional rate reduction.
    fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        let ssthresh = self.ssthresh_after_loss(paths, path, loss.now);
        paths[path].enter_recovery(ssthresh, loss);
    }

    /// The network has marked data, for the first time in this window (RFC 3168, section 6.1.2; `loss.in_flight` is what
    /// is in flight). By default the same as a loss.
    fn on_mark(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        self.enter_recovery(paths, path, loss);
    }

    /// Fast recovery ends, and was not undone.
    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        paths[path].leave_recovery();
    }

    /// A retransmission timeout: the window becomes one segment, with TCP beyond what is in flight.
    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        if !timeout.repeated {
            let ssthresh = self.ssthresh_after_loss(paths, path, timeout.now);
            paths[path].reduce_threshold(ssthresh);
        }
        paths[path].enter_loss(timeout.in_flight);
    }

    /// The last recovery or timeout was spurious (Linux: `undo_cwnd`).
    fn undo(&mut self, paths: &mut [Path], path: usize) {
        paths[path].undo();
    }

    /// Data is to be sent after an idle time of `timeouts` RTOs.
    fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
        if paths[path].restarts_after_idle() {
            self.on_window_restart(paths, path);
        }
        paths[path].reduce_after_idle(timeouts);
    }

    /// For an RTO the application used at most `used` of the window.
    fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
        paths[path].reduce_unused(used);
    }

    /// The path delays data that a faster path of the connection could send (MPTCP: opportunistic retransmission).
    fn penalise(&mut self, paths: &mut [Path], path: usize) {
        paths[path].penalise();
    }

    /// The rate at which the path sends, in bytes per second; `None` if there is none yet.
    fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
        paths[path].pacing_rate(outstanding)
    }

    /// Whether the transport measures delivery rates for it ([`DeliverySample::rate`]).
    fn takes_rate_samples(&self) -> bool {
        false
    }

    /// Whether the transport paces what it sends even if it is not configured to (Linux: `SK_PACING_NEEDED`).
    fn needs_pacing(&self) -> bool {
        false
    }

    /// Whether the algorithm itself keeps the path from sending as fast as it might, so that the delivery rate is no
    /// measure of the network.
    fn holds_back(&self, _path: usize) -> bool {
        false
    }

    /// The path begins to send after the application had nothing to send and all was acknowledged (Linux:
    /// `CA_EVENT_TX_START` of an application-limited socket). Only where
    /// [rate samples are taken](Self::takes_rate_samples).
    fn on_restart(&mut self, _paths: &mut [Path], _path: usize, _now: Instant) {}

    /// What the algorithm estimates of the path, if it has a model of it. `unit_bytes` as in
    /// [`Outstanding::unit_bytes`].
    fn model(&self, _path: usize, _unit_bytes: u32) -> Option<PathModel> {
        None
    }

    /// Called when the path changes its recovery state to `_state`; `paths[path].state()` is still the old one.
    fn on_state(&mut self, _paths: &[Path], _path: usize, _state: RecoveryState) {}

    /// Called when the path starts to send while nothing is in flight (Linux: `CA_EVENT_TX_START`); `idle` is the time
    /// since it last sent.
    fn on_transmit_after_idle(&mut self, _paths: &[Path], _path: usize, _now: Instant, _idle: Duration) {}

    /// Called before the path's window restarts after an idle time longer than the RTO (RFC 5681, section 4.1; Linux:
    /// `CA_EVENT_CWND_RESTART`).
    fn on_window_restart(&mut self, _paths: &[Path], _path: usize) {}

    /// Called once, before any connection: what this algorithm and its clones serve.
    fn begin(&mut self, _end: FlowEnd) {}
}

/// Increases the window by one quantum per `window` acknowledged (Linux: `tcp_cong_avoid_ai`).
///
/// The first branch is for a `window` that decreases between two ACKs (CUBIC): the credit collected under the larger
/// value gives one quantum, not several.
///
/// With [`Growth::count_acks`](super::Growth::count_acks) it does what that function did before Linux 4.0: it counts
/// acknowledgments, and one step takes one more than the window.
pub fn additive_increase(path: &mut Path, window: u32, acked: u32) {
    let window = window.max(1);
    if path.growth().count_acks {
        if path.credit < window {
            path.credit = path.credit.saturating_add(path.quantum);
        } else {
            path.credit = 0;
            path.cwnd = path.cwnd.saturating_add(path.quantum);
        }
        return;
    }
    if path.credit >= window {
        path.credit = 0;
        path.cwnd = path.cwnd.saturating_add(path.quantum);
    }
    path.credit = path.credit.saturating_add(acked);
    if path.credit >= window {
        let steps = path.credit / window;
        path.credit -= steps * window;
        path.cwnd = path.cwnd.saturating_add(steps.saturating_mul(path.quantum));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Growth, Rules, WindowReduction};
    use super::*;

    #[test]
    fn counting_acknowledgments_takes_one_more_than_the_window_however_much_each_acknowledges() {
        let growth = Growth { count_acks: true, ..Growth::default() };
        let rules = Rules::Linux { growth, reduction: WindowReduction::Proportional };
        let mut path = Path { ssthresh: 1, rules, ..Path::new(1, 10) };
        for _ in 0..10 {
            additive_increase(&mut path, 10, 2);
        }
        assert_eq!(path.cwnd, 10);
        additive_increase(&mut path, 10, 2);
        assert_eq!((path.cwnd, path.credit), (11, 0));
    }
}
