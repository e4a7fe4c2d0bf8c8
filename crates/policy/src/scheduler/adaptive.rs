//! `adaptive`: looks at the paths and lets the scheduler decide that suits them.

use subflow_quantity::{Duration, Instant};

use super::highest_sending_rate::fastest_sender;
use super::largest_window_space::roomiest;
use super::lowest_latency::fastest;
use super::lowest_time_space::quickest_room;
use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Switches among `ll`, `lws`, `lts` and `hsr` by what the paths show.
///
/// Once in the largest smoothed RTT it looks at the live subflows:
///
/// ```text
/// floor_r = the least smoothed RTT that r has had, the path without its queue
/// rate_r  = w_r · m_r / τ_r: r's rate where a queue stands (τ_r ≥ 5/4 floor_r); elsewhere the path may carry more
///
/// delays differ:  max floor_r ≥ 4 · min floor_r
/// rates differ:   max rate_r  ≥ 4 · min rate_r, the minimum over those with a queue
/// p = resent packets / sent packets, over at least 200;  loss ← loss + (p − loss) / 2
///
/// loss ≥ 3 %                       lws
/// delays differ and rates differ   lts
/// rates differ                     hsr
/// otherwise                        ll
/// ```
///
/// So it decides by what tells the paths apart: by delay where only delays differ, by rate where only rates do, and by delay
/// for each packet of room, which weighs both, where both do. It switches when two looks in a row say the same, and begins
/// with `ll`.
///
/// It has to be quick. Once windows are full, data goes where an acknowledgment has just made room, whatever the scheduler;
/// what a scheduler decides is which windows grow in slow start, and which are cut where the peer's window is full
/// meanwhile. A first version that looked once a second never acted in time.
///
/// Source: ours. The dynamic scheduler is future work of lima2017 (chapter 6), which says neither what to sense nor when to
/// switch. LWS under loss follows its experiments.
#[derive(Clone, Debug, Default)]
pub struct Adaptive {
    choice: Choice,
    /// What the last look said.
    verdict: Choice,
    look_at: Option<Instant>,
    /// The least smoothed RTT of each subflow in nanoseconds; zero before the first sample.
    floors: Vec<u64>,
    /// Packets sent and sent again until loss was last updated.
    sent: u64,
    resent: u64,
    /// Smoothed share of packets sent again.
    loss: f64,
}

/// Who decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    LowestLatency,
    LargestWindowSpace,
    LowestTimeSpace,
    HighestSendingRate,
}

/// How many packets tell a share of losses: fewer, and a single one would count as lossy or nearly so.
const TELLING: u64 = 200;
/// The share of packets sent again from which paths count as lossy.
const LOSSY: f64 = 0.03;
/// How many times the least the most must be for paths to count as different.
const DIFFERENT: u64 = 4;

impl Scheduler for Adaptive {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if self.look_at.is_none_or(|at| at <= queue.now) {
            self.look(subflows, queue.now);
        }
        let pick: fn(&[SubflowView], SubflowSet) -> Option<usize> = match self.choice {
            Choice::LowestLatency => fastest,
            Choice::LargestWindowSpace => roomiest,
            Choice::LowestTimeSpace => quickest_room,
            Choice::HighestSendingRate => fastest_sender,
        };
        candidates::serve(subflows, queue, |ready| pick(subflows, ready))
    }
}

impl Adaptive {
    fn look(&mut self, subflows: &[SubflowView], now: Instant) {
        self.update_loss(subflows);
        self.update_floors(subflows);
        let verdict = self.judge(subflows);
        if verdict == self.verdict {
            self.choice = verdict;
        }
        self.verdict = verdict;
        let slowest = subflows.iter().filter(|s| s.is_live()).filter_map(|s| s.srtt).max();
        self.look_at = Some(now + slowest.unwrap_or(Duration::ZERO));
    }

    fn update_loss(&mut self, subflows: &[SubflowView]) {
        let count = |of: fn(&SubflowView) -> u64| subflows.iter().map(of).sum::<u64>();
        let (sent, resent) = (count(|s| s.packets_sent), count(|s| s.packets_resent));
        let new = sent.saturating_sub(self.sent);
        if new >= TELLING {
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

    fn judge(&self, subflows: &[SubflowView]) -> Choice {
        let (mut delays, mut rates) = (Range::default(), Range::default());
        for (subflow, &floor) in subflows.iter().zip(&self.floors).filter(|(subflow, _)| subflow.is_live()) {
            let Some(srtt) = subflow.srtt.map(Duration::as_nanos).filter(|_| floor > 0) else { continue };
            delays.add(floor);
            // Bytes a second; windows of gigabytes are beyond any path.
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
            _ if self.loss >= LOSSY => Choice::LargestWindowSpace,
            (true, true) => Choice::LowestTimeSpace,
            (false, true) => Choice::HighestSendingRate,
            (_, false) => Choice::LowestLatency,
        }
    }
}

/// The least and the most of some values.
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
        self.most >= self.least.saturating_mul(DIFFERENT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, subflow};
    use super::*;

    fn after(scheduler: &mut Adaptive, seconds: u64, subflows: &[SubflowView]) -> Choice {
        let now = Instant::ZERO + Duration::from_secs(seconds);
        scheduler.next(subflows, &QueueView { now, ..queue(5000) });
        scheduler.choice
    }

    /// What it settles on where the paths stay as they are.
    fn settles_on(subflows: &[SubflowView]) -> Choice {
        let mut scheduler = Adaptive::default();
        (0..5).map(|second| after(&mut scheduler, second, subflows)).last().expect("five looks")
    }

    #[test]
    fn each_kind_of_paths_has_its_scheduler() {
        let wide = |srtt, cwnd| SubflowView { cwnd, ..subflow(srtt) };
        assert_eq!(settles_on(&[subflow(20), subflow(30)]), Choice::LowestLatency);
        assert_eq!(settles_on(&[wide(20, 10), wide(20, 40)]), Choice::LargestWindowSpace);
        assert_eq!(settles_on(&[wide(20, 10), wide(80, 40)]), Choice::LowestTimeSpace);
        assert_eq!(settles_on(&[wide(20, 10), wide(80, 10)]), Choice::HighestSendingRate);
    }

    #[test]
    fn loss_goes_before_all_else_and_fades() {
        let mut scheduler = Adaptive::default();
        let mut sent = (0, 0);
        let mut second = |n, resent| {
            sent = (sent.0 + 1000, sent.1 + resent);
            let paths =
                [10, 80].map(|srtt| SubflowView { packets_sent: sent.0, packets_resent: sent.1, ..subflow(srtt) });
            after(&mut scheduler, n, &paths)
        };
        let with_loss: Vec<Choice> = (0..4).map(|n| second(n, 100)).collect();
        assert_eq!(with_loss[1..], [Choice::LargestWindowSpace; 3]);
        let without: Vec<Choice> = (4..10).map(|n| second(n, 0)).collect();
        assert_eq!(without.last(), Some(&Choice::HighestSendingRate));
    }

    #[test]
    fn one_look_is_not_enough_and_looks_are_a_second_apart() {
        let mut scheduler = Adaptive::default();
        let (alike, different) = ([subflow(20), subflow(20)], [subflow(20), subflow(100)]);
        assert_eq!(after(&mut scheduler, 0, &alike), Choice::LowestLatency);
        assert_eq!(after(&mut scheduler, 1, &different), Choice::LowestLatency);
        assert_eq!(after(&mut scheduler, 1, &different), Choice::LowestLatency, "no second look yet");
        assert_eq!(after(&mut scheduler, 2, &different), Choice::HighestSendingRate);
        assert_eq!(after(&mut scheduler, 3, &alike), Choice::HighestSendingRate);
        assert_eq!(after(&mut scheduler, 4, &alike), Choice::LowestLatency);
    }

    #[test]
    fn subflows_without_samples_and_failed_ones_tell_nothing() {
        let failed = SubflowView { potentially_failed: true, ..subflow(900) };
        let new = SubflowView { srtt: None, ..subflow(0) };
        assert_eq!(settles_on(&[subflow(20), failed, new]), Choice::LowestLatency);
        assert_eq!(settles_on(&[]), Choice::LowestLatency);
    }

    #[test]
    fn it_decides_as_the_chosen_one_does() {
        let roomy = SubflowView { cwnd: 50, ..subflow(20) };
        let paths = [subflow(19), roomy];
        let mut scheduler = Adaptive::default();
        let mut choice = |second| {
            let now = Instant::ZERO + Duration::from_secs(second);
            scheduler.next(&paths, &QueueView { now, ..queue(5000) }).map(|a| a.subflow)
        };
        assert_eq!([choice(0), choice(1)], [Some(0), Some(1)], "ll, then lws");
    }
}
