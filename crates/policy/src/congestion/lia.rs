//! LIA: linked increases (RFC 6356), the standard coupled congestion control of MPTCP.
//!
//! ```text
//! on an ACK of b:  w_i += min(α b m_i / w_total,  b m_i / w_i)
//! α = w_total · max_i(w_i / rtt_i²) / (Σ_i w_i / rtt_i)²
//! ```
//!
//! RFC 6356, section 3 (equations 1 and 2); the formulas hold in any unit of `w`. `w_total` cancels out: the first term
//! is one quantum per `(Σ w_i/rtt_i)² / max(w_i/rtt_i²)` acknowledged, the second is one quantum per `w_i`
//! acknowledged. The path therefore grows by one quantum per the larger of these two amounts, counted as in Reno. Slow
//! start and the decrease are those of Reno.
//!
//! **As in the MPTCP kernel 0.9x** (`mptcp_coupled.c`): a connection with one established path uses Reno; sums include
//! all established paths with an RTT estimate, also those in slow start; the number of packets per increase is rounded
//! down. Differences from it, as RFC 6356 requires: α is computed anew at each ACK, a path in recovery counts with its
//! threshold, and packets are counted, not ACKs. The switch `fixed_point` adds that
//! kernel's rounding of α/w_total to multiples of 1/4096. It slows growth by up to a sixth at 200 packets per path;
//! growth is at least one packet per 4096.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::siblings::visit;
use super::{Ack, CongestionControl, FIXED_POINT_DOC, Path, additive_increase, reno};

/// The scale of α / w_total in the MPTCP kernel's fixed-point arithmetic.
const FIXED_POINT: f64 = 4096.0;

/// Linked increases (RFC 6356).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lia {
    fixed_point: bool,
}

impl Lia {
    /// Creates LIA with exact arithmetic or with the MPTCP kernel's fixed-point arithmetic.
    pub fn new(fixed_point: bool) -> Self {
        Self { fixed_point }
    }

    /// The amount that must be acknowledged for one quantum of growth.
    fn window(&self, paths: &[Path], path: usize) -> u32 {
        let own = paths[path].cwnd;
        let Some(mut coupled) = coupled_window(paths, path) else { return own };
        if self.fixed_point {
            let quantum = f64::from(paths[path].quantum);
            let packets = coupled / quantum;
            coupled = FIXED_POINT / (FIXED_POINT / packets).floor().max(1.0) * quantum;
        }
        own.max(coupled as u32)
    }
}

impl Catalogued for Lia {
    const DESCRIPTION: Description = Description {
        name: "lia",
        aliases: &[],
        summary: "linked increases: all paths together take no more than one TCP on the best path",
        source: "RFC 6356",
    };

    const SWITCHES: &'static [Attribute<Self>] =
        &[Attribute::flag("fixed_point", FIXED_POINT_DOC, |own| own.fixed_point, |own, on| own.fixed_point = on)];
}

impl CongestionControl for Lia {
    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, _ack: &Ack, acked: u32) {
        let window = self.window(paths, path);
        additive_increase(&mut paths[path], window, acked);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], 2)
    }
}

/// `w_total / α = (Σ w/rtt)² / max(w/rtt²)`; `None` if only one path is established, or none counts.
#[inline]
fn coupled_window(paths: &[Path], of: usize) -> Option<f64> {
    let (mut rate, mut best) = (0.0, 0.0);
    let established = visit(paths, of, |sibling| {
        let own = sibling.rate();
        rate += own;
        let squared = own / sibling.rtt;
        if squared > best {
            best = squared;
        }
    });
    (established > 1 && best > 0.0).then(|| rate * rate / best)
}

#[cfg(test)]
mod tests {
    use super::super::siblings::siblings;
    use super::super::siblings::tests::path;
    use super::*;

    /// RFC 6356's α of `paths`.
    fn alpha(paths: &[Path]) -> f64 {
        let total: f64 = siblings(paths, 0).map(|s| s.window).sum();
        coupled_window(paths, 0).map_or(1.0, |window| total / window)
    }

    #[test]
    fn alpha_is_one_over_n_on_n_equal_paths() {
        for n in 1..=8 {
            let paths = vec![path(20, 50); n];
            assert!((alpha(&paths) - 1.0 / n as f64).abs() < 1e-12);
        }
    }

    #[test]
    fn alpha_follows_equation_2_on_unequal_paths() {
        // w_total = 30; max(10/10², 20/40²) = 0.1; Σ = 10/10 + 20/40 = 1.5; α = 30 · 0.1 / 2.25 (per ms).
        let alpha = alpha(&[path(10, 10), path(20, 40)]);
        assert!((alpha - 3.0 / 2.25).abs() < 1e-9);
    }

    #[test]
    fn a_path_never_grows_faster_than_tcp_would() {
        // The coupled window is 2.25 / 0.1 = 22 packets, more than path 0 has, so it limits path 0.
        let paths = [path(10, 10), path(20, 40), path(100, 1000)];
        let lia = Lia::default();
        assert_eq!(lia.window(&paths[..2], 0), 22);
        assert_eq!(lia.window(&paths, 2), 100);
    }

    #[test]
    fn a_lone_established_path_is_reno() {
        let paths = [path(10, 10), Path { established: false, ..path(40, 10) }];
        assert_eq!(Lia::default().window(&paths, 0), 10);
    }

    #[test]
    fn a_path_alone_in_its_group_is_reno() {
        let paths = [path(10, 10), Path { group: 1, ..path(10, 10) }];
        assert_eq!(Lia::default().window(&paths, 0), 10);
    }

    #[test]
    fn each_of_two_equal_paths_grows_by_one_packet_per_four_windows() {
        let mut paths = [path(10, 10), path(10, 10)];
        let ack = Ack { now: Instant::ZERO, acked: 1, rtt: None, una: 0, nxt: 0, in_flight: 10 };
        for _ in 0..40 {
            Lia::default().on_ack(&mut paths, 0, &ack);
        }
        assert_eq!((paths[0].cwnd, paths[0].credit), (11, 0));
    }

    #[test]
    fn fixed_point_rounds_the_growth_down() {
        // Exactly 1600; the kernel computes 4096/1600 = 2.56, keeps 2, and counts to 4096/2.
        let paths = [path(400, 50), path(400, 50)];
        assert_eq!(Lia::new(false).window(&paths, 0), 1600);
        assert_eq!(Lia::new(true).window(&paths, 0), 2048);
    }
}
