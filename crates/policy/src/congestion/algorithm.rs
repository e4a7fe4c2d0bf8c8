//! All congestion-control algorithms as one type.
//!
//! An enum with static dispatch instead of a trait object: an acknowledgment costs a jump instead of an indirect call,
//! and the compiler can inline it. A new algorithm is one file and its type in the list in `mod.rs`.

use subflow_quantity::{Duration, Instant};

use super::*;
use crate::catalogue::{catalogue, dispatch};
use crate::custom::{CustomCongestionControl, FlowEnd};

algorithms! { catalogue!
    /// A congestion-control algorithm, chosen by name.
    Algorithm
}

// Every method goes to every algorithm: one that overrides a default of the trait is asked.
impl CongestionControl for Algorithm {
    fn on_path_added(&mut self, paths: &[Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.on_path_added(paths, path))
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        algorithms!(dispatch! self, algorithm => algorithm.on_sample(paths, path, ack))
    }

    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        algorithms!(dispatch! self, algorithm => algorithm.on_delivered(paths, path, sample))
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        algorithms!(dispatch! self, algorithm => algorithm.on_ack(paths, path, ack))
    }

    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, ack: &Ack, acked: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.avoid_congestion(paths, path, ack, acked))
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32 {
        algorithms!(dispatch! self, algorithm => algorithm.ssthresh_after_loss(paths, path, now))
    }

    fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        algorithms!(dispatch! self, algorithm => algorithm.enter_recovery(paths, path, loss))
    }

    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.leave_recovery(paths, path))
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        algorithms!(dispatch! self, algorithm => algorithm.on_timeout(paths, path, timeout))
    }

    fn undo(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.undo(paths, path))
    }

    fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.restart_after_idle(paths, path, timeouts))
    }

    fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.on_application_limited(paths, path, used))
    }

    fn penalise(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.penalise(paths, path))
    }

    fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
        algorithms!(dispatch! self, algorithm => algorithm.pacing_rate(paths, path, outstanding))
    }

    fn on_state(&mut self, paths: &[Path], path: usize, state: RecoveryState) {
        algorithms!(dispatch! self, algorithm => algorithm.on_state(paths, path, state))
    }

    fn on_transmit_after_idle(&mut self, paths: &[Path], path: usize, now: Instant, idle: Duration) {
        algorithms!(dispatch! self, algorithm => algorithm.on_transmit_after_idle(paths, path, now, idle))
    }

    fn on_window_restart(&mut self, paths: &[Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.on_window_restart(paths, path))
    }

    fn begin(&mut self, end: FlowEnd) {
        algorithms!(dispatch! self, algorithm => algorithm.begin(end))
    }
}
