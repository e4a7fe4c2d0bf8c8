//! The counters and the order of transmissions after any steps.

use proptest::prelude::*;

use super::*;
use crate::tcp::sent_queue_steps::{Step, apply, step};

/// First identifiers near the wrap and far from it.
const BASES: [u32; 4] = [0, u32::MAX - 1, u32::MAX, 1 << 31];

fn queue(base: u32, n: u64) -> SentQueue {
    let mut queue = SentQueue::starting_at(base);
    for i in 0..n {
        queue.push(i * 10..i * 10 + 10, i * 10, Instant::from_nanos(i), Tags::default());
    }
    queue
}

#[test]
fn a_retransmission_lost_again_is_offered_again() {
    for base in BASES {
        let (mut queue, id) = (queue(base, 2), base.wrapping_add(1));
        queue.mark_lost(id);
        queue.next_to_retransmit();
        queue.note_retransmission(id, Instant::from_nanos(9));
        queue.mark_lost(id);
        assert_eq!((queue.next_to_retransmit(), queue.lost_total), (Some(id), 2), "from {base}");
    }
}

#[test]
fn what_is_cut_keeps_its_bytes_and_its_push_at_the_end() {
    for base in BASES {
        let mut queue = queue(base, 2);
        queue.push(20..45, 1020, Instant::from_nanos(3), Tags::PUSH);
        queue.mark_sacked(base);
        assert!(!queue.cut(25) && queue.cut(10));
        let parts: Vec<_> = queue.data().collect();
        assert_eq!(parts, [0..10, 10..20, 1020..1030, 1030..1040, 1040..1045]);
        let pushed = queue.ids().filter(|&id| queue.get(id).tags.has(Tags::PUSH)).collect::<Vec<_>>();
        assert_eq!(pushed, [base.wrapping_add(4)]);
        assert_eq!((queue.packets_out(), queue.lost_out, queue.sacked_out, queue.in_flight()), (5, 3, 1, 1));
        assert_eq!(queue.next_to_retransmit(), Some(base.wrapping_add(2)), "from {base}");
    }
}

#[test]
fn popping_gives_the_counts_back() {
    for base in BASES {
        let mut queue = queue(base, 3);
        queue.mark_sacked(base.wrapping_add(1));
        queue.mark_lost(base);
        queue.note_retransmission(base, Instant::from_nanos(9));
        queue.pop_head();
        queue.pop_head();
        assert_eq!((queue.packets_out(), queue.in_flight(), queue.sacked_out), (1, 1, 0), "from {base}");
        assert_eq!(queue.oldest_transmission(), Some(queue.head_id()));
    }
}

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
