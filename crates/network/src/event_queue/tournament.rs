//! Events as a tournament.

use super::{Key, NEVER};

/// A tournament tree with groups of four: the slots of the first round are the events of the sources; the earliest
/// event of each group enters a slot of the next round. Replacing a source's event replays its matches up to the last
/// round. The slots are known in advance and no branch depends on data. (`benches/README.md` compares it with a heap
/// and a calendar queue.)
#[derive(Debug)]
pub(super) struct Tournament {
    /// The slots of the first round, then those of the second, and so on, down to a round of one group.
    slots: Box<[Key]>,
    /// The number of slots of the first round: a power of four.
    first_round: usize,
}

const GROUP: usize = 4;

impl Tournament {
    pub(super) fn new(source_bits: u32) -> Self {
        let rounds = source_bits.div_ceil(2).max(1);
        let slots: usize = (1..=rounds).map(|round| GROUP.pow(round)).sum();
        Self { slots: vec![NEVER; slots].into_boxed_slice(), first_round: GROUP.pow(rounds) }
    }

    /// All events.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.slots[..self.first_round].iter().copied().filter(|&key| key != NEVER)
    }

    /// Replaces the event of `source` by `key` and returns the first event.
    #[inline]
    pub(super) fn set(&mut self, source: u32, key: Key) -> Key {
        let mut winner = key;
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        loop {
            // Rounds start at multiples of four, so these are the others of the group.
            let slot = round + number;
            let others = self.slots[slot ^ 1].min(self.slots[slot ^ 2]).min(self.slots[slot ^ 3]);
            self.slots[slot] = winner;
            winner = winner.min(others);
            if length == GROUP {
                return winner;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
    }

    /// Inserts `key` for `source`, which has no event. Returns it if it has won all rounds but the last, else
    /// [`NEVER`].
    #[inline]
    pub(super) fn insert(&mut self, source: u32, key: Key) -> Key {
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        // It replaces later events, up to the first round in which an earlier one wins.
        while key < self.slots[round + number] {
            self.slots[round + number] = key;
            if length == GROUP {
                return key;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
        NEVER
    }
}
