//! The receive side of the data level: what is in order, what waits for a hole, the shared window, and the end of the
//! peer's stream (RFC 8684, sections 3.3.1 to 3.3.5).

use core::ops::Range;

use subflow_quantity::{Duration, Instant};

use crate::interval_set::IntervalSet;
use crate::tcp::config::ReceiveBuffer;
use crate::tcp::{PACKET_OVERHEAD, ReceiveWindow};

/// Minimum bound on the number of intervals, for small receive buffers.
const LEAST_BOUND: u64 = 64;

/// How far beyond the data-level window a mapping may begin: for a window probe, or data within an older window of the
/// peer's subflow.
const WINDOW_TOLERANCE: u64 = 1 << 16;

/// The receive side of the data level. Offsets count the peer's bytes from 0.
///
/// What waits for a hole lies beyond the DATA_ACK and before the end of the peer's stream.
#[derive(Clone, Debug)]
pub(super) struct ReceiveSide {
    /// Next expected offset: the DATA_ACK.
    next: u64,
    /// Data that arrived out of order. The number of intervals is bounded by the number of packets that fit into the
    /// receive buffer. Data beyond the bound is not acknowledged, and the peer retransmits it at the data level.
    held: IntervalSet,
    window: ReceiveWindow,
    end: PeerEnd,
}

/// The end of the peer's stream.
#[derive(Clone, Copy, Debug)]
enum PeerEnd {
    Unknown,
    /// The DATA_FIN has this offset, and data before it is missing.
    At(u64),
    Reached,
}

/// What data has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    /// Bytes that had not arrived before.
    pub(super) new: u64,
    /// Bytes that became in order.
    pub(super) in_order: u64,
}

impl ReceiveSide {
    pub(super) fn new(buffer: ReceiveBuffer, mss: u32, now: Instant) -> Self {
        let mut window = ReceiveWindow::new(buffer, mss, now);
        window.select(0, 0);
        window.on_established(now);
        let bound = (buffer.largest() / PACKET_OVERHEAD).max(LEAST_BOUND);
        Self { next: 0, held: IntervalSet::new(bound as usize), window, end: PeerEnd::Unknown }
    }

    /// The next expected offset, which the DATA_ACK contains. A DATA_FIN counts as a byte.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that wait for a hole to be filled.
    #[inline]
    pub(super) fn out_of_order(&self) -> u64 {
        self.held.covered()
    }

    /// Whether there is a hole before data that has arrived.
    pub(super) fn has_hole(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether a mapping may begin at `offset`.
    #[inline]
    pub(super) fn may_begin_at(&self, offset: u64) -> bool {
        offset <= self.window.right_edge() + WINDOW_TOLERANCE
    }

    /// Data `range` has arrived. `None` if nothing of it is new, or it lies beyond the end of the stream: the DATA_FIN
    /// takes an offset of its own, and there is no data beyond it, whatever the peer maps there.
    #[inline]
    pub(super) fn accept(&mut self, range: Range<u64>) -> Option<Accepted> {
        let end = match self.end {
            PeerEnd::Unknown => range.end,
            PeerEnd::At(fin) => range.end.min(fin),
            PeerEnd::Reached => return None,
        };
        if end <= self.next.max(range.start) {
            return None;
        }
        let before = self.next;
        let known = before + self.held.covered();
        if range.start <= before && self.held.is_empty() {
            self.next = end;
        } else {
            self.held.insert(range.start.max(before)..end);
            self.next = self.held.advance(before);
        }
        let new = (self.next + self.held.covered()).saturating_sub(known);
        Some(Accepted { new, in_order: self.next - before })
    }

    /// On plain TCP: `bytes` further bytes have arrived in order.
    pub(super) fn accept_in_order(&mut self, bytes: u64) {
        self.next += bytes;
    }

    /// The peer's stream ends at `offset`. An offset below the in-order data is ignored, and so is another one than the
    /// first. Returns whether it was not known before.
    pub(super) fn on_data_fin(&mut self, offset: u64) -> bool {
        let is_new = matches!(self.end, PeerEnd::Unknown) && offset >= self.next;
        if is_new {
            self.end = PeerEnd::At(offset);
            // There is no data beyond it, whatever was mapped there before.
            self.held.discard_from(offset);
        }
        is_new
    }

    /// Takes the DATA_FIN if all data before it has arrived. Returns whether this is new.
    #[inline]
    pub(super) fn reach_end(&mut self) -> bool {
        let reached = matches!(self.end, PeerEnd::At(fin) if fin == self.next);
        if reached {
            self.next += 1;
            self.end = PeerEnd::Reached;
        }
        reached
    }

    /// After a fallback: the FIN of the subflow ends the peer's stream here.
    pub(super) fn end_here(&mut self) {
        self.end = PeerEnd::Reached;
    }

    /// Whether all of the peer's stream has arrived.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.end, PeerEnd::Reached)
    }
}

/// The window, which all subflows share.
impl ReceiveSide {
    pub(super) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// What is left of the window that was advertised.
    pub(super) fn window_left(&self) -> u64 {
        self.window.left(self.next)
    }

    /// A segment with `length` bytes may open the window, while the application has not read `unread` bytes. Returns
    /// whether it did.
    #[inline]
    pub(super) fn open_window(&mut self, length: u64, unread: u64) -> bool {
        self.window.on_segment(length, unread + self.held.covered())
    }

    /// The window to advertise, counted from the DATA_ACK, while the application has not read `unread` bytes; below the
    /// threshold of a subflow that opens it by what it receives itself.
    #[inline]
    pub(super) fn advertise(&mut self, threshold: Option<u64>, unread: u64) -> u64 {
        let held = unread + self.held.covered();
        match threshold {
            None => self.window.select(self.next, held),
            Some(threshold) => self.window.select_below(threshold, self.next, held),
        }
    }

    /// The largest window that would be advertised on subflows with these thresholds. Nothing is advertised.
    pub(super) fn possible_window(&self, thresholds: impl Iterator<Item = Option<u64>>, unread: u64) -> u64 {
        let held = unread + self.held.covered();
        let mut window = self.window.clone();
        let windows = thresholds.map(|threshold| match threshold {
            None => window.select(self.next, held),
            Some(threshold) => window.select_below(threshold, self.next, held),
        });
        windows.max().unwrap_or(0)
    }

    /// The subflows open the window, each its own; the shared one follows the one that is least open.
    pub(super) fn follow_subflows<'a>(&mut self, windows: impl Iterator<Item = &'a ReceiveWindow>) {
        self.window.take_least_share(windows);
    }

    /// Adjusts the buffer to the amount of data that the application reads in a round trip of `rtt`; `unread` bytes are
    /// not read. Returns whether it has grown.
    #[inline]
    pub(super) fn adjust_buffer(&mut self, rtt: Option<Duration>, unread: u64, now: Instant) -> bool {
        if let Some(rtt) = rtt {
            self.window.set_rtt(rtt);
        }
        self.window.on_read(now, self.next - unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive() -> ReceiveSide {
        ReceiveSide::new(ReceiveBuffer::Fixed(100_000), 1448, Instant::ZERO)
    }

    #[test]
    fn data_counts_when_it_arrives_first_and_is_in_order_when_the_hole_is_filled() {
        let mut receive = receive();
        assert_eq!(receive.accept(100..200), Some(Accepted { new: 100, in_order: 0 }));
        assert_eq!((receive.next(), receive.out_of_order()), (0, 100));
        assert_eq!(receive.accept(50..150), Some(Accepted { new: 50, in_order: 0 }));
        assert_eq!(receive.accept(0..60), Some(Accepted { new: 50, in_order: 200 }));
        assert_eq!(receive.accept(0..200), None);
        assert!(!receive.has_hole());
    }

    #[test]
    fn there_is_no_data_beyond_the_first_data_fin() {
        let mut receive = receive();
        receive.accept(0..10);
        receive.accept(100..200);
        assert!(!receive.on_data_fin(9), "those bytes are in order");
        assert!(receive.on_data_fin(150) && !receive.on_data_fin(180));
        assert_eq!(receive.out_of_order(), 50);
        assert_eq!(receive.accept(150..300), None);
        assert!(!receive.reach_end());
        receive.accept(10..100);
        assert!(receive.reach_end() && !receive.reach_end());
        assert_eq!((receive.next(), receive.has_ended()), (151, true), "the DATA_FIN is acknowledged");
        assert_eq!(receive.accept(0..400), None);
    }

    #[test]
    fn a_window_that_is_only_possible_is_not_advertised() {
        let mut receive = receive();
        let left = receive.window_left();
        receive.accept(0..left / 2);
        assert!(receive.possible_window([None].into_iter(), 0) > receive.window_left());
        assert_eq!(receive.window_left(), left - left / 2);
        assert_eq!(receive.possible_window([].into_iter(), 0), 0);
    }
}
