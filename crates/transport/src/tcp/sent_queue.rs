//! The retransmission queue: the segments that were sent and are not yet cumulatively acknowledged, their marks, and the
//! counters of loss recovery: `packets_out`, `sacked_out`, `lost_out`, `retrans_out`, as in Linux.

use core::ops::Range;

use subflow_quantity::Instant;

use super::sent_segments::{SentSegment, SentSegments, Tags};
use super::settled::Settled;

/// The retransmission queue. Each counter is the number of segments with its mark; with a peer without SACK,
/// `sacked_out` counts duplicate acknowledgments instead.
#[derive(Clone, Debug)]
pub(super) struct SentQueue {
    segments: SentSegments,
    /// Segments selectively acknowledged.
    sacked_out: u32,
    /// Segments considered lost.
    lost_out: u32,
    /// Retransmissions in flight.
    retrans_out: u32,
    /// No segment before this identifier waits for retransmission.
    retransmit_hint: u32,
    /// Segments ever marked lost, retransmissions included.
    lost_total: u64,
    settled: Settled,
}

impl SentQueue {
    pub(super) fn new() -> Self {
        Self::starting_at(0)
    }

    /// An empty queue whose next segment gets the identifier `id`.
    pub(super) fn starting_at(id: u32) -> Self {
        Self {
            segments: SentSegments::starting_at(id),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            retransmit_hint: id,
            lost_total: 0,
            settled: Settled::none(id),
        }
    }

    #[inline]
    pub(super) fn packets_out(&self) -> u32 {
        self.segments.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments selectively acknowledged; with a peer without SACK, duplicate acknowledgments.
    #[inline]
    pub(super) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Segments considered lost.
    #[inline]
    pub(super) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions in flight.
    #[inline]
    pub(super) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Segments ever marked lost, retransmissions included.
    #[inline]
    pub(super) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Segments considered to be in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    #[inline]
    pub(super) fn head(&self) -> Option<&SentSegment> {
        self.segments.head()
    }

    #[inline]
    pub(super) fn head_id(&self) -> u32 {
        self.segments.head_id()
    }

    #[inline]
    pub(super) fn last_id(&self) -> u32 {
        self.segments.end_id().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &SentSegment {
        self.segments.get(id)
    }

    /// The data of the segments, as ranges of the application stream, in sequence order. A SYN or FIN counts as a byte.
    pub(super) fn data(&self) -> impl Iterator<Item = Range<u64>> {
        self.segments.iter().map(SentSegment::stream)
    }

    /// Identifiers in sequence order.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        self.segments.ids()
    }

    /// The first segment that ends after `offset`; the identifier after the last one if there is none.
    pub(super) fn first_ending_after(&self, offset: u64) -> u32 {
        self.segments.first_ending_after(offset)
    }

    #[inline]
    pub(super) fn contains(&self, id: u32) -> bool {
        self.segments.contains(id)
    }

    /// The segment whose last transmission is the oldest of those that are in flight.
    #[inline]
    pub(super) fn oldest_transmission(&self) -> Option<u32> {
        self.segments.oldest_transmission()
    }

    /// The segment that was sent next after `id`.
    #[inline]
    pub(super) fn next_transmission(&self, id: u32) -> Option<u32> {
        self.segments.next_transmission(id)
    }

    /// Appends a segment that is sent at `sent_at`.
    #[inline]
    pub(super) fn push(&mut self, sequence: Range<u64>, data: u64, sent_at: Instant, tags: Tags) {
        if self.is_empty() {
            self.retransmit_hint = self.segments.end_id();
        }
        self.segments.push(sequence, data, sent_at, tags);
    }

    /// Removes the first segment.
    #[inline]
    pub(super) fn pop_head(&mut self) -> SentSegment {
        let id = self.head_id();
        let segment = self.segments.pop_head();
        self.sacked_out -= u32::from(segment.tags.has(Tags::SACKED));
        self.lost_out -= u32::from(segment.tags.has(Tags::LOST));
        self.retrans_out -= u32::from(segment.tags.has(Tags::RETRANSMITTED));
        if self.retransmit_hint == id {
            self.retransmit_hint = id.wrapping_add(1);
        }
        self.settled.on_head_removed(id, segment.tags);
        segment
    }

    /// Removes the part of the first segment below `una`: an acknowledgment fell inside it.
    pub(super) fn trim_head(&mut self, una: u64) {
        self.segments.trim_head(una);
    }

    /// Marks a segment lost; if it was lost before, its retransmission is marked lost.
    pub(super) fn mark_lost(&mut self, id: u32) {
        let tags = self.get(id).tags;
        if tags.has(Tags::SACKED) {
            return;
        }
        self.segments.unlink(id);
        if !tags.has(Tags::LOST) {
            self.segments.set(id, Tags::LOST);
            self.lost_out += 1;
        } else if !self.clear_retransmission(id) {
            return;
        }
        self.lost_total += 1;
        self.lower_hint(id);
    }

    fn lower_hint(&mut self, id: u32) {
        let base = self.head_id();
        if id.wrapping_sub(base) < self.retransmit_hint.wrapping_sub(base) {
            self.retransmit_hint = id;
        }
    }

    /// Marks a segment SACKed.
    pub(super) fn mark_sacked(&mut self, id: u32) {
        if self.get(id).tags.has(Tags::LOST) {
            self.segments.clear(id, Tags::LOST);
            self.lost_out -= 1;
            self.clear_retransmission(id);
        }
        self.segments.unlink(id);
        self.segments.set(id, Tags::SACKED);
        self.sacked_out += 1;
        self.settled.on_sacked(id, self.head_id());
    }

    /// Notes that `id` was sent again at `now` as a tail loss probe. The segment is not considered lost, and the probe
    /// is not counted in `retrans_out` (Linux `tcp_send_loss_probe`).
    pub(super) fn note_probe(&mut self, id: u32, now: Instant) {
        self.segments.on_transmission(id, now);
    }

    /// Notes a retransmission of `id` at `now`.
    pub(super) fn note_retransmission(&mut self, id: u32, now: Instant) {
        self.segments.on_transmission(id, now);
        if !self.get(id).tags.has(Tags::RETRANSMITTED) {
            self.segments.set(id, Tags::RETRANSMITTED);
            self.retrans_out += 1;
        }
    }

    /// Clears the mark that a retransmission is in flight, and returns whether there was one.
    pub(super) fn clear_retransmission(&mut self, id: u32) -> bool {
        let has_one = self.get(id).tags.has(Tags::RETRANSMITTED);
        if has_one {
            self.segments.clear(id, Tags::RETRANSMITTED);
            self.retrans_out -= 1;
        }
        has_one
    }

    /// Clears all SACKED marks: the receiver reneged.
    pub(super) fn forget_sacks(&mut self) {
        self.segments.clear_all(Tags::SACKED);
        self.sacked_out = 0;
        self.settled = Settled::none(self.head_id());
    }

    /// Clears all LOST marks: recovery was undone.
    pub(super) fn forget_losses(&mut self) {
        self.segments.clear_all(Tags::LOST);
        self.lost_out = 0;
        self.retransmit_hint = self.segments.end_id();
        self.settled = Settled::none(self.head_id());
    }

    /// With a peer without SACK: counts a duplicate acknowledgment. Returns whether it indicates a segment that has left
    /// the network, and not that the network reorders.
    pub(super) fn count_duplicate(&mut self) -> bool {
        self.sacked_out += 1;
        !self.limit_duplicates()
    }

    /// With a peer without SACK: forgets up to `n` duplicate acknowledgments.
    pub(super) fn uncount_duplicates(&mut self, n: u32) {
        self.sacked_out = self.sacked_out.saturating_sub(n);
    }

    /// With a peer without SACK: forgets all duplicate acknowledgments.
    pub(super) fn forget_duplicates(&mut self) {
        self.sacked_out = 0;
    }

    /// With a peer without SACK: at least one outstanding segment is missing, so that duplicate acknowledgments in
    /// excess of the others are not counted. Returns whether there were any (Linux `tcp_limit_reno_sacked`).
    pub(super) fn limit_duplicates(&mut self) -> bool {
        let out = self.packets_out();
        let holes = self.lost_out.max(1).min(out);
        let exceed = self.sacked_out + holes > out;
        if exceed {
            self.sacked_out = out - holes;
        }
        exceed
    }

    /// The first lost segment whose retransmission is not in flight.
    pub(super) fn next_to_retransmit(&mut self) -> Option<u32> {
        if self.lost_out == 0 {
            return None;
        }
        let end = self.segments.end_id();
        while self.retransmit_hint != end {
            let tags = self.get(self.retransmit_hint).tags;
            if tags.has(Tags::LOST) && !tags.has(Tags::RETRANSMITTED) {
                return Some(self.retransmit_hint);
            }
            self.retransmit_hint = self.retransmit_hint.wrapping_add(1);
        }
        None
    }

    /// The first segment that is neither SACKed nor lost, if at least `threshold` of those after it are SACKed.
    pub(super) fn first_below(&mut self, threshold: u32) -> Option<u32> {
        self.settled.first_below(threshold, &self.segments, self.sacked_out)
    }

    /// Cuts segments of more than `most` bytes that are not SACKed, and marks their parts lost. Returns whether there
    /// were any.
    pub(super) fn cut(&mut self, most: u64) -> bool {
        self.cut_where(most, |segment| segment.length() > most && !segment.tags.has(Tags::SACKED))
    }

    /// The same with the earliest segment only.
    pub(super) fn cut_head(&mut self, most: u64) -> bool {
        let Some(head) = self.head().filter(|head| !head.tags.has(Tags::SACKED)).map(|head| head.start) else {
            return false;
        };
        self.cut_where(most, |segment| segment.start == head && segment.length() > most)
    }

    #[cold]
    fn cut_where(&mut self, most: u64, is_too_long: impl Fn(&SentSegment) -> bool) -> bool {
        if !self.segments.iter().any(&is_too_long) {
            return false;
        }
        self.segments.cut(most, is_too_long, |tags| {
            tags.set(Tags::LOST);
            tags.clear(Tags::RETRANSMITTED);
            self.lost_total += 1;
        });
        let with = |tag: Tags| self.segments.iter().filter(|segment| segment.tags.has(tag)).count() as u32;
        (self.lost_out, self.retrans_out) = (with(Tags::LOST), with(Tags::RETRANSMITTED));
        self.retransmit_hint = self.head_id();
        self.settled = Settled::none(self.head_id());
        true
    }

    /// Whether a retransmission is in flight or the first segment was ever retransmitted (Linux
    /// `tcp_any_retrans_done`).
    pub(super) fn any_retransmitted(&self) -> bool {
        self.retrans_out > 0 || self.head().is_some_and(|head| head.tags.has(Tags::EVER_RETRANSMITTED))
    }
}

#[cfg(test)]
mod tests;
