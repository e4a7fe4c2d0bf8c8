//! An algorithm together with the paths it governs: what a transport connection owns.

use subflow_quantity::{Duration, Instant};

use super::{Ack, Algorithm, CongestionControl, Growth, Path, RecoveryState};

/// Congestion control of one connection.
///
/// The transport drives it in this order when an acknowledgment for path `p` arrives:
/// 1. [`set_rtt`](Self::set_rtt) where it gave a new estimate;
/// 2. [`on_sample`](Self::on_sample), always;
/// 3. loss detection; where it changes the recovery state, [`ssthresh_after_loss`](Self::ssthresh_after_loss) (on entry
///    into recovery or loss) and [`on_state`](Self::on_state);
/// 4. [`on_ack`](Self::on_ack), only where the window was the limit and the path is neither recovering nor reducing.
///
/// Where the transport itself moves a window (PRR, a timeout, undo) it writes [`path_mut`](Self::path_mut).
#[derive(Clone, Debug)]
pub struct Controller {
    algorithm: Algorithm,
    paths: Vec<Path>,
    growth: Growth,
}

impl Controller {
    /// A controller without paths.
    pub fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, paths: Vec::new(), growth: Growth::default() }
    }

    /// The same, with the growth of paths to be added counted as `growth` says.
    pub fn with_growth(self, growth: Growth) -> Self {
        Self { growth, ..self }
    }

    /// Adds a path (see [`Path::new`] for the units) and returns its index. It counts among its siblings once
    /// [`set_established`](Self::set_established) says so.
    pub fn add_path(&mut self, quantum: u32, initial_window: u32) -> usize {
        let path = self.paths.len();
        self.paths.push(Path { growth: self.growth, ..Path::new(quantum, initial_window) });
        self.algorithm.on_path_added(&self.paths, path);
        path
    }

    /// The path came up (`true`) or is closed (`false`).
    pub fn set_established(&mut self, path: usize, established: bool) {
        self.paths[path].established = established;
    }

    /// Couples only paths with the same number from now on; `groups` has one for each path.
    pub fn set_groups(&mut self, groups: &[usize]) {
        self.paths.iter_mut().zip(groups).for_each(|(path, &group)| path.group = group);
    }

    /// The path's RTT estimate changed: smoothed and smallest.
    pub fn set_rtt(&mut self, path: usize, srtt: Duration, min_rtt: Duration) {
        self.paths[path].srtt = Some(srtt);
        self.paths[path].min_rtt = Some(min_rtt);
    }

    /// See [`CongestionControl::on_sample`].
    pub fn on_sample(&mut self, path: usize, ack: &Ack) {
        self.algorithm.on_sample(&mut self.paths, path, ack);
    }

    /// See [`CongestionControl::on_ack`].
    pub fn on_ack(&mut self, path: usize, ack: &Ack) {
        self.algorithm.on_ack(&mut self.paths, path, ack);
    }

    /// A loss was found: computes the path's new slow-start threshold, stores it in the path and returns it. Growth
    /// begun in the old window is forgotten, as in Linux.
    pub fn ssthresh_after_loss(&mut self, path: usize, now: Instant) -> u32 {
        let ssthresh = self.algorithm.ssthresh_after_loss(&self.paths, path, now);
        self.paths[path].ssthresh = ssthresh;
        self.paths[path].credit = 0;
        ssthresh
    }

    /// The path changes its recovery state: the algorithm is told, then the path shows it.
    pub fn on_state(&mut self, path: usize, state: RecoveryState) {
        self.algorithm.on_state(&self.paths, path, state);
        self.paths[path].state = state;
    }

    /// See [`CongestionControl::on_transmit_after_idle`].
    pub fn on_transmit_after_idle(&mut self, path: usize, now: Instant, idle: Duration) {
        self.algorithm.on_transmit_after_idle(&self.paths, path, now, idle);
    }

    /// See [`CongestionControl::on_window_restart`].
    pub fn on_window_restart(&mut self, path: usize) {
        self.algorithm.on_window_restart(&self.paths, path);
    }

    /// One path.
    pub fn path(&self, path: usize) -> &Path {
        &self.paths[path]
    }

    /// One path, for the transport's own changes to it.
    pub fn path_mut(&mut self, path: usize) -> &mut Path {
        &mut self.paths[path]
    }

    /// All paths, in the order they were added.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The algorithm in charge.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_sets_the_threshold_and_forgets_the_credit() {
        let mut controller = Controller::new(Algorithm::from_name("reno").expect("reno is an algorithm"));
        let path = controller.add_path(1, 45);
        controller.path_mut(path).credit = 7;
        assert_eq!(controller.ssthresh_after_loss(path, Instant::ZERO), 22);
        assert_eq!((controller.path(path).ssthresh, controller.path(path).credit), (22, 0));
    }
}
