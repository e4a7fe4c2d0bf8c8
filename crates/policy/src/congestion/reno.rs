//! Reno: the standard TCP congestion control (RFC 5681), counted as Linux counts it.
//!
//! | phase | rule | source |
//! |---|---|---|
//! | slow start | `cwnd += acked` up to `ssthresh` | RFC 5681, 3.1; L = infinity as in Linux |
//! | congestion avoidance | one quantum per `cwnd` acknowledged | RFC 5681, 3.1, equation (3) in its counting form (RFC 3465) |
//! | loss | `ssthresh = max(cwnd / 2, 2 quanta)` | RFC 5681, 3.1, equation (4) |
//!
//! Equation (4) halves the amount in flight; Linux halves the window, which is the same while the window is the limit.
//! Reno is uncoupled: on a multipath connection each path runs its own.

use subflow_quantity::Instant;

use crate::catalogue::{Catalogued, Description};

use super::{CongestionControl, Path, additive_increase, slow_start};

/// The standard TCP congestion control (RFC 5681).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl Catalogued for Reno {
    const DESCRIPTION: Description = Description {
        name: "reno",
        aliases: &[],
        summary: "one packet per window, half on loss; uncoupled",
        source: "RFC 5681",
    };
}

impl CongestionControl for Reno {
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        half(&paths[path], 2)
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
    fn a_loss_halves_the_window_down_to_two_segments() {
        assert_eq!(half(&path(45, 5), 2), 22);
        assert_eq!(half(&path(3, 5), 2), 2);
    }
}
