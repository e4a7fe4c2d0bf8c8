//! Properties of every scheduler that hold in every state of the connection.

use proptest::collection::vec;
use proptest::prelude::*;
use subflow_quantity::Duration;

use super::{QueueView, Scheduler, Scheduling, SentRange, SubflowSet, SubflowView, What, candidates};
use crate::catalogue::Catalogue;

fn subflow() -> impl Strategy<Value = SubflowView> {
    let flags = (prop::bool::weighted(0.8), any::<bool>(), prop::bool::weighted(0.2), any::<bool>());
    let numbers = (prop::option::of(0..4u64), 0..40u32, 0..40u32, 0..4u64);
    (flags, numbers).prop_map(|((established, backup, potentially_failed, open), (srtt, cwnd, in_flight, pace))| {
        SubflowView {
            srtt: srtt.map(Duration::from_millis),
            cwnd,
            in_flight,
            mss: 1424,
            pacing_rate: pace * 1_000_000,
            established,
            backup,
            potentially_failed,
            can_send: open && in_flight < cwnd,
            ..SubflowView::default()
        }
    })
}

proptest! {
    #[test]
    fn an_assignment_obeys_the_shared_rules(
        states in vec((vec(subflow(), 6), any::<bool>(), 0..200_000u64, 0..64u64), 1..20),
    ) {
        for mut scheduler in Scheduling::prototypes() {
            let name = scheduler.name().to_owned();
            let mut start = 0;
            for (subflows, lost, new, carriers) in &states {
                let sent = SentRange { range: 0..1000, carried_by: SubflowSet(*carriers), reinject: true };
                let new_data = start..start + new;
                let queue = QueueView {
                    fragment_end: new_data.end,
                    new_data,
                    backlog: *new,
                    window: 50_000,
                    reinjection: lost.then_some(&sent),
                    ..QueueView::default()
                };
                let Some(assignment) = scheduler.next(subflows, &queue) else { continue };
                let usable = candidates::usable(subflows, &queue).live;
                let (index, subflow) = (assignment.subflow, &subflows[assignment.subflow]);
                prop_assert!(subflow.is_live(), "{}: {subflow:?}", name);
                match assignment.what {
                    What::New { at_most } => {
                        prop_assert!(subflow.can_send && usable.contains(index) || scheduler.queues_ahead());
                        prop_assert!(at_most > 0 && *new > 0);
                        start += 1424.min(*new);
                    }
                    What::Copy { range } => {
                        prop_assert!(usable.contains(index) && (subflow.can_send || scheduler.queues_ahead()));
                        prop_assert!(*lost && range == sent.range);
                        let fresh = usable.difference(sent.carried_by);
                        prop_assert!(fresh.is_empty() || fresh.contains(index));
                    }
                }
            }
        }
    }

    #[test]
    fn a_scheduler_that_reads_no_pacing_rates_chooses_the_same_without_them(
        states in vec((vec(subflow(), 6), any::<bool>(), 0..200_000u64, 0..64u64), 1..20),
    ) {
        for mut scheduler in Scheduling::prototypes().into_iter().filter(|scheduler| !scheduler.reads_pacing_rates()) {
            let mut without = scheduler.clone();
            for (subflows, lost, new, carriers) in &states {
                let sent = SentRange { range: 0..1000, carried_by: SubflowSet(*carriers), reinject: true };
                let queue = QueueView {
                    new_data: 0..*new,
                    backlog: *new,
                    window: 50_000,
                    reinjection: lost.then_some(&sent),
                    ..QueueView::default()
                };
                let unpaced: Vec<_> =
                    subflows.iter().map(|subflow| SubflowView { pacing_rate: 0, ..subflow.clone() }).collect();
                prop_assert_eq!(scheduler.next(subflows, &queue), without.next(&unpaced, &queue));
            }
        }
    }
}
