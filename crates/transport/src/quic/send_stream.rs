//! The sending part of a stream (RFC 9000, section 3.1): what is sent, lost and acknowledged.

use core::ops::Range;
use std::collections::VecDeque;

use super::Carriers;
use super::placement::Placement;
use crate::interval_set::IntervalSet;

/// Ranges that are acknowledged beyond the first byte that is not. One is at least a packet long, so that a window of
/// 100 MB has no more.
const MOST_RANGES: usize = 1 << 16;

/// The data of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<u64>,
    /// Its place in all that the connection has sent.
    pub(super) place: u64,
    /// Whether the stream ends with it.
    pub(super) fin: bool,
    /// Whether it was sent before.
    pub(super) is_retransmission: bool,
}

/// What is sent on a stream.
#[derive(Clone, Debug)]
pub(super) struct SendStream {
    /// Bytes that the application has written.
    written: u64,
    /// The first byte that was never sent.
    next: u64,
    /// Whether the stream ends with what is written.
    finished: bool,
    end: End,
    /// Every byte below is acknowledged.
    acknowledged: u64,
    beyond: IntervalSet,
    /// What was lost, in the order in which that was found.
    lost: VecDeque<Range<u64>>,
    placement: Placement,
    carriers: Carriers,
    /// Bytes that the peer allows.
    maximum: u64,
    /// What the application does not send any more, with its error.
    reset: Option<u64>,
}

/// How far the end of the stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Unsent,
    InFlight,
    Acknowledged,
}

impl SendStream {
    /// A stream on which the peer takes `maximum` bytes at first.
    pub(super) fn new(maximum: u64) -> Self {
        Self {
            written: 0,
            next: 0,
            finished: false,
            end: End::Unsent,
            acknowledged: 0,
            beyond: IntervalSet::new(MOST_RANGES),
            lost: VecDeque::new(),
            placement: Placement::default(),
            carriers: Carriers::default(),
            maximum,
            reset: None,
        }
    }

    /// The application writes `bytes` bytes.
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.finished {
            self.written += bytes;
        }
    }

    /// The stream ends with what is written.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// Discards what was never sent, and returns how many bytes that is.
    pub(super) fn discard_unsent(&mut self) -> u64 {
        let discarded = self.written - self.next;
        self.written = self.next;
        discarded
    }

    /// Ends the stream without what was not sent yet; what is in flight is not sent again. Returns whether there was
    /// anything to end.
    pub(super) fn reset(&mut self, error_code: u64) -> bool {
        if self.is_acknowledged() || self.reset.is_some() {
            return false;
        }
        self.discard_unsent();
        self.lost.clear();
        (self.reset, self.finished) = (Some(error_code), true);
        true
    }

    /// The error with which the stream was ended, and its size.
    pub(super) fn reset_with(&self) -> Option<(u64, u64)> {
        self.reset.map(|error_code| (error_code, self.next))
    }

    /// The end, or its reset, has arrived.
    pub(super) fn on_reset_acknowledged(&mut self) {
        (self.end, self.acknowledged) = (End::Acknowledged, self.next);
    }

    /// The peer allows `maximum` bytes, if it has not allowed more before.
    pub(super) fn allow(&mut self, maximum: u64) {
        self.maximum = self.maximum.max(maximum);
    }

    /// Bytes from the start on that are acknowledged.
    #[inline]
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Bytes from the start on that were sent.
    #[inline]
    pub(super) fn sent(&self) -> u64 {
        self.next
    }

    /// Whether all data and the end of the stream are acknowledged.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.end == End::Acknowledged && self.acknowledged == self.written
    }

    /// Whether the stream has anything to send, with a `credit` of new bytes on the connection.
    #[inline]
    pub(super) fn has_pending(&self, credit: u64) -> bool {
        if self.reset.is_some() {
            return false;
        }
        !self.lost.is_empty() || self.new_bytes(credit) > 0 || self.owes_end()
    }

    /// Whether it has anything to send, whatever the connection's credit.
    #[inline]
    pub(super) fn wants_to_send(&self) -> bool {
        self.has_pending(u64::MAX)
    }

    /// The place of `offset` in all that the connection has sent.
    pub(super) fn place_of(&self, offset: u64) -> u64 {
        self.placement.of(offset).0
    }

    /// Bytes to send again, and new ones with a `credit` of the connection.
    pub(super) fn pending_bytes(&self, credit: u64) -> (u64, u64) {
        let again = self.lost.iter().map(|range| range.end - range.start).sum();
        if self.reset.is_some() { (0, 0) } else { (again, self.new_bytes(credit)) }
    }

    #[inline]
    fn new_bytes(&self, credit: u64) -> u64 {
        self.written.min(self.maximum).saturating_sub(self.next).min(credit)
    }

    /// Whether the end is to be sent, and no data is left that goes before it.
    #[inline]
    fn owes_end(&self) -> bool {
        self.finished && self.end == End::Unsent && self.next == self.written
    }

    /// Where the next frame begins: its offset is part of its header.
    pub(super) fn next_offset(&mut self) -> u64 {
        self.skip_acknowledged();
        self.lost.front().map_or(self.next, |range| range.start)
    }

    /// Takes what the next frame carries: at most `room` bytes, and at most `credit` new ones. The connection has sent `sent`
    /// bytes on all streams.
    pub(super) fn take(&mut self, room: u64, credit: u64, sent: u64) -> Option<Piece> {
        self.skip_acknowledged();
        if let Some(range) = self.lost.front_mut() {
            let end = self.beyond.first_within(range.clone()).map_or(range.end, |held| held.start);
            // A frame has one place.
            let (place, part_end) = self.placement.of(range.start);
            let end = part_end.map_or(end, |part_end| part_end.min(end));
            let piece = range.start..end.min(range.start + room);
            if piece.is_empty() {
                return None;
            }
            range.start = piece.end;
            if range.is_empty() {
                self.lost.pop_front();
            }
            // An end that was lost is sent again with the data before it.
            let fin =
                self.finished && piece.end == self.written && self.end == End::Unsent && self.next == self.written;
            self.mark_end_sent(fin);
            return Some(Piece { range: piece, place, fin, is_retransmission: true });
        }
        let start = self.next;
        self.next += self.new_bytes(credit).min(room);
        let fin = self.owes_end();
        if self.next == start && !fin {
            return None;
        }
        self.mark_end_sent(fin);
        self.placement.add(start, sent);
        Some(Piece { range: start..self.next, place: sent, fin, is_retransmission: false })
    }

    /// What was [taken](Self::take) leaves on the path with this number. Returns how many bytes another one carried last.
    pub(super) fn carry(&mut self, range: Range<u64>, path: u32) -> u64 {
        self.carriers.carry(range, path)
    }

    fn mark_end_sent(&mut self, fin: bool) {
        if fin {
            self.end = End::InFlight;
        }
    }

    /// Removes what was acknowledged after all from what is sent again next.
    fn skip_acknowledged(&mut self) {
        while let Some(range) = self.lost.front_mut() {
            range.start = range.start.max(self.acknowledged);
            if let Some(held) = self.beyond.interval_of(range.start) {
                range.start = held.end;
            }
            if range.start < range.end {
                return;
            }
            self.lost.pop_front();
        }
    }

    /// The peer has received a frame. Returns by how much the acknowledged beginning has grown.
    pub(super) fn on_acknowledged(&mut self, range: Range<u64>, fin: bool) -> u64 {
        if fin {
            self.end = End::Acknowledged;
        }
        let before = self.acknowledged;
        if range.start > before {
            self.beyond.insert(range);
        } else if range.end > before {
            self.acknowledged = self.beyond.advance(range.end);
            self.placement.forget_below(self.acknowledged);
            self.carriers.forget_below(self.acknowledged);
        }
        self.acknowledged - before
    }

    /// A frame is lost, or a probe sends it again.
    pub(super) fn on_lost(&mut self, range: Range<u64>, fin: bool) {
        if self.reset.is_some() {
            return;
        }
        if fin && self.end == End::InFlight {
            self.end = End::Unsent;
        }
        // Two probes may carry the same data.
        if !range.is_empty() && range.end > self.acknowledged && self.lost.back() != Some(&range) {
            self.lost.push_back(range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(range: Range<u64>, fin: bool, is_retransmission: bool) -> Option<Piece> {
        Some(Piece { place: range.start, range, fin, is_retransmission })
    }

    /// What is taken of the only stream of a connection.
    fn take(stream: &mut SendStream, room: u64, credit: u64) -> Option<Piece> {
        let sent = stream.sent();
        stream.take(room, credit, sent)
    }

    fn written(bytes: u64) -> SendStream {
        let mut stream = SendStream::new(u64::MAX);
        stream.write(bytes);
        stream
    }

    #[test]
    fn the_end_goes_with_the_last_data_and_alone_if_that_was_sent_before() {
        let mut stream = written(250);
        stream.finish();
        assert_eq!(take(&mut stream, 100, 1000), piece(0..100, false, false));
        assert_eq!(take(&mut stream, 200, 1000), piece(100..250, true, false));
        assert_eq!(take(&mut stream, 200, 1000), None);
        let mut stream = written(50);
        assert_eq!(take(&mut stream, 100, 1000), piece(0..50, false, false));
        stream.finish();
        assert!(stream.has_pending(0));
        assert_eq!(take(&mut stream, 100, 0), piece(50..50, true, false));
    }

    #[test]
    fn both_limits_of_flow_control_hold() {
        let mut stream = SendStream::new(120);
        stream.write(500);
        assert_eq!(take(&mut stream, 1000, 70), piece(0..70, false, false));
        assert_eq!(take(&mut stream, 1000, 70), piece(70..120, false, false));
        assert_eq!((take(&mut stream, 1000, 70), stream.has_pending(70)), (None, false));
        stream.allow(200);
        assert_eq!((stream.has_pending(0), stream.has_pending(1)), (false, true));
    }

    #[test]
    fn lost_data_is_sent_again_unless_it_was_acknowledged_meanwhile() {
        let mut stream = written(400);
        stream.finish();
        (0..4).for_each(|n| assert_eq!(take(&mut stream, 100, 1000), piece(100 * n..100 * n + 100, n == 3, false)));
        [0..100, 100..200].into_iter().for_each(|range| stream.on_lost(range, false));
        stream.on_lost(300..400, true);
        assert_eq!(stream.on_acknowledged(100..200, false), 0);
        assert_eq!(take(&mut stream, 60, 0), piece(0..60, false, true));
        assert_eq!(stream.next_offset(), 60);
        assert_eq!(take(&mut stream, 60, 0), piece(60..100, false, true));
        assert_eq!(take(&mut stream, 200, 0), piece(300..400, true, true));
        assert_eq!(stream.on_acknowledged(0..100, false), 200);
        assert_eq!(stream.on_acknowledged(300..400, true), 0);
        assert!(!stream.is_acknowledged());
        assert_eq!(stream.on_acknowledged(200..300, false), 200);
        assert!(stream.is_acknowledged());
    }

    #[test]
    fn a_reset_stream_sends_nothing_more() {
        let mut stream = written(400);
        take(&mut stream, 100, 1000);
        assert!(stream.reset(7) && !stream.reset(8));
        stream.on_lost(0..100, false);
        assert_eq!((stream.has_pending(1000), stream.reset_with()), (false, Some((7, 100))));
        stream.on_reset_acknowledged();
        assert!(stream.is_acknowledged());
    }
}
