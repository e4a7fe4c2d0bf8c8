//! A congestion-control algorithm with the paths that it controls. A transport connection owns one.

use subflow_quantity::{Duration, Instant};

use super::{
    Ack, Algorithm, CongestionControl, DeliverySample, Loss, Outstanding, Path, PathModel, RecoveryState, Rules,
    Timeout, set_state,
};

/// Congestion control of one connection.
///
/// The transport detects losses and says here what happened; only the controller changes windows and thresholds. When
/// an acknowledgment for path `p` arrives, it is told in this order:
/// 1. [`set_rtt`](Self::set_rtt), if the acknowledgment gave a new estimate;
/// 2. [`on_sample`](Self::on_sample), always;
/// 3. what loss detection finds: [`enter_recovery`](Self::enter_recovery), [`leave_recovery`](Self::leave_recovery),
///    [`undo`](Self::undo), [`on_state`](Self::on_state);
/// 4. [`on_delivered`](Self::on_delivered), always.
#[derive(Clone, Debug)]
pub struct Controller {
    algorithm: Algorithm,
    paths: Vec<Path>,
    rules: Rules,
}

impl Controller {
    /// Creates a controller without paths. `rules` are those of the transport.
    pub fn new(algorithm: Algorithm, rules: Rules) -> Self {
        // Most connections, and all that are half open, have one path.
        Self { algorithm, paths: Vec::with_capacity(1), rules }
    }

    /// Adds a path (see [`Path::new`] for the units) and returns its index. It counts in sums over the paths after
    /// [`set_established`](Self::set_established).
    pub fn add_path(&mut self, quantum: u32, initial_window: u32) -> usize {
        let path = self.paths.len();
        self.set_path(path, quantum, initial_window);
        path
    }

    /// Makes path `path` a new one: the next one, as [`add_path`](Self::add_path) does, or one that takes the place of
    /// a closed path, of which nothing is left.
    ///
    /// # Panics
    ///
    /// If `path` is beyond the next one.
    pub fn set_path(&mut self, path: usize, quantum: u32, initial_window: u32) {
        assert!(path <= self.paths.len(), "path {path} of {}", self.paths.len());
        set_state(&mut self.paths, path, Path { rules: self.rules, ..Path::new(quantum, initial_window) });
        self.algorithm.on_path_added(&self.paths, path);
    }

    /// Reports that the path is established (`true`) or closed (`false`).
    pub fn set_established(&mut self, path: usize, established: bool) {
        self.paths[path].established = established;
    }

    /// The handshake of the path is complete. With `paced`, the transport spaces its packets by the
    /// [pacing rate](Self::pacing_rate).
    pub fn establish(&mut self, path: usize, paced: bool, now: Instant) {
        self.paths[path].established = true;
        self.paths[path].paced = paced;
        self.algorithm.on_established(&self.paths, path, now);
    }

    /// From now on couples only paths with the same group number. `groups` has one entry per path.
    pub fn set_groups(&mut self, groups: &[usize]) {
        self.paths.iter_mut().zip(groups).for_each(|(path, &group)| path.group = group);
    }

    /// Sets the path's RTT estimates: smoothed and smallest.
    pub fn set_rtt(&mut self, path: usize, srtt: Duration, min_rtt: Duration) {
        self.paths[path].set_srtt(srtt);
        self.paths[path].min_rtt = Some(min_rtt);
    }

    /// Sets the threshold of a new path, at least 1.
    pub fn set_initial_ssthresh(&mut self, path: usize, ssthresh: u32) {
        self.paths[path].ssthresh = ssthresh.max(1);
    }

    /// A SYN was lost: the initial window is one segment (RFC 5681, section 3.1).
    pub fn on_handshake_loss(&mut self, path: usize) {
        self.paths[path].cwnd = self.paths[path].quantum;
    }

    /// The size of full-sized segments changes from `before` to `after` bytes, headers included.
    pub fn scale_to_mtu(&mut self, path: usize, before: u32, after: u32) {
        self.paths[path].scale_to_mtu(before, after);
    }

    /// See [`CongestionControl::on_sample`].
    #[inline]
    pub fn on_sample(&mut self, path: usize, ack: &Ack) {
        self.algorithm.on_sample(&mut self.paths, path, ack);
    }

    /// See [`CongestionControl::on_delivered`].
    #[inline]
    pub fn on_delivered(&mut self, path: usize, sample: &DeliverySample) {
        self.algorithm.on_delivered(&mut self.paths, path, sample);
    }

    /// `amount` was sent.
    #[inline]
    pub fn on_sent(&mut self, path: usize, amount: u32) {
        let path = &mut self.paths[path];
        if path.state.is_reducing() {
            path.prr.on_sent(amount);
        }
    }

    /// Nothing of the path is outstanding any more (SCTP: partial_bytes_acked is reset; RFC 9260, section 7.2.2).
    pub fn on_all_acknowledged(&mut self, path: usize) {
        self.paths[path].credit = 0;
    }

    /// A loss was detected: fast recovery begins.
    pub fn enter_recovery(&mut self, path: usize, loss: &Loss) {
        self.paths[path].remember();
        self.algorithm.enter_recovery(&mut self.paths, path, loss);
        self.begin_episode(path, RecoveryState::Recovery);
    }

    /// Fast recovery ends, and was not undone. The recovery state is set separately.
    pub fn leave_recovery(&mut self, path: usize) {
        self.algorithm.leave_recovery(&mut self.paths, path);
    }

    /// Reduces the window once, for a loss that needs no recovery: it was repaired before it was detected (RFC 8985,
    /// section 7.4.2). That cannot be undone.
    pub fn reduce_once(&mut self, path: usize, loss: &Loss) {
        self.paths[path].before_loss = None;
        self.algorithm.enter_recovery(&mut self.paths, path, loss);
        self.on_state(path, RecoveryState::WindowReduced);
        self.algorithm.leave_recovery(&mut self.paths, path);
    }

    /// The peer reports that the network has marked data (RFC 3168, section 6.1.2): the window is reduced as after a loss
    /// that needs no recovery, and that cannot be undone. The transport reports it once per window.
    pub fn on_mark(&mut self, path: usize, loss: &Loss) {
        self.paths[path].before_loss = None;
        self.algorithm.on_mark(&mut self.paths, path, loss);
        self.begin_episode(path, RecoveryState::WindowReduced);
    }

    /// A retransmission timer expired, or the receiver has discarded what it had acknowledged selectively.
    pub fn on_timeout(&mut self, path: usize, timeout: &Timeout) {
        if !timeout.repeated {
            self.paths[path].remember();
        }
        self.algorithm.on_timeout(&mut self.paths, path, timeout);
        self.begin_episode(path, RecoveryState::Loss);
    }

    /// The current episode of recovery was spurious. Returns whether it had reduced the window.
    pub fn undo(&mut self, path: usize) -> bool {
        let has_reduced = self.paths[path].before_loss.is_some();
        if has_reduced {
            self.algorithm.undo(&mut self.paths, path);
        }
        has_reduced
    }

    /// An episode of recovery begins that reduces no window: there is nothing to undo.
    pub fn forget_undo(&mut self, path: usize) {
        self.paths[path].before_loss = None;
    }

    /// See [`CongestionControl::restart_after_idle`].
    pub fn restart_after_idle(&mut self, path: usize, timeouts: u32) {
        self.algorithm.restart_after_idle(&mut self.paths, path, timeouts);
    }

    /// See [`CongestionControl::on_application_limited`].
    pub fn on_application_limited(&mut self, path: usize, used: u32) {
        self.algorithm.on_application_limited(&mut self.paths, path, used);
    }

    /// See [`CongestionControl::penalise`].
    pub fn penalise(&mut self, path: usize) {
        self.algorithm.penalise(&mut self.paths, path);
    }

    /// Changes the path's recovery state, after notifying the algorithm.
    pub fn on_state(&mut self, path: usize, state: RecoveryState) {
        self.algorithm.on_state(&self.paths, path, state);
        self.paths[path].state = state;
    }

    /// Changes the recovery state because of a loss. SCTP's rules notify the algorithm of every loss, TCP's only if the
    /// state changes.
    fn begin_episode(&mut self, path: usize, state: RecoveryState) {
        if self.paths[path].state != state || self.rules == Rules::Rfc9260 {
            self.on_state(path, state);
        }
    }

    /// See [`CongestionControl::on_transmit_after_idle`].
    pub fn on_transmit_after_idle(&mut self, path: usize, now: Instant, idle: Duration) {
        self.algorithm.on_transmit_after_idle(&self.paths, path, now, idle);
    }

    /// See [`CongestionControl::pacing_rate`].
    pub fn pacing_rate(&self, path: usize, outstanding: Outstanding) -> Option<u64> {
        self.algorithm.pacing_rate(&self.paths, path, outstanding)
    }

    /// See [`CongestionControl::takes_rate_samples`].
    pub fn takes_rate_samples(&self) -> bool {
        self.algorithm.takes_rate_samples()
    }

    /// See [`CongestionControl::needs_pacing`].
    pub fn needs_pacing(&self) -> bool {
        self.algorithm.needs_pacing()
    }

    /// See [`CongestionControl::holds_back`].
    pub fn holds_back(&self, path: usize) -> bool {
        self.algorithm.holds_back(path)
    }

    /// See [`CongestionControl::on_restart`].
    pub fn on_restart(&mut self, path: usize, now: Instant) {
        self.algorithm.on_restart(&mut self.paths, path, now);
    }

    /// See [`CongestionControl::model`].
    pub fn model(&self, path: usize, unit_bytes: u32) -> Option<PathModel> {
        self.algorithm.model(path, unit_bytes)
    }

    /// One path.
    #[inline]
    pub fn path(&self, path: usize) -> &Path {
        &self.paths[path]
    }

    /// All paths, in the order they were added.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reno(cwnd: u32) -> Controller {
        let algorithm = Algorithm::from_name("reno").expect("reno is an algorithm");
        let mut controller = Controller::new(algorithm, Rules::default());
        controller.add_path(1, cwnd);
        controller
    }

    const LOSS: Loss = Loss { now: Instant::ZERO, in_flight: 40, by_timer: false };

    fn windows(controller: &Controller) -> (u32, u32) {
        (controller.path(0).cwnd, controller.path(0).ssthresh)
    }

    #[test]
    fn a_loss_sets_the_threshold_resets_the_credit_and_leaves_the_window_to_prr() {
        let mut controller = reno(45);
        controller.paths[0].credit = 7;
        controller.enter_recovery(0, &LOSS);
        assert_eq!((windows(&controller), controller.path(0).credit), ((45, 22), 0));
        assert_eq!(controller.path(0).state, RecoveryState::Recovery);
        controller.leave_recovery(0);
        assert_eq!(windows(&controller), (22, 22));
    }

    #[test]
    fn an_undo_restores_what_was_before_the_first_timeout_of_an_episode() {
        let mut controller = reno(45);
        controller.paths[0].ssthresh = 30;
        for repeated in [false, true] {
            controller.on_timeout(0, &Timeout { now: Instant::ZERO, in_flight: 2, repeated });
            assert_eq!(windows(&controller), (3, 22));
        }
        assert!(controller.undo(0));
        assert_eq!(windows(&controller), (45, 33), "three quarters of the window are more than the threshold of 30");
    }

    #[test]
    fn a_single_reduction_cannot_be_undone() {
        let mut controller = reno(45);
        controller.enter_recovery(0, &LOSS);
        controller.on_state(0, RecoveryState::Open);
        controller.reduce_once(0, &LOSS);
        assert_eq!((windows(&controller), controller.undo(0)), ((22, 22), false));
    }

    #[test]
    fn a_loss_that_a_timer_detects_allows_one_retransmission_at_once() {
        let mut controller = reno(45);
        controller.enter_recovery(0, &Loss { by_timer: true, ..LOSS });
        assert_eq!(controller.path(0).cwnd, 41);
    }
}
