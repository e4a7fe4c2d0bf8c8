//! Reno: the standard TCP congestion control (RFC 5681), counted as Linux counts it.
//!
//! | phase | rule | source |
//! |---|---|---|
//! | slow start | `cwnd += acked` up to `ssthresh` | RFC 5681, 3.1; L = infinity as in Linux |
//! | first slow start, with `hystart_plus_plus` | [HyStart++](super::hystart_plus_plus) | RFC 9406 |
//! | congestion avoidance | one quantum per `cwnd` acknowledged | RFC 5681, 3.1, equation (3) in its counting form (RFC 3465) |
//! | loss, mark | `ssthresh = max(cwnd / 2, 2 quanta)` | RFC 5681, 3.1, equation (4); RFC 3168, 6.1.2 |
//! | mark in congestion avoidance, with `abe` | `ssthresh = max(0.8 cwnd, 2 quanta)` | RFC 8511, 3.1 |
//!
//! Equation (4) halves the amount in flight; Linux halves the window, which is the same while the window is the limit.
//! Reno is uncoupled: on a multipath connection each path runs its own.

use subflow_quantity::{Instant, Ratio};

use crate::catalogue::{Attribute, Catalogued, Description};

use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, CongestionControl, Loss, Path, RecoveryState, additive_increase, set_state, slow_start};

/// What a mark leaves of the window (RFC 8511, section 3.1).
const ABE_BETA: Ratio = Ratio::new(8, 10).expect("it is not divided by zero");

/// The standard TCP congestion control (RFC 5681).
#[derive(Clone, Debug, Default)]
pub struct Reno {
    /// Alternative backoff with ECN (RFC 8511).
    pub abe: bool,
    /// Whether [HyStart++](super::hystart_plus_plus) ends the first slow start of a path (RFC 9406).
    pub hystart_plus_plus: bool,
    /// By path; empty without HyStart++.
    starts: Vec<HyStartPlusPlus>,
}

impl Catalogued for Reno {
    const DESCRIPTION: Description = Description {
        name: "reno",
        aliases: &[],
        summary: "one packet per window, half on loss; uncoupled",
        source: "RFC 5681; abe: RFC 8511; hystart_plus_plus: RFC 9406",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::flag("abe", super::ABE_DOC, |reno| reno.abe, |reno, abe| reno.abe = abe),
        Attribute::flag(
            "hystart_plus_plus",
            super::HYSTART_PLUS_PLUS_DOC,
            |reno| reno.hystart_plus_plus,
            |reno, on| reno.hystart_plus_plus = on,
        ),
    ];
}

impl CongestionControl for Reno {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        if self.hystart_plus_plus {
            set_state(&mut self.starts, path, HyStartPlusPlus::default());
        }
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        if let Some(start) = self.starts.get_mut(path) {
            start.on_sample(&mut paths[path], ack);
        }
    }

    fn slow_start(&mut self, paths: &mut [Path], path: usize, acked: u32) -> u32 {
        match self.starts.get_mut(path) {
            Some(start) => start.grow(&mut paths[path], acked),
            None => slow_start(&mut paths[path], acked),
        }
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, state: RecoveryState) {
        if let Some(start) = self.starts.get_mut(path) {
            start.on_state(state);
        }
    }

    fn on_window_restart(&mut self, _paths: &[Path], path: usize) {
        if let Some(start) = self.starts.get_mut(path) {
            start.end();
        }
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        half(&paths[path], 2)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        if !self.abe || paths[path].in_slow_start() {
            return self.enter_recovery(paths, path, loss);
        }
        let ssthresh = part(&paths[path], ABE_BETA);
        paths[path].enter_recovery(ssthresh, loss);
    }
}

/// Reno's growth for `acked`. The coupled algorithms use it if there is only one path.
pub(super) fn grow(path: &mut Path, acked: u32) {
    let mut left = acked;
    if path.in_slow_start() {
        left = slow_start(path, acked);
        if left == 0 {
            return;
        }
    }
    let window = path.cwnd;
    additive_increase(path, window, left);
}

/// `beta` of the window, at least two quanta.
pub(super) fn part(path: &Path, beta: Ratio) -> u32 {
    let part = u64::from(path.cwnd) * u64::from(beta.numerator()) / u64::from(beta.denominator());
    (part as u32).max(path.quantum.saturating_mul(2))
}

/// Half the window, at least `floor` quanta.
pub(super) fn half(path: &Path, floor: u32) -> u32 {
    (path.cwnd / 2).max(path.quantum.saturating_mul(floor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: u32, ssthresh: u32) -> Path {
        Path { ssthresh, established: true, ..Path::new(1, cwnd) }
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_congestion_avoidance_gets_the_rest() {
        let mut p = path(10, 12);
        grow(&mut p, 5);
        assert_eq!((p.cwnd, p.credit), (12, 3));
    }

    #[test]
    fn congestion_avoidance_adds_one_packet_per_window() {
        let mut p = path(10, 5);
        for _ in 0..9 {
            grow(&mut p, 1);
        }
        assert_eq!(p.cwnd, 10);
        grow(&mut p, 1);
        assert_eq!((p.cwnd, p.credit), (11, 0));
    }

    #[test]
    fn bytes_are_counted_by_the_same_rule() {
        let mut p = Path { quantum: 1452, ..path(14_520, 1) };
        for _ in 0..10 {
            grow(&mut p, 1452);
        }
        assert_eq!(p.cwnd, 14_520 + 1452);
    }

    #[test]
    fn a_mark_leaves_four_fifths_in_congestion_avoidance_with_abe_and_half_without() {
        let after_mark = |abe, ssthresh| {
            let mut paths = [path(45, ssthresh)];
            Reno { abe, ..Reno::default() }.on_mark(
                &mut paths,
                0,
                &Loss { now: Instant::ZERO, in_flight: 45, by_timer: false },
            );
            paths[0].ssthresh
        };
        assert_eq!([after_mark(true, 5), after_mark(false, 5), after_mark(true, 90)], [36, 22, 22]);
    }

    #[test]
    fn a_loss_halves_the_window_down_to_two_segments() {
        assert_eq!(half(&path(45, 5), 2), 22);
        assert_eq!(half(&path(3, 5), 2), 2);
    }
}
