//! Events as a tournament.

use super::{Key, NEVER};

/// A tournament tree with groups of four: the slots of the first round are the events of the sources; the earliest
/// event of each group enters a slot of the next round. Replacing a source's event replays its matches up to the last
/// round. The slots are known in advance and no branch depends on data. (`benches/README.md` compares it with a heap
/// and a calendar queue.)
#[derive(Debug)]
pub(super) struct Tournament {
    /// The group of the last round, then those of the round before, and so on. The earliest event of group g, which is
    /// not the first one, is in group (g − 1) / 4.
    groups: Box<[[Key; GROUP]]>,
    /// The first group of the first round.
    first_round: usize,
}

const GROUP: usize = 4;

/// The slot in which the earliest event of `group` is, which is not that of the last round.
#[inline(always)]
const fn next_slot(group: usize) -> (usize, usize) {
    ((group - 1) / GROUP, (group - 1) % GROUP)
}

impl Tournament {
    pub(super) fn new(source_bits: u32) -> Self {
        let rounds = source_bits.div_ceil(2).max(1);
        let first_round = (1..rounds).map(|round| GROUP.pow(round - 1)).sum();
        Self { groups: vec![[NEVER; GROUP]; first_round + GROUP.pow(rounds - 1)].into_boxed_slice(), first_round }
    }

    /// All events.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.groups[self.first_round..].iter().flatten().copied().filter(|&key| key != NEVER)
    }

    /// The group and the slot of the event of `source` in the first round.
    #[inline(always)]
    fn slot_of(&self, source: u32) -> (usize, usize) {
        (self.first_round + source as usize / GROUP, source as usize % GROUP)
    }

    /// Replaces the event of `source` by `key` and returns the first event.
    #[inline]
    pub(super) fn set(&mut self, source: u32, key: Key) -> Key {
        let mut winner = key;
        let (mut group, mut slot) = self.slot_of(source);
        loop {
            let events = &mut self.groups[group];
            events[slot] = winner;
            // To read the new event again takes fewer instructions than to select the three others.
            winner = events[0].min(events[1]).min(events[2].min(events[3]));
            if group == 0 {
                return winner;
            }
            (group, slot) = next_slot(group);
        }
    }

    /// Inserts `key` for `source`, which has no event. Returns it if it has won all rounds but the last, else
    /// [`NEVER`].
    #[inline]
    pub(super) fn insert(&mut self, source: u32, key: Key) -> Key {
        let (mut group, mut slot) = self.slot_of(source);
        // It replaces later events, up to the first round in which an earlier one wins.
        while key < self.groups[group][slot] {
            self.groups[group][slot] = key;
            if group == 0 {
                return key;
            }
            (group, slot) = next_slot(group);
        }
        NEVER
    }
}
