//! Window growth of CMT/RP: a share of the growth that the path would have alone.
//!
//! ```text
//! slow start:            w_p += ⌈î_p · min(b, m_p)⌉   per ACK of b
//! congestion avoidance:  w_p += ⌈î_p · m_p⌉           per window acknowledged
//! ```
//!
//! `î_p` is the path's share, which v1 and v2 define differently. The formulas are made for windows in bytes. If the
//! transport counts packets, `m_p = 1` and the ceiling would round every share up to a whole packet: each path would
//! grow as if it were alone. The thesis that implemented CMT/RPv2 in Linux (Lugowski 2017, section 3.3.2) therefore
//! collects the growth in a buffer and increases the window by a packet when the buffer holds one. The same is done
//! here: the buffer holds fractions of the path's unit, and its whole units are added to the window. For packets this
//! is the thesis's rule; for bytes it differs from the formula by less than one byte per step.

use super::{Path, set_state};

/// Growth not yet added to the windows, one buffer per path, in the path's unit.
#[derive(Clone, Debug, Default)]
pub(super) struct PooledGrowth {
    buffers: Vec<f64>,
}

impl PooledGrowth {
    /// Gives path `path`, which is new, an empty buffer.
    pub(super) fn add_path(&mut self, path: usize) {
        set_state(&mut self.buffers, path, 0.0);
    }

    /// Increases the window of `paths[index]` by its share (0 to 1) for an acknowledgment of `acked`.
    pub(super) fn grow(&mut self, paths: &mut [Path], index: usize, share: f64, acked: u32) {
        let path = &mut paths[index];
        // Slow start ends at the threshold, whatever `Growth` says (Lugowski, section 3.3.1).
        let earned = if path.cwnd < path.ssthresh {
            acked.min(path.quantum)
        } else {
            path.credit = path.credit.saturating_add(acked);
            let windows = path.credit / path.cwnd.max(1);
            path.credit -= windows * path.cwnd;
            windows.saturating_mul(path.quantum)
        };
        let buffer = &mut self.buffers[index];
        *buffer += share * f64::from(earned);
        let whole = buffer.floor();
        *buffer -= whole;
        path.cwnd = path.cwnd.saturating_add(whole as u32);
    }
}

/// The least threshold of `path`.
pub(super) fn floor(path: &Path, two_segments: bool) -> u32 {
    path.quantum * if two_segments { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(path: Path, share: f64, acks: u32, acked: u32) -> u32 {
        let mut growth = PooledGrowth::default();
        growth.add_path(0);
        let mut paths = [path];
        for _ in 0..acks {
            growth.grow(&mut paths, 0, share, acked);
        }
        paths[0].cwnd
    }

    #[test]
    fn slow_start_gives_the_share_of_a_packet_per_ack() {
        assert_eq!(grown(Path::new(1, 10), 0.25, 8, 2), 12);
    }

    #[test]
    fn congestion_avoidance_gives_the_share_of_a_packet_per_window() {
        let path = Path { ssthresh: 1, ..Path::new(1, 10) };
        assert_eq!(grown(path.clone(), 0.5, 19, 1), 10);
        assert_eq!(grown(path, 0.5, 20, 1), 11);
    }

    #[test]
    fn with_bytes_growth_follows_the_formula() {
        let path = Path { ssthresh: 1, ..Path::new(1452, 14_520) };
        assert_eq!(grown(path, 0.25, 10, 1452), 14_520 + 363);
    }
}
