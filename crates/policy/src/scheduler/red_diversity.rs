//! `red-diversity`: copies only on paths that do not share a bottleneck.

use core::ops::Range;

use subflow_quantity::Instant;

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, What, candidates};
use crate::bottleneck::Correlations;

/// RED, redundant diversity scheduling: each segment goes to the subflow that is least correlated with the others.
/// Copies of it go to the subflows that are not correlated with any subflow that carries it.
///
/// ```text
/// first:   argmin_i  mean_j |c_ij|                              over the live subflows j ≠ i
/// copies:  argmin_k  max_j |c_kj|  while  c_kj < φ for all j    over the subflows j that carry the segment
/// ```
///
/// Source: red2018, sections 3.2 and 4.2. `c` and φ come from a [detector](crate::bottleneck), by default `red-cpi`. An
/// unknown c counts as 0, so the scheduler starts as a redundant one. Ties go to the lower smoothed RTT. It is not
/// related to the queue discipline `red`.
///
/// **A segment is copied only when it is first sent**: its copies are chosen at that instant, among the subflows with
/// window space, and none are added later. The first subflow limits the rate: while its window is full, new data waits
/// for it, even if others have space; this is what moves load away from shared bottlenecks. The authors' kernel module
/// differs: `red-module`.
///
/// Reinjections have priority over new data, by the rules that all schedulers share.
#[derive(Clone, Debug)]
pub struct RedDiversity {
    correlations: Correlations,
    /// The start of the segment whose copies are being assigned, and the current instant. At any later instant its
    /// copies are complete.
    placing: Option<(u64, Instant)>,
}

impl Default for RedDiversity {
    fn default() -> Self {
        Self { correlations: Correlations::new(1.0), placing: None }
    }
}

impl Catalogued for RedDiversity {
    const DESCRIPTION: Description = Description {
        name: "red-diversity",
        aliases: &["red"],
        summary: "the subflow least correlated with the others, and copies on subflows correlated with no carrier",
        source: "red2018, section 3.2",
    };
}

impl Scheduler for RedDiversity {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if let Some(copy) = candidates::copy(subflows, queue, |ready| self.least_correlated(subflows, ready, ready)) {
            return Some(copy);
        }
        let placing = self.placing.filter(|(_, since)| *since == queue.now);
        if let Some((subflow, range)) = placing.and_then(|(start, _)| self.next_copy(start, subflows, queue)) {
            return Some(Assignment { subflow, what: What::Copy { range } });
        }
        self.placing = None;
        let usable = candidates::usable(subflows, queue);
        let first = self.least_correlated(subflows, usable.live, usable.live)?;
        if queue.new_data.is_empty() || !usable.ready.contains(first) {
            return None;
        }
        self.placing = Some((queue.new_data.start, queue.now));
        Some(Assignment { subflow: first, what: What::New { at_most: u64::MAX } })
    }

    fn repeats(&self) -> bool {
        // The copies of the last segment, when there is no more new data.
        self.placing.is_some()
    }

    fn goes_by_correlations(&self) -> bool {
        true
    }

    fn on_correlations(&mut self, correlations: &Correlations) {
        self.correlations.clone_from(correlations);
    }
}

impl RedDiversity {
    /// The member of `candidates` that is least correlated with the other members of `others`.
    fn least_correlated(&self, subflows: &[SubflowView], candidates: SubflowSet, others: SubflowSet) -> Option<usize> {
        let total = |i: usize| others.iter().filter(|&j| j != i).map(|j| self.degree(i, j)).sum::<f64>();
        self.least(subflows, candidates, total)
    }

    /// The next copy of the segment that begins at `start`.
    fn next_copy(&self, start: u64, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<(usize, Range<u64>)> {
        let sent = queue.outstanding_from(start).next().filter(|sent| sent.range.start == start)?;
        let carriers = sent.carried_by;
        let diverse = |k: usize| carriers.iter().all(|j| !self.correlations.share(k, j));
        let mut allowed = SubflowSet::default();
        let ready = candidates::usable(subflows, queue).ready.difference(carriers);
        ready.iter().filter(|&k| diverse(k)).for_each(|k| allowed.insert(k));
        let nearest = |k: usize| carriers.iter().map(|j| self.degree(k, j)).fold(0.0, f64::max);
        Some((self.least(subflows, allowed, nearest)?, sent.range.clone()))
    }

    fn least(&self, subflows: &[SubflowView], of: SubflowSet, degree: impl Fn(usize) -> f64) -> Option<usize> {
        of.iter().min_by(|&a, &b| degree(a).total_cmp(&degree(b)).then_with(|| subflows[a].srtt.cmp(&subflows[b].srtt)))
    }

    fn degree(&self, i: usize, j: usize) -> f64 {
        self.correlations.between(i, j).unwrap_or(0.0).abs()
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::SentRange;
    use super::super::test_states::{queue, subflow};
    use super::*;

    /// A scheduler with three paths; the last two share a bottleneck.
    fn correlated() -> RedDiversity {
        let mut correlations = Correlations::new(0.8);
        correlations.grow(3);
        for (a, b, degree) in [(0, 1, 0.1), (0, 2, -0.2), (1, 2, 0.95)] {
            correlations.set(a, b, Some(degree));
        }
        let mut scheduler = RedDiversity::default();
        scheduler.on_correlations(&correlations);
        scheduler
    }

    /// All assignments at one instant, as subflow and first byte, for segments of 1000 bytes.
    fn answers(
        scheduler: &mut RedDiversity,
        subflows: &mut [SubflowView],
        written: u64,
        at_ms: u64,
    ) -> Vec<(usize, u64)> {
        let now = Instant::ZERO + Duration::from_millis(at_ms);
        let (mut outstanding, mut next): (Vec<SentRange>, u64) = (Vec::new(), 0);
        std::iter::from_fn(|| {
            let queue = QueueView { now, new_data: next..written, outstanding: (&outstanding, &[]), ..queue(0) };
            let Assignment { subflow, what } = scheduler.next(subflows, &queue)?;
            let start = match what {
                What::New { .. } => {
                    let range = next..next + 1000;
                    next = range.end;
                    outstanding.push(SentRange { range, carried_by: SubflowSet(1 << subflow), reinject: false });
                    next - 1000
                }
                What::Copy { range } => {
                    let sent = outstanding.iter_mut().find(|sent| sent.range == range).expect("it is outstanding");
                    assert!(!sent.carried_by.contains(subflow), "a subflow carries nothing twice");
                    sent.carried_by.insert(subflow);
                    range.start
                }
            };
            subflows[subflow].in_flight += 1;
            subflows[subflow].can_send = subflows[subflow].in_flight < subflows[subflow].cwnd;
            Some((subflow, start))
        })
        .take(50)
        .collect()
    }

    #[test]
    fn the_least_correlated_subflow_is_first_and_only_one_of_a_sharing_pair_gets_a_copy() {
        let mut subflows = [subflow(30), subflow(10), subflow(20)];
        let answers = answers(&mut correlated(), &mut subflows, 2000, 0);
        assert_eq!(answers, [(0, 0), (1, 0), (0, 1000), (1, 1000)]);
    }

    #[test]
    fn an_unknown_pair_counts_as_uncorrelated() {
        let mut subflows = [subflow(30), subflow(10), subflow(20)];
        assert_eq!(answers(&mut RedDiversity::default(), &mut subflows, 1000, 0), [(1, 0), (2, 0), (0, 0)]);
    }

    #[test]
    fn while_the_first_subflow_is_full_new_data_waits_for_it() {
        let mut subflows = [subflow(30), subflow(10), subflow(20)];
        subflows[0].can_send = false;
        assert_eq!(answers(&mut correlated(), &mut subflows, 1000, 0), []);
        subflows[0].potentially_failed = true;
        let others = answers(&mut correlated(), &mut subflows, 1000, 0);
        assert_eq!(others, [(1, 0)], "data does not wait for a failed subflow");
    }

    #[test]
    fn a_segment_sent_at_an_earlier_instant_gets_no_more_copies() {
        let mut scheduler = correlated();
        let start = QueueView { new_data: 0..9000, ..queue(0) };
        let first = scheduler.next(&[subflow(10), subflow(30)], &start).expect("there is room");
        assert_eq!((first.subflow, scheduler.repeats()), (0, true));
        let sent = [SentRange { range: 0..1000, carried_by: SubflowSet(0b01), reinject: false }];
        let full = SubflowView { can_send: false, ..subflow(10) };
        let later = Instant::ZERO + Duration::from_millis(1);
        let queue = QueueView { now: later, new_data: 1000..9000, outstanding: (&sent, &[]), ..queue(0) };
        assert_eq!(scheduler.next(&[full, subflow(30)], &queue), None);
        assert!(!scheduler.repeats());
    }
}
