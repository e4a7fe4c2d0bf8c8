//! `redundant`: everything on every subflow.

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SentRange, SubflowSet, SubflowView, What, candidates, lowest_latency};

/// Redundant data re-injection (RDR): each segment goes to the subflow that `ll` chooses, and a copy of it to every
/// other subflow.
///
/// ```text
/// foreach p ∈ P:  r_best = LL(R), send p on r_best;  foreach r ∈ R, r ≠ r_best: send p on r
/// ```
///
/// Source: lima2017, Algorithm 3; Linux MPTCP 0.9x, `redundant`. As in the kernel, each subflow sends all data at its
/// own rate: if its window is full, it gets its copies when it has space again, oldest first, without the data that the
/// peer has acknowledged meanwhile. A subflow gets new data only after it has carried all outstanding data, so the
/// fastest subflow sends first and the others follow. A subflow that joins later starts with the oldest outstanding
/// data.
///
/// Copies go to all live subflows with window space, to backups only if no other subflow is live.
#[derive(Clone, Debug, Default)]
pub struct Redundant {
    progress: Progress,
}

/// How far each subflow has come that sends all data at its own rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Per subflow: it has carried all outstanding data below this data-level offset.
    carried: Vec<u64>,
}

impl Catalogued for Redundant {
    const DESCRIPTION: Description = Description {
        name: "redundant",
        aliases: &["rdr"],
        summary: "all data on every subflow, on the fastest first",
        source: "lima2017, Algorithm 3; Linux MPTCP 0.9x, redundant",
    };
}

impl Scheduler for Redundant {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        let fastest = |ready| lowest_latency::fastest(subflows, ready);
        if let Some(copy) = candidates::copy(subflows, queue, fastest) {
            return Some(copy);
        }
        let ready = candidates::usable(subflows, queue).ready;
        let copy = ready.iter().find_map(|r| Some((r, self.progress.missing(r, queue, |_| true)?.range.clone())));
        if let Some((subflow, range)) = copy {
            return Some(Assignment { subflow, what: What::Copy { range } });
        }
        candidates::new_data(subflows, queue, fastest)
    }

    fn repeats(&self) -> bool {
        true
    }

    fn on_replaced(&mut self, subflow: usize, _last: &SubflowView) {
        self.progress.restart(subflow);
    }
}

impl Progress {
    /// The oldest outstanding range that subflow `r` has not carried, and that it `may` carry beside those that have. What
    /// it may not is passed over for good.
    pub(super) fn missing<'q>(
        &mut self,
        r: usize,
        queue: &QueueView<'q>,
        may: impl Fn(SubflowSet) -> bool,
    ) -> Option<&'q SentRange> {
        if self.carried.len() <= r {
            self.carried.resize(r + 1, 0);
        }
        // A fallback to TCP may have revoked assignments.
        let from = self.carried[r].min(queue.new_data.start);
        self.carried[r] = from;
        for sent in queue.outstanding_from(from) {
            if !sent.carried_by.contains(r) && may(sent.carried_by) {
                return Some(sent);
            }
            self.carried[r] = sent.range.end;
        }
        None
    }

    /// Another subflow takes the place `r`: it begins with the oldest outstanding data.
    pub(super) fn restart(&mut self, r: usize) {
        if let Some(carried) = self.carried.get_mut(r) {
            *carried = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, subflow};
    use super::*;

    /// A minimal connection that executes the assignments, in segments of 1000 bytes.
    #[derive(Default)]
    struct Connection {
        scheduler: Redundant,
        outstanding: Vec<SentRange>,
        next: u64,
    }

    impl Connection {
        /// One assignment, as subflow and first byte.
        fn step(&mut self, subflows: &[SubflowView], written: u64) -> Option<(usize, u64)> {
            let queue = QueueView {
                new_data: self.next..written.max(self.next),
                outstanding: (&self.outstanding, &[]),
                ..queue(0)
            };
            let Assignment { subflow, what } = self.scheduler.next(subflows, &queue)?;
            let mut carrier = SubflowSet::default();
            carrier.insert(subflow);
            match what {
                What::New { .. } => {
                    let range = self.next..self.next + 1000;
                    self.next = range.end;
                    self.outstanding.push(SentRange { range: range.clone(), carried_by: carrier, reinject: false });
                    Some((subflow, range.start))
                }
                What::Copy { range } => {
                    let sent = self.outstanding.iter_mut().find(|sent| sent.range == range).expect("it is outstanding");
                    assert!(!sent.carried_by.contains(subflow), "a subflow carries nothing twice");
                    sent.carried_by.insert(subflow);
                    Some((subflow, range.start))
                }
            }
        }

        fn steps(&mut self, subflows: &[SubflowView], written: u64) -> Vec<(usize, u64)> {
            std::iter::from_fn(|| self.step(subflows, written)).take(50).collect()
        }
    }

    #[test]
    fn the_fastest_is_first_and_all_others_get_a_copy() {
        let subflows = [subflow(30), subflow(10), subflow(20)];
        let steps = Connection::default().steps(&subflows, 2000);
        assert_eq!(steps, [(1, 0), (0, 0), (2, 0), (1, 1000), (0, 1000), (2, 1000)]);
    }

    #[test]
    fn a_full_subflow_catches_up_when_it_has_room() {
        let mut connection = Connection::default();
        let full = SubflowView { can_send: false, ..subflow(20) };
        assert_eq!(connection.steps(&[subflow(10), full], 2000), [(0, 0), (0, 1000)]);
        assert_eq!(connection.steps(&[subflow(10), subflow(20)], 3000), [(1, 0), (1, 1000), (0, 2000), (1, 2000)]);
    }

    #[test]
    fn acknowledged_data_is_not_copied() {
        let mut connection = Connection::default();
        let full = SubflowView { can_send: false, ..subflow(20) };
        connection.steps(&[subflow(10), full], 3000);
        connection.outstanding.drain(..2);
        assert_eq!(connection.steps(&[subflow(10), subflow(20)], 3000), [(1, 2000)]);
    }

    #[test]
    fn failed_subflows_and_backups_get_no_copies() {
        let failed = SubflowView { potentially_failed: true, ..subflow(1) };
        let backup = SubflowView { backup: true, ..subflow(2) };
        assert_eq!(Connection::default().steps(&[failed.clone(), backup.clone(), subflow(9)], 1000), [(2, 0)]);
        assert_eq!(Connection::default().steps(&[failed, backup], 1000), [(1, 0)]);
    }

    #[test]
    fn a_reinjection_has_priority_and_goes_to_a_subflow_that_has_not_carried_it() {
        let sent = SentRange { range: 4000..5000, carried_by: SubflowSet(0b01), reinject: true };
        let outstanding = [SentRange { range: 0..4000, carried_by: SubflowSet(0b01), reinject: false }, sent.clone()];
        let queue = QueueView { reinjection: Some(&sent), outstanding: (&outstanding, &[]), ..queue(9000) };
        let answer = Redundant::default().next(&[subflow(10), subflow(20)], &queue);
        assert_eq!(answer, Some(Assignment { subflow: 1, what: What::Copy { range: 4000..5000 } }));
    }

    #[test]
    fn a_subflow_in_the_place_of_another_starts_with_the_oldest_outstanding_data() {
        let mut connection = Connection::default();
        let subflows = [subflow(10), subflow(20)];
        connection.steps(&subflows, 2000);
        connection.scheduler.on_replaced(1, &subflows[1]);
        connection.outstanding.iter_mut().for_each(|sent| sent.carried_by.remove(1));
        assert_eq!(connection.steps(&subflows, 2000), [(1, 0), (1, 1000)]);
    }
}
