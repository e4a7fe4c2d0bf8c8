//! `adaptive`: looks at the paths and lets the scheduler decide that suits them.

use subflow_quantity::{Duration, Instant};

use super::highest_sending_rate::fastest_sender;
use super::largest_window_space::roomiest;
use super::lowest_latency::fastest;
use super::lowest_time_space::quickest_room;
use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Switches among `ll`, `lws`, `lts` and `hsr` by what the paths show.
///
/// Once a second, or once in the largest smoothed RTT where that is longer, it looks at the live subflows:
///
/// ```text
/// p = resent packets / sent packets since the last look;  loss ← loss + (p − loss) / 2
/// delay spread = max τ_r / min τ_r
/// rate spread  = max (w_r · m_r / τ_r) / min (w_r · m_r / τ_r)
///
/// loss ≥ 3 %                                  lws
/// delay spread ≥ 4 and rate spread ≥ 4        hsr
/// delay spread ≥ 4                            lts
/// rate spread ≥ 4                             lws
/// otherwise                                   ll
/// ```
///
/// It switches when two looks in a row say the same. Until the second one it is `ll`.
///
/// Source: ours. The dynamic scheduler is future work of lima2017 (chapter 6), which says neither what to sense nor when to
/// switch; the rule follows the cases in which its experiments have one of the four ahead: LWS under loss of 4 % and
/// more and where rates differ, LTS and HSR where latencies do.
#[derive(Clone, Debug, Default)]
pub struct Adaptive {
    choice: Choice,
    /// What the last look said.
    verdict: Choice,
    look_at: Option<Instant>,
    /// Packets sent and sent again until then.
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

/// How far looks are apart at least.
const INTERVAL: Duration = Duration::from_secs(1);
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
        let count = |of: fn(&SubflowView) -> u64| subflows.iter().map(of).sum::<u64>();
        let (sent, resent) = (count(|s| s.packets_sent), count(|s| s.packets_resent));
        let new = sent.saturating_sub(self.sent);
        if new > 0 {
            let share = resent.saturating_sub(self.resent) as f64 / new as f64;
            self.loss += (share - self.loss) / 2.0;
        }
        (self.sent, self.resent) = (sent, resent);

        let verdict = self.judge(subflows);
        if verdict == self.verdict {
            self.choice = verdict;
        }
        self.verdict = verdict;
        let slowest = subflows.iter().filter(|s| s.is_live()).filter_map(|s| s.srtt).max();
        self.look_at = Some(now + slowest.unwrap_or(Duration::ZERO).max(INTERVAL));
    }

    fn judge(&self, subflows: &[SubflowView]) -> Choice {
        let live = subflows.iter().filter(|s| s.is_live() && s.srtt.is_some_and(|srtt| !srtt.is_zero()));
        let (mut delays, mut rates) = (Range::default(), Range::default());
        for subflow in live {
            let srtt = subflow.srtt.map_or(1, Duration::as_nanos);
            delays.add(srtt);
            // Bytes a second; windows of gigabytes are beyond any path.
            let window = u64::from(subflow.cwnd).saturating_mul(subflow.mss.into());
            rates.add((u128::from(window) * 1_000_000_000 / u128::from(srtt)).min(u64::MAX.into()) as u64);
        }
        match (delays.is_wide(), rates.is_wide()) {
            _ if self.loss >= LOSSY => Choice::LargestWindowSpace,
            (true, true) => Choice::HighestSendingRate,
            (true, false) => Choice::LowestTimeSpace,
            (false, true) => Choice::LargestWindowSpace,
            (false, false) => Choice::LowestLatency,
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
