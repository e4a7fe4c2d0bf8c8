//! `rr`: one subflow after the other.

use crate::catalogue::{Attribute, Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Round robin: the last eligible subflow that was not yet used in this cycle. If all have been used, a new cycle
/// begins.
///
/// ```text
/// unused = { r ∈ R eligible, r ∉ R* };  used = { r ∈ R eligible, r ∈ R* }
/// r_best = last(unused), R* ← R* ∪ {r_best}     if unused is not empty
/// r_best = last(used),   R* ← {r_best}          otherwise
/// ```
///
/// Source: lima2017, Algorithm 2; Linux MPTCP 0.9x, `roundrobin` with one segment per turn. The printed loop runs to
/// its end, so the **last** subflow is chosen. The thesis's text has the first available one, and so has the kernel:
/// its loop runs to its end too, but over a list with the newest subflow at its head. [`RoundRobin::new`] offers
/// that order. The printed loop also empties R* without adding the chosen subflow, which would give that subflow two
/// consecutive turns and, with two idle subflows, two thirds of the data. The kernel counts that turn, and so does this
/// implementation.
///
/// Eligible subflows are live and have window space. Backups are eligible only if no other subflow is live. A copy
/// takes a turn like new data. With bulk traffic the windows are full, and the order of acknowledgments decides which
/// subflow is next, not the cycle.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// R*, the subflows used in this cycle.
    used: SubflowSet,
    oldest_first: bool,
}

impl Catalogued for RoundRobin {
    const DESCRIPTION: Description = Description {
        name: "rr",
        aliases: &["round-robin"],
        summary: "one subflow after the other, one segment per turn",
        source: "lima2017, Algorithm 2; Linux MPTCP 0.9x, roundrobin",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::flag(
        "oldest_first",
        "whether the oldest unused subflow takes the turn, as in MPTCP 0.9x, instead of the newest",
        |own| own.oldest_first,
        |own, on| own.oldest_first = on,
    )];
}

impl Scheduler for RoundRobin {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::serve(subflows, queue, |ready| self.take_turn(ready))
    }

    fn on_replaced(&mut self, subflow: usize, _last: &SubflowView) {
        self.used.remove(subflow);
    }
}

impl RoundRobin {
    /// Takes the first instead of the last unused subflow if `oldest_first`.
    pub fn new(oldest_first: bool) -> Self {
        Self { used: SubflowSet::default(), oldest_first }
    }

    fn choose(&self, from: SubflowSet) -> Option<usize> {
        if self.oldest_first { from.iter().next() } else { from.last() }
    }

    fn take_turn(&mut self, ready: SubflowSet) -> Option<usize> {
        let best = self.choose(ready.difference(self.used)).or_else(|| {
            self.used = SubflowSet::default();
            self.choose(ready)
        })?;
        self.used.insert(best);
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, reinjection, subflow};
    use super::*;

    fn turns(scheduler: &mut RoundRobin, subflows: &[SubflowView], n: usize) -> Vec<usize> {
        (0..n).filter_map(|_| scheduler.next(subflows, &queue(5000))).map(|a| a.subflow).collect()
    }

    #[test]
    fn each_subflow_has_one_turn_per_cycle_the_last_one_first() {
        let subflows = [subflow(10), subflow(10), subflow(10)];
        assert_eq!(turns(&mut RoundRobin::default(), &subflows, 7), [2, 1, 0, 2, 1, 0, 2]);
    }

    #[test]
    fn the_oldest_one_is_first_where_that_is_the_order() {
        let subflows = [subflow(10), subflow(10), subflow(10)];
        assert_eq!(turns(&mut RoundRobin::new(true), &subflows, 5), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_full_subflow_loses_its_turn_until_it_has_room() {
        let mut scheduler = RoundRobin::default();
        let mut subflows = [subflow(10), subflow(10), subflow(10)];
        subflows[1].can_send = false;
        assert_eq!(turns(&mut scheduler, &subflows, 2), [2, 0]);
        subflows[1].can_send = true;
        assert_eq!(turns(&mut scheduler, &subflows, 4), [1, 2, 1, 0]);
    }

    #[test]
    fn with_one_subflow_the_cycle_is_that_subflow() {
        assert_eq!(turns(&mut RoundRobin::default(), &[subflow(10)], 3), [0, 0, 0]);
    }

    #[test]
    fn a_copy_takes_a_turn() {
        let mut scheduler = RoundRobin::default();
        let subflows = [subflow(10), subflow(10)];
        let sent = reinjection(SubflowSet(0b10));
        let copy = scheduler.next(&subflows, &QueueView { reinjection: Some(&sent), ..queue(5000) });
        assert_eq!(copy.map(|a| a.subflow), Some(0));
        assert_eq!(turns(&mut scheduler, &subflows, 2), [1, 1]);
    }

    #[test]
    fn without_an_eligible_subflow_the_cycle_does_not_change() {
        let mut scheduler = RoundRobin::default();
        let subflows = [subflow(10), subflow(10)];
        assert_eq!(turns(&mut scheduler, &subflows, 1), [1]);
        let full = [false; 2].map(|can_send| SubflowView { can_send, ..subflow(10) });
        assert_eq!(turns(&mut scheduler, &full, 1), []);
        assert_eq!(turns(&mut scheduler, &subflows, 1), [0]);
    }

    #[test]
    fn a_subflow_in_the_place_of_another_has_not_been_used_in_this_cycle() {
        let mut scheduler = RoundRobin::default();
        let subflows = [subflow(10), subflow(20), subflow(30)];
        assert_eq!(turns(&mut scheduler, &subflows, 1), [2]);
        scheduler.on_replaced(2, &subflows[2]);
        assert_eq!(turns(&mut scheduler, &subflows, 3), [2, 1, 0]);
    }
}
