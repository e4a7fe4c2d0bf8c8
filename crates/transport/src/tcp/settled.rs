//! The first segments of the retransmission queue that are all SACKed or lost: loss detection without RACK need not look
//! at them at every acknowledgment (Linux `lost_skb_hint` and `lost_cnt_hint`).

use super::sent_segments::{SentSegments, Tags};

/// The first segments, as far as each is known to be SACKed or lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// The identifier after them.
    end: u32,
    /// How many are SACKed.
    sacked: u32,
}

impl Settled {
    /// Nothing is known of a queue whose first segment is `base`.
    pub(super) const fn none(base: u32) -> Self {
        Self { end: base, sacked: 0 }
    }

    /// The first segment, `base`, with these tags, is removed.
    #[inline]
    pub(super) fn on_head_removed(&mut self, base: u32, tags: Tags) {
        if self.end == base {
            self.end = base.wrapping_add(1);
        } else if tags.has(Tags::SACKED) {
            self.sacked -= 1;
        }
    }

    /// Segment `id` has been SACKed; the first one is `base`.
    pub(super) fn on_sacked(&mut self, id: u32, base: u32) {
        if id.wrapping_sub(base) < self.end.wrapping_sub(base) {
            self.sacked += 1;
        }
    }

    /// The first segment that is neither SACKed nor lost, if at least `threshold` of those after it are SACKed.
    /// `sacked`: all that are.
    pub(super) fn first_below(&mut self, threshold: u32, segments: &SentSegments, sacked: u32) -> Option<u32> {
        let end = segments.end_id();
        while self.end != end && sacked - self.sacked >= threshold {
            let tags = segments.get(self.end).tags;
            if tags.has(Tags::SACKED) {
                self.sacked += 1;
            } else if !tags.has(Tags::LOST) {
                return Some(self.end);
            }
            self.end = self.end.wrapping_add(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sent_queue::SentQueue;
    use super::super::sent_queue_steps::{apply, step};
    use super::*;

    /// The same as [`SentQueue::first_below`], found by looking at all segments.
    fn found_among_all(queue: &SentQueue, threshold: u32) -> Option<u32> {
        let is_sacked = |id: &u32| queue.get(*id).tags.has(Tags::SACKED);
        let mut from = queue.ids().skip_while(|id| is_sacked(id) || queue.get(*id).tags.has(Tags::LOST));
        let first = from.next()?;
        (from.filter(is_sacked).count() >= threshold as usize).then_some(first)
    }

    proptest! {
        #[test]
        fn what_lies_below_enough_sacked_segments_is_found_without_looking_at_all_of_them_again(
            base in prop_oneof![Just(0), Just(u32::MAX - 7)],
            steps in proptest::collection::vec((step(), 1u32..4, any::<bool>()), 0..120),
        ) {
            let mut queue = SentQueue::starting_at(base);
            for (now, (step, threshold, is_lost)) in (0..).zip(steps) {
                apply(&mut queue, step, now);
                let found = queue.first_below(threshold);
                prop_assert_eq!(found, found_among_all(&queue, threshold));
                found.filter(|_| is_lost).into_iter().for_each(|id| queue.mark_lost(id));
            }
        }
    }
}
