//! The retransmission queue: every chunk that has a TSN and is not covered by the peer's cumulative TSN yet.

use std::collections::VecDeque;

use subflow_quantity::Instant;

use super::fast_retransmit::FastRetransmit;
use super::lost::LostChunks;
use super::messages::Fragment;

/// The status of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Assigned to a destination and not sent yet.
    Assigned,
    /// Sent, not acknowledged, not believed lost.
    InFlight,
    /// Marked to be sent again.
    Lost,
    /// Acknowledged by a gap block; the receiver may yet drop it.
    GapAcked,
    /// Acknowledged by a block of an NR-SACK: it will not be dropped.
    NonRenegable,
    /// Abandoned (RFC 3758).
    Abandoned,
}

/// A chunk with its history.
#[derive(Clone, Debug)]
pub(crate) struct SentChunk {
    pub(crate) fragment: Fragment,
    /// The destination it was sent or assigned to last.
    pub(crate) destination: usize,
    /// Further destinations to which copies are in flight, as bits (with a redundant scheduler).
    pub(crate) copies: u32,
    pub(crate) status: Status,
    /// The number of misses.
    pub(crate) misses: u8,
    pub(crate) fast: FastRetransmit,
    /// How often it was sent.
    pub(crate) transmissions: u32,
    /// It was sent to more than one destination.
    pub(crate) moved: bool,
    pub(crate) sent_at: Instant,
    /// Its acknowledgment is the destination's next RTT sample.
    pub(crate) timed: bool,
}

impl SentChunk {
    pub(crate) fn length(&self) -> u64 {
        u64::from(self.fragment.length)
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.transmissions > 0
    }

    pub(crate) fn is_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Returns and clears the destinations to which copies are in flight.
    pub(crate) fn take_copies(&mut self) -> impl Iterator<Item = usize> + use<> {
        let copies = core::mem::take(&mut self.copies);
        (0..32).filter(move |index| copies >> index & 1 == 1)
    }

    pub(crate) fn is_acked(&self) -> bool {
        matches!(self.status, Status::GapAcked | Status::NonRenegable)
    }
}

/// The queue. TSNs are those of [`TsnSpace`](super::tsn::TsnSpace): the first is 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbound {
    /// The peer's cumulative TSN.
    cumulative: u64,
    /// Its successor is the first of these.
    chunks: VecDeque<SentChunk>,
    /// Chunks that are lost.
    pub(crate) lost: LostChunks,
    /// Chunks that may be abandoned (RFC 3758).
    limited: usize,
    /// Bytes in flight to all destinations.
    pub(crate) in_flight: u64,
    /// Data bytes that ever got a TSN.
    pub(crate) position: u64,
}

impl Outbound {
    /// The peer's cumulative TSN.
    pub(crate) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The TSN that the next chunk will get.
    pub(crate) fn next_tsn(&self) -> u64 {
        self.cumulative + 1 + self.chunks.len() as u64
    }

    /// Whether every chunk is acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn chunk(&self, tsn: u64) -> Option<&SentChunk> {
        self.chunks.get(tsn.checked_sub(self.cumulative + 1)? as usize)
    }

    pub(crate) fn chunk_mut(&mut self, tsn: u64) -> Option<&mut SentChunk> {
        self.chunks.get_mut(tsn.checked_sub(self.cumulative + 1)? as usize)
    }

    /// All chunks with their TSNs, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &SentChunk)> {
        (self.cumulative + 1..).zip(&self.chunks)
    }

    /// All chunks.
    pub(crate) fn chunks_mut(&mut self) -> impl Iterator<Item = &mut SentChunk> {
        self.chunks.iter_mut()
    }

    /// A chunk is lost, and no longer in flight.
    pub(crate) fn lose(&mut self, tsn: u64) {
        let Some(chunk) = self.chunk_mut(tsn) else { return };
        chunk.status = Status::Lost;
        let (destination, fast, length) = (chunk.destination, chunk.fast, chunk.length());
        self.lost.insert(tsn, destination, fast);
        self.in_flight -= length;
    }

    /// A chunk that may be lost no longer waits to be sent again.
    pub(crate) fn take_lost(&mut self, tsn: u64) {
        if let Some(chunk) = self.chunk(tsn).filter(|chunk| chunk.status == Status::Lost) {
            let (destination, fast) = (chunk.destination, chunk.fast);
            self.lost.remove(tsn, destination, fast);
        }
    }

    /// Lost chunks that were indicated and have not left wait from now on.
    pub(crate) fn let_indicated_wait(&mut self) {
        for (destination, fast) in self.lost.kinds().collect::<Vec<_>>() {
            if fast == FastRetransmit::Needed {
                for tsn in self.lost.take(destination, fast) {
                    if let Some(chunk) = self.chunk_mut(tsn) {
                        chunk.fast = FastRetransmit::Waiting;
                    }
                    self.lost.insert(tsn, destination, FastRetransmit::Waiting);
                }
            }
        }
    }

    /// Whether some chunk may be abandoned.
    pub(crate) fn may_expire(&self) -> bool {
        self.limited > 0
    }

    /// Gives `fragment` its TSN, and assigns it to `destination`.
    pub(crate) fn assign(&mut self, fragment: Fragment, destination: usize, now: Instant) -> u64 {
        let tsn = self.next_tsn();
        self.chunks.push_back(SentChunk {
            fragment,
            destination,
            copies: 0,
            status: Status::Assigned,
            misses: 0,
            fast: FastRetransmit::Eligible,
            transmissions: 0,
            moved: false,
            sent_at: now,
            timed: false,
        });
        self.limited += usize::from(fragment.may_expire());
        self.position += u64::from(fragment.length);
        tsn
    }

    /// The cumulative TSN moves on by one; gives the chunk that it now covers.
    pub(crate) fn pop(&mut self) -> Option<(u64, SentChunk)> {
        let chunk = self.chunks.pop_front()?;
        self.cumulative += 1;
        self.limited -= usize::from(chunk.fragment.may_expire());
        if chunk.status == Status::Lost {
            self.lost.remove(self.cumulative, chunk.destination, chunk.fast);
        }
        Some((self.cumulative, chunk))
    }
}
