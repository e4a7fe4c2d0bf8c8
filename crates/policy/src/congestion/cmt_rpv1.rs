//! CMT/RPv1: resource pooling by slow-start thresholds (Dreibholz, Becke, Pulinthanath, Rathgeb: "Applying TCP-Friendly
//! Congestion Control to Concurrent Multipath Transfer", AINA 2010).
//!
//! ```text
//! î_p = ssthresh_p / Σ_k ssthresh_k
//! slow start:            w_p += ⌈î_p · min(b, m_p)⌉   per ACK of b
//! congestion avoidance:  w_p += ⌈î_p · m_p⌉           per window acknowledged
//! loss:                  ssthresh_p = max(w_p − ½ Σ_k w_k, ⌈î_p · m_p⌉, m_p)
//! ```
//!
//! The threshold serves as an estimate of the path's capacity. A loss subtracts half of the connection's total window
//! from the path's window. The second term of the maximum never exceeds the third (FreeBSD's SCTP uses `4 m_p`
//! instead). `pooled_growth.rs` handles fractions of a packet.
//!
//! A path without a loss has no threshold. SCTP starts with the peer's receive window as the threshold, which with
//! large buffers makes the share of every other path almost zero; here the path's window is used instead.

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::pooled_growth::{PooledGrowth, floor};
use super::siblings::siblings;
use super::{Ack, CongestionControl, Path, TWO_SEGMENT_FLOOR_DOC};

/// Resource pooling by slow-start thresholds.
#[derive(Clone, Debug, Default)]
pub struct CmtRpV1 {
    growth: PooledGrowth,
    two_segment_floor: bool,
}

impl CmtRpV1 {
    /// Creates it with a least threshold of one segment, as defined, or of two segments, as in Linux's Reno.
    pub fn new(two_segment_floor: bool) -> Self {
        Self { growth: PooledGrowth::default(), two_segment_floor }
    }
}

impl Catalogued for CmtRpV1 {
    const DESCRIPTION: Description = Description {
        name: "cmt-rpv1",
        aliases: &[],
        summary: "resource pooling by shares of the slow-start thresholds",
        source: "Dreibholz et al., AINA 2010",
    };

    const SWITCHES: &'static [Attribute<Self>] = &[Attribute::flag(
        "two_segment_floor",
        TWO_SEGMENT_FLOOR_DOC,
        |own| own.two_segment_floor,
        |own, on| own.two_segment_floor = on,
    )];
}

impl CongestionControl for CmtRpV1 {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        self.growth.add_path(path);
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        let share = share(paths, path);
        self.growth.grow(paths, path, share, ack.acked);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        let own = &paths[path];
        let siblings: f64 = siblings(paths, path).filter(|s| s.index != path).map(|s| s.window).sum();
        let half = (f64::from(own.cwnd) + siblings) / 2.0;
        own.cwnd.saturating_sub(half.ceil() as u32).max(floor(own, self.two_segment_floor))
    }
}

/// î: the path's share of the sum of thresholds; 1 for a lone path.
fn share(paths: &[Path], path: usize) -> f64 {
    let siblings: f64 = siblings(paths, path).filter(|s| s.index != path).map(|s| threshold(&paths[s.index])).sum();
    let own = threshold(&paths[path]);
    own / (own + siblings)
}

/// The threshold used in the formulas, at least one quantum.
fn threshold(path: &Path) -> f64 {
    let threshold = if path.ssthresh >= Path::INFINITE { path.cwnd } else { path.ssthresh };
    f64::from(threshold.max(path.quantum))
}

#[cfg(test)]
mod tests {
    use super::super::siblings::tests::path;
    use super::*;

    #[test]
    fn shares_follow_the_thresholds() {
        let paths = [Path { ssthresh: 30, ..path(40, 10) }, Path { ssthresh: 10, ..path(40, 10) }];
        assert_eq!([share(&paths, 0), share(&paths, 1)], [0.75, 0.25]);
    }

    #[test]
    fn a_path_without_loss_counts_with_its_window() {
        let paths = [Path { ssthresh: 30, ..path(40, 10) }, Path { ssthresh: Path::INFINITE, ..path(10, 10) }];
        assert_eq!(share(&paths, 1), 0.25);
    }

    #[test]
    fn a_loss_takes_half_of_the_total_window_from_one_path() {
        let paths = [path(60, 10), path(20, 10)];
        let mut rp = CmtRpV1::default();
        assert_eq!(rp.ssthresh_after_loss(&paths, 0, Instant::ZERO), 20);
        assert_eq!(rp.ssthresh_after_loss(&paths, 1, Instant::ZERO), 1);
        assert_eq!(rp.ssthresh_after_loss(&paths[..1], 0, Instant::ZERO), 30);
    }
}
