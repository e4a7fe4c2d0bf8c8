//! The pending events of all links: a tournament tree over the first arrival on each.

use core::hint::select_unpredictable;

use subflow_quantity::{Duration, Instant};

/// At most one pending event per source. The earliest one is always known.
///
/// A tournament tree with groups of four: the slots of the first round are the events of the sources; the earliest
/// event of each group enters a slot of the next round. Replacing a source's event replays its matches up to the last
/// round. The slots are known in advance and no branch depends on data. (`benches/README.md` compares it with a heap
/// and a calendar queue.)
///
/// Events at the same instant are ordered by their source numbers, permuted depending on the instant. The order
/// therefore depends only on the events themselves, not on the order of insertion or on hop fusion. And if packets of
/// two links repeatedly arrive at the same instants, neither link has a permanent advantage.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The slots of the first round, then those of the second, and so on, down to a round of one group.
    slots: Box<[Key]>,
    /// The number of slots of the first round: a power of four.
    first_round: usize,
    /// The winner of the last round.
    winner: Key,
    /// The number of low bits of a key that identify the source.
    source_bits: u32,
}

/// An instant in nanoseconds, then its source XOR a number that depends on the instant. One word instead of two makes
/// the tournament twice as fast.
type Key = u64;

const NEVER: Key = Key::MAX;
const GROUP: usize = 4;

/// The longest that a network with so many links can be run: 2⁵² ns = 52 days with up to 2048 links, half of that with
/// each doubling. (A link is two sources of events, one for each direction.)
pub fn longest_run(links: usize) -> Duration {
    // The end itself means never.
    EventQueue::end_of_time_with(source_bits(2 * links)).since(Instant::from_nanos(1))
}

fn source_bits(sources: usize) -> u32 {
    sources.next_power_of_two().trailing_zeros()
}

impl EventQueue {
    /// Creates a queue for sources below `sources`.
    pub(crate) fn new(sources: usize) -> Self {
        let source_bits = source_bits(sources);
        let rounds = source_bits.div_ceil(2).max(1);
        let slots: usize = (1..=rounds).map(|round| GROUP.pow(round)).sum();
        Self {
            slots: vec![NEVER; slots].into_boxed_slice(),
            first_round: GROUP.pow(rounds),
            winner: NEVER,
            source_bits,
        }
    }

    /// Events at or after this time never happen: 2⁵² ns = 52 days with up to 4096 sources, half of that with each
    /// doubling.
    pub(crate) fn end_of_time(&self) -> Instant {
        Self::end_of_time_with(self.source_bits)
    }

    fn end_of_time_with(source_bits: u32) -> Instant {
        Instant::from_nanos(NEVER >> source_bits)
    }

    /// The time of the first event; [`Self::end_of_time`] if there is none.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        Instant::from_nanos(self.winner >> self.source_bits)
    }

    /// The source of the first event.
    #[inline]
    pub(crate) fn first_source(&self) -> u32 {
        self.scramble(self.first_at(), self.winner)
    }

    /// Replaces the event of `source` by one at `at`, or removes it with [`Instant::MAX`].
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let mut winner = self.key(at, source);
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        loop {
            // Rounds start at multiples of four, so these are the others of the group.
            let slot = round + number;
            let others = self.slots[slot ^ 1].min(self.slots[slot ^ 2]).min(self.slots[slot ^ 3]);
            self.slots[slot] = winner;
            winner = winner.min(others);
            if length == GROUP {
                self.winner = winner;
                return;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
    }

    /// Inserts an event at `at` for `source`, which has none.
    #[inline]
    pub(crate) fn insert(&mut self, source: u32, at: Instant) {
        let key = self.key(at, source);
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        // It replaces later events, up to the first round in which an earlier one wins.
        while key < self.slots[round + number] {
            self.slots[round + number] = key;
            if length == GROUP {
                self.winner = self.winner.min(key);
                return;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
    }

    #[inline]
    pub(crate) fn key(&self, at: Instant, source: u32) -> Key {
        let key = at.as_nanos() << self.source_bits | u64::from(self.scramble(at, u64::from(source)));
        select_unpredictable(at >= self.end_of_time(), NEVER, key)
    }

    /// Maps a source to the low bits of its key and back.
    #[inline]
    fn scramble(&self, at: Instant, source: u64) -> u32 {
        // Times are often multiples of round numbers, whose low bits do not change.
        let instant = at.as_nanos() >> 6 ^ at.as_nanos() >> 13;
        let mask = (1 << self.source_bits) - 1;
        ((source ^ instant) & mask) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// All events, in order.
    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut events = Vec::new();
        while queue.first_at() < queue.end_of_time() {
            let source = queue.first_source();
            events.push((queue.first_at().as_nanos(), source));
            queue.set(source, Instant::MAX);
        }
        events
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_whatever_the_order_of_insertion(
            sources in 1usize..70,
            steps in proptest::collection::vec((any::<u32>(), prop_oneof![0u64..30, Just(u64::MAX)]), 0..200),
        ) {
            let mut queue = EventQueue::new(sources);
            let mut expected = BTreeMap::new();
            for &(source, at) in &steps {
                let source = source % sources as u32;
                let new = expected.insert(source, at).is_none_or(|before| before == u64::MAX);
                if new && at != u64::MAX {
                    queue.insert(source, Instant::from_nanos(at));
                } else {
                    queue.set(source, Instant::from_nanos(at));
                }
            }
            expected.retain(|_, at| *at != u64::MAX);
            let mut at_once = EventQueue::new(sources);
            for (&source, &at) in expected.iter().rev() {
                at_once.insert(source, Instant::from_nanos(at));
            }
            let events = drain(&mut queue);
            prop_assert!(events.is_sorted_by_key(|event| event.0));
            prop_assert_eq!(&events, &drain(&mut at_once));
            prop_assert_eq!(events.into_iter().map(|(at, source)| (source, at)).collect::<BTreeMap<_, _>>(), expected);
        }
    }

    #[test]
    fn an_event_after_the_end_of_time_never_happens() {
        let mut queue = EventQueue::new(4096);
        assert_eq!(queue.end_of_time().as_nanos(), (1 << 52) - 1);
        queue.insert(7, queue.end_of_time());
        assert_eq!(queue.first_at(), queue.end_of_time());
        queue.set(7, Instant::from_nanos((1 << 52) - 2));
        assert_eq!(queue.first_source(), 7);
    }

    #[test]
    fn one_source_or_no_source_is_valid() {
        let mut queue = EventQueue::new(1);
        queue.insert(0, Instant::from_nanos(5));
        assert_eq!((queue.first_at().as_nanos(), queue.first_source()), (5, 0));
        let none = EventQueue::new(0);
        assert_eq!(none.first_at(), none.end_of_time());
    }
}
