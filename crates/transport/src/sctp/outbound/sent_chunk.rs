//! A chunk of the retransmission queue with its history, and the sum of those in flight to a destination.

use subflow_quantity::{Duration, Instant};

use super::messages::Fragment;

/// The status of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sctp) enum Status {
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

/// The state of a chunk's fast retransmission, which happens once (RFC 9260, section 7.2.4, rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sctp) enum FastRetransmit {
    Eligible,
    /// Indicated by misses and not sent yet.
    Needed,
    /// Indicated by misses, but it did not fit in the packet sent at once (see
    /// [`Config::single_fast_packet`](crate::sctp::Config)).
    Waiting,
    Done,
}

impl FastRetransmit {
    /// Whether the chunk waits to be sent again because of misses.
    #[inline]
    pub(in crate::sctp) fn is_indicated(self) -> bool {
        matches!(self, Self::Needed | Self::Waiting)
    }
}

/// The number of misses after which a chunk is lost.
const FAST_RETRANSMIT_THRESHOLD: u8 = 3;

/// A chunk with its history. Only the [queue](super::queue::RetransmissionQueue) changes it.
#[derive(Clone, Debug)]
pub(in crate::sctp) struct SentChunk {
    fragment: Fragment,
    /// The destination it was sent or assigned to last.
    destination: usize,
    /// Further destinations to which copies are in flight, as bits (with a redundant scheduler).
    copies: u32,
    status: Status,
    misses: u8,
    fast: FastRetransmit,
    transmissions: u32,
    /// It was sent to more than one destination.
    moved: bool,
    /// The destination it was sent to last, also as a copy.
    latest: u8,
    sent_at: Instant,
    /// Its acknowledgment is the destination's next RTT sample.
    timed: bool,
}

impl SentChunk {
    pub(super) fn new(fragment: Fragment, destination: usize, now: Instant) -> Self {
        Self {
            fragment,
            destination,
            copies: 0,
            status: Status::Assigned,
            misses: 0,
            fast: FastRetransmit::Eligible,
            transmissions: 0,
            moved: false,
            latest: 0,
            sent_at: now,
            timed: false,
        }
    }

    #[inline]
    pub(in crate::sctp) fn fragment(&self) -> &Fragment {
        &self.fragment
    }

    #[inline]
    pub(in crate::sctp) fn length(&self) -> u64 {
        u64::from(self.fragment.length)
    }

    /// The destination it was sent or assigned to last.
    #[inline]
    pub(in crate::sctp) fn destination(&self) -> usize {
        self.destination
    }

    #[inline]
    pub(in crate::sctp) fn status(&self) -> Status {
        self.status
    }

    #[inline]
    pub(in crate::sctp) fn fast(&self) -> FastRetransmit {
        self.fast
    }

    #[inline]
    pub(in crate::sctp) fn is_in_flight(&self) -> bool {
        self.status == Status::InFlight
    }

    #[inline]
    pub(in crate::sctp) fn is_acked(&self) -> bool {
        matches!(self.status, Status::GapAcked | Status::NonRenegable)
    }

    /// Whether it was sent before, and not to `destination` last.
    #[inline]
    pub(in crate::sctp) fn moves_to(&self, destination: usize) -> bool {
        self.transmissions > 0 && usize::from(self.latest) != destination
    }

    pub(in crate::sctp) fn transmissions(&self) -> u32 {
        self.transmissions
    }

    #[inline]
    pub(in crate::sctp) fn is_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// When it was sent last, copies apart.
    pub(in crate::sctp) fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// Whether a copy of it is in flight to this destination.
    #[inline]
    pub(in crate::sctp) fn has_copy(&self, destination: usize) -> bool {
        self.copies >> destination & 1 == 1
    }

    /// The destinations to which copies of it are in flight.
    #[inline]
    pub(in crate::sctp) fn copies(&self) -> impl Iterator<Item = usize> + use<> {
        let mut copies = self.copies;
        core::iter::from_fn(move || {
            let lowest = (copies != 0).then(|| copies.trailing_zeros() as usize)?;
            copies &= copies - 1;
            Some(lowest)
        })
    }

    /// Whether its acknowledgment proves that its destination works, whose failure was suspected at `failed_since`. It
    /// must have been sent to this destination only, otherwise another copy may have arrived (RFC 9260, section 8.2
    /// permits this rule, RFC 7829 requires it in section 3.2); and after the last error, since earlier data may be
    /// acknowledged late.
    #[inline]
    pub(in crate::sctp) fn is_proof(&self, failed_since: Option<Instant>) -> bool {
        !self.moved && failed_since.is_none_or(|since| self.sent_at >= since)
    }

    /// The RTT that its acknowledgment measures, if it is the chunk that is timed.
    #[inline]
    pub(in crate::sctp) fn rtt(&self, now: Instant) -> Option<Duration> {
        (self.timed && !self.is_retransmitted()).then(|| now.since(self.sent_at))
    }

    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        self.timed
    }

    /// It is sent to `destination`. One RTT is measured at a time, where `may_be_timed`, and none of retransmissions
    /// (section 6.3.1, rules C4 and C5). Returns whether this one is.
    #[inline]
    pub(super) fn transmit(&mut self, destination: usize, now: Instant, may_be_timed: bool) -> bool {
        self.moved |= self.transmissions > 0 && self.destination != destination;
        (self.transmissions, self.latest) = (self.transmissions + 1, destination as u8);
        (self.status, self.destination, self.sent_at) = (Status::InFlight, destination, now);
        if self.fast.is_indicated() {
            self.fast = FastRetransmit::Done;
        }
        self.timed = may_be_timed && self.transmissions == 1;
        self.timed
    }

    /// A copy is sent to `destination` while it is in flight. Neither is used to measure the RTT.
    pub(super) fn transmit_copy(&mut self, destination: usize) {
        self.copies |= 1 << destination;
        self.moved = true;
        (self.transmissions, self.latest) = (self.transmissions + 1, destination as u8);
    }

    /// The copy to this destination is lost.
    pub(super) fn lose_copy(&mut self, destination: usize) {
        self.copies &= !(1 << destination);
    }

    /// The transmission to its destination is lost. Returns whether it has to be sent again: otherwise a copy that is
    /// still in flight replaces it.
    pub(super) fn lose(&mut self) -> bool {
        (self.misses, self.timed) = (0, false);
        match self.copies().next() {
            Some(copy) => {
                self.destination = copy;
                self.lose_copy(copy);
                false
            }
            None => {
                self.status = Status::Lost;
                true
            }
        }
    }

    /// A SACK counts for `weight` misses. Returns whether fast retransmission is needed.
    pub(super) fn miss(&mut self, weight: u8) -> bool {
        self.misses = self.misses.saturating_add(weight);
        let is_needed = self.misses >= FAST_RETRANSMIT_THRESHOLD;
        if is_needed {
            self.fast = FastRetransmit::Needed;
        }
        is_needed
    }

    /// It was not sent with the packet of fast retransmissions.
    pub(super) fn let_wait(&mut self) {
        self.fast = FastRetransmit::Waiting;
    }

    /// A gap block acknowledges it, and no copy is in flight any more; `kept`: the receiver will not drop it.
    #[inline]
    pub(super) fn gap_ack(&mut self, kept: bool) {
        (self.timed, self.copies) = (false, 0);
        self.status = if kept { Status::NonRenegable } else { Status::GapAcked };
    }

    /// The receiver has dropped it: it counts as in flight again.
    pub(super) fn renege(&mut self) {
        self.status = Status::InFlight;
    }

    /// It will not be sent (again).
    pub(super) fn abandon(&mut self) {
        self.status = Status::Abandoned;
    }

    /// It goes to another destination than it was assigned to.
    pub(super) fn reassign(&mut self, destination: usize) {
        self.destination = destination;
    }
}

/// Bytes and chunks in flight to a destination, copies included. Only the
/// [queue](super::queue::RetransmissionQueue) changes it.
#[derive(Clone, Debug, Default)]
pub(in crate::sctp) struct Flight {
    bytes: u64,
    chunks: u64,
    /// A chunk in flight is being timed.
    is_timing: bool,
}

impl Flight {
    #[inline]
    pub(in crate::sctp) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(in crate::sctp) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// The bytes as congestion control counts them.
    #[inline]
    pub(in crate::sctp) fn amount(&self) -> u32 {
        u32::try_from(self.bytes).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(super) fn add(&mut self, length: u64) {
        self.bytes += length;
        self.chunks += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, length: u64) {
        self.bytes -= length;
        self.chunks -= 1;
    }

    #[inline]
    pub(super) fn is_timing(&self) -> bool {
        self.is_timing
    }

    /// A chunk is sent that is `timed`, or not.
    #[inline]
    pub(super) fn begin_timing(&mut self, timed: bool) {
        self.is_timing |= timed;
    }

    /// A chunk is no longer in flight that was `timed`, or not.
    #[inline]
    pub(super) fn end_timing(&mut self, timed: bool) {
        self.is_timing &= !timed;
    }
}
