//! What the versions of BBR have in common: a state for each path, and how a transport's events reach it.
//!
//! A path without [rate samples](DeliverySample::rate), such as one of SCTP, follows Reno.

use core::fmt::Debug;

use subflow_quantity::Instant;

use crate::FlowEnd;

use super::super::{
    CongestionControl, DeliverySample, Loss, Outstanding, Path, PathModel, RateSample, RecoveryState, Timeout, reno,
    set_state,
};

/// The state of a version of BBR for one path. Windows are in packets.
pub trait Version: Clone + Debug {
    /// That of a path that begins. `seed` decides its random events.
    fn new(seed: u64) -> Self;
    /// The handshake is complete.
    fn begin(&mut self, path: &Path, now: Instant);
    /// Processes a delivery and its rate.
    fn on_delivered(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample);
    /// Called before each delivery on `path`: a coupled version looks at the others. Default: they do not matter.
    fn couple(_states: &mut [Self], _paths: &[Path], _path: usize) {}
    /// Whether the transport measures delivery rates.
    fn has_samples(&self) -> bool;
    /// Remembers the window before it is reduced.
    fn save_window(&mut self, path: &Path);
    /// A retransmission timeout occurred.
    fn on_timeout(&mut self);
    /// The last recovery or timeout was spurious.
    fn on_undo(&mut self);
    /// In bytes of payload per second.
    fn pacing_rate(&self, path: &Path, unit_bytes: u32) -> u64;
    /// Whether it holds the window back to see the smallest RTT.
    fn is_probing_rtt(&self) -> bool;
    /// The path begins to send after the application had nothing to send.
    fn on_restart(&mut self, path: &mut Path, now: Instant);
    /// What it estimates.
    fn model(&self, unit_bytes: u32) -> PathModel;
}

/// A version of BBR for the paths of a connection.
#[derive(Clone, Debug)]
pub struct ByPath<V> {
    seed: u64,
    pub(super) paths: Vec<V>,
}

impl<V> Default for ByPath<V> {
    fn default() -> Self {
        Self { seed: 0, paths: Vec::new() }
    }
}

impl<V: Version> CongestionControl for ByPath<V> {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, V::new(self.seed.wrapping_add(path as u64)));
    }

    fn on_established(&mut self, paths: &[Path], path: usize, now: Instant) {
        self.paths[path].begin(&paths[path], now);
    }

    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        match &sample.rate {
            Some(rate) => {
                V::couple(&mut self.paths, paths, path);
                self.paths[path].on_delivered(&mut paths[path], sample, rate);
            }
            None if paths[path].take_delivery(sample) => reno::grow(&mut paths[path], sample.ack.acked),
            None => {}
        }
    }

    /// Losses leave the threshold as it is.
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        if !self.paths[path].has_samples() {
            return reno::half(&paths[path], 2);
        }
        self.paths[path].save_window(&paths[path]);
        paths[path].ssthresh.max(paths[path].quantum)
    }

    fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        let ssthresh = self.ssthresh_after_loss(paths, path, loss.now);
        match self.paths[path].has_samples() {
            true => paths[path].ssthresh = ssthresh,
            false => paths[path].enter_recovery(ssthresh, loss),
        }
    }

    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        if !self.paths[path].has_samples() {
            paths[path].leave_recovery();
        }
    }

    fn undo(&mut self, paths: &mut [Path], path: usize) {
        match self.paths[path].has_samples() {
            true => self.paths[path].on_undo(),
            false => paths[path].undo(),
        }
    }

    fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
        if !self.paths[path].has_samples() {
            paths[path].reduce_after_idle(timeouts);
        }
    }

    fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
        if !self.paths[path].has_samples() {
            paths[path].reduce_unused(used);
        }
    }

    fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
        Some(self.paths[path].pacing_rate(&paths[path], outstanding.unit_bytes))
    }

    fn takes_rate_samples(&self) -> bool {
        true
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn holds_back(&self, path: usize) -> bool {
        self.paths[path].is_probing_rtt()
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        self.paths[path].on_restart(&mut paths[path], now);
    }

    fn model(&self, path: usize, unit_bytes: u32) -> Option<PathModel> {
        Some(self.paths[path].model(unit_bytes))
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        if !timeout.repeated {
            let ssthresh = self.ssthresh_after_loss(paths, path, timeout.now);
            paths[path].reduce_threshold(ssthresh);
        }
        paths[path].enter_loss(timeout.in_flight);
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, new: RecoveryState) {
        if new == RecoveryState::Loss {
            self.paths[path].on_timeout();
        }
    }

    fn begin(&mut self, end: FlowEnd) {
        self.seed = end.seed;
    }
}
