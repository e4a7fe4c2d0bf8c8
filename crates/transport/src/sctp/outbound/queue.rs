//! The retransmission queue: every chunk that has a TSN and is not covered by the peer's cumulative TSN yet.

use std::collections::VecDeque;

use subflow_policy::scheduler::{SentRange, SubflowSet};
use subflow_quantity::Instant;

use super::lost::LostChunks;
use super::messages::Fragment;
use super::sent_chunk::{FastRetransmit, Flight, SentChunk, Status};
use crate::sctp::destinations::Destinations;

/// The queue. TSNs are those of [`TsnSpace`](crate::sctp::tsn::TsnSpace): the first is 1.
///
/// What is in flight, in all and to each destination, is what the statuses of the chunks say; the lost ones, and no
/// others, are in the index of lost chunks.
#[derive(Clone, Debug)]
pub(in crate::sctp) struct RetransmissionQueue {
    /// The peer's cumulative TSN.
    cumulative: u64,
    /// Its successor is the first of these.
    chunks: VecDeque<SentChunk>,
    lost: LostChunks,
    /// Chunks that may be abandoned (RFC 3758).
    limited: usize,
    /// Bytes in flight to all destinations, copies not counted.
    in_flight: u64,
    /// Data bytes that ever got a TSN.
    position: u64,
    /// For a scheduler: the bytes of each chunk, in the order of TSNs, and the destinations that carry them.
    ranges: Option<VecDeque<SentRange>>,
}

impl RetransmissionQueue {
    pub(super) fn new(for_scheduler: bool) -> Self {
        Self {
            cumulative: 0,
            chunks: VecDeque::new(),
            lost: LostChunks::default(),
            limited: 0,
            in_flight: 0,
            position: 0,
            ranges: for_scheduler.then(VecDeque::new),
        }
    }

    /// The peer's cumulative TSN.
    #[inline]
    pub(in crate::sctp) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The TSN that the next chunk will get.
    #[inline]
    pub(in crate::sctp) fn next_tsn(&self) -> u64 {
        self.cumulative + 1 + self.chunks.len() as u64
    }

    /// Whether every chunk is acknowledged.
    #[inline]
    pub(in crate::sctp) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    #[inline]
    pub(in crate::sctp) fn chunk(&self, tsn: u64) -> Option<&SentChunk> {
        self.chunks.get(tsn.checked_sub(self.cumulative + 1)? as usize)
    }

    #[inline]
    fn chunk_mut(&mut self, tsn: u64) -> Option<&mut SentChunk> {
        self.chunks.get_mut(tsn.checked_sub(self.cumulative + 1)? as usize)
    }

    /// All chunks with their TSNs, ascending.
    #[inline]
    pub(in crate::sctp) fn iter(&self) -> impl Iterator<Item = (u64, &SentChunk)> {
        (self.cumulative + 1..).zip(&self.chunks)
    }

    /// The chunks that are lost.
    #[inline]
    pub(in crate::sctp) fn lost(&self) -> &LostChunks {
        &self.lost
    }

    /// Bytes in flight to all destinations; a copy of a chunk does not count.
    #[inline]
    pub(in crate::sctp) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether some chunk may be abandoned.
    pub(in crate::sctp) fn may_expire(&self) -> bool {
        self.limited > 0
    }

    /// Data bytes that ever got a TSN: where the next chunk begins, as a scheduler counts.
    pub(in crate::sctp) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes of each chunk and the destinations that carry them, where they are kept for a scheduler.
    pub(in crate::sctp) fn ranges(&self) -> (&[SentRange], &[SentRange]) {
        self.ranges.as_ref().map_or((&[], &[]), VecDeque::as_slices)
    }

    /// Gives `fragment` its TSN, and assigns it to `destination`.
    pub(super) fn assign(&mut self, fragment: Fragment, destination: usize, now: Instant) -> u64 {
        let (tsn, start) = (self.next_tsn(), self.position);
        self.chunks.push_back(SentChunk::new(fragment, destination, now));
        self.limited += usize::from(fragment.may_expire());
        self.position += u64::from(fragment.length);
        if let Some(ranges) = &mut self.ranges {
            let mut carried_by = SubflowSet::default();
            carried_by.insert(destination);
            ranges.push_back(SentRange { range: start..self.position, carried_by, reinject: false });
        }
        tsn
    }

    /// A scheduler sends the chunk at `position` to `destination`, too. Its TSN and length, if that is not where it went
    /// last.
    pub(in crate::sctp) fn copy(&mut self, position: u64, destination: usize) -> Option<(u64, u32)> {
        let ranges = self.ranges.as_mut()?;
        let at = ranges.partition_point(|sent| sent.range.end <= position);
        ranges.get_mut(at)?.carried_by.insert(destination);
        let chunk = self.chunks.get(at).filter(|chunk| chunk.destination() != destination)?;
        Some((self.cumulative + 1 + at as u64, chunk.fragment().length))
    }

    /// A chunk that was assigned to a destination and not sent goes to another one. Its length; `None` if it was sent.
    pub(in crate::sctp) fn reassign(&mut self, tsn: u64, destination: usize) -> Option<u32> {
        let chunk = self.chunk_mut(tsn).filter(|chunk| chunk.status() == Status::Assigned)?;
        chunk.reassign(destination);
        Some(chunk.fragment().length)
    }

    /// A chunk is sent to `destination`, for the first time or again. Returns its length.
    ///
    /// # Panics
    ///
    /// If the chunk is not in the queue.
    #[inline]
    pub(in crate::sctp) fn transmit(&mut self, tsn: u64, destination: usize, flight: &mut Flight, now: Instant) -> u64 {
        let at = (tsn - self.cumulative - 1) as usize;
        let chunk = &mut self.chunks[at];
        if chunk.status() == Status::Lost {
            self.lost.remove(tsn, chunk.destination(), chunk.fast());
        }
        flight.begin_timing(chunk.transmit(destination, now, !flight.is_timing()));
        let length = chunk.length();
        flight.add(length);
        self.in_flight += length;
        length
    }

    /// A copy of a chunk in flight is sent to `destination`. Returns its length.
    ///
    /// # Panics
    ///
    /// If the chunk is not in the queue.
    pub(in crate::sctp) fn transmit_copy(&mut self, tsn: u64, destination: usize, flight: &mut Flight) -> u64 {
        let chunk = self.chunk_mut(tsn).expect("a chunk of the queue");
        chunk.transmit_copy(destination);
        flight.add(chunk.length());
        chunk.length()
    }

    /// A SACK counts for `weight` misses of a chunk in flight. Returns whether fast retransmission is indicated: then
    /// the chunk is [lost](Self::lose).
    pub(in crate::sctp) fn miss(&mut self, tsn: u64, weight: u8) -> bool {
        self.chunk_mut(tsn).is_some_and(|chunk| chunk.miss(weight))
    }

    /// The transmission of a chunk in flight to its destination is lost. The chunk is to be sent again, unless a copy of
    /// it is in flight.
    pub(in crate::sctp) fn lose(&mut self, tsn: u64, destinations: &mut Destinations) {
        let Some(chunk) = self.chunk_mut(tsn).filter(|chunk| chunk.is_in_flight()) else { return };
        let (from, fast, length) = (chunk.destination(), chunk.fast(), chunk.length());
        let destination = &mut destinations[from];
        destination.flight.remove(length);
        destination.flight.end_timing(chunk.is_timed());
        destination.counters.chunks_lost += 1;
        if chunk.lose() {
            self.lost.insert(tsn, from, fast);
            // RFC 9260, section 6.2.1, C: its space in the peer's buffer is free again.
            self.in_flight -= length;
        }
    }

    /// All copies in flight to `destination` are lost.
    pub(in crate::sctp) fn lose_copies(&mut self, destination: usize, flight: &mut Flight) {
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.has_copy(destination)) {
            chunk.lose_copy(destination);
            flight.remove(chunk.length());
        }
    }

    /// Lost chunks that were indicated and have not left wait from now on.
    pub(in crate::sctp) fn let_indicated_wait(&mut self) {
        for (destination, fast) in self.lost.kinds().collect::<Vec<_>>() {
            if fast == FastRetransmit::Needed {
                for tsn in self.lost.take(destination, fast) {
                    if let Some(chunk) = self.chunk_mut(tsn) {
                        chunk.let_wait();
                    }
                    self.lost.insert(tsn, destination, FastRetransmit::Waiting);
                }
            }
        }
    }

    /// The cumulative TSN moves on by one, and the chunk that it now covers leaves the queue: it is given with its last
    /// status. Calls `landed` with each destination where it was in flight, since it is unknown
    /// which of its copies arrived, and with its length.
    #[inline]
    pub(super) fn pop(
        &mut self,
        destinations: &mut Destinations,
        landed: impl FnMut(usize, u64),
    ) -> Option<(u64, SentChunk)> {
        let chunk = self.chunks.pop_front()?;
        self.cumulative += 1;
        self.limited -= usize::from(chunk.fragment().may_expire());
        if let Some(ranges) = &mut self.ranges {
            ranges.pop_front();
        }
        if chunk.status() == Status::Lost {
            self.lost.remove(self.cumulative, chunk.destination(), chunk.fast());
        }
        land(&chunk, &mut self.in_flight, destinations, landed);
        Some((self.cumulative, chunk))
    }

    /// A gap block acknowledges a chunk that was sent; `kept`: the receiver will not drop it. Calls `landed` as
    /// [`pop`](Self::pop) does.
    #[inline]
    pub(super) fn gap_ack(
        &mut self,
        tsn: u64,
        kept: bool,
        destinations: &mut Destinations,
        landed: impl FnMut(usize, u64),
    ) {
        let at = (tsn - self.cumulative - 1) as usize;
        let Some(chunk) = self.chunks.get_mut(at) else { return };
        if chunk.status() == Status::Lost {
            self.lost.remove(tsn, chunk.destination(), chunk.fast());
        }
        land(chunk, &mut self.in_flight, destinations, landed);
        chunk.gap_ack(kept);
    }

    /// The peer has dropped a chunk that it had acknowledged in a gap block: it counts as in flight again (RFC 9260,
    /// section 6.2.1, and rule R4 of 6.3.2).
    pub(super) fn renege(&mut self, tsn: u64, destinations: &mut Destinations) {
        let Some(chunk) = self.chunk_mut(tsn).filter(|chunk| chunk.is_acked()) else { return };
        chunk.renege();
        let length = chunk.length();
        destinations[chunk.destination()].flight.add(length);
        self.in_flight += length;
    }

    /// A chunk is abandoned: out of flight first, as if it and its copies were lost. Returns the bytes that need no
    /// space in the send buffer any more.
    pub(super) fn abandon(&mut self, tsn: u64, destinations: &mut Destinations) -> u64 {
        while self.chunk(tsn).is_some_and(SentChunk::is_in_flight) {
            self.lose(tsn, destinations);
        }
        let at = (tsn - self.cumulative - 1) as usize;
        let Some(chunk) = self.chunks.get_mut(at) else { return 0 };
        let (length, status) = (chunk.length(), chunk.status());
        if status == Status::Lost {
            self.lost.remove(tsn, chunk.destination(), chunk.fast());
        }
        chunk.abandon();
        if status == Status::NonRenegable { 0 } else { length }
    }

    /// The association is over: nothing is sent again.
    pub(super) fn forget_losses(&mut self) {
        self.lost.clear();
    }
}

/// Takes a chunk out of flight, with its copies, and calls `landed` with each destination where it was.
#[inline]
fn land(chunk: &SentChunk, in_flight: &mut u64, destinations: &mut Destinations, mut landed: impl FnMut(usize, u64)) {
    let length = chunk.length();
    if chunk.is_in_flight() {
        *in_flight -= length;
        destinations[chunk.destination()].flight.remove(length);
        landed(chunk.destination(), length);
    }
    for copy in chunk.copies() {
        destinations[copy].flight.remove(length);
        landed(copy, length);
    }
    destinations[chunk.destination()].flight.end_timing(chunk.is_timed());
}

#[cfg(test)]
mod tests;
