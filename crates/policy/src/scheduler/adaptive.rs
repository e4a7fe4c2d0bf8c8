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
/// floor_r = the least smoothed RTT that r has had: the path without its queue
/// rate_r  = w_r · m_r / τ_r: the rate that r gets where a queue stands (τ_r ≥ 5/4 floor_r); elsewhere it may get more
/// p       = resent packets / sent packets, over at least 200;  loss ← loss + (p − loss) / 2
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
/// So it goes by what tells the paths apart: by delay where only delays differ, by rate where only rates do, and by delay for
/// each packet of room, which weighs both, where both do. It switches when two looks in a row say the same. Before the
/// first subflows have all been established there is nothing to go by, and it is `lts`, which takes either into account.
///
/// It has to be quick: once windows are full, data goes where an acknowledgment has just made room, whatever the scheduler.
/// What a scheduler decides is which windows grow in slow start, and which are cut where the peer's window is full
/// meanwhile. One that looked once a second never acted in time.
///
/// Source: ours. The dynamic scheduler is future work of lima2017 (chapter 6), which says neither what to sense nor when to
/// switch. LWS under loss follows its experiments.
#[derive(Clone, Debug, Default)]
pub struct Adaptive {
    choice: Choice,
    /// What the last look said.
    verdict: Choice,
    /// When the first look was.
    began: Option<Instant>,
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
    LowestLatency,
    LargestWindowSpace,
    #[default]
    LowestTimeSpace,
    HighestSendingRate,
}

/// How long subflows are waited for: one that takes longer has lost a SYN (RFC 6298, section 2: a first RTO of 1 s).
const PATIENCE: Duration = Duration::from_secs(1);
/// How far looks are apart while there is nothing to see.
const WAITING: Duration = Duration::from_millis(1);
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
        let began = *self.began.get_or_insert(now);
        let is_joining = |subflow: &SubflowView| !subflow.established && !subflow.potentially_failed;
        if now.since(began) < PATIENCE && (subflows.len() < 2 || subflows.iter().any(is_joining)) {
            self.look_at = Some(now + WAITING);
            return;
        }
        let verdict = self.judge(subflows);
        if verdict == self.verdict {
            self.choice = verdict;
        }
        self.verdict = verdict;
        let slowest = subflows.iter().filter(|s| s.is_live()).filter_map(|s| s.srtt).max();
        self.look_at = Some(now + slowest.unwrap_or(Duration::ZERO).max(WAITING));
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

    fn after(scheduler: &mut Adaptive, milliseconds: u64, subflows: &[SubflowView]) -> Choice {
        let now = Instant::ZERO + Duration::from_millis(milliseconds);
        scheduler.next(subflows, &QueueView { now, ..queue(5000) });
        scheduler.choice
    }

    /// What it settles on where paths of these RTTs in milliseconds, seen first, get queues and windows.
    fn settles_on(empty: &[u64], filled: &[SubflowView]) -> Choice {
        let mut scheduler = Adaptive::default();
        let empty: Vec<SubflowView> = empty.iter().map(|&srtt| subflow(srtt)).collect();
        after(&mut scheduler, 0, &empty);
        (1..5).map(|look| after(&mut scheduler, 1000 * look, filled)).last().expect("four looks")
    }

    fn wide(srtt: u64, cwnd: u32) -> SubflowView {
        SubflowView { cwnd, ..subflow(srtt) }
    }

    #[test]
    fn each_kind_of_paths_has_its_scheduler() {
        assert_eq!(settles_on(&[20, 30], &[wide(40, 10), wide(50, 10)]), Choice::LowestLatency, "alike");
        assert_eq!(settles_on(&[5, 80], &[wide(60, 10), wide(140, 12)]), Choice::LowestLatency, "by delay");
        assert_eq!(settles_on(&[20, 20], &[wide(60, 10), wide(25, 40)]), Choice::HighestSendingRate, "by rate");
        assert_eq!(settles_on(&[5, 80], &[wide(60, 10), wide(85, 100)]), Choice::LowestTimeSpace, "by both");
    }

    #[test]
    fn a_small_window_without_a_queue_is_no_low_rate() {
        assert_eq!(settles_on(&[20, 80], &[wide(20, 100), wide(80, 2)]), Choice::LowestLatency);
    }

    #[test]
    fn loss_goes_before_all_else_and_fades() {
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
    fn a_few_packets_tell_no_loss() {
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
    fn one_look_is_not_enough_and_looks_are_a_round_trip_apart() {
        let mut scheduler = Adaptive::default();
        let alike = [subflow(20), subflow(20)];
        assert_eq!(after(&mut scheduler, 0, &alike), Choice::LowestTimeSpace);
        assert_eq!(after(&mut scheduler, 19, &alike), Choice::LowestTimeSpace, "no second look yet");
        assert_eq!(after(&mut scheduler, 20, &alike), Choice::LowestLatency);
        let filled = [wide(100, 10), wide(22, 40)];
        assert_eq!(after(&mut scheduler, 40, &filled), Choice::LowestLatency);
        assert_eq!(after(&mut scheduler, 140, &filled), Choice::HighestSendingRate);
    }

    #[test]
    fn subflows_that_are_being_established_are_waited_for_a_second() {
        let mut scheduler = Adaptive::default();
        let joining = SubflowView { established: false, srtt: None, ..subflow(0) };
        let paths = [subflow(20), joining];
        for milliseconds in [0, 500, 999, 1000] {
            assert_eq!(after(&mut scheduler, milliseconds, &paths), Choice::LowestTimeSpace, "{milliseconds} ms");
        }
        assert_eq!(after(&mut scheduler, 1020, &paths), Choice::LowestLatency);
    }

    #[test]
    fn subflows_without_samples_and_failed_ones_tell_nothing() {
        let failed = SubflowView { potentially_failed: true, ..subflow(900) };
        let new = SubflowView { srtt: None, ..subflow(0) };
        assert_eq!(settles_on(&[20, 900, 20], &[subflow(20), failed, new]), Choice::LowestLatency);
        assert_eq!(settles_on(&[], &[]), Choice::LowestLatency);
    }

    #[test]
    fn it_decides_as_the_chosen_one_does() {
        let paths = [wide(19, 10), wide(21, 50)];
        let mut scheduler = Adaptive::default();
        let mut choice = |milliseconds| {
            let now = Instant::ZERO + Duration::from_millis(milliseconds);
            scheduler.next(&paths, &QueueView { now, ..queue(5000) }).map(|a| a.subflow)
        };
        assert_eq!([choice(0), choice(100)], [Some(1), Some(0)], "lts, then ll");
    }
}
