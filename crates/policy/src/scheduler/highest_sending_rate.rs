//! `hsr`: the subflow with the highest current sending rate.

use core::cmp::Ordering;

use subflow_quantity::Duration;

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates};

/// Highest sending rate: of the subflows that can send, the one with the largest rate, computed from its window w, its
/// segment size m and its **latest raw** RTT sample τ̈.
///
/// ```text
/// r_best = argmax w_r · m_r / τ̈_r,  r ∈ R eligible;  ties go to the later subflow (>=)
/// ```
///
/// Source: lima2017, Algorithm 6 and code A.3. Rates are compared exactly; the kernel code divides integers, in
/// sixteenths of a byte per microsecond. A subflow without a sample counts as τ̈ = 0, an unlimited rate, so it is tried
/// at once.
///
/// Eligible subflows are live and have window space. Backups are eligible only if no other subflow is live.
#[derive(Clone, Debug, Default)]
pub struct HighestSendingRate;

impl Catalogued for HighestSendingRate {
    const DESCRIPTION: Description = Description {
        name: "hsr",
        aliases: &["highest-sending-rate"],
        summary: "the subflow with the largest window per latest RTT",
        source: "lima2017, Algorithm 6",
    };
}

impl Scheduler for HighestSendingRate {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::serve(subflows, queue, |ready| fastest_sender(subflows, ready))
    }
}

/// The member of `ready` with the highest sending rate.
pub(super) fn fastest_sender(subflows: &[SubflowView], ready: SubflowSet) -> Option<usize> {
    ready.iter().max_by(|&a, &b| compare(&subflows[a], &subflows[b]))
}

/// Compares w_a · m_a / τ̈_a with w_b · m_b / τ̈_b.
fn compare(a: &SubflowView, b: &SubflowView) -> Ordering {
    let window = |s: &SubflowView| u128::from(s.cwnd) * u128::from(s.mss);
    let rtt = |s: &SubflowView| s.latest_rtt.unwrap_or(Duration::ZERO).as_nanos();
    match (rtt(a), rtt(b)) {
        (0, 0) => Ordering::Equal,
        (rtt_a, rtt_b) => (window(a) * u128::from(rtt_b)).cmp(&(window(b) * u128::from(rtt_a))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    /// A subflow whose latest sample is `rtt` ms, whatever the smoothed one.
    fn sending(cwnd: u32, rtt: u64) -> SubflowView {
        SubflowView { cwnd, latest_rtt: Some(Duration::from_millis(rtt)), ..subflow(500) }
    }

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        HighestSendingRate.next(subflows, &queue(5000)).map(|a| a.subflow)
    }

    #[test]
    fn the_highest_rate_wins() {
        assert_eq!(choice(&[sending(10, 10), sending(60, 40), sending(20, 30)]), Some(1), "1, 1.5 and 0.67 per ms");
    }

    #[test]
    fn the_raw_sample_counts_not_the_smoothed_one() {
        let queued_lately = SubflowView { latest_rtt: Some(Duration::from_millis(90)), ..subflow(10) };
        assert_eq!(choice(&[queued_lately, sending(10, 20)]), Some(1));
    }

    #[test]
    fn the_rate_depends_on_the_segment_size() {
        assert_eq!(choice(&[SubflowView { mss: 1400, ..sending(10, 10) }, sending(12, 10)]), Some(0));
    }

    #[test]
    fn ties_go_to_the_later_subflow() {
        assert_eq!(choice(&[sending(10, 10), sending(20, 20), sending(5, 10)]), Some(1));
    }

    #[test]
    fn without_a_sample_a_subflow_counts_as_fastest_and_the_later_of_two() {
        let new = SubflowView { latest_rtt: None, ..sending(1, 1) };
        assert_eq!(choice(&[new.clone(), sending(100, 1)]), Some(0));
        assert_eq!(choice(&[new.clone(), new, sending(100, 1)]), Some(1));
    }

    #[test]
    fn the_amount_of_window_space_does_not_matter() {
        let nearly_full = SubflowView { in_flight: 19, ..sending(20, 10) };
        assert_eq!(choice(&[sending(10, 10), nearly_full]), Some(1));
        let full = SubflowView { in_flight: 20, can_send: false, ..sending(20, 10) };
        assert_eq!(choice(&[sending(10, 10), full]), Some(0));
    }

    #[test]
    fn a_copy_goes_to_the_fastest_sender_that_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let assignment = HighestSendingRate.next(&[sending(50, 10), sending(9, 10), sending(8, 10)], &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 1, what: What::Copy { range: 0..1000 } }));
    }
}
