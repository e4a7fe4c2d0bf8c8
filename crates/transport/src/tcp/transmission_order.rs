//! The order in which segments were last sent: a doubly linked list through the retransmission queue.
//!
//! It contains the segments that RACK examines. A segment is removed when it is SACKed or marked lost, and appended
//! when it is sent again. Every `u32` is a valid identifier, so that none can mean "no segment": at an end of the list
//! a segment refers to itself.

use super::sent_queue::{OldestAndNewest, SentQueue};
use super::sent_segment::Tags;

impl SentQueue {
    /// The segment whose last transmission is the oldest.
    pub(super) fn oldest_transmission(&self) -> Option<u32> {
        self.transmissions.map(|ends| ends.oldest)
    }

    /// The segment that was sent next after `id`.
    pub(super) fn next_transmission(&self, id: u32) -> Option<u32> {
        let newer = self.get(id).newer;
        (newer != id).then_some(newer)
    }

    /// Appends `id`, which has just been sent.
    pub(super) fn link_newest(&mut self, id: u32) {
        let ends = self.transmissions.get_or_insert(OldestAndNewest { oldest: id, newest: id });
        let older = core::mem::replace(&mut ends.newest, id);
        self.get_mut(older).newer = id;
        let segment = self.get_mut(id);
        segment.older = older;
        segment.newer = id;
        segment.tags.set(Tags::LISTED);
    }

    /// Removes `id` if it is contained.
    pub(super) fn unlink(&mut self, id: u32) {
        let segment = self.get_mut(id);
        if !segment.tags.has(Tags::LISTED) {
            return;
        }
        segment.tags.clear(Tags::LISTED);
        let (older, newer) = (segment.older, segment.newer);
        let Some(ends) = &mut self.transmissions else { return };
        match (older == id, newer == id) {
            (true, true) => self.transmissions = None,
            (true, false) => {
                ends.oldest = newer;
                self.get_mut(newer).older = newer;
            }
            (false, true) => {
                ends.newest = older;
                self.get_mut(older).newer = older;
            }
            (false, false) => {
                self.get_mut(older).newer = newer;
                self.get_mut(newer).older = older;
            }
        }
    }

    /// Builds the order anew from all segments that RACK is to examine.
    pub(super) fn relink(&mut self) {
        self.transmissions = None;
        let mut ids: Vec<u32> = self.ids().collect();
        ids.sort_by_key(|&id| (self.get(id).sent_at, self.get(id).end));
        for id in ids {
            let tags = self.get(id).tags;
            if !tags.has(Tags::SACKED) && (!tags.has(Tags::LOST) || tags.has(Tags::RETRANSMITTED)) {
                self.link_newest(id);
            } else {
                self.get_mut(id).tags.clear(Tags::LISTED);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use subflow_quantity::Instant;

    use super::super::sent_queue_steps::{Step, apply, step};
    use super::*;

    /// The order of transmissions, as distances from the head.
    fn transmissions(queue: &SentQueue) -> Vec<u32> {
        std::iter::successors(queue.oldest_transmission(), |&id| queue.next_transmission(id))
            .map(|id| id.wrapping_sub(queue.head_id()))
            .collect()
    }

    #[test]
    fn a_retransmission_goes_to_the_end_of_the_time_order() {
        for base in [0, u32::MAX - 1, u32::MAX, 1 << 31] {
            let mut queue = SentQueue::starting_at(base);
            (0..3).for_each(|now| apply(&mut queue, Step::Push, now));
            queue.mark_lost(base);
            assert_eq!(queue.next_to_retransmit(), Some(base));
            queue.note_retransmission(base, Instant::from_nanos(9));
            assert_eq!(transmissions(&queue), [1, 2, 0], "from {base}");
            assert_eq!((queue.in_flight(), queue.lost_out, queue.retrans_out), (3, 1, 1));
            assert_eq!(queue.next_to_retransmit(), None);
        }
    }

    /// The observable state of a queue.
    fn image(queue: &mut SentQueue) -> impl PartialEq + std::fmt::Debug {
        let next = queue.next_to_retransmit().map(|id| id.wrapping_sub(queue.head_id()));
        let segment = |id| (queue.get(id).start, queue.get(id).sent_at, queue.get(id).tags);
        let segments: Vec<_> = queue.ids().map(segment).collect();
        (queue.in_flight(), queue.lost_total, next, transmissions(queue), segments)
    }

    proptest! {
        #[test]
        fn it_behaves_the_same_whatever_its_first_identifier(steps in proptest::collection::vec(step(), 0..80)) {
            let mut queues = [0u32, u32::MAX - 7].map(SentQueue::starting_at);
            for (now, step) in steps.into_iter().enumerate() {
                queues.iter_mut().for_each(|queue| apply(queue, step, now as u64));
                let [first, second] = &mut queues;
                prop_assert_eq!(image(first), image(second));
            }
        }
    }
}
