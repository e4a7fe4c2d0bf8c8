//! `lts`: the subflow with the least time per packet of window space.

use core::cmp::Ordering;

use subflow_quantity::Duration;

use crate::catalogue::{Catalogued, Description};

use super::largest_window_space::latest_fastest;
use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Lowest time/space: of the subflows that can send, the one with the smallest ratio of smoothed RTT τ to window space
/// ws = w − f.
///
/// ```text
/// r_best = argmin τ_r / ws_r,  r ∈ R eligible with ws_r > 0;  ties go to the later subflow (<=)
/// r_best = argmin τ_r                                         if none has ws_r > 0; ties also go to the later one
/// ```
///
/// Source: lima2017, Algorithm 5 and code A.2. As printed it divides by ws whenever its first condition is false, also
/// by a ws of zero or less if τ_r > τ_min. Here a subflow without space is compared by its τ alone, and only if no
/// other has space. Ratios are compared exactly; the kernel code divides integers. A subflow without an RTT sample
/// counts as τ = 0.
///
/// Eligible subflows are live and have window space. Backups are eligible only if no other subflow is live.
#[derive(Clone, Debug, Default)]
pub struct LowestTimeSpace;

impl Catalogued for LowestTimeSpace {
    const DESCRIPTION: Description = Description {
        name: "lts",
        aliases: &["lowest-time-space"],
        summary: "the subflow with the least smoothed RTT per packet of window space",
        source: "lima2017, Algorithm 5",
    };
}

impl Scheduler for LowestTimeSpace {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::serve(subflows, queue, |ready| quickest_room(subflows, ready))
    }
}

/// The member of `ready` with the least time per packet of window space.
pub(super) fn quickest_room(subflows: &[SubflowView], ready: SubflowSet) -> Option<usize> {
    let with_room = ready.iter().filter(|&r| subflows[r].space() > 0);
    // `max_by` returns the last of several maxima; the comparison is therefore reversed.
    let best = with_room.max_by(|&a, &b| compare(&subflows[b], &subflows[a]));
    best.or_else(|| latest_fastest(subflows, ready))
}

/// Compares τ_a / ws_a with τ_b / ws_b; both have space.
fn compare(a: &SubflowView, b: &SubflowView) -> Ordering {
    let product = |time: &SubflowView, space: &SubflowView| {
        u128::from(time.srtt.unwrap_or(Duration::ZERO).as_nanos()) * space.space() as u128
    };
    product(a, b).cmp(&product(b, a))
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{all, queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    fn with_space(srtt: u64, space: u32) -> SubflowView {
        SubflowView { in_flight: 10 - space, ..subflow(srtt) }
    }

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        LowestTimeSpace.next(subflows, &queue(5000)).map(|a| a.subflow)
    }

    #[test]
    fn the_least_time_per_packet_of_room_wins() {
        assert_eq!(choice(&[with_space(10, 1), with_space(60, 9), with_space(40, 8)]), Some(2), "10, 6.7 and 5 ms");
    }

    #[test]
    fn ratios_are_compared_exactly() {
        assert_eq!(choice(&[with_space(33, 10), with_space(10, 3)]), Some(0), "3.30 against 3.33 ms");
        assert_eq!(choice(&[with_space(10, 3), with_space(33, 10)]), Some(1));
    }

    #[test]
    fn ties_go_to_the_later_subflow() {
        assert_eq!(choice(&[with_space(10, 2), with_space(20, 4), with_space(90, 1)]), Some(1));
    }

    #[test]
    fn a_subflow_without_a_sample_is_chosen_first() {
        let new = SubflowView { srtt: None, ..with_space(0, 1) };
        assert_eq!(choice(&[new, with_space(1, 10)]), Some(0));
    }

    #[test]
    fn without_room_anywhere_the_smallest_srtt_wins_and_ties_go_later() {
        let full = |srtt, in_flight| SubflowView { in_flight, ..subflow(srtt) };
        assert_eq!(quickest_room(&[full(30, 10), full(10, 10), full(10, 14), full(20, 11)], all(4)), Some(2));
    }

    #[test]
    fn a_subflow_without_space_is_never_a_divisor() {
        let full = |in_flight| SubflowView { in_flight, ..subflow(1) };
        assert_eq!(quickest_room(&[with_space(90, 1), full(10), full(14)], all(3)), Some(0));
    }

    #[test]
    fn full_failed_and_opening_subflows_are_skipped() {
        let full = SubflowView { can_send: false, ..with_space(1, 9) };
        let failed = SubflowView { potentially_failed: true, ..with_space(1, 9) };
        let opening = SubflowView { established: false, ..with_space(1, 9) };
        assert_eq!(choice(&[full.clone(), failed.clone(), opening.clone(), with_space(50, 1)]), Some(3));
        assert_eq!(choice(&[full, failed, opening]), None);
    }

    #[test]
    fn a_copy_goes_to_the_best_subflow_that_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let assignment = LowestTimeSpace.next(&[with_space(1, 9), with_space(30, 3), with_space(30, 2)], &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 1, what: What::Copy { range: 0..1000 } }));
    }
}
