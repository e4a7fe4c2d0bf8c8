//! The ranges of a flow's data that were sent and cannot be read yet.

use core::ops::Range;

use subflow_quantity::Instant;

/// A range as it was sent first. There is one for each packet on its way: its size counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) sent_at: Instant,
    /// When the last byte that was missing of it arrived; [`NEVER`] until then.
    pub(super) arrived_at: Instant,
    length: u32,
    /// The index of the subflow that carried it last, and the flags below.
    subflow: u32,
}

pub(super) const NEVER: Instant = Instant::MAX;
/// Any of it was sent again. Then nobody can tell which transmission has arrived.
const REPEATED: u32 = 1 << 31;
/// It was read before earlier data, or is never read.
const DONE: u32 = 1 << 30;

impl Segment {
    /// A range that is sent on the subflow with this index.
    #[inline]
    pub(super) fn new(start: u64, length: u32, sent_at: Instant, subflow: usize) -> Self {
        Self { start, sent_at, arrived_at: NEVER, length, subflow: subflow as u32 }
    }

    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.start + self.length()
    }

    #[inline]
    pub(super) fn length(&self) -> u64 {
        self.length.into()
    }

    /// The index of the subflow that carried it last.
    #[inline]
    pub(super) fn subflow(&self) -> usize {
        (self.subflow & !(REPEATED | DONE)) as usize
    }

    #[inline]
    pub(super) fn is_repeated(&self) -> bool {
        self.subflow & REPEATED != 0
    }

    /// Any of it is sent again, on the subflow with this index.
    pub(super) fn repeat_on(&mut self, subflow: usize) {
        self.subflow = subflow as u32 | REPEATED | self.subflow & DONE;
    }

    #[inline]
    pub(super) fn has_arrived(&self) -> bool {
        self.arrived_at != NEVER
    }

    /// Whether it was read before earlier data, or is never read.
    pub(super) fn is_done(&self) -> bool {
        self.subflow & DONE != 0
    }

    pub(super) fn set_done(&mut self) {
        self.subflow |= DONE;
    }
}

/// A queue of segments in the order of the stream, in one slice: most are looked for in the middle.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    /// Those before `first` have been taken.
    all: Vec<Segment>,
    first: usize,
    /// Those before this one were [returned](Self::new_ones). One that was not is never taken.
    known: usize,
}

impl Segments {
    #[inline]
    pub(super) fn front(&self) -> Option<&Segment> {
        self.all.get(self.first)
    }

    #[inline]
    pub(super) fn pop_front(&mut self) {
        debug_assert!(self.first < self.known);
        self.first += 1;
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.all.len() < self.all.capacity()
    }

    /// Adds a segment behind all others.
    #[inline]
    pub(super) fn push(&mut self, segment: Segment) {
        if !self.has_room() {
            self.make_room();
        }
        self.all.push(segment);
    }

    /// Inserts a segment, which then has this index. None is [new](Self::new_ones).
    pub(super) fn insert(&mut self, index: usize, segment: Segment) {
        debug_assert_eq!(self.known, self.all.len());
        let place = self.first + index;
        // What was not sent in order mostly is near the front, where few segments have to be moved.
        if self.first > 0 && index < (self.all.len() - self.first) / 2 {
            self.all.copy_within(self.first..place, self.first - 1);
            self.first -= 1;
            self.all[place - 1] = segment;
            return;
        }
        if !self.has_room() {
            self.make_room();
        }
        self.all.insert(self.first + index, segment);
        self.known += 1;
    }

    /// Drops those that have been taken.
    #[cold]
    fn make_room(&mut self) {
        self.all.drain(..self.first);
        self.known -= self.first;
        self.first = 0;
        // Otherwise few segments at the end of a full queue would be moved again and again.
        self.all.reserve(self.all.len().max(64));
    }

    /// The segments that were added since the last call.
    #[inline]
    pub(super) fn new_ones(&mut self) -> &[Segment] {
        let new = &self.all[self.known..];
        self.known = self.all.len();
        new
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.all[self.first..].iter()
    }

    /// The segments from an index on.
    #[inline]
    pub(super) fn from(&mut self, index: usize) -> &mut [Segment] {
        let from = (self.first + index).min(self.all.len());
        &mut self.all[from..]
    }

    /// The segments that contain any of `range`.
    pub(super) fn within(&mut self, range: Range<u64>) -> impl Iterator<Item = &mut Segment> {
        let first = self.position(range.start);
        self.from(first).iter_mut().take_while(move |segment| segment.start < range.end)
    }

    /// The index of the first segment that ends above `offset`. Segments mostly are as long as the first one.
    #[inline]
    pub(super) fn position(&self, offset: u64) -> usize {
        let segments = &self.all[self.first..];
        let Some(front) = segments.first().filter(|front| offset >= front.end()) else { return 0 };
        let expected = ((offset - front.start) / front.length()) as usize;
        match segments.get(expected) {
            Some(segment) if segment.start <= offset && offset < segment.end() => expected,
            _ => segments.partition_point(|segment| segment.end() <= offset),
        }
    }
}

/// What has arrived of segments that have not arrived whole: disjoint ranges in the order of the stream. There are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragments(Vec<Range<u64>>);

impl Fragments {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range. Returns how many bytes of it are new.
    pub(super) fn add(&mut self, range: Range<u64>) -> u64 {
        let first = self.0.partition_point(|known| known.end < range.start);
        let last = self.0.partition_point(|known| known.start <= range.end);
        let touched = &self.0[first..last];
        let joined = match touched {
            [] => range,
            [one, ..] => one.start.min(range.start)..touched[touched.len() - 1].end.max(range.end),
        };
        let known: u64 = touched.iter().map(|known| known.end - known.start).sum();
        let new = joined.end - joined.start - known;
        self.0.splice(first..last, [joined]);
        new
    }

    /// Whether all of `range` is there.
    pub(super) fn covers(&self, range: Range<u64>) -> bool {
        self.0.iter().any(|known| known.start <= range.start && range.end <= known.end)
    }

    /// The number of bytes of `range` that are there.
    pub(super) fn bytes_in(&self, range: Range<u64>) -> u64 {
        self.0.iter().map(|known| known.end.min(range.end).saturating_sub(known.start.max(range.start))).sum()
    }

    /// Removes all of `range`. Returns how many bytes of it were there.
    pub(super) fn remove(&mut self, range: Range<u64>) -> u64 {
        let removed = self.bytes_in(range.clone());
        if removed > 0 {
            let outside = |known: Range<u64>| {
                [known.start..known.end.min(range.start), known.start.max(range.end)..known.end]
                    .into_iter()
                    .filter(|part| part.start < part.end)
            };
            self.0 = core::mem::take(&mut self.0).into_iter().flat_map(outside).collect();
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_and_taken_in_order_while_room_is_made() {
        let segment = |start: u64| Segment::new(start, 1000, Instant::ZERO, 0);
        let mut segments = Segments::default();
        for number in 0..10_000u64 {
            segments.push(segment(1000 * number));
            assert_eq!(segments.new_ones().iter().map(|segment| segment.start).collect::<Vec<_>>(), [1000 * number]);
            // One in four stays.
            if number % 4 != 0 {
                segments.pop_front();
            }
            let first = segments.front().expect("one").start;
            assert_eq!(first, 1000 * (number - number / 4));
            assert_eq!(segments.position(1000 * number + 1) as u64, number - first / 1000);
        }
        assert!(segments.all.capacity() <= 4 * segments.iter().count());
    }

    #[test]
    fn segments_that_are_inserted_anywhere_are_in_the_order_of_the_stream() {
        let mut segments = Segments::default();
        // Odd ones first, then even ones from both ends, while some at the front are taken.
        for number in (1..400u64).step_by(2) {
            segments.push(Segment::new(10 * number, 10, Instant::ZERO, 0));
        }
        segments.new_ones();
        for _ in 0..20 {
            segments.pop_front();
        }
        let mut expected: Vec<u64> = (41..400).step_by(2).map(|number| 10 * number).collect();
        for turn in 0..150u64 {
            let number = if turn % 2 == 0 { 42 + turn } else { 398 - turn + 1 };
            let index = segments.position(10 * number);
            segments.insert(index, Segment::new(10 * number, 10, Instant::ZERO, 0));
            expected.push(10 * number);
        }
        expected.sort_unstable();
        assert_eq!(segments.iter().map(|segment| segment.start).collect::<Vec<_>>(), expected);
        assert!(segments.new_ones().is_empty());
    }

    #[test]
    fn fragments_count_each_byte_once() {
        let mut fragments = Fragments::default();
        assert_eq!([0..10, 20..30, 5..25, 40..50].map(|range| fragments.add(range)), [10, 10, 10, 10]);
        assert!(fragments.covers(3..30) && !fragments.covers(3..31));
        assert_eq!((fragments.bytes_in(25..45), fragments.remove(25..45), fragments.remove(0..30)), (10, 10, 25));
        assert_eq!((fragments.0.len(), fragments.bytes_in(0..50)), (1, 5));
    }
}
