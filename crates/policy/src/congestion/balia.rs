//! BALIA: balanced linked adaptation (Peng, Walid, Hwang, Low: "Multipath TCP: Analysis, Design and Implementation",
//! IEEE/ACM Transactions on Networking 24(1), 2016; draft-walid-mptcp-congestion-control-04).
//!
//! ```text
//! α_i = max_k x_k / x_i,    x = w / rtt
//! per unit acknowledged:    w_i += m_i · x_i / (rtt_i (Σ x_k)²) · (1 + α_i)/2 · (4 + α_i)/5
//! on loss:                  w_i −= w_i/2 · min(α_i, 1.5)
//! ```
//!
//! The formulas hold in any unit of `w`. The increase is counted as in Reno: one quantum per `10 w_i (Σ x)² / ((x_i +
//! max)(4 x_i + max))` acknowledged. Slow start is that of Reno.
//!
//! **As in the MPTCP kernel 0.9x** (`mptcp_balia.c`): the threshold is at least 1 segment if the connection has several
//! paths, else as in Reno; half windows are rounded down to whole packets. Differences from it: rates are computed anew
//! at each ACK and at each loss, a path in recovery counts with its threshold, and packets are counted, not ACKs.
//! The switch `fixed_point` adds that kernel's rounding of α down to an integer in the
//! decrease, so that only a path with less than half the best rate reduces its window by more than half.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::siblings::{established, sibling, siblings};
use super::{Ack, CongestionControl, FIXED_POINT_DOC, Path, additive_increase, reno};

/// The upper bound of the factor by which half a window is multiplied on loss.
const MAX_DECREASE: f64 = 1.5;

/// Balanced linked adaptation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balia {
    fixed_point: bool,
}

/// A path's rate and the rates of its siblings.
struct Rates {
    own: f64,
    best: f64,
    total: f64,
}

impl Rates {
    /// `None` if the path does not count or its rate is zero.
    fn of(paths: &[Path], path: usize) -> Option<Self> {
        let own = sibling(paths, path)?.rate();
        let (mut best, mut total) = (0.0, 0.0);
        for sibling in siblings(paths, path) {
            best = f64::max(best, sibling.rate());
            total += sibling.rate();
        }
        (own > 0.0).then_some(Self { own, best, total })
    }
}

impl Balia {
    /// Creates BALIA with exact arithmetic or with the MPTCP kernel's fixed-point arithmetic.
    pub fn new(fixed_point: bool) -> Self {
        Self { fixed_point }
    }
}

impl Catalogued for Balia {
    const DESCRIPTION: Description = Description {
        name: "balia",
        aliases: &[],
        summary: "balanced linked adaptation: friendliness against responsiveness",
        source: "Peng et al., ToN 2016; draft-walid-mptcp-congestion-control-04",
    };

    const SWITCHES: &'static [Attribute<Self>] =
        &[Attribute::flag("fixed_point", FIXED_POINT_DOC, |own| own.fixed_point, |own, on| own.fixed_point = on)];
}

impl CongestionControl for Balia {
    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, _ack: &Ack, acked: u32) {
        let window = window(paths, path);
        additive_increase(&mut paths[path], window, acked);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        let Some(rates) = Rates::of(paths, path).filter(|_| established(paths, path) > 1) else {
            return reno::half(&paths[path], 2);
        };
        let alpha = rates.best / rates.own;
        let alpha = if self.fixed_point { alpha.floor() } else { alpha };
        let path = &paths[path];
        let decrease = (f64::from(path.cwnd / 2) * alpha.min(MAX_DECREASE)) as u32;
        (path.cwnd - decrease).max(path.quantum)
    }
}

/// The amount that must be acknowledged for one quantum of growth.
fn window(paths: &[Path], path: usize) -> u32 {
    let own = paths[path].cwnd;
    let Some(Rates { own: x, best, total }) = Rates::of(paths, path) else {
        return own;
    };
    (10.0 * f64::from(own) * (total / (x + best)) * (total / (4.0 * x + best))) as u32
}

#[cfg(test)]
mod tests {
    use super::super::siblings::tests::path;
    use super::*;

    #[test]
    fn a_lone_path_is_reno() {
        let paths = [path(10, 50)];
        assert_eq!(window(&paths, 0), 10);
        assert_eq!(Balia::default().ssthresh_after_loss(&paths, 0, Instant::ZERO), 5);
    }

    #[test]
    fn equal_paths_grow_by_a_quarter_each() {
        assert_eq!(window(&[path(10, 50), path(10, 50)], 0), 40);
    }

    #[test]
    fn unequal_paths_follow_the_formula() {
        // x = 1000 and 250 a second, Σ = 1250. Path 1: α = 4, per packet
        // 250 / (0.04 · 1250²) · 5/2 · 8/5 = 0.016, one packet per 62.5.
        let paths = [path(10, 10), path(10, 40)];
        assert_eq!(window(&paths, 1), 62);
        // Path 0: α = 1, per packet 1000 / (0.01 · 1250²) = 0.064, one per 15.6.
        assert_eq!(window(&paths, 0), 15);
    }

    #[test]
    fn a_slow_path_reduces_its_window_by_three_quarters() {
        let paths = [path(100, 10), path(100, 40)];
        assert_eq!(Balia::default().ssthresh_after_loss(&paths, 0, Instant::ZERO), 50);
        assert_eq!(Balia::default().ssthresh_after_loss(&paths, 1, Instant::ZERO), 25);
    }

    #[test]
    fn fixed_point_halves_unless_the_best_is_twice_as_fast() {
        let paths = [path(100, 10), path(100, 13)];
        assert_eq!(Balia::new(false).ssthresh_after_loss(&paths, 1, Instant::ZERO), 35);
        assert_eq!(Balia::new(true).ssthresh_after_loss(&paths, 1, Instant::ZERO), 50);
    }

    #[test]
    fn the_threshold_floor_is_one_segment_on_several_paths() {
        let paths = [path(100, 10), path(2, 40)];
        assert_eq!(Balia::default().ssthresh_after_loss(&paths, 1, Instant::ZERO), 1);
    }
}
