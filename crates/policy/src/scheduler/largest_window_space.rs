//! `lws`: the subflow with the most window space.

use core::cmp::Reverse;

use subflow_quantity::Duration;

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Largest window space: of the subflows that can send, the one with the most window space, ws = w − f packets.
///
/// ```text
/// r_best = argmax ws_r,  r ∈ R eligible with ws_r > 0;  ties go to the later subflow (>=)
/// r_best = argmin τ_r                                   if none has ws_r > 0; ties also go to the later subflow (<=)
/// ```
///
/// Source: lima2017, Algorithm 4 and code A.1. The printed loop has one r_best for both branches, so a later subflow
/// without space would win over an earlier one with space. This never happens there because a full subflow is not
/// eligible; here a subflow with space always has priority over one without. A subflow without an RTT sample counts as
/// τ = 0.
///
/// Eligible subflows are live and have window space. Backups are eligible only if no other subflow is live.
#[derive(Clone, Debug, Default)]
pub struct LargestWindowSpace;

impl Catalogued for LargestWindowSpace {
    const DESCRIPTION: Description = Description {
        name: "lws",
        aliases: &["largest-window-space"],
        summary: "the subflow with the most window space",
        source: "lima2017, Algorithm 4",
    };
}

impl Scheduler for LargestWindowSpace {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::serve(subflows, queue, |ready| roomiest(subflows, ready))
    }
}

/// The member of `ready` with the most window space.
pub(super) fn roomiest(subflows: &[SubflowView], ready: SubflowSet) -> Option<usize> {
    let with_room = ready.iter().filter(|&r| subflows[r].space() > 0);
    with_room.max_by_key(|&r| subflows[r].space()).or_else(|| latest_fastest(subflows, ready))
}

/// The member of `ready` with the smallest smoothed RTT, the last one of several. `lws` and `lts` use it if no subflow
/// has space.
pub(super) fn latest_fastest(subflows: &[SubflowView], ready: SubflowSet) -> Option<usize> {
    ready.iter().max_by_key(|&r| Reverse(subflows[r].srtt.unwrap_or(Duration::ZERO)))
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{all, queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    fn with_space(space: u32) -> SubflowView {
        SubflowView { in_flight: 10 - space, ..subflow(20) }
    }

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        LargestWindowSpace.next(subflows, &queue(5000)).map(|a| a.subflow)
    }

    #[test]
    fn the_most_space_wins_whatever_the_rtt() {
        assert_eq!(choice(&[with_space(3), SubflowView { srtt: None, ..with_space(8) }, with_space(5)]), Some(1));
    }

    #[test]
    fn ties_go_to_the_later_subflow() {
        assert_eq!(choice(&[with_space(4), with_space(6), with_space(6), with_space(1)]), Some(2));
    }

    #[test]
    fn without_room_anywhere_the_smallest_srtt_wins_and_ties_go_later() {
        let full = |srtt| SubflowView { in_flight: 12, ..subflow(srtt) };
        assert_eq!(roomiest(&[full(30), full(10), full(10), full(20)], all(4)), Some(2));
        assert_eq!(roomiest(&[full(30), SubflowView { srtt: None, ..full(0) }], all(2)), Some(1));
    }

    #[test]
    fn a_subflow_with_space_has_priority_over_a_later_one_without() {
        let full = SubflowView { in_flight: 10, ..subflow(1) };
        assert_eq!(roomiest(&[with_space(1), full], all(2)), Some(0));
    }

    #[test]
    fn full_failed_and_opening_subflows_are_skipped() {
        let full = SubflowView { can_send: false, ..with_space(9) };
        let failed = SubflowView { potentially_failed: true, ..with_space(9) };
        let opening = SubflowView { established: false, ..with_space(9) };
        assert_eq!(choice(&[full.clone(), failed.clone(), opening.clone(), with_space(1)]), Some(3));
        assert_eq!(choice(&[full, failed, opening]), None);
    }

    #[test]
    fn a_copy_goes_to_the_roomiest_subflow_that_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let assignment = LargestWindowSpace.next(&[with_space(9), with_space(3), with_space(2)], &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 1, what: What::Copy { range: 0..1000 } }));
    }
}
