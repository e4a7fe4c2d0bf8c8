//! A congestion control that asks an agent.

use subflow_policy::congestion::{Ack, CongestionControl, Path, RecoveryState, Reno};
use subflow_policy::custom::FlowEnd;
use subflow_quantity::{Duration, Instant};

use super::port::{Port, State};
use crate::algorithms::LARGEST_WINDOW;

/// Asks the agent for the sender of the flow's data, once per smoothed RTT of each path and not while losses are
/// repaired; the other end does what Reno does.
#[derive(Clone, Debug)]
pub(super) struct CongestionAgent {
    port: Port,
    sends: bool,
    paths: Vec<Since>,
}

/// What happened on a path since its last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    at: Instant,
    delivered: u64,
    losses: u32,
}

impl CongestionAgent {
    pub(super) fn new(port: Port) -> Self {
        Self { port, sends: true, paths: Vec::new() }
    }
}

impl CongestionControl for CongestionAgent {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        self.paths.resize(self.paths.len().max(path + 1), Since::default());
        self.paths[path] = Since::default();
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        if !self.sends {
            return;
        }
        let since = &mut self.paths[path];
        since.delivered += u64::from(ack.acked);
        let interval = paths[path].srtt().unwrap_or(Duration::ZERO);
        let repairs = !matches!(paths[path].state(), RecoveryState::Open | RecoveryState::Disorder);
        if repairs || interval == Duration::ZERO || ack.now < since.at + interval {
            return;
        }
        let Since { at, delivered, losses } = std::mem::replace(since, Since { at: ack.now, ..Since::default() });
        // Before the first decision there is no interval: one RTT is the best guess.
        let elapsed =
            if at == Instant::ZERO { interval.as_secs_f64() } else { ack.now.as_secs_f64() - at.as_secs_f64() };
        let state =
            State::Congestion { now: ack.now.as_secs_f64(), path, paths: paths.to_vec(), delivered, losses, elapsed };
        let factor = self.port.ask(state);
        let (cwnd, quantum) = (paths[path].cwnd(), paths[path].quantum());
        let (least, most) = (f64::from(2 * quantum), f64::from(LARGEST_WINDOW) * f64::from(quantum));
        paths[path].set_cwnd((f64::from(cwnd) * factor).round().clamp(least, most) as u32);
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        if !self.sends {
            Reno::default().on_ack(paths, path, ack);
        }
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32 {
        if !self.sends {
            return Reno::default().ssthresh_after_loss(paths, path, now);
        }
        self.paths[path].losses += 1;
        // β = 0.7, as in CUBIC (RFC 9438, section 4.6).
        let reduced = u64::from(paths[path].cwnd()) * 7 / 10;
        (reduced as u32).max(2 * paths[path].quantum())
    }

    fn begin(&mut self, end: FlowEnd) {
        self.sends = end.sends;
    }
}
