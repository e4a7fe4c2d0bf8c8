//! `adaptive`: measures the paths, uses the scheduler that suits them, and keeps slow subflows from blocking the others.

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Catalogued, Description};

use super::highest_sending_rate::fastest_sender;
use super::largest_window_space::roomiest;
use super::lowest_latency::fastest;
use super::lowest_time_space::quickest_room;
use super::window_share::WindowShare;
use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Switches between `ll`, `lws`, `lts` and `hsr`, depending on measurements of the paths.
///
/// Once per largest smoothed RTT it evaluates the live subflows:
///
/// ```text
/// floor_r = the smallest smoothed RTT of r so far: the delay of the path without a queue
/// rate_r  = w_r · m_r / τ_r: the rate of the path if it has a queue (τ_r ≥ 5/4 floor_r), else a lower bound of it
/// p       = resent packets / sent packets, over at least 200 packets;  loss ← loss + (p − loss) / 2
///
/// delays differ:  max floor_r ≥ 4 · min floor_r
/// rates differ:   max rate_r  ≥ 4 · min rate_r, the minimum over those with a queue
///
/// loss ≥ 3 %                       lws
/// delays differ and rates differ   lts
/// rates differ                     hsr
/// otherwise                        ll
/// ```
///
/// The choice follows the property in which the paths differ: delay if only the delays differ, rate if only the rates
/// do, and delay per packet of window space, which combines both, if both do. It switches when two consecutive
/// evaluations agree. Until the first subflows are established it uses `lts`, which takes both into account.
///
/// The evaluation has to be fast. Once the windows are full, data goes to the subflow on which an acknowledgment has
/// just freed window space, whatever the scheduler. A scheduler decides which windows grow in slow start, and which are
/// used while the peer's window is the limit. In experiments an evaluation once per second always came too late.
///
/// New data does not go to a subflow that has more in flight than its part of the peer's window: it would arrive so
/// late that the others had to wait for it.
///
/// Source: this project. A dynamic scheduler is future work of lima2017 (chapter 6), which specifies neither the
/// measurements nor the conditions for a switch. LWS under loss follows its experiments.
#[derive(Clone, Debug, Default)]
pub struct Adaptive {
    choice: Choice,
    /// The result of the last evaluation.
    last_evaluation: Choice,
    /// The time of the first evaluation.
    started_at: Option<Instant>,
    evaluate_at: Option<Instant>,
    /// The smallest smoothed RTT of each subflow in nanoseconds; zero before the first sample.
    floors: Vec<u64>,
    /// Packets sent and resent up to the last update of `loss`.
    sent: u64,
    resent: u64,
    /// Smoothed fraction of packets that were resent.
    loss: f64,
    share: WindowShare,
}

/// The scheduler in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Choice {
    LowestLatency,
    LargestWindowSpace,
    #[default]
    LowestTimeSpace,
    HighestSendingRate,
}

/// How long to wait for subflows to be established. One that takes longer has lost a SYN (RFC 6298, section 2: the
/// first RTO is 1 s).
const MAX_ESTABLISHMENT_WAIT: Duration = Duration::from_secs(1);
/// The interval between evaluations while there are no RTT samples.
const MIN_EVALUATION_INTERVAL: Duration = Duration::from_millis(1);
/// The least number of packets for a loss estimate. With fewer, a single loss would be close to the threshold.
const MIN_PACKETS_FOR_LOSS: u64 = 200;
/// Paths count as lossy from this fraction of resent packets on.
const LOSS_THRESHOLD: f64 = 0.03;
/// Paths count as different if the largest value is at least this multiple of the smallest.
const DIFFERENCE_FACTOR: u64 = 4;

impl Catalogued for Adaptive {
    const DESCRIPTION: Description = Description {
        name: "adaptive",
        aliases: &[],
        summary: "ll, lws, lts or hsr, by loss, rates and delays, with bounds for subflows that would block the others",
        source: "this project, after the future work of lima2017",
    };
}

impl Scheduler for Adaptive {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if self.evaluate_at.is_none_or(|at| at <= queue.now) {
            self.evaluate(subflows, queue.now);
        }
        let pick: fn(&[SubflowView], SubflowSet) -> Option<usize> = match self.choice {
            Choice::LowestLatency => fastest,
            Choice::LargestWindowSpace => roomiest,
            Choice::LowestTimeSpace => quickest_room,
            Choice::HighestSendingRate => fastest_sender,
        };
        self.share.observe(subflows, queue.window, queue.now);
        let share = &self.share;
        candidates::copy(subflows, queue, |ready| pick(subflows, ready)).or_else(|| {
            candidates::new_data(subflows, queue, |ready| {
                let within = share.within(subflows, ready);
                if within.is_empty() { None } else { pick(subflows, within) }
            })
        })
    }

    fn on_replaced(&mut self, subflow: usize, last: &SubflowView) {
        if let Some(floor) = self.floors.get_mut(subflow) {
            *floor = 0;
        }
        // The sums over all subflows are smaller by its packets from now on.
        self.sent = self.sent.saturating_sub(last.packets_sent);
        self.resent = self.resent.saturating_sub(last.packets_resent);
    }
}

impl Adaptive {
    fn evaluate(&mut self, subflows: &[SubflowView], now: Instant) {
        self.update_loss(subflows);
        self.update_floors(subflows);
        let started_at = *self.started_at.get_or_insert(now);
        let is_joining = |subflow: &SubflowView| !subflow.established && !subflow.potentially_failed;
        if now.since(started_at) < MAX_ESTABLISHMENT_WAIT && (subflows.len() < 2 || subflows.iter().any(is_joining)) {
            self.evaluate_at = Some(now + MIN_EVALUATION_INTERVAL);
            return;
        }
        let last_evaluation = self.evaluated_choice(subflows);
        if last_evaluation == self.last_evaluation {
            self.choice = last_evaluation;
        }
        self.last_evaluation = last_evaluation;
        let slowest = subflows.iter().filter(|s| s.is_live()).filter_map(|s| s.srtt).max();
        self.evaluate_at = Some(now + slowest.unwrap_or(Duration::ZERO).max(MIN_EVALUATION_INTERVAL));
    }

    fn update_loss(&mut self, subflows: &[SubflowView]) {
        let count = |of: fn(&SubflowView) -> u64| subflows.iter().map(of).sum::<u64>();
        let (sent, resent) = (count(|s| s.packets_sent), count(|s| s.packets_resent));
        let new = sent.saturating_sub(self.sent);
        if new >= MIN_PACKETS_FOR_LOSS {
            let share = resent.saturating_sub(self.resent) as f64 / new as f64;
            self.loss += (share - self.loss) / 2.0;
            (self.sent, self.resent) = (sent, resent);
        }
    }

    fn update_floors(&mut self, subflows: &[SubflowView]) {
        self.floors.resize(subflows.len(), 0);
        for (floor, subflow) in self.floors.iter_mut().zip(subflows) {
            let srtt = subflow.srtt.map_or(0, Duration::as_nanos);
            if srtt > 0 && (*floor == 0 || srtt < *floor) {
                *floor = srtt;
            }
        }
    }

    fn evaluated_choice(&self, subflows: &[SubflowView]) -> Choice {
        let (mut delays, mut rates) = (Range::default(), Range::default());
        for (subflow, &floor) in subflows.iter().zip(&self.floors).filter(|(subflow, _)| subflow.is_live()) {
            let Some(srtt) = subflow.srtt.map(Duration::as_nanos).filter(|_| floor > 0) else { continue };
            delays.add(floor);
            // Bytes per second. Saturation starts at windows of gigabytes, larger than that of any path.
            let window = u64::from(subflow.cwnd).saturating_mul(subflow.mss.into());
            let rate = (u128::from(window) * 1_000_000_000 / u128::from(srtt.max(1))).min(u64::MAX.into()) as u64;
            let has_queue = srtt / 5 >= floor / 4;
            if has_queue {
                rates.add(rate);
            } else {
                rates.most = rates.most.max(rate);
            }
        }
        match (delays.is_wide(), rates.is_wide()) {
            _ if self.loss >= LOSS_THRESHOLD => Choice::LargestWindowSpace,
            (true, true) => Choice::LowestTimeSpace,
            (false, true) => Choice::HighestSendingRate,
            (_, false) => Choice::LowestLatency,
        }
    }
}

/// The smallest and the largest of some values.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: u64,
    most: u64,
}

impl Default for Range {
    fn default() -> Self {
        Self { least: u64::MAX, most: 0 }
    }
}

impl Range {
    fn add(&mut self, value: u64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    fn is_wide(self) -> bool {
        self.most >= self.least.saturating_mul(DIFFERENCE_FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, subflow};
    use super::*;

    fn after(scheduler: &mut Adaptive, milliseconds: u64, subflows: &[SubflowView]) -> Choice {
        let now = Instant::ZERO + Duration::from_millis(milliseconds);
        scheduler.next(subflows, &QueueView { now, ..queue(5000) });
        scheduler.choice
    }

    /// The scheduler that it chooses for paths that first have these RTTs in milliseconds and then these queues and
    /// windows.
    fn final_choice(empty: &[u64], filled: &[SubflowView]) -> Choice {
        let mut scheduler = Adaptive::default();
        let empty: Vec<SubflowView> = empty.iter().map(|&srtt| subflow(srtt)).collect();
        after(&mut scheduler, 0, &empty);
        (1..5).map(|second| after(&mut scheduler, 1000 * second, filled)).last().expect("the range is not empty")
    }

    fn wide(srtt: u64, cwnd: u32) -> SubflowView {
        SubflowView { cwnd, ..subflow(srtt) }
    }

    #[test]
    fn the_choice_depends_on_the_property_in_which_the_paths_differ() {
        assert_eq!(final_choice(&[20, 30], &[wide(40, 10), wide(50, 10)]), Choice::LowestLatency, "alike");
        assert_eq!(final_choice(&[5, 80], &[wide(60, 10), wide(140, 12)]), Choice::LowestLatency, "by delay");
        assert_eq!(final_choice(&[20, 20], &[wide(60, 10), wide(25, 40)]), Choice::HighestSendingRate, "by rate");
        assert_eq!(final_choice(&[5, 80], &[wide(60, 10), wide(85, 100)]), Choice::LowestTimeSpace, "by both");
    }

    #[test]
    fn a_small_window_without_a_queue_does_not_count_as_a_low_rate() {
        assert_eq!(final_choice(&[20, 80], &[wide(20, 100), wide(80, 2)]), Choice::LowestLatency);
    }

    #[test]
    fn loss_has_priority_and_its_estimate_decays() {
        let mut scheduler = Adaptive::default();
        let mut sent = (0, 0);
        let mut second = |n: u64, resent| {
            sent = (sent.0 + 1000, sent.1 + resent);
            let paths =
                [10, 30].map(|srtt| SubflowView { packets_sent: sent.0, packets_resent: sent.1, ..subflow(srtt) });
            after(&mut scheduler, 1000 * n, &paths)
        };
        let with_loss: Vec<Choice> = (0..4).map(|n| second(n, 100)).collect();
        assert_eq!(with_loss[1..], [Choice::LargestWindowSpace; 3]);
        let without: Vec<Choice> = (4..10).map(|n| second(n, 0)).collect();
        assert_eq!(without.last(), Some(&Choice::LowestLatency));
    }

    #[test]
    fn too_few_packets_give_no_loss_estimate() {
        let mut scheduler = Adaptive::default();
        let paths = |sent, resent| {
            [10, 30].map(|srtt| SubflowView { packets_sent: sent, packets_resent: resent, ..subflow(srtt) })
        };
        after(&mut scheduler, 0, &paths(40, 10));
        assert_eq!(after(&mut scheduler, 100, &paths(80, 20)), Choice::LowestLatency);
        after(&mut scheduler, 200, &paths(120, 30));
        assert_eq!(after(&mut scheduler, 300, &paths(160, 40)), Choice::LargestWindowSpace);
    }

    #[test]
    fn a_switch_takes_two_evaluations_one_round_trip_apart() {
        let mut scheduler = Adaptive::default();
        let alike = [subflow(20), subflow(20)];
        assert_eq!(after(&mut scheduler, 0, &alike), Choice::LowestTimeSpace);
        assert_eq!(after(&mut scheduler, 19, &alike), Choice::LowestTimeSpace, "no second evaluation yet");
        assert_eq!(after(&mut scheduler, 20, &alike), Choice::LowestLatency);
        let filled = [wide(100, 10), wide(22, 40)];
        assert_eq!(after(&mut scheduler, 40, &filled), Choice::LowestLatency);
        assert_eq!(after(&mut scheduler, 140, &filled), Choice::HighestSendingRate);
    }

    #[test]
    fn it_waits_up_to_a_second_for_subflows_that_are_being_established() {
        let mut scheduler = Adaptive::default();
        let joining = SubflowView { established: false, srtt: None, ..subflow(0) };
        let paths = [subflow(20), joining];
        for milliseconds in [0, 500, 999, 1000] {
            assert_eq!(after(&mut scheduler, milliseconds, &paths), Choice::LowestTimeSpace, "{milliseconds} ms");
        }
        assert_eq!(after(&mut scheduler, 1020, &paths), Choice::LowestLatency);
    }

    #[test]
    fn subflows_without_samples_and_failed_ones_are_ignored() {
        let failed = SubflowView { potentially_failed: true, ..subflow(900) };
        let new = SubflowView { srtt: None, ..subflow(0) };
        assert_eq!(final_choice(&[20, 900, 20], &[subflow(20), failed, new]), Choice::LowestLatency);
        assert_eq!(final_choice(&[], &[]), Choice::LowestLatency);
    }

    #[test]
    fn it_decides_as_the_chosen_scheduler_does() {
        let paths = [wide(19, 10), wide(21, 50)];
        let mut scheduler = Adaptive::default();
        let mut choice = |milliseconds| {
            let now = Instant::ZERO + Duration::from_millis(milliseconds);
            scheduler.next(&paths, &QueueView { now, ..queue(5000) }).map(|a| a.subflow)
        };
        assert_eq!([choice(0), choice(100)], [Some(1), Some(0)], "lts, then ll");
    }

    #[test]
    fn the_packets_of_a_replaced_subflow_leave_the_loss_estimate_and_its_delay_the_floors() {
        let mut scheduler = Adaptive::default();
        let sent = |packets_sent, packets_resent| SubflowView { packets_sent, packets_resent, ..subflow(10) };
        let mut paths = [sent(1000, 0), SubflowView { packets_sent: 9000, ..subflow(10) }];
        for second in 0..2 {
            after(&mut scheduler, 1000 * second, &paths);
        }
        scheduler.on_replaced(1, &paths[1]);
        paths = [sent(2000, 100), SubflowView { srtt: None, ..subflow(0) }];
        assert_eq!(
            after(&mut scheduler, 2000, &paths),
            Choice::LowestLatency,
            "the first evaluation that says otherwise"
        );
        assert_eq!(after(&mut scheduler, 3000, &paths), Choice::LargestWindowSpace);
        assert_eq!(scheduler.floors[1], 0);
    }
}
