//! The receiving part of a stream (RFC 9000, section 3.2): reassembly, final size and flow control.

use core::ops::Range;

use super::error::TransportError;
use crate::interval_set::IntervalSet;

/// Ranges beyond the first missing byte that are kept for each byte of the window: the smallest packets of usual traffic
/// are longer.
const BYTES_PER_RANGE: u64 = 256;

/// What is received on a stream.
#[derive(Clone, Debug)]
pub(super) struct ReceiveStream {
    /// The window: bytes that the peer may send beyond those read.
    window: u64,
    /// Bytes that the peer may send in all, as it was told.
    maximum: u64,
    /// Every byte below has arrived.
    next: u64,
    beyond: IntervalSet,
    /// The end of the data that has arrived, or of the stream.
    highest: u64,
    final_size: Option<u64>,
    /// The peer has ended the stream without its data.
    is_reset: bool,
    /// Bytes that the application has read.
    read: u64,
}

/// What a frame has brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    /// By how much the end of the data has grown: what counts for the connection's flow control.
    pub(super) growth: u64,
    /// Bytes that can be read in addition.
    pub(super) readable: u64,
    /// The part of the frame that was kept, if any of it is new.
    pub(super) taken: Option<Range<u64>>,
}

impl ReceiveStream {
    /// A stream with a window of `window` bytes.
    pub(super) fn new(window: u64) -> Self {
        let ranges = usize::try_from(window / BYTES_PER_RANGE).unwrap_or(usize::MAX);
        Self {
            window,
            maximum: window,
            next: 0,
            beyond: IntervalSet::new(ranges.max(16)),
            highest: 0,
            final_size: None,
            is_reset: false,
            read: 0,
        }
    }

    /// Takes a frame.
    ///
    /// # Errors
    ///
    /// It is beyond the window or the final size, or contradicts the final size (sections 4.1 and 4.5).
    pub(super) fn accept(&mut self, range: Range<u64>, fin: bool) -> Result<Accepted, TransportError> {
        let growth = self.extend(range.end, fin)?;
        if self.is_reset {
            return Ok(Accepted { growth, ..Accepted::default() });
        }
        let start = range.start.max(self.next);
        if start >= range.end {
            return Ok(Accepted { growth, ..Accepted::default() });
        }
        let new = start..range.end;
        let before = self.next;
        if start == self.next {
            self.next = self.beyond.advance(range.end);
            return Ok(Accepted { growth, readable: self.next - before, taken: Some(new) });
        }
        let held = self.beyond.covered();
        let insertion = self.beyond.insert(new.clone());
        // What did not fit is sent again.
        let end = insertion.dropped_from.map_or(new.end, |from| from.min(new.end));
        let is_new = self.beyond.covered() > held && end > new.start;
        Ok(Accepted { growth, readable: 0, taken: is_new.then_some(new.start..end) })
    }

    /// The peer ends the stream at `final_size`, without the data that has not arrived. Returns by how much the end of
    /// the data has grown, and how many bytes are never read.
    pub(super) fn on_reset(&mut self, final_size: u64) -> Result<(u64, u64), TransportError> {
        let growth = self.extend(final_size, true)?;
        self.is_reset = true;
        let unread = final_size - self.read;
        self.read = final_size;
        Ok((growth, unread))
    }

    /// Data reaches to `end`, where the stream ends if `fin` is set.
    fn extend(&mut self, end: u64, fin: bool) -> Result<u64, TransportError> {
        if end > self.maximum {
            return Err(TransportError::FlowControl);
        }
        let contradicts = match self.final_size {
            Some(size) => end > size || fin && end != size,
            None => fin && end < self.highest,
        };
        if contradicts {
            return Err(TransportError::FinalSize);
        }
        if fin {
            self.final_size = Some(end);
        }
        let growth = end.saturating_sub(self.highest);
        self.highest += growth;
        Ok(growth)
    }

    /// Bytes that have arrived in order.
    #[inline]
    pub(super) fn received(&self) -> u64 {
        self.next
    }

    /// Whether all of the stream has arrived, or the peer has ended it without.
    pub(super) fn is_complete(&self) -> bool {
        self.is_reset || self.final_size == Some(self.next)
    }

    /// Whether the application has read all of it, or never will.
    pub(super) fn is_read(&self) -> bool {
        self.final_size == Some(self.read)
    }

    /// The application has read `total` bytes from the start. Returns by how much that has grown.
    pub(super) fn set_read(&mut self, total: u64) -> u64 {
        let before = self.read;
        self.read = total.clamp(before, self.next.max(before));
        self.read - before
    }

    /// Whether the peer should be told of a larger window: an eighth of it was read, so that a sender is not held up
    /// while it learns of that.
    #[inline]
    pub(super) fn owes_window(&self) -> bool {
        self.final_size.is_none() && self.maximum - self.read <= self.window - self.window / 8
    }

    /// The bytes that the peer may send from now on, which it is told.
    pub(super) fn raise_maximum(&mut self) -> u64 {
        self.maximum = self.maximum.max(self.read + self.window);
        self.maximum
    }

    /// Bytes that the peer may still send.
    pub(super) fn window_left(&self) -> u64 {
        self.maximum - self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(growth: u64, readable: u64, taken: Option<Range<u64>>) -> Result<Accepted, TransportError> {
        Ok(Accepted { growth, readable, taken })
    }

    #[test]
    fn data_is_readable_once_and_in_order() {
        let mut stream = ReceiveStream::new(1000);
        assert_eq!(stream.accept(100..200, false), accepted(200, 0, Some(100..200)));
        assert_eq!(stream.accept(100..200, false), accepted(0, 0, None));
        assert_eq!(stream.accept(0..50, false), accepted(0, 50, Some(0..50)));
        assert_eq!(stream.accept(20..120, false), accepted(0, 150, Some(50..120)));
        assert_eq!(stream.accept(200..200, true), accepted(0, 0, None));
        assert!(stream.is_complete());
    }

    #[test]
    fn what_contradicts_the_final_size_or_the_window_is_an_error() {
        let mut stream = ReceiveStream::new(1000);
        assert_eq!(stream.accept(900..1001, false), Err(TransportError::FlowControl));
        assert_eq!(stream.accept(0..500, false), accepted(500, 500, Some(0..500)));
        assert_eq!(stream.accept(0..400, true), Err(TransportError::FinalSize));
        assert_eq!(stream.accept(500..600, true), accepted(100, 100, Some(500..600)));
        assert_eq!(stream.accept(600..601, false), Err(TransportError::FinalSize));
        assert_eq!(stream.on_reset(601), Err(TransportError::FinalSize));
        assert_eq!((stream.set_read(100), stream.on_reset(600), stream.on_reset(600)), (100, Ok((0, 500)), Ok((0, 0))));
    }

    #[test]
    fn the_window_is_raised_when_an_eighth_of_it_was_read() {
        let mut stream = ReceiveStream::new(1000);
        assert_eq!(stream.accept(0..800, false), accepted(800, 800, Some(0..800)));
        assert_eq!((stream.set_read(124), stream.owes_window(), stream.window_left()), (124, false, 200));
        assert_eq!((stream.set_read(600), stream.owes_window()), (476, true));
        assert_eq!((stream.raise_maximum(), stream.window_left()), (1600, 800));
    }
}
