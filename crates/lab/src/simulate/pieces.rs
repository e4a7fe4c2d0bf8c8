//! The ranges of a flow's data that were sent and cannot be read yet.

use subflow_quantity::Instant;

/// A range as it was sent first. It counts as arrived with its last byte. There is one for each packet on its way: its
/// size counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) sent_at: Instant,
    /// [`NEVER`] until then.
    pub(super) arrived_at: Instant,
    length: u32,
    /// The index of the subflow that carried it last, and [`REPEATED`].
    carrier: u32,
}

pub(super) const NEVER: Instant = Instant::MAX;
/// Any of it was sent again. Then nobody can tell which transmission has arrived.
const REPEATED: u32 = 1 << 31;

impl Piece {
    /// A range that is sent on the subflow with this index.
    #[inline]
    pub(super) fn new(start: u64, length: u32, sent_at: Instant, carrier: usize) -> Self {
        Self { start, sent_at, arrived_at: NEVER, length, carrier: carrier as u32 }
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
    pub(super) fn carrier(&self) -> usize {
        (self.carrier & !REPEATED) as usize
    }

    #[inline]
    pub(super) fn is_repeated(&self) -> bool {
        self.carrier & REPEATED != 0
    }

    /// Any of it is sent again, on the subflow with this index.
    pub(super) fn repeat_on(&mut self, carrier: usize) {
        self.carrier = carrier as u32 | REPEATED;
    }

    #[inline]
    pub(super) fn has_arrived(&self) -> bool {
        self.arrived_at != NEVER
    }
}

/// A queue of pieces in the order of the stream, in one slice: most are looked for in the middle.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// Those before `first` have been taken.
    all: Vec<Piece>,
    first: usize,
    /// Those before this one were [returned](Self::new_ones). One that was not is never taken.
    known: usize,
}

impl Pieces {
    #[inline]
    pub(super) fn front(&self) -> Option<&Piece> {
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

    #[inline]
    pub(super) fn push(&mut self, piece: Piece) {
        if !self.has_room() {
            self.make_room();
        }
        self.all.push(piece);
    }

    /// Drops those that have been taken.
    #[cold]
    fn make_room(&mut self) {
        self.all.drain(..self.first);
        self.known -= self.first;
        self.first = 0;
        // Otherwise few pieces at the end of a full queue would be moved again and again.
        self.all.reserve(self.all.len().max(64));
    }

    /// The pieces that were added since the last call.
    #[inline]
    pub(super) fn new_ones(&mut self) -> &[Piece] {
        let new = &self.all[self.known..];
        self.known = self.all.len();
        new
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.all[self.first..].iter()
    }

    /// The pieces from an index on.
    #[inline]
    pub(super) fn from(&mut self, index: usize) -> &mut [Piece] {
        let from = (self.first + index).min(self.all.len());
        &mut self.all[from..]
    }

    /// The index of the first piece that ends above `offset`. Pieces mostly are as long as the first one.
    #[inline]
    pub(super) fn position(&self, offset: u64) -> usize {
        let pieces = &self.all[self.first..];
        let Some(front) = pieces.first().filter(|front| offset >= front.end()) else { return 0 };
        let expected = ((offset - front.start) / front.length()) as usize;
        match pieces.get(expected) {
            Some(piece) if piece.start <= offset && offset < piece.end() => expected,
            _ => pieces.partition_point(|piece| piece.end() <= offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_and_taken_in_order_while_room_is_made() {
        let piece = |start: u64| Piece::new(start, 1000, Instant::ZERO, 0);
        let mut pieces = Pieces::default();
        for number in 0..10_000u64 {
            pieces.push(piece(1000 * number));
            assert_eq!(pieces.new_ones().iter().map(|piece| piece.start).collect::<Vec<_>>(), [1000 * number]);
            // One in four stays.
            if number % 4 != 0 {
                pieces.pop_front();
            }
            let first = pieces.front().expect("one").start;
            assert_eq!(first, 1000 * (number - number / 4));
            assert_eq!(pieces.position(1000 * number + 1) as u64, number - first / 1000);
        }
        assert!(pieces.all.capacity() <= 4 * pieces.iter().count());
    }
}
