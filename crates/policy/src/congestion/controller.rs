//! A congestion-control algorithm with the paths that it controls. A transport connection owns one.

use subflow_quantity::{Duration, Instant};

use super::{Ack, Algorithm, CongestionControl, Growth, Path, RecoveryState, set_state};

/// Congestion control of one connection.
///
/// The transport drives it in this order when an acknowledgment for path `p` arrives:
/// 1. [`set_rtt`](Self::set_rtt), if it gave a new estimate;
/// 2. [`on_sample`](Self::on_sample), always;
/// 3. loss detection; if that changes the recovery state, [`ssthresh_after_loss`](Self::ssthresh_after_loss) (on entry
///    into recovery or loss) and [`on_state`](Self::on_state);
/// 4. [`on_ack`](Self::on_ack), only if the window was the limit and the path is neither in recovery nor in window
///    reduction.
///
/// When the transport itself changes a window (PRR, timeout, undo), it does so through [`path_mut`](Self::path_mut).
#[derive(Clone, Debug)]
pub struct Controller {
    algorithm: Algorithm,
    paths: Vec<Path>,
    growth: Growth,
}

impl Controller {
    /// Creates a controller without paths.
    pub fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, paths: Vec::new(), growth: Growth::default() }
    }

    /// Sets how the growth of paths added later is counted.
    pub fn with_growth(self, growth: Growth) -> Self {
        Self { growth, ..self }
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
        set_state(&mut self.paths, path, Path { growth: self.growth, ..Path::new(quantum, initial_window) });
        self.algorithm.on_path_added(&self.paths, path);
    }

    /// Reports that the path is established (`true`) or closed (`false`).
    pub fn set_established(&mut self, path: usize, established: bool) {
        self.paths[path].established = established;
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

    /// See [`CongestionControl::on_sample`].
    pub fn on_sample(&mut self, path: usize, ack: &Ack) {
        self.algorithm.on_sample(&mut self.paths, path, ack);
    }

    /// See [`CongestionControl::on_ack`].
    pub fn on_ack(&mut self, path: usize, ack: &Ack) {
        self.algorithm.on_ack(&mut self.paths, path, ack);
    }

    /// Reports a loss: computes the path's new slow-start threshold, stores it in the path and returns it. Resets the
    /// path's credit, as Linux does.
    pub fn ssthresh_after_loss(&mut self, path: usize, now: Instant) -> u32 {
        let ssthresh = self.algorithm.ssthresh_after_loss(&self.paths, path, now);
        self.paths[path].ssthresh = ssthresh;
        self.paths[path].credit = 0;
        ssthresh
    }

    /// Changes the path's recovery state, after notifying the algorithm.
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

    /// One path, for changes by the transport itself.
    pub fn path_mut(&mut self, path: usize) -> &mut Path {
        &mut self.paths[path]
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

    #[test]
    fn a_loss_sets_the_threshold_and_resets_the_credit() {
        let mut controller = Controller::new(Algorithm::from_name("reno").expect("reno is an algorithm"));
        let path = controller.add_path(1, 45);
        controller.path_mut(path).credit = 7;
        assert_eq!(controller.ssthresh_after_loss(path, Instant::ZERO), 22);
        assert_eq!((controller.path(path).ssthresh, controller.path(path).credit), (22, 0));
    }
}
