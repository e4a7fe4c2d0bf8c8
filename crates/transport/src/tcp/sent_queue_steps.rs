//! Random steps of a retransmission queue, for the property tests of what is derived from it.

use proptest::prelude::*;
use subflow_quantity::Instant;

use super::sent_queue::SentQueue;
use super::sent_segments::Tags;

/// A step; the numbers count segments from the first one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Push,
    Pop,
    Lose(u32),
    Sack(u32),
    Retransmit,
    Cut,
    CutHead,
    ForgetLosses,
    ForgetSacks,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Push),
        3 => Just(Step::Pop),
        3 => (0u32..12).prop_map(Step::Lose),
        5 => (0u32..12).prop_map(Step::Sack),
        3 => Just(Step::Retransmit),
        1 => Just(Step::Cut),
        1 => Just(Step::CutHead),
        1 => Just(Step::ForgetLosses),
        1 => Just(Step::ForgetSacks),
    ]
}

/// Applies `step` at `now`. One that the queue does not admit has no effect.
pub(super) fn apply(queue: &mut SentQueue, step: Step, now: u64) {
    let now = Instant::from_nanos(now);
    let at = |queue: &SentQueue, n| Some(queue.head_id().wrapping_add(n)).filter(|&id| queue.contains(id));
    match step {
        Step::Push => {
            let start = queue.ids().next_back().map_or(0, |last| queue.get(last).end);
            queue.push(start..start + 10, start, now, Tags::default());
        }
        Step::Pop if !queue.is_empty() => _ = queue.pop_head(),
        Step::Pop => {}
        Step::Lose(n) => at(queue, n).into_iter().for_each(|id| queue.mark_lost(id)),
        Step::Sack(n) => {
            let unsacked = at(queue, n).filter(|&id| !queue.get(id).tags.has(Tags::SACKED));
            unsacked.into_iter().for_each(|id| queue.mark_sacked(id));
        }
        Step::Retransmit => {
            let next = queue.next_to_retransmit();
            next.into_iter().for_each(|id| queue.note_retransmission(id, now));
        }
        Step::Cut => _ = queue.cut(5),
        Step::CutHead => _ = queue.cut_head(5),
        Step::ForgetLosses => queue.forget_losses(),
        Step::ForgetSacks => queue.forget_sacks(),
    }
}
