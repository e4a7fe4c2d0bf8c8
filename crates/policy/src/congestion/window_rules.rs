//! What an event does to a window by the rules that the transport has chosen ([`Rules`]): those of TCP in Linux those of
//! SCTP (RFC 9260, section 7.2) or those of QUIC (RFC 9002, section 7). The default bodies of [`CongestionControl`](super::CongestionControl) apply them.

use super::path::Windows;
use super::prr::Prr;
use super::{DeliverySample, Loss, Outstanding, Path, RecoveryState, Rules, WindowReduction};

/// The window after persistent congestion, in packets (RFC 9002, section 7.2, `kMinimumWindow`).
const MIN_WINDOW: u32 = 2;
/// The least window of SCTP after a decay, in PMTUs (RFC 9260, section 7.2.1).
const MIN_IDLE_PMTUS: u32 = 4;

impl Path {
    /// Enters fast recovery with the threshold `ssthresh`.
    pub(super) fn enter_recovery(&mut self, ssthresh: u32, loss: &Loss) {
        self.reduce_threshold(ssthresh);
        match self.rules {
            Rules::Linux { reduction: WindowReduction::Proportional, .. } => {
                self.prr = Prr::begin(self.cwnd);
                if loss.by_timer {
                    // As if one packet had been delivered (Linux `tcp_rack_reo_timeout`).
                    self.reduce_proportionally(1, loss.in_flight, false);
                }
            }
            Rules::Linux { reduction: WindowReduction::Immediate, .. } | Rules::Rfc9260 | Rules::Rfc9002 => {
                self.cwnd = ssthresh;
            }
        }
    }

    /// Sets the window to what PRR allows in flight.
    fn reduce_proportionally(&mut self, newly: u32, in_flight: u32, progress: bool) {
        let quota = self.prr.quota(newly, in_flight, self.ssthresh, progress);
        self.cwnd = in_flight.saturating_add(quota).max(1);
    }

    /// Fast recovery has repaired all losses, or the window was to be reduced once: the window is the threshold.
    pub(super) fn leave_recovery(&mut self) {
        // Persistent congestion may have reduced the window of QUIC further.
        if self.ssthresh < Self::INFINITE && self.rules != Rules::Rfc9002 {
            self.cwnd = self.ssthresh;
        }
    }

    /// Sets the threshold after a loss, and resets the credit.
    pub(super) fn reduce_threshold(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
        self.credit = 0;
    }

    /// Sets the window after a timeout (RFC 5681: loss window).
    pub(super) fn enter_loss(&mut self, in_flight: u32) {
        match self.rules {
            Rules::Linux { .. } => {
                self.cwnd = in_flight.saturating_add(1);
                self.credit = 0;
            }
            Rules::Rfc9260 => self.cwnd = self.quantum,
            Rules::Rfc9002 => {
                self.cwnd = self.quantum.saturating_mul(MIN_WINDOW);
                self.credit = 0;
            }
        }
    }

    /// Takes a delivery: recovery reduces the window with it. Returns whether the window may grow.
    #[inline]
    pub(super) fn take_delivery(&mut self, sample: &DeliverySample) -> bool {
        let acked = sample.ack.acked;
        match self.rules {
            Rules::Linux { reduction, .. } if self.state.is_reducing() => {
                if acked > 0 && reduction == WindowReduction::Proportional {
                    self.reduce_proportionally(acked, sample.in_flight, sample.advanced && sample.lost == 0);
                }
                false
            }
            Rules::Rfc9002 if self.state.is_reducing() => false,
            Rules::Linux { .. } | Rules::Rfc9002 => sample.progress && sample.window_limited && acked > 0,
            Rules::Rfc9260 => {
                // The association decides what is progress, also in fast recovery. Of what a window that was not full
                // delivers, partial_bytes_acked saves up at most one window (section 7.2.2, (3)).
                if sample.progress && !sample.window_limited && self.cwnd > self.ssthresh {
                    self.credit = self.credit.saturating_add(acked).min(self.cwnd);
                }
                sample.progress && sample.window_limited
            }
        }
    }

    /// The part of `bytes` acknowledged at once that counts for the window's growth.
    pub fn counted(&self, bytes: u32) -> u32 {
        match self.rules {
            // Section 7.2.1: at most one PMTU per SACK in slow start, which includes the threshold, so that a receiver
            // cannot split acknowledgments to its advantage.
            Rules::Rfc9260 if self.cwnd <= self.ssthresh => bytes.min(self.quantum),
            _ => bytes,
        }
    }

    /// Restores what was before the current episode of recovery, if the window or the threshold were larger.
    pub(super) fn undo(&mut self) {
        if let Some(before) = self.before_loss {
            self.cwnd = self.cwnd.max(before.cwnd);
            self.ssthresh = self.ssthresh.max(before.ssthresh);
        }
    }

    /// Whether an idle time restarts slow start, instead of a decay of the window.
    pub(super) fn restarts_after_idle(&self) -> bool {
        matches!(self.rules, Rules::Linux { .. } | Rules::Rfc9002)
    }

    /// Halves a window per RTO of `timeouts` that it was idle: down to the restart window (RFC 5681, section 4.1; Linux
    /// `tcp_cwnd_restart`), or down to four PMTUs (RFC 9260, section 7.2.1).
    pub(super) fn reduce_after_idle(&mut self, timeouts: u32) {
        let floor = match self.rules {
            Rules::Linux { .. } | Rules::Rfc9002 => {
                self.ssthresh = self.current_ssthresh();
                self.credit = 0;
                self.initial_window
            }
            Rules::Rfc9260 => self.quantum.saturating_mul(MIN_IDLE_PMTUS),
        };
        let floor = floor.min(self.cwnd);
        self.cwnd = self.cwnd.checked_shr(timeouts).unwrap_or(0).max(floor);
    }

    /// Reduces a window of which the application used only `used` for an RTO to the mean of both (Linux
    /// `tcp_cwnd_application_limited`).
    pub(super) fn reduce_unused(&mut self, used: u32) {
        let used = used.max(self.initial_window);
        if self.state == RecoveryState::Open && used < self.cwnd {
            self.ssthresh = self.current_ssthresh();
            self.cwnd = (self.cwnd + used) / 2;
        }
    }

    /// Halves the window, and the threshold unless the path is in slow start (`mptcp_rcv_buf_optimization` of MPTCP
    /// 0.9x).
    pub(super) fn penalise(&mut self) {
        let was_in_slow_start = self.in_slow_start();
        self.cwnd = (self.cwnd / 2).max(self.quantum);
        if !was_in_slow_start {
            self.ssthresh = (self.ssthresh / 2).max(2 * self.quantum);
        }
    }

    /// Bytes per second, `None` before the first RTT sample: the window, with Linux's TCP what is outstanding if that is
    /// more, per RTT, times 2 in slow start and 1.2 else (`tcp_update_pacing_rate`); with QUIC times 1.25 (RFC 9002,
    /// section 7.7).
    pub(super) fn pacing_rate(&self, outstanding: Outstanding) -> Option<u64> {
        let srtt = self.srtt?.as_nanos().max(1);
        match self.rules {
            Rules::Linux { .. } => {
                let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
                let bytes = u64::from(self.cwnd.max(outstanding.amount)) * u64::from(outstanding.unit_bytes);
                Some(bytes_per_second(bytes, percent, srtt))
            }
            Rules::Rfc9002 => {
                let bytes = u64::from(self.cwnd) * u64::from(outstanding.unit_bytes);
                Some(bytes_per_second(bytes, 125, srtt))
            }
            Rules::Rfc9260 => {
                let gain = if self.in_slow_start() { 20 } else { 12 };
                Some(u64::from(self.cwnd) * gain / 10 * 1_000_000_000 / srtt)
            }
        }
    }

    /// The size of a segment changes from `before` to `after` bytes.
    pub(super) fn scale_to_mtu(&mut self, before: u32, after: u32) {
        match self.rules {
            // The window is in packets, of which fewer hold the same amount (Linux `tcp_mtup_probe_success`).
            Rules::Linux { .. } | Rules::Rfc9002 => {
                self.cwnd = (u64::from(self.cwnd) * u64::from(before) / u64::from(after)).max(1) as u32;
            }
            Rules::Rfc9260 => self.quantum = after,
        }
    }

    /// Remembers what [`undo`](Self::undo) restores.
    pub(super) fn remember(&mut self) {
        self.before_loss = Some(Windows { cwnd: self.cwnd, ssthresh: self.current_ssthresh() });
    }

    /// The threshold, at least three quarters of the window except in recovery (Linux `tcp_current_ssthresh`).
    fn current_ssthresh(&self) -> u32 {
        if self.state.is_reducing() { self.ssthresh } else { self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4) }
    }
}

/// `percent` of `bytes` per `nanos`. A rate beyond 64 bits is the largest of 64 bits, as a socket without a limit of its
/// rate has in Linux.
fn bytes_per_second(bytes: u64, percent: u64, nanos: u64) -> u64 {
    let factor = percent * 1_000_000_000 / 100;
    match bytes.checked_mul(factor) {
        Some(scaled) => scaled / nanos,
        // From windows of some millions of packets on.
        None => u64::try_from(u128::from(bytes) * u128::from(factor) / u128::from(nanos)).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant};

    use super::*;

    #[test]
    fn the_pacing_rate_follows_linux_in_all_64_bits() {
        let rate = |cwnd, ssthresh, unit_bytes| {
            let mut path = Path { ssthresh, ..Path::new(1, cwnd) };
            assert_eq!(path.pacing_rate(Outstanding { amount: 0, unit_bytes }), None, "without a sample");
            path.set_srtt(Duration::from_millis(100));
            path.pacing_rate(Outstanding { amount: 0, unit_bytes })
        };
        assert_eq!(rate(10, Path::INFINITE, 1448), Some(289_600));
        assert_eq!(rate(10, 10, 1448), Some(173_760));
        // The product of bytes and nanoseconds is beyond 64 bits, the rate is not.
        assert_eq!(rate(10_000_000, Path::INFINITE, 1448), Some(289_600_000_000));
        let mut path = Path::new(1, u32::MAX);
        path.set_srtt(Duration::from_nanos(1));
        assert_eq!(path.pacing_rate(Outstanding { amount: 0, unit_bytes: 65_535 }), Some(u64::MAX));
    }

    #[test]
    fn an_idle_window_is_halved_per_timeout_down_to_the_initial_window() {
        let after = |timeouts| {
            let mut path = Path { ssthresh: 20, credit: 3, initial_window: 10, ..Path::new(1, 80) };
            path.reduce_after_idle(timeouts);
            (path.cwnd, path.ssthresh, path.credit)
        };
        assert_eq!([after(1), after(2), after(9), after(99)], [(40, 60, 0), (20, 60, 0), (10, 60, 0), (10, 60, 0)]);
    }

    fn sctp_path(cwnd: u32, ssthresh: u32) -> Path {
        Path { ssthresh, rules: Rules::Rfc9260, ..Path::new(1000, cwnd) }
    }

    #[test]
    fn slow_start_counts_one_pmtu_per_sack_and_includes_the_threshold() {
        assert_eq!(sctp_path(4000, 4000).counted(3000), 1000);
        assert_eq!(sctp_path(4001, 4000).counted(3000), 3000);
    }

    #[test]
    fn an_idle_window_of_sctp_decays_to_four_pmtus_and_keeps_its_threshold() {
        let after = |cwnd, timeouts| {
            let mut path = sctp_path(cwnd, 9000);
            path.reduce_after_idle(timeouts);
            (path.cwnd, path.ssthresh)
        };
        assert_eq!([after(20_000, 1), after(20_000, 40), after(3000, 1)], [(10_000, 9000), (4000, 9000), (3000, 9000)]);
    }

    #[test]
    fn recovery_begins_with_the_threshold_and_a_timeout_leaves_one_pmtu() {
        let mut path = sctp_path(20_000, 30_000);
        path.enter_recovery(10_000, &Loss { now: Instant::ZERO, in_flight: 15_000, by_timer: false });
        assert_eq!((path.cwnd, path.ssthresh), (10_000, 10_000));
        path.enter_loss(5000);
        assert_eq!(path.cwnd, 1000);
    }

    #[test]
    fn quic_reduces_at_once_keeps_the_threshold_in_persistent_congestion_and_paces_a_quarter_faster() {
        let mut path = Path { rules: Rules::Rfc9002, ..Path::new(1, 40) };
        path.set_srtt(Duration::from_millis(100));
        assert_eq!(path.pacing_rate(Outstanding { amount: 0, unit_bytes: 1200 }), Some(600_000));
        path.enter_recovery(20, &Loss { now: Instant::ZERO, in_flight: 39, by_timer: false });
        assert_eq!((path.cwnd, path.ssthresh), (20, 20));
        path.enter_loss(5);
        path.leave_recovery();
        assert_eq!((path.cwnd, path.ssthresh), (2, 20));
    }
}
