//! The send queue: data not yet sent, and the FIN that follows it.

use core::ops::Range;
use std::collections::VecDeque;

/// Data that has not yet been sent, and this side's FIN.
#[derive(Clone, Debug, Default)]
pub(super) struct SendQueue {
    /// Ranges of the application stream (MPTCP: data-level offsets), in the order of transmission. The first one is
    /// not in the queue of the others, since mostly there are no others; it is empty if there is no data.
    first: Range<u64>,
    others: VecDeque<Range<u64>>,
    /// Bytes in all ranges.
    bytes: u64,
    fin: Fin,
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
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Segments of at most `mss` bytes that the data will fill; no segment carries data of two ranges.
    pub(super) fn packets(&self, mss: u64) -> u64 {
        self.ranges().map(|range| (range.end - range.start).div_ceil(mss)).sum()
    }

    /// Whether neither data nor a FIN is to be sent.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && !self.wants_fin()
    }

    /// Bytes of the first range, which limit the next segment; `None` without data.
    #[inline]
    pub(super) fn front_bytes(&self) -> Option<u64> {
        (!self.first.is_empty()).then(|| self.first.end - self.first.start)
    }

    /// Removes and returns up to `most` bytes of contiguous data from the front; an empty range if there are none.
    pub(super) fn take(&mut self, most: u64) -> Range<u64> {
        let end = self.first.end.min(self.first.start.saturating_add(most));
        let taken = self.first.start..end;
        self.first.start = end;
        if self.first.is_empty() {
            self.first = self.others.pop_front().unwrap_or_default();
        }
        self.bytes -= taken.end - taken.start;
        taken
    }

    /// The data, in the order of transmission.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        Some(&self.first).filter(|first| !first.is_empty()).into_iter().chain(&self.others)
    }

    /// Appends `data`, which is not empty.
    pub(super) fn push(&mut self, data: Range<u64>) {
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

    /// Removes all but the first `keep` bytes, and returns how many it has removed.
    pub(super) fn truncate(&mut self, keep: u64) -> u64 {
        let excess = self.bytes.saturating_sub(keep);
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
        excess
    }

    /// A FIN is to follow the data.
    pub(super) fn finish(&mut self) {
        if self.fin == Fin::None {
            self.fin = Fin::Wanted;
        }
    }

    /// Whether a FIN is to be sent or has been sent.
    pub(super) fn is_finishing(&self) -> bool {
        self.fin != Fin::None
    }

    /// Whether a FIN is to be sent.
    #[inline]
    pub(super) fn wants_fin(&self) -> bool {
        self.fin == Fin::Wanted
    }

    /// The FIN was sent at `offset`.
    pub(super) fn on_fin_sent(&mut self, offset: u64) {
        self.fin = Fin::Sent(offset);
    }

    /// Whether the FIN was sent at `offset` and is not acknowledged.
    pub(super) fn has_fin_at(&self, offset: u64) -> bool {
        self.fin == Fin::Sent(offset)
    }

    /// Processes the acknowledgment of everything below `una`. Returns whether it newly covers the FIN.
    pub(super) fn acknowledge_fin(&mut self, una: u64) -> bool {
        let covered = matches!(self.fin, Fin::Sent(offset) if una > offset);
        if covered {
            self.fin = Fin::Acknowledged;
        }
        covered
    }

    /// Whether the FIN has been acknowledged.
    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.fin == Fin::Acknowledged
    }
}
