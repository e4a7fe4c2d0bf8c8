//! The segments that were sent and are not yet cumulatively acknowledged, in two orders: by sequence, and by the time of
//! the last transmission.
//!
//! The order of transmissions is a doubly linked list through the segments that RACK examines: a segment is removed
//! when it is SACKed or marked lost, and appended when it is sent again. Every `u32` is a valid identifier, so that none
//! can mean "no segment": at an end of the list a segment refers to itself.

use core::ops::Range;
use std::collections::VecDeque;

use subflow_quantity::Instant;

/// Marks of a sent segment (Linux `TCPCB_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags(u8);

impl Tags {
    /// Selectively acknowledged.
    pub(super) const SACKED: Self = Self(1);
    /// Considered lost.
    pub(super) const LOST: Self = Self(2);
    /// Retransmitted, and the retransmission is considered in flight.
    pub(super) const RETRANSMITTED: Self = Self(4);
    /// Retransmitted at some time.
    pub(super) const EVER_RETRANSMITTED: Self = Self(8);
    /// Contained in the order of transmissions.
    const LISTED: Self = Self(16);
    /// Sent with PSH: its data was the last in the send queue.
    pub(super) const PUSH: Self = Self(32);

    #[inline]
    pub(super) const fn has(self, tag: Self) -> bool {
        self.0 & tag.0 != 0
    }

    #[inline]
    pub(super) fn set(&mut self, tag: Self) {
        self.0 |= tag.0;
    }

    #[inline]
    pub(super) fn clear(&mut self, tag: Self) {
        self.0 &= !tag.0;
    }
}

/// One sent segment.
#[derive(Clone, Debug)]
pub(super) struct SentSegment {
    /// First offset.
    pub(super) start: u64,
    /// Offset after the last.
    pub(super) end: u64,
    /// Application stream offset of the first byte (MPTCP: at the data level).
    pub(super) data: u64,
    /// Time of the last transmission.
    pub(super) sent_at: Instant,
    pub(super) tags: Tags,
    /// Identifiers of its neighbours in the order of transmissions; its own identifier if there is none.
    older: u32,
    newer: u32,
}

impl SentSegment {
    /// Sequence numbers: bytes of data, and one for a FIN.
    #[inline]
    pub(super) fn length(&self) -> u64 {
        self.end - self.start
    }

    /// Its data, as a range of the application stream. A SYN or FIN counts as a byte.
    pub(super) fn stream(&self) -> Range<u64> {
        self.data..self.data + self.length()
    }
}

/// The segments. They have consecutive identifiers, which remain valid while they are here. Identifiers wrap around:
/// fewer than 2^32 segments are outstanding at any time.
#[derive(Clone, Debug)]
pub(super) struct SentSegments {
    ring: VecDeque<SentSegment>,
    /// Identifier of the ring's first segment.
    base: u32,
    /// The ends of the order of transmissions; `None` if it is empty.
    transmissions: Option<OldestAndNewest>,
}

#[derive(Clone, Copy, Debug)]
struct OldestAndNewest {
    oldest: u32,
    newest: u32,
}

impl SentSegments {
    /// None; the next segment gets the identifier `id`.
    pub(super) fn starting_at(id: u32) -> Self {
        Self { ring: VecDeque::new(), base: id, transmissions: None }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.ring.len() as u32
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    #[inline]
    pub(super) fn head(&self) -> Option<&SentSegment> {
        self.ring.front()
    }

    #[inline]
    pub(super) fn head_id(&self) -> u32 {
        self.base
    }

    /// The identifier after the last one.
    #[inline]
    pub(super) fn end_id(&self) -> u32 {
        self.base.wrapping_add(self.len())
    }

    #[inline]
    pub(super) fn contains(&self, id: u32) -> bool {
        id.wrapping_sub(self.base) < self.len()
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &SentSegment {
        &self.ring[id.wrapping_sub(self.base) as usize]
    }

    #[inline]
    fn get_mut(&mut self, id: u32) -> &mut SentSegment {
        &mut self.ring[id.wrapping_sub(self.base) as usize]
    }

    /// In sequence order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SentSegment> {
        self.ring.iter()
    }

    /// Identifiers in sequence order.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let base = self.base;
        (0..self.len()).map(move |i| base.wrapping_add(i))
    }

    /// The first segment that ends after `offset`; the identifier after the last one if there is none.
    pub(super) fn first_ending_after(&self, offset: u64) -> u32 {
        let index = self.ring.partition_point(|segment| segment.end <= offset);
        self.base.wrapping_add(index as u32)
    }

    #[inline]
    pub(super) fn set(&mut self, id: u32, tag: Tags) {
        self.get_mut(id).tags.set(tag);
    }

    #[inline]
    pub(super) fn clear(&mut self, id: u32, tag: Tags) {
        self.get_mut(id).tags.clear(tag);
    }

    /// Clears `tag` of all segments, and makes the order of transmissions anew.
    pub(super) fn clear_all(&mut self, tag: Tags) {
        self.ring.iter_mut().for_each(|segment| segment.tags.clear(tag));
        self.relink();
    }

    /// Appends a segment that is sent at `sent_at`.
    #[inline]
    pub(super) fn push(&mut self, sequence: Range<u64>, data: u64, sent_at: Instant, tags: Tags) {
        let (id, Range { start, end }) = (self.end_id(), sequence);
        self.ring.push_back(SentSegment { start, end, data, sent_at, tags, older: id, newer: id });
        self.link_newest(id);
    }

    /// Removes the first segment.
    #[inline]
    pub(super) fn pop_head(&mut self) -> SentSegment {
        self.unlink(self.base);
        self.base = self.base.wrapping_add(1);
        self.ring.pop_front().expect("the caller looked at the head")
    }

    /// Removes the part of the first segment below `una`.
    #[cold]
    pub(super) fn trim_head(&mut self, una: u64) {
        if let Some(head) = self.ring.front_mut() {
            head.data += una - head.start;
            head.start = una;
        }
    }

    /// Cuts the segments for which `is_too_long` holds into parts of at most `most` bytes. `on_part` is told of each.
    pub(super) fn cut(
        &mut self,
        most: u64,
        is_too_long: impl Fn(&SentSegment) -> bool,
        mut on_part: impl FnMut(&mut Tags),
    ) {
        for segment in core::mem::take(&mut self.ring) {
            if !is_too_long(&segment) {
                self.ring.push_back(segment);
                continue;
            }
            let (mut start, end) = (segment.start, segment.end);
            while start < end {
                let mut part = SentSegment { start, end: end.min(start + most), ..segment.clone() };
                part.data += start - segment.start;
                if part.end < end {
                    part.tags.clear(Tags::PUSH);
                }
                on_part(&mut part.tags);
                start = part.end;
                self.ring.push_back(part);
            }
        }
        self.relink();
    }

    /// Segment `id` is sent again at `now`.
    pub(super) fn on_transmission(&mut self, id: u32, now: Instant) {
        self.unlink(id);
        let segment = self.get_mut(id);
        segment.sent_at = now;
        segment.tags.set(Tags::EVER_RETRANSMITTED);
        self.link_newest(id);
    }

    /// The segment whose last transmission is the oldest.
    #[inline]
    pub(super) fn oldest_transmission(&self) -> Option<u32> {
        self.transmissions.map(|ends| ends.oldest)
    }

    /// The segment that was sent next after `id`.
    #[inline]
    pub(super) fn next_transmission(&self, id: u32) -> Option<u32> {
        let newer = self.get(id).newer;
        (newer != id).then_some(newer)
    }

    /// Appends `id` to the order of transmissions.
    #[inline]
    fn link_newest(&mut self, id: u32) {
        let ends = self.transmissions.get_or_insert(OldestAndNewest { oldest: id, newest: id });
        let older = core::mem::replace(&mut ends.newest, id);
        self.get_mut(older).newer = id;
        let segment = self.get_mut(id);
        segment.older = older;
        segment.newer = id;
        segment.tags.set(Tags::LISTED);
    }

    /// Removes `id` from the order of transmissions, if it is contained.
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

    /// Makes the order of transmissions anew from all segments that RACK is to examine.
    fn relink(&mut self) {
        self.transmissions = None;
        let mut ids: Vec<u32> = self.ids().collect();
        ids.sort_by_key(|&id| (self.get(id).sent_at, self.get(id).end));
        for id in ids {
            let tags = self.get(id).tags;
            if !tags.has(Tags::SACKED) && (!tags.has(Tags::LOST) || tags.has(Tags::RETRANSMITTED)) {
                self.link_newest(id);
            } else {
                self.clear(id, Tags::LISTED);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_cut_segment_is_in_both_orders() {
        for base in [0, u32::MAX - 1, u32::MAX, 1 << 31] {
            let mut segments = SentSegments::starting_at(base);
            segments.push(0..10, 0, Instant::from_nanos(1), Tags::default());
            segments.push(10..30, 110, Instant::from_nanos(0), Tags::PUSH);
            segments.cut(8, |segment| segment.length() > 10, |_| {});
            let parts: Vec<_> = segments.iter().map(SentSegment::stream).collect();
            assert_eq!(parts, [0..10, 110..118, 118..126, 126..130]);
            let order = std::iter::successors(segments.oldest_transmission(), |&id| segments.next_transmission(id));
            let order: Vec<_> =
                order.map(|id| (segments.get(id).start, segments.get(id).tags.has(Tags::PUSH))).collect();
            assert_eq!(order, [(10, false), (18, false), (26, true), (0, false)], "from {base}");
        }
    }
}
