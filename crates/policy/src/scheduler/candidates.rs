//! The subflows that a scheduler may choose from, and the order in which it serves the queue: the same for all
//! schedulers.
//!
//! A subflow is **live** if it is established and not potentially failed. **Backups** (RFC 8684, section 3.3.8) are
//! used only if no other subflow is live, so they are also used while the regular path is in a timeout (Linux MPTCP
//! 0.9x: `pf`; Linux 6.12: `stale`).
//!
//! **Reinjections** have priority over new data and never go to a subflow that has already carried the range, unless
//! every usable subflow has: then any of them may carry it again (Linux MPTCP 0.9x clears the segment's path mask at
//! that point). If a subflow that has not carried the range only lacks window space, the reinjection waits for it, and
//! new data may be sent meanwhile.

use super::{Assignment, QueueView, SubflowSet, SubflowSets, SubflowView, What};

/// The subflows to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usable {
    /// The live subflows after backup priority: the regular ones, or the backups if no regular one is live.
    pub(super) live: SubflowSet,
    /// Those of them that can send now.
    pub(super) ready: SubflowSet,
}

/// The subflows that may be chosen.
pub(super) fn usable(subflows: &[SubflowView], queue: &QueueView<'_>) -> Usable {
    let SubflowSets { live, backup, open } = queue.sets.unwrap_or_else(|| SubflowSets::of(subflows));
    debug_assert_eq!(SubflowSets { live, backup, open }, SubflowSets::of(subflows), "a view changed without its sets");
    let (regular, backups) = (live.difference(backup), live.intersection(backup));
    let live = if regular.is_empty() { backups } else { regular };
    Usable { live, ready: live.intersection(open) }
}

/// Assigns the reinjection, else new data. `pick` chooses a subflow from a non-empty set of candidates that can all
/// send now.
pub(super) fn serve(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    mut pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    let usable = usable(subflows, queue);
    copy_on(usable, queue, &mut pick).or_else(|| new_data_on(usable, queue, pick))
}

/// What is to be sent next, and the subflows that may carry it now: the reinjection, if one of them may; else new data.
/// For schedulers that differ only in the subflow they choose.
pub fn next_work(subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<(What, SubflowSet)> {
    let mut candidates = SubflowSet::default();
    let pick = |set: SubflowSet| {
        candidates = set;
        set.iter().next()
    };
    let what = serve(subflows, queue, pick)?.what;
    Some((what, candidates))
}

/// Assigns only the reinjection, for schedulers with another rule for new data.
pub(super) fn copy(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    queue.reinjection?;
    copy_on(usable(subflows, queue), queue, pick)
}

/// Assigns only new data.
pub(super) fn new_data(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    new_data_on(usable(subflows, queue), queue, pick)
}

fn copy_on(
    usable: Usable,
    queue: &QueueView<'_>,
    mut pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    let sent = queue.reinjection?;
    let carriers = usable.ready.intersection(allowed_carriers(usable.live, sent.carried_by));
    if carriers.is_empty() {
        return None;
    }
    Some(Assignment { subflow: pick(carriers)?, what: What::Copy { range: sent.range.clone() } })
}

fn new_data_on(
    usable: Usable,
    queue: &QueueView<'_>,
    mut pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    if queue.new_data.is_empty() || usable.ready.is_empty() {
        return None;
    }
    Some(Assignment { subflow: pick(usable.ready)?, what: What::New { at_most: u64::MAX } })
}

/// The usable subflows that may carry a copy of a range that `carried_by` have carried.
pub(super) fn allowed_carriers(live: SubflowSet, carried_by: SubflowSet) -> SubflowSet {
    let fresh = live.difference(carried_by);
    if fresh.is_empty() { live } else { fresh }
}

#[cfg(test)]
mod tests {
    use super::super::SentRange;
    use super::super::test_states::{queue, reinjection, subflow};
    use super::*;

    fn first(set: SubflowSet) -> Option<usize> {
        set.iter().next()
    }

    fn sends(subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<(usize, What)> {
        serve(subflows, queue, first).map(|a| (a.subflow, a.what))
    }

    const NEW: What = What::New { at_most: u64::MAX };

    fn lost() -> What {
        What::Copy { range: 0..1000 }
    }

    #[test]
    fn backups_wait_until_no_regular_subflow_is_live() {
        let mut subflows = [subflow(10), subflow(20)];
        subflows[0].backup = true;
        assert_eq!(usable(&subflows, &queue(0)).live, SubflowSet(0b10));
        subflows[1].can_send = false;
        assert_eq!(usable(&subflows, &queue(0)).live, SubflowSet(0b10), "a full window does not activate a backup");
        subflows[1].potentially_failed = true;
        assert_eq!(usable(&subflows, &queue(0)).live, SubflowSet(0b01));
        subflows[0].established = false;
        assert_eq!(usable(&subflows, &queue(0)).live, SubflowSet(0));
    }

    #[test]
    fn sets_that_are_kept_are_those_of_the_views() {
        let mut subflows = vec![subflow(10); 4];
        let mut sets = SubflowSets::of(&subflows);
        let changes: [fn(&mut SubflowView); 5] = [
            |subflow| subflow.established = false,
            |subflow| subflow.backup = true,
            |subflow| subflow.can_send = false,
            |subflow| subflow.potentially_failed = true,
            |subflow| *subflow = SubflowView::default(),
        ];
        for (step, change) in changes.into_iter().cycle().take(20).enumerate() {
            let index = step * 3 % 4;
            change(&mut subflows[index]);
            sets.update(index, &subflows[index]);
            assert_eq!(sets, SubflowSets::of(&subflows), "after step {step}");
            assert_eq!(usable(&subflows, &QueueView { sets: Some(sets), ..queue(0) }), usable(&subflows, &queue(0)));
            subflows[index].established = step % 2 == 0;
            sets.update(index, &subflows[index]);
        }
    }

    #[test]
    fn a_reinjection_has_priority_and_goes_to_a_subflow_that_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b01));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        assert_eq!(sends(&[subflow(10), subflow(20)], &queue), Some((1, lost())));
    }

    #[test]
    fn while_a_reinjection_waits_for_window_space_new_data_is_sent() {
        let sent = reinjection(SubflowSet(0b01));
        let mut subflows = [subflow(10), subflow(20)];
        subflows[1].can_send = false;
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(5000) }), Some((0, NEW)));
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(0) }), None);
    }

    #[test]
    fn if_all_usable_subflows_have_carried_it_any_may_carry_it_again() {
        let sent: SentRange = reinjection(SubflowSet(0b111));
        let mut subflows = [subflow(10), subflow(20), subflow(30)];
        subflows[0].potentially_failed = true;
        subflows[2].backup = true;
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(0) }), Some((1, lost())));
    }

    #[test]
    fn without_data_or_without_a_subflow_nothing_is_assigned() {
        assert_eq!(sends(&[subflow(10)], &queue(0)), None);
        let mut full = subflow(10);
        full.can_send = false;
        assert_eq!(sends(&[full], &queue(5000)), None);
        assert_eq!(sends(&[], &queue(5000)), None);
    }
}
