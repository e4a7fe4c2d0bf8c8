//! `red-diversity`: copies only on paths that do not share a bottleneck.

use core::ops::Range;

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Choice, Description};

use super::red_readings::{RedAllocation, RedCopies};
use super::redundant::Progress;
use super::{Assignment, QueueView, Scheduler, SentRange, SubflowSet, SubflowView, What, candidates};
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
/// The paper leaves open what happens while the window of a subflow is full: [`RedAllocation`] and [`RedCopies`] have its
/// readings. By default data goes over the subflows with window space, and no copies are added later.
///
/// The authors' kernel module differs from all of them: `red-module`. Reinjections have priority over new data, by the
/// rules that all schedulers share.
#[derive(Clone, Debug)]
pub struct RedDiversity {
    allocation: RedAllocation,
    copies: RedCopies,
    correlations: Correlations,
    /// The start of the segment whose copies are being assigned, and the current instant. At any later instant its
    /// copies are complete.
    placing: Option<(u64, Instant)>,
    /// For copies until data is acknowledged.
    progress: Progress,
}

impl Default for RedDiversity {
    fn default() -> Self {
        Self::new(RedAllocation::default(), RedCopies::default())
    }
}

impl Catalogued for RedDiversity {
    const DESCRIPTION: Description = Description {
        name: "red-diversity",
        aliases: &["red"],
        summary: "the subflow least correlated with the others, and copies on subflows correlated with no carrier",
        source: "red2018, section 3.2",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::name(
            "allocation",
            "which subflows may carry a segment first",
            || Choice::descriptions(&RedAllocation::ALL),
            |red| Choice::name_of(&RedAllocation::ALL, red.allocation),
            |red, name| red.allocation = Choice::find(&RedAllocation::ALL, name).unwrap_or(red.allocation),
        ),
        Attribute::name(
            "copies",
            "when a segment is copied",
            || Choice::descriptions(&RedCopies::ALL),
            |red| Choice::name_of(&RedCopies::ALL, red.copies),
            |red, name| red.copies = Choice::find(&RedCopies::ALL, name).unwrap_or(red.copies),
        ),
    ];
}

impl Scheduler for RedDiversity {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if let Some(copy) = candidates::copy(subflows, queue, |ready| self.least_correlated(subflows, ready, ready)) {
            return Some(copy);
        }
        let candidates::Usable { live, ready } = candidates::usable(subflows, queue);
        let carriers = match self.allocation {
            RedAllocation::UncorrelatedSet => self.uncorrelated(subflows, live),
            RedAllocation::Available | RedAllocation::LeastCorrelated => live,
        };
        let ready = ready.intersection(carriers);
        if let Some((subflow, range)) = self.next_copy(subflows, queue, ready) {
            return Some(Assignment { subflow, what: What::Copy { range } });
        }
        self.placing = None;
        let candidates = if self.allocation == RedAllocation::LeastCorrelated { carriers } else { ready };
        let first = self.least_correlated(subflows, candidates, live)?;
        if queue.new_data.is_empty() || !ready.contains(first) {
            return None;
        }
        self.placing = Some((queue.new_data.start, queue.now));
        Some(Assignment { subflow: first, what: What::New { at_most: u64::MAX } })
    }

    fn repeats(&self) -> bool {
        // The copies of the last segment, when there is no more new data; or those of any segment.
        self.placing.is_some() || self.copies == RedCopies::UntilAcknowledged
    }

    fn goes_by_correlations(&self) -> bool {
        true
    }

    fn on_correlations(&mut self, correlations: &Correlations) {
        self.correlations.clone_from(correlations);
    }

    fn on_replaced(&mut self, subflow: usize, _last: &SubflowView) {
        self.progress.restart(subflow);
    }
}

impl RedDiversity {
    /// Creates it with one of the readings of the paper.
    pub fn new(allocation: RedAllocation, copies: RedCopies) -> Self {
        Self { allocation, copies, correlations: Correlations::new(1.0), placing: None, progress: Progress::default() }
    }

    /// The member of `candidates` that is least correlated with the other members of `others`.
    fn least_correlated(&self, subflows: &[SubflowView], candidates: SubflowSet, others: SubflowSet) -> Option<usize> {
        let total = |i: usize| others.iter().filter(|&j| j != i).map(|j| self.degree(i, j)).sum::<f64>();
        self.least(subflows, candidates, total)
    }

    /// The set of uncorrelated subflows among those that are live.
    fn uncorrelated(&self, subflows: &[SubflowView], live: SubflowSet) -> SubflowSet {
        let mut set = SubflowSet::default();
        let mut next = self.least_correlated(subflows, live, live);
        while let Some(member) = next {
            set.insert(member);
            next = self.least_correlated_with(set, subflows, live.difference(set));
        }
        set
    }

    /// The member of `candidates` that is least correlated with those that carry a segment, and shares no bottleneck with
    /// any of them.
    fn least_correlated_with(
        &self,
        carriers: SubflowSet,
        subflows: &[SubflowView],
        candidates: SubflowSet,
    ) -> Option<usize> {
        let mut diverse = SubflowSet::default();
        let shares_none = |k: &usize| carriers.iter().all(|j| !self.correlations.share(*k, j));
        candidates.iter().filter(shares_none).for_each(|k| diverse.insert(k));
        let nearest = |k: usize| carriers.iter().map(|j| self.degree(k, j)).fold(0.0, f64::max);
        self.least(subflows, diverse, nearest)
    }

    /// The next copy on one of the subflows `ready`.
    fn next_copy(
        &mut self,
        subflows: &[SubflowView],
        queue: &QueueView<'_>,
        ready: SubflowSet,
    ) -> Option<(usize, Range<u64>)> {
        let (sent, candidates) = match self.copies {
            RedCopies::WhenSent => {
                let (start, _) = self.placing.filter(|(_, since)| *since == queue.now)?;
                let sent = queue.outstanding_from(start).next().filter(|sent| sent.range.start == start)?;
                (sent, ready.difference(sent.carried_by))
            }
            RedCopies::UntilAcknowledged => self.oldest_uncopied(queue, ready)?,
        };
        Some((self.least_correlated_with(sent.carried_by, subflows, candidates)?, sent.range.clone()))
    }

    /// The oldest outstanding range of which some of `ready` may carry a copy, and which of them may. A subflow passes over
    /// what it shares a bottleneck for with a carrier at that time.
    fn oldest_uncopied<'q>(&mut self, queue: &QueueView<'q>, ready: SubflowSet) -> Option<(&'q SentRange, SubflowSet)> {
        let mut oldest: Option<(&SentRange, SubflowSet)> = None;
        for r in ready.iter() {
            let shares_none = |carriers: SubflowSet| carriers.iter().all(|j| !self.correlations.share(r, j));
            let Some(sent) = self.progress.missing(r, queue, shares_none) else { continue };
            match &mut oldest {
                Some((of, set)) if of.range.start == sent.range.start => set.insert(r),
                Some((of, _)) if of.range.start < sent.range.start => {}
                _ => oldest = Some((sent, SubflowSet(1 << r))),
            }
        }
        oldest
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
    fn while_the_least_correlated_subflow_is_full_new_data_goes_to_the_next_or_waits() {
        let with = |allocation: RedAllocation| RedDiversity { allocation, ..correlated() };
        let mut subflows = [subflow(30), subflow(10), subflow(20)];
        subflows[0].can_send = false;
        assert_eq!(answers(&mut with(RedAllocation::Available), &mut subflows.clone(), 1000, 0), [(1, 0)]);
        assert_eq!(answers(&mut with(RedAllocation::LeastCorrelated), &mut subflows.clone(), 1000, 0), []);
        subflows[0].potentially_failed = true;
        let others = answers(&mut with(RedAllocation::LeastCorrelated), &mut subflows, 1000, 0);
        assert_eq!(others, [(1, 0)], "data does not wait for a failed subflow");
    }

    #[test]
    fn a_subflow_outside_of_the_uncorrelated_set_carries_nothing() {
        let mut scheduler = RedDiversity { allocation: RedAllocation::UncorrelatedSet, ..correlated() };
        let mut subflows = [subflow(30), subflow(10), subflow(20)];
        subflows[0].can_send = false;
        assert_eq!(answers(&mut scheduler, &mut subflows.clone(), 2000, 0), [(1, 0), (1, 1000)], "one of each pair");
        subflows[1].can_send = false;
        assert_eq!(answers(&mut scheduler, &mut subflows, 1000, 0), [], "the third shares a bottleneck with a member");
    }

    #[test]
    fn a_subflow_that_was_full_gets_its_copies_later_where_they_are_made_until_data_is_acknowledged() {
        let sent = [SentRange { range: 0..1000, carried_by: SubflowSet(0b001), reinject: false }];
        let subflows = [SubflowView { can_send: false, ..subflow(30) }, subflow(10), subflow(20)];
        let queue = QueueView { outstanding: (&sent, &[]), ..queue(0) };
        let next = |copies| RedDiversity { copies, ..correlated() }.next(&subflows, &queue);
        assert_eq!(next(RedCopies::WhenSent), None);
        let copy = Assignment { subflow: 1, what: What::Copy { range: 0..1000 } };
        assert_eq!(next(RedCopies::UntilAcknowledged), Some(copy));
        let both = [SentRange { range: 0..1000, carried_by: SubflowSet(0b011), reinject: false }];
        let queue = QueueView { outstanding: (&both, &[]), ..queue };
        let mut scheduler = RedDiversity { copies: RedCopies::UntilAcknowledged, ..correlated() };
        assert_eq!(scheduler.next(&subflows, &queue), None, "the last one shares a bottleneck with a carrier");
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
        let queue = QueueView { now: later, new_data: 1000..1000, outstanding: (&sent, &[]), ..queue(0) };
        assert_eq!(scheduler.next(&[full, subflow(30)], &queue), None);
        assert!(!scheduler.repeats());
    }
}
