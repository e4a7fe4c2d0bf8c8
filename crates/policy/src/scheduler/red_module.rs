//! `red-module`: RED as its authors' kernel module does it, beside the prose of the paper (`red-diversity`).

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Catalogued, Description};

use super::redundant::Progress;
use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, What, candidates, lowest_latency};
use crate::bottleneck::ranked_window::RankedWindow;

/// The scheduler `correlation` of the authors' module for MPTCP 0.92 (github.com/ccsc-research/red-scheduler,
/// `mptcp_red_scheduler.c`).
///
/// It keeps a **list** of subflows and sends all data on each of them, at its own rate, as `redundant` does. Subflows
/// outside of the list carry nothing, neither new data nor copies.
///
/// ```text
/// r_i      the last 50 smoothed RTTs of subflow i: one is read each time that the scheduler looks at it
/// c_ij     Spearman's coefficient of r_i and r_j; 1 if both are constant, 0 if one is; i = j counts, too
/// C_pq     the c_ij of the largest |c_ij| over the subflows i, j of the local addresses p, q
/// list     i of the smallest |c_ij| ≤ φ, then, from each member on, the subflow j of the smallest |C| ≤ φ with it,
///          if all members from there on choose the same j
/// ```
///
/// φ = 0.8. The list is made anew every 2 s. Its unused places hold 0, so that **subflow 0 is always in it**; before the
/// first 2 s it is all there is. As c_ii is 1, no member chooses a subflow of its own local address, and where two
/// subflows of different addresses share a bottleneck, no member of the one address chooses any of the other.
///
/// Subflows take turns, the newest first, and one that still has data to copy copies it before it sends new data.
/// Reinjections go by the lowest RTT, over any subflow, as the module leaves them to the default scheduler.
///
/// Differences: the module keeps one list for all connections of the host and never empties it; its ranks are truncated
/// integers. Here the scheduler is called only while a subflow has window space, there at every acknowledgment. While no
/// listed subflow is live, all live ones count as listed here; there the data waits, without end if the path is gone.
#[derive(Clone, Debug)]
pub struct RedModule {
    progress: Progress,
    windows: Vec<RankedWindow>,
    /// The subflow with the next turn.
    turn: Option<usize>,
    list_at: Option<Instant>,
    listed: SubflowSet,
}

/// The values of a window.
const WINDOW: usize = 50;
/// φ.
const THRESHOLD: f64 = 0.8;
/// The time between two lists.
const LIST_EVERY: Duration = Duration::from_secs(2);

impl Default for RedModule {
    fn default() -> Self {
        let (progress, listed) = (Progress::default(), SubflowSet(1));
        Self { progress, windows: Vec::new(), turn: None, list_at: None, listed }
    }
}

impl Catalogued for RedModule {
    const DESCRIPTION: Description = Description {
        name: "red-module",
        aliases: &[],
        summary: "all data on each subflow of a list of weakly correlated ones, made every 2 s, and on the initial one",
        source: "the kernel module of red2018 (ccsc-research/red-scheduler)",
    };
}

impl Scheduler for RedModule {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if let Some(copy) = candidates::copy(subflows, queue, |ready| lowest_latency::fastest(subflows, ready)) {
            return Some(copy);
        }
        if self.windows.len() < subflows.len() {
            self.windows.resize(subflows.len(), RankedWindow::new(WINDOW));
        }
        if *self.list_at.get_or_insert(queue.now + LIST_EVERY) < queue.now {
            self.listed = self.list(subflows);
            self.list_at = Some(queue.now + LIST_EVERY);
        }
        let usable = candidates::usable(subflows, queue);
        let listed = if usable.live.intersection(self.listed).is_empty() { usable.live } else { self.listed };
        let ready = usable.ready.intersection(listed);
        let newest = subflows.len().checked_sub(1)?;
        let mut subflow = self.turn.filter(|&turn| turn <= newest).unwrap_or(newest);
        for _ in 0..subflows.len() {
            let older = subflow.checked_sub(1).unwrap_or(newest);
            if subflows[subflow].established {
                let srtt = subflows[subflow].srtt.unwrap_or(Duration::ZERO);
                self.windows[subflow].push(srtt.as_nanos());
            }
            let what = if ready.contains(subflow) { self.send_on(subflow, queue) } else { None };
            if let Some(what) = what {
                self.turn = Some(older);
                return Some(Assignment { subflow, what });
            }
            subflow = older;
        }
        None
    }

    fn repeats(&self) -> bool {
        true
    }

    fn on_replaced(&mut self, subflow: usize, _last: &SubflowView) {
        self.progress.restart(subflow);
        if let Some(window) = self.windows.get_mut(subflow) {
            *window = RankedWindow::new(WINDOW);
        }
    }
}

impl RedModule {
    /// The next data for `subflow`: what the others have sent before it, then new data.
    fn send_on(&mut self, subflow: usize, queue: &QueueView<'_>) -> Option<What> {
        if let Some(sent) = self.progress.missing(subflow, queue, |_| true) {
            return Some(What::Copy { range: sent.range.clone() });
        }
        (!queue.new_data.is_empty()).then_some(What::New { at_most: u64::MAX })
    }

    /// The list, from the windows as they are.
    fn list(&mut self, subflows: &[SubflowView]) -> SubflowSet {
        self.windows.iter_mut().for_each(RankedWindow::rank);
        let known: Vec<usize> = (0..subflows.len()).filter(|&i| self.windows[i].is_full()).collect();
        let pairs: Vec<(usize, usize, f64)> = known
            .iter()
            .flat_map(|&i| known.iter().filter(move |&&j| j >= i).map(move |&j| (i, j)))
            .map(|(i, j)| (i, j, self.coefficient(i, j).abs()))
            .collect();
        let between_addresses = |p: u8, q: u8| {
            let of = |(i, j): (usize, usize)| (subflows[i].local_id, subflows[j].local_id);
            let same = pairs.iter().filter(|&&(i, j, _)| of((i, j)) == (p, q) || of((j, i)) == (p, q));
            same.map(|&(.., degree)| degree).fold(0.0, f64::max)
        };
        let weakest = pairs.iter().filter(|&&(.., degree)| degree <= THRESHOLD).min_by(|a, b| a.2.total_cmp(&b.2));
        let Some(&(first, ..)) = weakest else { return SubflowSet(1) };
        let choice = |of: usize, taken: SubflowSet| {
            let degree = |j: usize| between_addresses(subflows[j].local_id, subflows[of].local_id);
            let free = known.iter().copied().filter(|&j| !taken.contains(j) && degree(j) <= THRESHOLD);
            // Subflow 0 is never the answer: the module takes 0 for none.
            free.min_by(|&a, &b| degree(a).total_cmp(&degree(b))).filter(|&j| j > 0)
        };
        let (mut list, mut taken, mut at) = (vec![first], SubflowSet(1 << first), 0);
        while let Some(&member) = list.get(at) {
            if let Some(chosen) = choice(member, taken) {
                if !list[at..].iter().all(|&other| choice(other, taken) == Some(chosen)) {
                    break;
                }
                list.push(chosen);
                taken.insert(chosen);
            }
            at += 1;
        }
        taken.insert(0);
        taken
    }

    fn coefficient(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.windows[i], &self.windows[j]);
        a.spearman(b).unwrap_or(if a.is_constant() && b.is_constant() { 1.0 } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::SentRange;
    use super::super::test_states::{queue, subflow};
    use super::*;

    /// Two subflows of local address 1 and one of address 2, with smoothed RTTs in microseconds.
    fn subflows(srtts: [u64; 3]) -> [SubflowView; 3] {
        [(1, srtts[0]), (1, srtts[1]), (2, srtts[2])].map(|(local_id, us)| SubflowView {
            local_id,
            srtt: Some(Duration::from_micros(us)),
            ..subflow(0)
        })
    }

    /// The scheduler after 50 readings, by `srtt` of the subflow and the reading, and 2 s.
    fn after_readings(srtt: impl Fn(usize, u64) -> u64) -> RedModule {
        let mut scheduler = RedModule::default();
        for reading in 0..50 {
            let mut states = subflows([0, 1, 2].map(|subflow| srtt(subflow, reading)));
            // None can send, so that each call looks at all of them.
            states.iter_mut().for_each(|subflow| subflow.can_send = false);
            assert_eq!(scheduler.next(&states, &queue(9000)), None);
        }
        scheduler.listed = scheduler.list(&subflows([0; 3]));
        scheduler
    }

    /// Smoothed RTTs that go up.
    fn rising(reading: u64) -> u64 {
        1000 + reading
    }

    /// The same with every five values in the opposite order: it rises together with `rising`.
    fn rising_in_steps(reading: u64) -> u64 {
        1000 + reading / 5 * 5 + 4 - reading % 5
    }

    /// Values that go up and down, `step` at a time.
    fn zigzag(reading: u64, step: u64) -> u64 {
        1000 + reading * step % 50
    }

    /// The subflows 0 and 2, of different addresses, rise together, subflow 1 does not.
    fn with_a_shared_bottleneck() -> RedModule {
        let scheduler = after_readings(|subflow, reading| match subflow {
            0 => rising(reading),
            1 => zigzag(reading, 11),
            _ => rising_in_steps(reading),
        });
        let degrees = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| scheduler.coefficient(i, j));
        assert!(degrees[0] < 0.1 && degrees[1] > 0.9 && degrees[2] < degrees[0], "{degrees:?}");
        scheduler
    }

    #[test]
    fn before_there_is_a_list_subflow_0_carries_all() {
        let sent = SentRange { range: 0..1000, carried_by: SubflowSet(1), reinject: false };
        let queue = QueueView { new_data: 1000..9000, outstanding: (std::slice::from_ref(&sent), &[]), ..queue(0) };
        let mut scheduler = RedModule::default();
        let answer = scheduler.next(&subflows([10; 3]), &queue).expect("there is data");
        assert_eq!((answer.subflow, answer.what), (0, What::New { at_most: u64::MAX }));
    }

    #[test]
    fn while_no_listed_subflow_is_live_the_others_carry_the_data() {
        let mut states = subflows([10; 3]);
        states[0].potentially_failed = true;
        let queue = QueueView { new_data: 0..9000, ..queue(0) };
        let mut scheduler = RedModule::default();
        assert_eq!(scheduler.next(&states, &queue).map(|answer| answer.subflow), Some(2));
        states[0].potentially_failed = false;
        assert_eq!(scheduler.next(&states, &queue).map(|answer| answer.subflow), Some(0));
    }

    #[test]
    fn subflows_that_have_nothing_in_common_are_all_listed() {
        let scheduler = after_readings(|subflow, reading| zigzag(reading, [1, 7, 9][subflow]));
        assert_eq!(scheduler.listed, SubflowSet(0b111));
    }

    #[test]
    fn addresses_of_which_two_subflows_share_a_bottleneck_exclude_each_other() {
        // 1 and 2 rise together; 0 has nothing to do with them, but its address has.
        let srtt = |subflow, reading| if subflow == 0 { zigzag(reading, 31) } else { rising(reading) };
        let scheduler = after_readings(srtt);
        assert!(scheduler.coefficient(0, 2).abs() < 0.8 && scheduler.coefficient(1, 2) > 0.99);
        assert_eq!(scheduler.listed, SubflowSet(1));
    }

    #[test]
    fn a_subflow_outside_of_the_list_carries_nothing_and_those_in_it_everything() {
        let mut scheduler = with_a_shared_bottleneck();
        assert_eq!(scheduler.listed, SubflowSet(0b011));
        let states = subflows([10; 3]);
        let (mut sent, mut next): (Vec<SentRange>, u64) = (Vec::new(), 0);
        let mut carried = Vec::new();
        for _ in 0..4 {
            let queue = QueueView { new_data: next..2000, outstanding: (&sent, &[]), ..queue(0) };
            let Some(Assignment { subflow, what }) = scheduler.next(&states, &queue) else { break };
            match what {
                What::New { .. } => {
                    let carried_by = SubflowSet(1 << subflow);
                    sent.push(SentRange { range: next..next + 1000, carried_by, reinject: false });
                    next += 1000;
                }
                What::Copy { range } => {
                    let of = sent.iter_mut().find(|sent| sent.range == range).expect("it is outstanding");
                    of.carried_by.insert(subflow);
                }
            }
            carried.push(subflow);
        }
        assert_eq!(carried, [1, 0, 1, 0], "they take turns");
        assert!(sent.iter().all(|sent| sent.carried_by == SubflowSet(0b011)), "{sent:?}");
        let done = QueueView { new_data: 2000..2000, outstanding: (&sent, &[]), ..queue(0) };
        assert_eq!(scheduler.next(&states, &done), None);
    }

    #[test]
    fn the_list_is_made_every_two_seconds() {
        let mut scheduler = with_a_shared_bottleneck();
        let in_ms = |ms| QueueView { now: Instant::ZERO + Duration::from_millis(ms), ..queue(9000) };
        scheduler.listed = SubflowSet(1);
        let states = subflows([10; 3]);
        scheduler.next(&states, &in_ms(2000)).expect("there is data");
        assert_eq!(scheduler.listed, SubflowSet(1));
        scheduler.next(&states, &in_ms(2001)).expect("there is data");
        assert_eq!(scheduler.listed, SubflowSet(0b011));
        assert_eq!(scheduler.list_at, Some(Instant::ZERO + Duration::from_millis(4001)));
    }
}
