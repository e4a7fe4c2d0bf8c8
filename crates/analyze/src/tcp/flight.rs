//! The segments of one end that are in flight: when they were sent, and which give a sample of the round-trip time.

use std::collections::VecDeque;

/// Segments in flight whose times are remembered, at most: acknowledgments may be missing from a capture.
const MOST: usize = 65_536;

/// Segments in flight, in the order of their sequence numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    segments: VecDeque<Segment>,
    /// When the newest of the segments that have arrived was sent (RFC 8985).
    newest_arrived: u64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    end: u64,
    time: u64,
    /// When it was sent last.
    last: u64,
    is_again: bool,
    is_sacked: bool,
}

/// What an acknowledgment says of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    /// When the newest of them was sent, if that gives a sample.
    pub(super) newest: Option<u64>,
    /// Whether one of them was sent once, and no SACK block had covered it.
    pub(super) has_original: bool,
}

impl Flight {
    /// A segment up to `end` is sent for the first time.
    pub(super) fn sent(&mut self, end: u64, time: u64) {
        if self.segments.len() == MOST {
            self.segments.pop_front();
        }
        self.segments.push_back(Segment { end, time, last: time, is_again: false, is_sacked: false });
    }

    /// Segments are sent again: those that were sent twice give no sample (RFC 6298, section 3).
    pub(super) fn sent_again(&mut self, start: u64, end: u64, time: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.end <= end) {
            sent.is_again = true;
            sent.last = time;
        }
    }

    /// Whether the segment from `start` on was sent again, and whether one that was sent later has arrived.
    pub(super) fn was(&self, start: u64) -> [bool; 2] {
        let segment = self.segments.get(self.segments.partition_point(|sent| sent.end <= start));
        segment.map_or([false; 2], |sent| [sent.is_again, sent.last < self.newest_arrived])
    }

    /// All up to `acknowledged` have arrived; `shortest` is the shortest round-trip time. As in Linux
    /// (`tcp_clean_rtx_queue`), segments that a SACK block has covered gave their samples then, and there is none if one of
    /// them was sent twice.
    pub(super) fn acknowledged(&mut self, acknowledged: u64, shortest: u64, time: u64) -> Arrived {
        let mut arrived = Arrived::default();
        let mut is_ambiguous = false;
        while let Some(sent) = self.segments.front().filter(|sent| sent.end <= acknowledged) {
            if !sent.is_sacked {
                is_ambiguous |= sent.is_again;
                arrived.has_original |= !sent.is_again;
                arrived.newest = Some(sent.time);
            }
            self.newest_arrived = self.newest_arrived.max(sent.arrival(shortest, time));
            self.segments.pop_front();
        }
        arrived.newest = arrived.newest.filter(|_| !is_ambiguous);
        arrived
    }

    /// A block of a SACK covers segments; returns when the newest of them that gives a sample was sent. Blocks grow at their
    /// ends: what is before a segment that was covered already was so, too.
    pub(super) fn sacked(&mut self, start: u64, end: u64, shortest: u64, time: u64) -> Option<u64> {
        let behind = self.segments.partition_point(|sent| sent.end <= end);
        let mut newest = None;
        for sent in self.segments.range_mut(..behind).rev() {
            if sent.end <= start || sent.is_sacked {
                break;
            }
            sent.is_sacked = true;
            self.newest_arrived = self.newest_arrived.max(sent.arrival(shortest, time));
            if !sent.is_again {
                newest = newest.or(Some(sent.time));
            }
        }
        newest
    }
}

impl Segment {
    /// When the copy that has arrived was sent: 0 if it was the first one, of which nothing follows (RFC 8985, section
    /// 6.2).
    const fn arrival(&self, shortest: u64, time: u64) -> u64 {
        let is_too_new = self.is_again && time.saturating_sub(self.last) < shortest;
        if is_too_new { 0 } else { self.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments of 100 bytes, at 1, 2 and 3.
    fn flight() -> Flight {
        let mut flight = Flight::default();
        (1..=3).for_each(|number| flight.sent(100 * number, number));
        flight
    }

    #[test]
    fn what_sack_has_covered_gives_its_sample_then_and_not_once_the_hole_is_filled() {
        let mut flight = flight();
        assert_eq!(flight.sacked(100, 300, 0, 10), Some(3));
        flight.sent_again(0, 100, 11);
        assert_eq!(flight.acknowledged(300, 0, 20), Arrived::default());
    }

    #[test]
    fn a_segment_that_was_sent_before_one_that_has_arrived_is_overtaken() {
        let mut flight = flight();
        assert_eq!(flight.was(0), [false, false]);
        flight.sacked(100, 200, 0, 10);
        assert_eq!((flight.was(0), flight.was(200)), ([false, true], [false, false]));
        flight.sent_again(0, 100, 11);
        assert_eq!(flight.was(0), [true, false]);
        // The copy cannot have arrived within 1; it was the first one.
        flight.acknowledged(100, 10, 12);
        assert_eq!(flight.was(200), [false, false]);
    }
}
