//! The retransmission queue: segments that were sent and are not yet cumulatively acknowledged, and the counters of
//! loss recovery.
//!
//! Segments are ordered by sequence (a ring) and by time of the last transmission (`transmission_order.rs`). The four
//! counters are those of Linux: `packets_out`, `sacked_out`, `lost_out`, `retrans_out`.

use std::collections::VecDeque;

use subflow_quantity::Instant;

use super::sent_segment::{SentSegment, Tags};
use super::settled::Settled;

/// The retransmission queue. Segments have consecutive identifiers, which remain valid while they are in the queue.
/// Identifiers wrap around: every `u32` is valid, since fewer than 2^32 segments are outstanding at any time.
#[derive(Clone, Debug)]
pub(super) struct SentQueue {
    ring: VecDeque<SentSegment>,
    /// Identifier of the ring's first segment.
    base: u32,
    /// The ends of the order of transmissions; `None` if it is empty.
    pub(super) transmissions: Option<OldestAndNewest>,
    /// Segments selectively acknowledged.
    pub(crate) sacked_out: u32,
    /// Segments considered lost.
    pub(crate) lost_out: u32,
    /// Retransmissions in flight.
    pub(crate) retrans_out: u32,
    /// Segments ever marked lost, retransmissions included.
    pub(crate) lost_total: u64,
    /// No segment before this identifier waits for retransmission.
    retransmit_hint: u32,
    pub(super) settled: Settled,
}

/// The ends of the order of transmissions.
#[derive(Clone, Copy, Debug)]
pub(super) struct OldestAndNewest {
    pub(super) oldest: u32,
    pub(super) newest: u32,
}

impl SentQueue {
    pub(crate) fn new() -> Self {
        Self::starting_at(0)
    }

    /// An empty queue whose next segment gets the identifier `id`.
    pub(super) fn starting_at(id: u32) -> Self {
        Self {
            ring: VecDeque::new(),
            base: id,
            transmissions: None,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost_total: 0,
            retransmit_hint: id,
            settled: Settled::none(id),
        }
    }

    pub(super) fn packets_out(&self) -> u32 {
        self.ring.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Segments considered to be in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    pub(super) fn head(&self) -> Option<&SentSegment> {
        self.ring.front()
    }

    pub(super) fn last_id(&self) -> u32 {
        self.base.wrapping_add(self.packets_out()).wrapping_sub(1)
    }

    pub(super) fn head_id(&self) -> u32 {
        self.base
    }

    pub(crate) fn get(&self, id: u32) -> &SentSegment {
        &self.ring[id.wrapping_sub(self.base) as usize]
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut SentSegment {
        &mut self.ring[id.wrapping_sub(self.base) as usize]
    }

    /// The data of the segments, as ranges of the application stream, in sequence order. A SYN or FIN counts as a byte.
    pub(crate) fn data(&self) -> impl Iterator<Item = core::ops::Range<u64>> {
        self.ring.iter().map(|segment| segment.data..segment.data + (segment.end - segment.start))
    }

    /// Identifiers in sequence order.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let base = self.base;
        (0..self.packets_out()).map(move |i| base.wrapping_add(i))
    }

    /// The first segment that ends after `offset`; the identifier after the last one if there is none.
    pub(super) fn first_ending_after(&self, offset: u64) -> u32 {
        let index = self.ring.partition_point(|segment| segment.end <= offset);
        self.base.wrapping_add(index as u32)
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        id.wrapping_sub(self.base) < self.packets_out()
    }

    pub(crate) fn push(&mut self, start: u64, end: u64, data: u64, sent_at: Instant, tags: Tags) {
        let id = self.base.wrapping_add(self.packets_out());
        if self.ring.is_empty() {
            self.retransmit_hint = id;
        }
        self.ring.push_back(SentSegment { start, end, data, sent_at, tags, older: id, newer: id });
        self.link_newest(id);
    }

    /// Removes the first segment and corrects the counters.
    pub(super) fn pop_head(&mut self) -> SentSegment {
        self.unlink(self.base);
        let segment = self.ring.pop_front().expect("the caller looked at the head");
        if segment.tags.has(Tags::SACKED) {
            self.sacked_out -= 1;
        }
        if segment.tags.has(Tags::LOST) {
            self.lost_out -= 1;
        }
        if segment.tags.has(Tags::RETRANSMITTED) {
            self.retrans_out -= 1;
        }
        if self.retransmit_hint == self.base {
            self.retransmit_hint = self.base.wrapping_add(1);
        }
        self.settled.on_head_removed(self.base, segment.tags);
        self.base = self.base.wrapping_add(1);
        segment
    }

    /// Removes the part of the first segment below `una`: an acknowledgment fell inside it.
    #[cold]
    pub(super) fn trim_head(&mut self, una: u64) {
        if let Some(head) = self.ring.front_mut() {
            head.data += una - head.start;
            head.start = una;
        }
    }

    /// Marks a segment lost; if it was lost before, its retransmission is marked lost.
    pub(crate) fn mark_lost(&mut self, id: u32) {
        let tags = self.get(id).tags;
        if tags.has(Tags::SACKED) {
            return;
        }
        self.unlink(id);
        if tags.has(Tags::LOST) {
            if tags.has(Tags::RETRANSMITTED) {
                self.get_mut(id).tags.clear(Tags::RETRANSMITTED);
                self.retrans_out -= 1;
                self.lost_total += 1;
                self.lower_hint(id);
            }
            return;
        }
        self.get_mut(id).tags.set(Tags::LOST);
        self.lost_out += 1;
        self.lost_total += 1;
        self.lower_hint(id);
    }

    fn lower_hint(&mut self, id: u32) {
        if id.wrapping_sub(self.base) < self.retransmit_hint.wrapping_sub(self.base) {
            self.retransmit_hint = id;
        }
    }

    /// Marks a segment SACKed.
    pub(super) fn mark_sacked(&mut self, id: u32) {
        let tags = self.get(id).tags;
        if tags.has(Tags::LOST) {
            self.get_mut(id).tags.clear(Tags::LOST);
            self.lost_out -= 1;
            if tags.has(Tags::RETRANSMITTED) {
                self.get_mut(id).tags.clear(Tags::RETRANSMITTED);
                self.retrans_out -= 1;
            }
        }
        self.unlink(id);
        self.get_mut(id).tags.set(Tags::SACKED);
        self.sacked_out += 1;
        self.settled.on_sacked(id, self.base);
    }

    /// Notes that `id` was sent again at `now` as a tail loss probe. The segment is not considered lost, and the probe
    /// is not counted in `retrans_out` (Linux `tcp_send_loss_probe`).
    pub(super) fn note_probe(&mut self, id: u32, now: Instant) {
        self.unlink(id);
        let segment = self.get_mut(id);
        segment.sent_at = now;
        segment.tags.set(Tags::EVER_RETRANSMITTED);
        self.link_newest(id);
    }

    /// Clears the mark that a retransmission is in flight: a D-SACK reported it.
    pub(super) fn clear_retransmission(&mut self, id: u32) {
        if self.get(id).tags.has(Tags::RETRANSMITTED) {
            self.get_mut(id).tags.clear(Tags::RETRANSMITTED);
            self.retrans_out -= 1;
        }
    }

    /// Clears all SACKED marks: the receiver reneged.
    pub(super) fn forget_sacks(&mut self) {
        for segment in &mut self.ring {
            segment.tags.clear(Tags::SACKED);
        }
        self.sacked_out = 0;
        self.settled = Settled::none(self.base);
        self.relink();
    }

    /// Clears all LOST marks: recovery was undone.
    pub(super) fn forget_losses(&mut self) {
        for segment in &mut self.ring {
            segment.tags.clear(Tags::LOST);
        }
        self.lost_out = 0;
        self.retransmit_hint = self.base.wrapping_add(self.packets_out());
        self.settled = Settled::none(self.base);
        self.relink();
    }

    /// The first lost segment whose retransmission is not in flight.
    pub(super) fn next_to_retransmit(&mut self) -> Option<u32> {
        if self.lost_out == 0 {
            return None;
        }
        let end = self.base.wrapping_add(self.packets_out());
        while self.retransmit_hint != end {
            let tags = self.get(self.retransmit_hint).tags;
            if tags.has(Tags::LOST) && !tags.has(Tags::RETRANSMITTED) {
                return Some(self.retransmit_hint);
            }
            self.retransmit_hint = self.retransmit_hint.wrapping_add(1);
        }
        None
    }

    /// Cuts segments of more than `most` bytes that are not SACKed, and marks their parts lost. Returns whether there
    /// were any.
    pub(crate) fn cut(&mut self, most: u64) -> bool {
        self.cut_where(most, |segment| segment.end - segment.start > most && !segment.tags.has(Tags::SACKED))
    }

    /// The same with the earliest segment only.
    pub(super) fn cut_head(&mut self, most: u64) -> bool {
        let Some(head) = self.head().filter(|head| !head.tags.has(Tags::SACKED)).map(|head| head.start) else {
            return false;
        };
        self.cut_where(most, |segment| segment.start == head && segment.end - segment.start > most)
    }

    #[cold]
    fn cut_where(&mut self, most: u64, is_too_long: impl Fn(&SentSegment) -> bool) -> bool {
        let is_whole = |segment: &SentSegment| !is_too_long(segment);
        if self.ring.iter().all(is_whole) {
            return false;
        }
        for segment in core::mem::take(&mut self.ring) {
            if is_whole(&segment) {
                self.ring.push_back(segment);
                continue;
            }
            let (mut start, end) = (segment.start, segment.end);
            while start < end {
                let mut part = SentSegment { start, end: end.min(start + most), ..segment.clone() };
                part.data += start - segment.start;
                part.tags.set(Tags::LOST);
                part.tags.clear(Tags::RETRANSMITTED);
                if part.end < end {
                    part.tags.clear(Tags::PUSH);
                }
                start = part.end;
                self.lost_total += 1;
                self.ring.push_back(part);
            }
        }
        let with = |tag: Tags| self.ring.iter().filter(|segment| segment.tags.has(tag)).count() as u32;
        (self.lost_out, self.retrans_out) = (with(Tags::LOST), with(Tags::RETRANSMITTED));
        self.retransmit_hint = self.base;
        self.settled = Settled::none(self.base);
        self.relink();
        true
    }

    /// Notes a retransmission of `id` at `now`.
    pub(super) fn note_retransmission(&mut self, id: u32, now: Instant) {
        self.note_probe(id, now);
        let segment = self.get_mut(id);
        if !segment.tags.has(Tags::RETRANSMITTED) {
            segment.tags.set(Tags::RETRANSMITTED);
            self.retrans_out += 1;
        }
    }

    /// Whether a retransmission is in flight or the first segment was ever retransmitted (Linux
    /// `tcp_any_retrans_done`).
    pub(super) fn any_retransmitted(&self) -> bool {
        self.retrans_out > 0 || self.head().is_some_and(|head| head.tags.has(Tags::EVER_RETRANSMITTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First identifiers near the wrap and far from it.
    const BASES: [u32; 4] = [0, u32::MAX - 1, u32::MAX, 1 << 31];

    fn queue(base: u32, n: u64) -> SentQueue {
        let mut queue = SentQueue::starting_at(base);
        for i in 0..n {
            queue.push(i * 10, i * 10 + 10, i * 10, Instant::from_nanos(i), Tags::default());
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
            let mut push = Tags::default();
            push.set(Tags::PUSH);
            queue.push(20, 45, 1020, Instant::from_nanos(3), push);
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
}
