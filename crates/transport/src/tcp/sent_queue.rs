//! The segments that were sent and are not yet cumulatively acknowledged, with the counts that recovery runs on.
//!
//! Two orders are kept: by sequence (a ring) and by time of the last transmission (a doubly linked list through the
//! ring). The list holds what RACK still has to judge: a segment leaves it when it is SACKed or marked lost and comes
//! back when it is retransmitted. The four counters follow Linux: `packets_out`, `sacked_out`, `lost_out`,
//! `retrans_out`.

use std::collections::VecDeque;

use subflow_quantity::Instant;

/// What is known about a sent segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags(u8);

impl Tags {
    /// Selectively acknowledged.
    pub(crate) const SACKED: Self = Self(1);
    /// Believed lost.
    pub(crate) const LOST: Self = Self(2);
    /// Retransmitted, and the retransmission is believed in flight.
    pub(crate) const RETRANSMITTED: Self = Self(4);
    /// Retransmitted at some time.
    pub(crate) const EVER_RETRANSMITTED: Self = Self(8);
    /// Linked into the order of transmissions.
    const LISTED: Self = Self(16);

    pub(crate) const fn has(self, tag: Self) -> bool {
        self.0 & tag.0 != 0
    }
    pub(crate) fn set(&mut self, tag: Self) {
        self.0 |= tag.0;
    }
    pub(crate) fn clear(&mut self, tag: Self) {
        self.0 &= !tag.0;
    }
}

/// One sent segment.
#[derive(Clone, Debug)]
pub(crate) struct SentSegment {
    /// First offset.
    pub(crate) start: u64,
    /// Offset after the last.
    pub(crate) end: u64,
    /// Application stream offset of the first byte (MPTCP: at the data level).
    pub(crate) data: u64,
    /// Last transmission.
    pub(crate) sent_at: Instant,
    pub(crate) tags: Tags,
    older: u32,
    newer: u32,
}

const NONE: u32 = u32::MAX;

/// The retransmission queue. Segments have identifiers (`u32`, wrapping) that stay valid while they are in the queue.
#[derive(Clone, Debug)]
pub(crate) struct SentQueue {
    ring: VecDeque<SentSegment>,
    /// Identifier of the ring's first segment.
    base: u32,
    oldest: u32,
    newest: u32,
    /// Segments selectively acknowledged.
    pub(crate) sacked_out: u32,
    /// Segments believed lost.
    pub(crate) lost_out: u32,
    /// Retransmissions in flight.
    pub(crate) retrans_out: u32,
    /// Segments ever marked lost, retransmissions included.
    pub(crate) lost_total: u64,
    /// No segment before this identifier waits for retransmission.
    retransmit_hint: u32,
}

impl SentQueue {
    pub(crate) fn new() -> Self {
        Self {
            ring: VecDeque::new(),
            base: 0,
            oldest: NONE,
            newest: NONE,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost_total: 0,
            retransmit_hint: 0,
        }
    }

    pub(crate) fn packets_out(&self) -> u32 {
        self.ring.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Segments believed to be in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    pub(crate) fn head(&self) -> Option<&SentSegment> {
        self.ring.front()
    }

    pub(crate) fn last_id(&self) -> u32 {
        self.base.wrapping_add(self.packets_out()).wrapping_sub(1)
    }

    pub(crate) fn head_id(&self) -> u32 {
        self.base
    }

    pub(crate) fn get(&self, id: u32) -> &SentSegment {
        &self.ring[id.wrapping_sub(self.base) as usize]
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut SentSegment {
        &mut self.ring[id.wrapping_sub(self.base) as usize]
    }

    /// Identifiers in sequence order.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let base = self.base;
        (0..self.packets_out()).map(move |i| base.wrapping_add(i))
    }

    /// The first segment that ends after `offset`; `packets_out` beyond the base when there is none.
    pub(crate) fn first_ending_after(&self, offset: u64) -> u32 {
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
        self.ring.push_back(SentSegment { start, end, data, sent_at, tags, older: NONE, newer: NONE });
        self.link_newest(id);
    }

    fn link_newest(&mut self, id: u32) {
        let newest = self.newest;
        if newest == NONE {
            self.oldest = id;
        } else {
            self.get_mut(newest).newer = id;
        }
        let segment = self.get_mut(id);
        segment.older = newest;
        segment.newer = NONE;
        segment.tags.set(Tags::LISTED);
        self.newest = id;
    }

    fn unlink(&mut self, id: u32) {
        let segment = self.get_mut(id);
        if !segment.tags.has(Tags::LISTED) {
            return;
        }
        segment.tags.clear(Tags::LISTED);
        let (older, newer) = (segment.older, segment.newer);
        match older {
            NONE => self.oldest = newer,
            _ => self.get_mut(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.get_mut(newer).older = older,
        }
    }

    /// Takes the first segment off, with the counts it had a part in.
    pub(crate) fn pop_head(&mut self) -> SentSegment {
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
        self.base = self.base.wrapping_add(1);
        segment
    }

    /// Oldest transmission, for RACK's walk.
    pub(crate) fn oldest_transmission(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The transmission after that of `id`.
    pub(crate) fn next_transmission(&self, id: u32) -> Option<u32> {
        let newer = self.get(id).newer;
        (newer != NONE).then_some(newer)
    }

    /// Marks a segment as lost; one whose retransmission was in flight counts as lost again.
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

    /// Marks a segment as selectively acknowledged.
    pub(crate) fn mark_sacked(&mut self, id: u32) {
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
    }

    /// Forgets that a segment's retransmission is in flight (a D-SACK reported it).
    pub(crate) fn clear_retransmission(&mut self, id: u32) {
        if self.get(id).tags.has(Tags::RETRANSMITTED) {
            self.get_mut(id).tags.clear(Tags::RETRANSMITTED);
            self.retrans_out -= 1;
        }
    }

    /// Forgets every SACK: the receiver reneged.
    pub(crate) fn forget_sacks(&mut self) {
        for segment in &mut self.ring {
            segment.tags.clear(Tags::SACKED);
        }
        self.sacked_out = 0;
        self.relink();
    }

    /// Puts every segment that RACK should judge back into the order of transmissions.
    fn relink(&mut self) {
        (self.oldest, self.newest) = (NONE, NONE);
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

    /// Forgets every loss: recovery was undone.
    pub(crate) fn forget_losses(&mut self) {
        for segment in &mut self.ring {
            segment.tags.clear(Tags::LOST);
        }
        self.lost_out = 0;
        self.retransmit_hint = self.base.wrapping_add(self.packets_out());
        self.relink();
    }

    /// The first lost segment whose retransmission is not in flight.
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u32> {
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

    /// Notes a retransmission of `id` at `now`.
    pub(crate) fn note_retransmission(&mut self, id: u32, now: Instant) {
        self.unlink(id);
        let segment = self.get_mut(id);
        segment.sent_at = now;
        segment.tags.set(Tags::EVER_RETRANSMITTED);
        if !segment.tags.has(Tags::RETRANSMITTED) {
            segment.tags.set(Tags::RETRANSMITTED);
            self.retrans_out += 1;
        }
        self.link_newest(id);
    }

    /// Whether anything of the present window was ever retransmitted, judged by the head (Linux
    /// `tcp_any_retrans_done`).
    pub(crate) fn any_retransmitted(&self) -> bool {
        self.retrans_out > 0 || self.head().is_some_and(|head| head.tags.has(Tags::EVER_RETRANSMITTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(n: u64) -> SentQueue {
        let mut queue = SentQueue::new();
        for i in 0..n {
            queue.push(i * 10, i * 10 + 10, i * 10, Instant::from_nanos(i), Tags::default());
        }
        queue
    }

    fn transmissions(queue: &SentQueue) -> Vec<u32> {
        std::iter::successors(queue.oldest_transmission(), |&id| queue.next_transmission(id)).collect()
    }

    #[test]
    fn a_retransmission_goes_to_the_end_of_the_time_order() {
        let mut queue = queue(3);
        queue.mark_lost(0);
        assert_eq!(queue.next_to_retransmit(), Some(0));
        queue.note_retransmission(0, Instant::from_nanos(9));
        assert_eq!(transmissions(&queue), [1, 2, 0]);
        assert_eq!((queue.in_flight(), queue.lost_out, queue.retrans_out), (3, 1, 1));
        assert_eq!(queue.next_to_retransmit(), None);
    }

    #[test]
    fn a_retransmission_lost_again_is_offered_again() {
        let mut queue = queue(2);
        queue.mark_lost(1);
        queue.next_to_retransmit();
        queue.note_retransmission(1, Instant::from_nanos(9));
        queue.mark_lost(1);
        assert_eq!(queue.next_to_retransmit(), Some(1));
        assert_eq!(queue.lost_total, 2);
    }

    #[test]
    fn popping_gives_the_counts_back() {
        let mut queue = queue(3);
        queue.mark_sacked(1);
        queue.mark_lost(0);
        queue.note_retransmission(0, Instant::from_nanos(9));
        queue.pop_head();
        queue.pop_head();
        assert_eq!((queue.packets_out(), queue.in_flight(), queue.sacked_out), (1, 1, 0));
        assert_eq!(transmissions(&queue), [2]);
    }
}
