//! Where the data of a stream is in all that the connection has sent: the order in which bytes of all streams were sent
//! first. Whoever explains a run sees one sequence of bytes that way, in which nothing of two streams has the same place.

use std::collections::VecDeque;

/// The places of the data of one stream that is not acknowledged. On the only stream of a connection they are the offsets.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    /// The offset of a part of the stream and its place, in the order of both: the part reaches to the next one.
    parts: VecDeque<(u64, u64)>,
}

impl Placement {
    /// Data from `offset` on is sent for the first time, and has its place at `place`.
    #[inline]
    pub(super) fn add(&mut self, offset: u64, place: u64) {
        if self.parts.back().is_none_or(|&(start, at)| place - at != offset - start) {
            self.parts.push_back((offset, place));
        }
    }

    /// The place of `offset`, and the end of the part of the stream that it is in; there is none of the last part.
    #[inline]
    pub(super) fn of(&self, offset: u64) -> (u64, Option<u64>) {
        let next = match self.parts.len() {
            0..=1 => self.parts.len(),
            _ => self.parts.partition_point(|&(start, _)| start <= offset),
        };
        let Some(&(start, place)) = next.checked_sub(1).and_then(|part| self.parts.get(part)) else {
            return (offset, None);
        };
        (place + offset.saturating_sub(start), self.parts.get(next).map(|&(start, _)| start))
    }

    /// Nothing below `offset` is sent again.
    #[inline]
    pub(super) fn forget_below(&mut self, offset: u64) {
        while self.parts.get(1).is_some_and(|&(start, _)| start <= offset) {
            self.parts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_places_as_long_as_no_other_stream_sends() {
        let mut placement = Placement::default();
        (0..5).for_each(|n| placement.add(100 * n, 100 * n));
        assert_eq!((placement.of(333), placement.parts.len()), ((333, None), 1));
    }

    #[test]
    fn each_part_has_its_place_until_it_is_acknowledged() {
        let mut placement = Placement::default();
        // Another stream has sent 50 bytes before the first part, and 100 bytes between both.
        placement.add(0, 50);
        placement.add(60, 110);
        placement.add(100, 250);
        assert_eq!(
            [0, 99, 100, 130].map(|offset| placement.of(offset)),
            [(50, Some(100)), (149, Some(100)), (250, None), (280, None)]
        );
        placement.forget_below(99);
        assert_eq!(placement.parts.len(), 2);
        placement.forget_below(100);
        assert_eq!((placement.parts.len(), placement.of(130)), (1, (280, None)));
    }
}
