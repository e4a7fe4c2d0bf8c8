//! SCTP's congestion control (RFC 9260, section 7.2): windows in bytes, growth by acknowledged bytes.
//!
//! | phase | rule | source |
//! |---|---|---|
//! | slow start, while `cwnd ≤ ssthresh` | `cwnd += min(acked, PMTU)` per SACK | 7.2.1 |
//! | congestion avoidance | `partial_bytes_acked += acked`; one PMTU per `cwnd` bytes of it | 7.2.2 |
//! | loss | `ssthresh = max(cwnd / 2, 4 PMTU)` | 7.2.3 |
//!
//! `partial_bytes_acked` is [`Path::credit`], the PMTU is [`Path::quantum`]. The transport ensures that a window grows
//! only while it is fully used, and sets the window after a loss (to the threshold after a fast retransmission, to one
//! PMTU after a timeout). The algorithm is uncoupled: each destination has its own window.

use subflow_quantity::Instant;

use crate::catalogue::{Catalogued, Description};

use super::{Ack, CongestionControl, Path, reno};

/// The least threshold after a loss, in PMTUs.
const MIN_SSTHRESH_PMTUS: u32 = 4;

/// SCTP's uncoupled congestion control (RFC 9260).
#[derive(Clone, Copy, Debug, Default)]
pub struct Sctp;

impl Catalogued for Sctp {
    const DESCRIPTION: Description = Description {
        name: "sctp",
        aliases: &[],
        summary: "SCTP's own: at most one PMTU per SACK, then one per window of acknowledged bytes; uncoupled",
        source: "RFC 9260, section 7.2",
    };
}

impl CongestionControl for Sctp {
    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        let path = &mut paths[path];
        if path.cwnd <= path.ssthresh {
            path.cwnd = path.cwnd.saturating_add(ack.acked.min(path.quantum));
            return;
        }
        path.credit = path.credit.saturating_add(ack.acked);
        if path.credit >= path.cwnd {
            path.credit -= path.cwnd;
            path.cwnd = path.cwnd.saturating_add(path.quantum);
        }
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        reno::half(&paths[path], MIN_SSTHRESH_PMTUS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(path: &mut Path, bytes: u32) {
        let ack = Ack { now: Instant::ZERO, acked: bytes, rtt: None, una: 0, nxt: 0, in_flight: path.cwnd };
        Sctp.on_ack(core::slice::from_mut(path), 0, &ack);
    }

    #[test]
    fn slow_start_gives_at_most_one_pmtu_per_sack_and_includes_the_threshold() {
        let mut path = Path { ssthresh: 4380, ..Path::new(1500, 4380) };
        acked(&mut path, 2904);
        assert_eq!((path.cwnd, path.credit), (5880, 0));
        let mut path = Path::new(1500, 4380);
        acked(&mut path, 700);
        assert_eq!(path.cwnd, 5080);
    }

    #[test]
    fn congestion_avoidance_gives_one_pmtu_per_window_of_acknowledged_bytes() {
        let mut path = Path { ssthresh: 6000, ..Path::new(1500, 7260) };
        for _ in 0..2 {
            acked(&mut path, 2904);
        }
        assert_eq!((path.cwnd, path.credit), (7260, 5808));
        acked(&mut path, 2904);
        assert_eq!((path.cwnd, path.credit), (8760, 1452));
    }

    #[test]
    fn a_loss_halves_the_threshold_down_to_four_pmtus() {
        let halved = |cwnd| Sctp.ssthresh_after_loss(&[Path::new(1500, cwnd)], 0, Instant::ZERO);
        assert_eq!((halved(30_000), halved(9000)), (15_000, 6000));
    }
}
