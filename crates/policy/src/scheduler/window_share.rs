//! How much each subflow may have in flight without the others having to wait for the peer's window.

use subflow_quantity::{Duration, Instant};

use super::{SubflowSet, SubflowView};

/// Bounds of the packets in flight on each subflow.
///
/// The receiver reads data in order, so what is on the slowest subflow keeps the rest in the receive buffer, and all
/// subflows wait once the buffer is full. That happens if more than the peer's window W arrives during the delay of the
/// slowest subflow. Once per largest smoothed RTT, for each live subflow r:
///
/// ```text
/// n_r = the most packets in flight since the last update;  x_r = n_r m_r / τ_r, its rate (Little's law)
/// T   = 3/4 W / Σ x_r, the time in which three quarters of the window are sent
///
/// n_r ≤ max(2, n_r T / τ_r)   if Σ w_r m_r > 3/4 W, else no bound
/// ```
///
/// So the queue on a path grows until the RTT is T, and no further; a path that is slower than T without a queue carries
/// less than it could. The last quarter of the window is for segments that arrive out of order at that time, and for
/// those sent again. If the windows together are smaller, no subflow can block another.
///
/// Source: this project. Experiments with a half, three quarters and the whole window on lima2017's Exp 4 gave 151, 237
/// and 168 Mbit/s with OLIA, and 193, 193 and 194 with wVegas, which has short queues by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowShare {
    /// The most packets in flight on each subflow since the last update.
    peaks: Vec<u32>,
    /// The bound of each subflow in packets.
    limits: Vec<u32>,
    update_at: Option<Instant>,
}

/// No bound is smaller: a receiver acknowledges two packets at once, and each acknowledgment is a sample of the RTT.
const MIN_PACKETS: u128 = 2;
/// The interval between updates while there are no RTT samples.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(1);
const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl WindowShare {
    /// Notes what is in flight, and updates the bounds when the time has come. `window` is in bytes.
    pub(super) fn observe(&mut self, subflows: &[SubflowView], window: u64, now: Instant) {
        self.peaks.resize(subflows.len(), 0);
        self.limits.resize(subflows.len(), u32::MAX);
        for (peak, subflow) in self.peaks.iter_mut().zip(subflows) {
            *peak = (*peak).max(subflow.in_flight);
        }
        if self.update_at.is_none_or(|at| at <= now) {
            self.update(subflows, window);
            let slowest = subflows.iter().filter(|s| s.is_live()).filter_map(|s| s.srtt).max();
            self.update_at = Some(now + slowest.unwrap_or(Duration::ZERO).max(MIN_UPDATE_INTERVAL));
        }
    }

    /// Those of `ready` that have less in flight than their bound.
    pub(super) fn within(&self, subflows: &[SubflowView], ready: SubflowSet) -> SubflowSet {
        let mut within = ready;
        for index in ready.iter().filter(|&index| subflows[index].in_flight >= self.limits[index]) {
            within.remove(index);
        }
        within
    }

    fn update(&mut self, subflows: &[SubflowView], window: u64) {
        let share = u128::from(window) * 3 / 4;
        let peaks = core::mem::replace(&mut self.peaks, vec![0; subflows.len()]);
        let live = || subflows.iter().zip(&peaks).filter(|(subflow, _)| subflow.is_live());
        let windows: u128 = live().map(|(subflow, _)| u128::from(subflow.cwnd) * u128::from(subflow.mss)).sum();
        let rate = |(subflow, &peak): (&SubflowView, &u32)| {
            Some(u128::from(peak) * u128::from(subflow.mss) * NANOS_PER_SECOND / round_trip(subflow)?)
        };
        let total: u128 = live().filter_map(rate).sum();
        self.limits.fill(u32::MAX);
        if windows <= share || total == 0 {
            return;
        }
        let time = share * NANOS_PER_SECOND / total;
        for ((limit, &peak), subflow) in self.limits.iter_mut().zip(&peaks).zip(subflows) {
            let Some(round_trip) = round_trip(subflow) else { continue };
            *limit = (u128::from(peak) * time / round_trip).clamp(MIN_PACKETS, u32::MAX.into()) as u32;
        }
    }
}

/// The smoothed RTT in nanoseconds, at least 1.
fn round_trip(subflow: &SubflowView) -> Option<u128> {
    subflow.srtt.map(|srtt| u128::from(srtt.as_nanos().max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_states::subflow;
    use super::*;

    /// The bounds after an update, for a window in packets of `subflow`'s MSS of 1000 bytes.
    fn limits(subflows: &[SubflowView], window: u64) -> Vec<u32> {
        let mut share = WindowShare::default();
        share.observe(subflows, 1000 * window, Instant::ZERO);
        share.limits
    }

    fn full(srtt: u64, cwnd: u32) -> SubflowView {
        SubflowView { cwnd, in_flight: cwnd, ..subflow(srtt) }
    }

    #[test]
    fn windows_that_fit_are_not_bounded() {
        assert_eq!(limits(&[full(10, 10), full(100, 65)], 100), [u32::MAX; 2]);
        assert_eq!(limits(&[], 0), [0; 0]);
    }

    #[test]
    fn the_slow_subflow_gives_way_until_its_delay_is_that_of_the_window() {
        // 1 and 1 packets/ms, and a window of 100: T is 37.5 ms, so the long queue has to become shorter.
        assert_eq!(limits(&[full(10, 10), full(100, 100)], 100), [37, 37]);
    }

    #[test]
    fn a_window_smaller_than_the_paths_divides_what_there_is() {
        assert_eq!(limits(&[full(10, 40), full(10, 20), full(10, 1)], 40), [19, 9, 2]);
    }

    #[test]
    fn a_bound_holds_until_the_slowest_round_trip_is_over() {
        let mut share = WindowShare::default();
        let paths = [full(10, 10), full(100, 100)];
        let both = SubflowSet(0b11);
        share.observe(&paths, 100_000, Instant::ZERO);
        assert_eq!(share.within(&paths, both), SubflowSet(0b01), "the queue is too long");
        share.observe(&paths, 1_000_000, Instant::ZERO + Duration::from_millis(99));
        assert_eq!(share.within(&paths, both), SubflowSet(0b01));
        share.observe(&paths, 1_000_000, Instant::ZERO + Duration::from_millis(100));
        assert_eq!(share.within(&paths, both), both, "the window has grown");
    }

    proptest! {
        #[test]
        fn bounded_subflows_fill_at_most_the_share_and_each_may_send(
            paths in prop::collection::vec((0u64..400, 1u32..2000), 1..8), window in 0u64..4000,
        ) {
            let subflows: Vec<SubflowView> = paths.iter().map(|&(srtt, cwnd)| full(srtt, cwnd)).collect();
            let limits = limits(&subflows, window);
            prop_assert!(limits.iter().all(|&limit| limit >= 2));
            if limits.iter().all(|&limit| limit < u32::MAX) {
                let sum: u64 = limits.iter().map(|&limit| u64::from(limit)).sum();
                prop_assert!(sum <= window * 3 / 4 + 2 * limits.len() as u64);
            }
        }
    }
}
