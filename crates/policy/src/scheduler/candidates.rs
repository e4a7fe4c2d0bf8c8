//! Which subflows a scheduler may choose from, and in which order it serves the queue: the same for all of them.
//!
//! **Live** is a subflow that is established and not potentially failed. **Backups** (RFC 8684, section 3.3.8) take part
//! only where no other subflow is live, so that they also take over while the regular path sits in a timeout (Linux MPTCP
//! 0.9x: `pf`; Linux 6.12: `stale`).
//!
//! **Reinjections** go before new data and never to a subflow that has carried the range already, unless every usable one
//! has: then any of them may carry it again (Linux MPTCP 0.9x clears the segment's path mask at that point). While a
//! fresh subflow is merely out of window the reinjection waits for it, and new data may pass meanwhile.

use super::{Assignment, QueueView, SubflowSet, SubflowView, What};

/// The subflows that there are to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usable {
    /// The live subflows that backup priority leaves: the regular ones, or the backups where no regular one is live.
    pub(super) live: SubflowSet,
    /// Those of them that can send now.
    pub(super) ready: SubflowSet,
}

/// Who may be chosen.
pub(super) fn usable(subflows: &[SubflowView]) -> Usable {
    let (mut regular, mut backups, mut open) = (SubflowSet::default(), SubflowSet::default(), SubflowSet::default());
    for (index, subflow) in subflows.iter().enumerate() {
        let bit = 1 << index;
        regular.0 |= bit * u64::from(subflow.is_live() & !subflow.backup);
        backups.0 |= bit * u64::from(subflow.is_live() & subflow.backup);
        open.0 |= bit * u64::from(subflow.can_send);
    }
    let live = if regular.is_empty() { backups } else { regular };
    Usable { live, ready: live.intersection(open) }
}

/// Serves the reinjection, then new data. `pick` chooses a subflow from a set of candidates, all of which can send now;
/// it is called with non-empty sets only.
pub(super) fn serve(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    mut pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    let usable = usable(subflows);
    copy_on(usable, queue, &mut pick).or_else(|| new_data_on(usable, queue, pick))
}

/// Serves the reinjection alone, for those whose choice for new data is another one.
pub(super) fn copy(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    queue.reinjection?;
    copy_on(usable(subflows), queue, pick)
}

/// Serves new data alone.
pub(super) fn new_data(
    subflows: &[SubflowView],
    queue: &QueueView<'_>,
    pick: impl FnMut(SubflowSet) -> Option<usize>,
) -> Option<Assignment> {
    new_data_on(usable(subflows), queue, pick)
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

/// The usable subflows that may carry a copy of what `carried_by` carried.
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
        assert_eq!(usable(&subflows).live, SubflowSet(0b10));
        subflows[1].can_send = false;
        assert_eq!(usable(&subflows).live, SubflowSet(0b10), "a full window does not wake a backup");
        subflows[1].potentially_failed = true;
        assert_eq!(usable(&subflows).live, SubflowSet(0b01));
        subflows[0].established = false;
        assert_eq!(usable(&subflows).live, SubflowSet(0));
    }

    #[test]
    fn a_reinjection_goes_before_new_data_and_to_a_fresh_subflow() {
        let sent = reinjection(SubflowSet(0b01));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        assert_eq!(sends(&[subflow(10), subflow(20)], &queue), Some((1, lost())));
    }

    #[test]
    fn a_reinjection_waits_for_a_fresh_subflow_and_new_data_passes() {
        let sent = reinjection(SubflowSet(0b01));
        let mut subflows = [subflow(10), subflow(20)];
        subflows[1].can_send = false;
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(5000) }), Some((0, NEW)));
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(0) }), None);
    }

    #[test]
    fn where_all_usable_subflows_carried_it_any_may_again() {
        let sent: SentRange = reinjection(SubflowSet(0b111));
        let mut subflows = [subflow(10), subflow(20), subflow(30)];
        subflows[0].potentially_failed = true;
        subflows[2].backup = true;
        assert_eq!(sends(&subflows, &QueueView { reinjection: Some(&sent), ..queue(0) }), Some((1, lost())));
    }

    #[test]
    fn nothing_to_send_or_nowhere_to_send_it() {
        assert_eq!(sends(&[subflow(10)], &queue(0)), None);
        let mut full = subflow(10);
        full.can_send = false;
        assert_eq!(sends(&[full], &queue(5000)), None);
        assert_eq!(sends(&[], &queue(5000)), None);
    }
}
