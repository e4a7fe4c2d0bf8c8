//! What arrives at the receiver, and what can be read then.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};

use super::record::DataRecord;
use super::segments::Segment;
use crate::results::{Sequence, SequenceKind};

impl DataRecord {
    /// A range has arrived, and all data below `readable` can be read now. Returns what could not be read before.
    #[inline(always)]
    pub(super) fn arrive(&mut self, data: Range<u64>, readable: u64, now: Instant) -> Option<Range<u64>> {
        match self.segments.front() {
            // Most data is what the reader waits for, as it was sent.
            Some(&next)
                if (next.start, next.end(), next.is_repeated()) == (data.start, data.end, false)
                    && readable >= data.end
                    && !next.has_arrived() =>
            {
                self.settle(now);
                self.segments.pop_front();
                self.read(&next, now, Duration::ZERO);
                self.read_to(readable, now)
            }
            _ => self.arrive_otherwise(data, readable, now),
        }
    }

    #[inline(never)]
    fn arrive_otherwise(&mut self, data: Range<u64>, readable: u64, now: Instant) -> Option<Range<u64>> {
        self.settle(now);
        self.hold(data, readable, now);
        self.read_to(readable, now)
    }

    /// One of several ranges of a packet has arrived, after which data below `readable` can be read: as much of it as
    /// this range completes.
    pub(super) fn arrive_with_others(&mut self, data: Range<u64>, readable: u64, now: Instant) -> Option<Range<u64>> {
        self.settle(now);
        self.hold(data, 0, now);
        let mut complete = self.readable;
        for segment in self.segments.iter() {
            if segment.start > complete || !segment.has_arrived() {
                break;
            }
            complete = segment.end();
        }
        self.read_to(complete.min(readable), now)
    }

    /// All data below `readable` can be read.
    #[inline]
    fn read_to(&mut self, readable: u64, now: Instant) -> Option<Range<u64>> {
        if readable <= self.readable {
            return None;
        }
        let before = core::mem::replace(&mut self.readable, readable);
        if self.arrived > 0 || self.segments.front().is_some_and(|front| front.end() <= readable) {
            self.read_segments(now);
        }
        self.mark_readable(readable, now);
        Some(before..readable)
    }

    /// Reads the segments below `readable`.
    #[inline]
    fn read_segments(&mut self, now: Instant) {
        while let Some(&segment) = self.segments.front().filter(|segment| segment.end() <= self.readable) {
            self.segments.pop_front();
            self.finish(&segment, now, true);
        }
        if !self.fragments.is_empty() {
            self.arrived -= self.fragments.remove(0..self.readable);
        }
    }

    /// A segment, which is not among those that wait any more, can be read or never is.
    fn finish(&mut self, segment: &Segment, now: Instant, is_read: bool) {
        let waited = if segment.has_arrived() {
            self.arrived -= segment.length();
            now - segment.arrived_at
        } else {
            self.arrived -= self.fragments.remove(segment.start..segment.end());
            Duration::ZERO
        };
        if is_read {
            self.read(segment, now, waited);
        }
    }

    /// A segment can be read, and has waited for earlier data.
    #[inline(always)]
    fn read(&mut self, segment: &Segment, now: Instant, waited: Duration) {
        let delay = now - segment.sent_at;
        match segment.has_arrived() || segment.is_repeated() {
            true => self.delays.on_readable(delay, waited),
            false => self.delays.on_read_at_once(segment.subflow(), delay),
        }
        self.since_sample.segments += 1;
        self.since_sample.delay += delay;
        self.since_sample.waited += waited;
    }

    #[inline]
    fn mark_readable(&mut self, end: u64, now: Instant) {
        self.sequence.get_or_insert_with(|| Sequence::new("", SequenceKind::Readable)).push(now, end);
    }

    /// A range has arrived. What is not below `readable` waits.
    fn hold(&mut self, data: Range<u64>, readable: u64, now: Instant) {
        let before = self.readable;
        let Self { segments, fragments, arrived, delays, chunks, .. } = self;
        for segment in segments.within(data.clone()) {
            if segment.is_done() || segment.end() <= readable {
                continue;
            }
            if segment.has_arrived() {
                // SCTP's receiver had dropped it to make room.
                segment.arrived_at = if chunks.is_empty() { segment.arrived_at } else { now };
                continue;
            }
            let unread = segment.start.max(before)..segment.end();
            let part = data.start.max(unread.start)..data.end.min(unread.end);
            if part.is_empty() {
                continue;
            }
            if part != unread {
                *arrived += fragments.add(part);
                if !fragments.covers(unread) {
                    continue;
                }
            }
            *arrived += segment.length() - fragments.remove(segment.start..segment.end());
            segment.arrived_at = now;
            if !segment.is_repeated() {
                delays.on_arrived(segment.subflow(), now - segment.sent_at);
            }
        }
    }

    /// The messages of a range are delivered, where this happens out of order. Returns them.
    pub(super) fn on_delivered(&mut self, data: Range<u64>, now: Instant) -> Option<Range<u64>> {
        self.take_out(data.clone(), now, true);
        self.mark_readable(data.end, now);
        Some(data)
    }

    /// What was not delivered of the chunks up to this TSN never is.
    pub(super) fn on_skipped(&mut self, tsn: u32, now: Instant) {
        if let Some(end) = self.chunks.end_of(tsn) {
            self.take_out(0..end, now, false);
        }
    }

    /// The segments in a range are read, or never are.
    fn take_out(&mut self, data: Range<u64>, now: Instant, are_read: bool) {
        self.settle(now);
        let mut taken = Vec::new();
        for segment in self.segments.within(data).filter(|segment| !segment.is_done()) {
            segment.set_done();
            taken.push(*segment);
        }
        taken.iter().for_each(|segment| self.finish(segment, now, are_read));
        while let Some(front) = self.segments.front().filter(|front| front.is_done()) {
            self.readable = self.readable.max(front.end());
            self.segments.pop_front();
        }
    }

    /// Bytes that have arrived and cannot be read.
    pub(super) fn out_of_order(&self) -> u64 {
        // All of a segment counts that has arrived, also if a part of it can be read.
        let front = self.segments.front().filter(|front| front.has_arrived());
        self.arrived - front.map_or(0, |front| self.readable.saturating_sub(front.start))
    }

    /// Counts the time since the last call for the subflow that carries what is missing, if later data has arrived. If
    /// it was not sent yet, no subflow carries it.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant) {
        if self.arrived > 0
            && let Some(subflow) = self.missing_on()
        {
            self.subflows.subflow(subflow).blocked += now - self.settled_at;
        }
        self.settled_at = now;
    }

    /// The subflow that carries the first data that is missing. Data of TCP that has arrived behind a hole of its subflow
    /// is itself missing until this is filled.
    fn missing_on(&self) -> Option<usize> {
        let front = self.segments.front()?;
        if !self.is_unordered && front.start > self.readable {
            return None;
        }
        let missing = match self.chunks.is_empty() && !self.is_unordered {
            true => Some(front),
            false => self.segments.iter().find(|segment| !segment.has_arrived()),
        };
        missing.map(Segment::subflow)
    }
}
