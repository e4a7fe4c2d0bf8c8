//! `ll`: the subflow with the lowest smoothed RTT.

use subflow_quantity::Duration;

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Lowest latency: of the subflows that can send, the one with the smallest smoothed RTT τ.
///
/// ```text
/// r_best = argmin τ_r,  r ∈ R eligible;  ties go to the earlier subflow (strict <)
/// ```
///
/// Source: lima2017, Algorithm 1; it is the `default` scheduler of Linux MPTCP 0.9x. A subflow without an RTT sample
/// counts as τ = 0, as in that kernel (`srtt_us` is zero until the first sample), so a new path is tried at once.
///
/// Eligible subflows are live and have window space. Backups are eligible only if no other subflow is live.
#[derive(Clone, Debug, Default)]
pub struct LowestLatency;

impl Catalogued for LowestLatency {
    const DESCRIPTION: Description = Description {
        name: "ll",
        aliases: &["min-rtt", "minrtt", "default"],
        summary: "the subflow with the lowest smoothed RTT",
        source: "lima2017, Algorithm 1; Linux MPTCP 0.9x, default",
    };
}

impl Scheduler for LowestLatency {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::serve(subflows, queue, |ready| fastest(subflows, ready))
    }
}

/// The member of `ready` with the smallest smoothed RTT.
pub(super) fn fastest(subflows: &[SubflowView], ready: SubflowSet) -> Option<usize> {
    ready.iter().min_by_key(|&r| subflows[r].srtt.unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        LowestLatency.next(subflows, &queue(5000)).map(|a| a.subflow)
    }

    #[test]
    fn the_lowest_srtt_wins() {
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(20)]), Some(1));
    }

    #[test]
    fn ties_go_to_the_earlier_subflow() {
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(10)]), Some(1));
    }

    #[test]
    fn without_a_sample_a_subflow_counts_as_fastest() {
        let new = SubflowView { srtt: None, ..subflow(0) };
        assert_eq!(choice(&[subflow(1), new]), Some(1));
    }

    #[test]
    fn a_full_or_failed_subflow_is_skipped() {
        let full = SubflowView { can_send: false, ..subflow(1) };
        let failed = SubflowView { potentially_failed: true, ..subflow(2) };
        let opening = SubflowView { established: false, ..subflow(3) };
        assert_eq!(choice(&[full.clone(), failed.clone(), opening.clone(), subflow(40)]), Some(3));
        assert_eq!(choice(&[full, failed, opening]), None);
    }

    #[test]
    fn a_copy_goes_to_the_fastest_subflow_that_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let assignment = LowestLatency.next(&[subflow(10), subflow(30), subflow(20)], &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 2, what: What::Copy { range: 0..1000 } }));
    }
}
