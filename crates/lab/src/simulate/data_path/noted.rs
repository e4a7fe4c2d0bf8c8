//! What packets carry is noted when they pass, and recorded for many of them at a time.

use subflow_quantity::Instant;

use super::{DataPath, Piece, Way};

/// A range that was sent again, or has arrived. There are so few that they stay in the first-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    now: Instant,
    start: u64,
    length: u32,
    /// The index of the subflow it was sent on; [`ARRIVED`] for one that has arrived.
    carrier: u32,
}

const ARRIVED: u32 = u32::MAX;
/// The most passages that are noted at a time.
const MOST_NOTED: usize = 64;

impl DataPath {
    /// Notes that the sender sends a range this way, for [`catch_up`](Self::catch_up).
    #[inline(always)]
    pub(in crate::simulate) fn note_sent(&mut self, way: Way<'_>, start: u64, length: u32, now: Instant) {
        match self.carriers.of_way(way) {
            Some(carrier) if self.pending.has_room() && self.has_room() => {
                self.note_sent_on(carrier, start, length, now);
            }
            _ => self.note_sent_with_room(way, start, length, now),
        }
    }

    /// The same where something has to be made first. It is the last call of its caller, which then keeps nothing.
    #[cold]
    #[inline(never)]
    fn note_sent_with_room(&mut self, way: Way<'_>, start: u64, length: u32, now: Instant) {
        let carrier = self.carrier_of_way(way);
        if !self.has_room() {
            self.make_room();
        }
        self.note_sent_on(carrier, start, length, now);
    }

    #[inline]
    fn note_sent_on(&mut self, carrier: usize, start: u64, length: u32, now: Instant) {
        if start < self.sent {
            self.noted.push(Passage { now, start, length, carrier: carrier as u32 });
        } else {
            self.pending.push(Piece::new(start, length, now, carrier));
            self.sent = start + u64::from(length);
        }
    }

    /// Notes that a range has arrived, for [`catch_up`](Self::catch_up).
    #[inline]
    pub(in crate::simulate) fn note_arrived(&mut self, start: u64, length: u32, now: Instant) {
        let arrived = Passage { now, start, length, carrier: ARRIVED };
        if self.has_room() {
            self.noted.push(arrived);
        } else {
            self.note_with_room(arrived);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_with_room(&mut self, passage: Passage) {
        self.make_room();
        self.noted.push(passage);
    }

    /// Whether one more passage can be noted.
    #[inline]
    fn has_room(&self) -> bool {
        self.noted.len() < self.noted.capacity()
    }

    #[cold]
    fn make_room(&mut self) {
        self.noted.reserve_exact(MOST_NOTED.saturating_sub(self.noted.len()));
        self.catch_up();
    }

    /// Records what was noted. When sent ranges were noted as arrivals are, to record each packet when it passed took 1.0
    /// to 1.6 % more of the CPU time of a run (`cargo bench -p subflow-lab --bench records`, three scenarios).
    #[inline]
    pub(in crate::simulate) fn catch_up(&mut self) {
        self.record_sent();
        if !self.noted.is_empty() {
            self.record_noted();
        }
    }

    fn record_noted(&mut self) {
        let mut noted = core::mem::take(&mut self.noted);
        for &Passage { now, start, length, carrier } in &noted {
            let end = start + u64::from(length);
            match carrier {
                ARRIVED => _ = self.arrive(start, end, now),
                carrier => _ = self.on_repeated(carrier as usize, start, end, now),
            }
        }
        noted.clear();
        self.noted = noted;
    }

    /// Records that the latest ranges were sent.
    #[inline]
    pub(super) fn record_sent(&mut self) {
        for piece in self.pending.new_ones() {
            self.carriers.carrier(piece.carrier()).on_sent(piece.start, piece.end(), piece.sent_at);
        }
    }
}
