//! The send queue: data not yet sent, the FIN that follows it, and a pending reset.

use core::ops::Range;
use std::collections::VecDeque;

use super::Connection;

/// Data and control bits that have not yet been sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    /// Ranges of the application stream (MPTCP: data-level offsets), in the order of transmission. The first one is
    /// not in the queue of the others, since mostly there are no others; it is empty if there is no data.
    first: Range<u64>,
    others: VecDeque<Range<u64>>,
    /// Bytes in all ranges.
    bytes: u64,
    fin: Fin,
    /// A reset is to be sent.
    pub(crate) reset: Option<Reset>,
}

/// Reason for a reset (RFC 9293, section 3.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// This side aborted the connection.
    Abort,
    /// The peer acknowledged this sequence number, which was never sent.
    Refusal(u32),
}

/// State of this side's FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fin {
    #[default]
    None,
    /// It is to follow the data.
    Wanted,
    /// It was sent at this offset.
    Sent(u64),
    Acknowledged,
}

impl SendQueue {
    /// Bytes of data.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Segments of at most `mss` bytes that the data will fill; no segment carries data of two ranges.
    pub(crate) fn packets(&self, mss: u64) -> u64 {
        self.ranges().map(|range| (range.end - range.start).div_ceil(mss)).sum()
    }

    /// Whether neither data nor a FIN is to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && !self.wants_fin()
    }

    /// Bytes of the first range, which limit the next segment; `None` without data.
    pub(crate) fn front_bytes(&self) -> Option<u64> {
        (!self.first.is_empty()).then(|| self.first.end - self.first.start)
    }

    /// Removes and returns up to `most` bytes of contiguous data from the front; an empty range if there are none.
    pub(crate) fn take(&mut self, most: u64) -> Range<u64> {
        let end = self.first.end.min(self.first.start.saturating_add(most));
        let taken = self.first.start..end;
        self.first.start = end;
        if self.first.is_empty() {
            self.first = self.others.pop_front().unwrap_or_default();
        }
        self.bytes -= taken.end - taken.start;
        taken
    }

    fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        Some(&self.first).filter(|first| !first.is_empty()).into_iter().chain(&self.others)
    }

    fn push(&mut self, data: Range<u64>) {
        self.bytes += data.end - data.start;
        let last = self.others.back_mut().unwrap_or(&mut self.first);
        if last.is_empty() {
            *last = data;
        } else if last.end == data.start {
            last.end = data.end;
        } else {
            self.others.push_back(data);
        }
    }

    /// Removes the last `excess` bytes.
    fn cut(&mut self, excess: u64) {
        let mut left = excess;
        while left > 0 {
            let last = self.others.back_mut().unwrap_or(&mut self.first);
            let cut = left.min(last.end - last.start);
            last.end -= cut;
            left -= cut;
            if last.is_empty() {
                self.others.pop_back();
            }
        }
        self.bytes -= excess;
    }

    /// A FIN is to follow the data.
    pub(crate) fn finish(&mut self) {
        if self.fin == Fin::None {
            self.fin = Fin::Wanted;
        }
    }

    /// Whether a FIN is to be sent or has been sent.
    pub(crate) fn is_finishing(&self) -> bool {
        self.fin != Fin::None
    }

    /// Whether a FIN is to be sent.
    #[inline]
    pub(crate) fn wants_fin(&self) -> bool {
        self.fin == Fin::Wanted
    }

    /// The FIN was sent at `offset`.
    pub(crate) fn on_fin_sent(&mut self, offset: u64) {
        self.fin = Fin::Sent(offset);
    }

    /// Whether the FIN was sent at `offset` and is not acknowledged.
    pub(crate) fn has_fin_at(&self, offset: u64) -> bool {
        self.fin == Fin::Sent(offset)
    }

    /// Processes the acknowledgment of everything below `una`. Returns whether it newly covers the FIN.
    pub(crate) fn acknowledge_fin(&mut self, una: u64) -> bool {
        let covered = matches!(self.fin, Fin::Sent(offset) if una > offset);
        if covered {
            self.fin = Fin::Acknowledged;
        }
        covered
    }

    /// Whether the FIN has been acknowledged.
    pub(crate) fn fin_is_acknowledged(&self) -> bool {
        self.fin == Fin::Acknowledged
    }
}

impl Connection {
    /// Appends `data`, a range of the application stream (MPTCP: data-level offsets), to the send queue.
    pub fn push_data(&mut self, data: Range<u64>) {
        debug_assert!(!self.is_finishing(), "data after the FIN");
        if data.is_empty() {
            return;
        }
        self.queue.push(data);
    }

    /// Removes the data that has not been sent, except for its first `keep` bytes. Returns the number of bytes removed.
    pub fn discard_unsent(&mut self, keep: u64) -> u64 {
        let excess = self.queue.bytes.saturating_sub(keep);
        self.queue.cut(excess);
        excess
    }

    /// The data that may be sent or repeated: ranges of the application stream (MPTCP: data-level offsets).
    pub(crate) fn unacknowledged_data(&self) -> impl Iterator<Item = Range<u64>> {
        self.sent.data().chain(self.queue.ranges().cloned())
    }

    /// Ends the stream: a FIN follows the queued data.
    pub fn finish(&mut self) {
        self.queue.finish();
    }

    /// Whether [`finish`](Self::finish) was called.
    pub fn is_finishing(&self) -> bool {
        self.queue.is_finishing()
    }

    /// Whether this side's FIN, and with it every byte pushed, has been acknowledged.
    pub fn fin_is_acknowledged(&self) -> bool {
        self.queue.fin_is_acknowledged()
    }

    /// Bytes pushed and not yet sent.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
