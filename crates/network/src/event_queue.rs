//! The pending events of all links: a tournament over the first arrivals on each.

use core::hint::select_unpredictable;

use subflow_quantity::Instant;

/// At most one pending event per source, the first of all at hand.
///
/// A tournament in groups of four: in the first round each source has a place with its event; of each group the
/// earliest goes on to a place of the next round. Replacing a source's event replays its way to the last round, over
/// addresses known beforehand and without a branch that depends on data. (`benches/README.md` has the measurements
/// against a heap and a calendar.)
///
/// Events at one instant are ordered by their sources' numbers, scrambled by the instant. So the order depends on
/// nothing but the events themselves, not on when they were entered and not on whether hops are fused; and no link has
/// a lasting advantage over another where their packets keep coming at the same instants.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The places of the first round, then those of the second, and so on, down to a round of one group.
    places: Box<[Key]>,
    /// How many places the first round has: a power of four.
    first_round: usize,
    /// The winner of the last round.
    winner: Key,
    /// How many low bits of a key tell the source.
    source_bits: u32,
}

/// An instant in nanoseconds, then its source, exclusive-or a number that depends on the instant. One word instead of
/// two makes the tournament twice as fast.
type Key = u64;

const NEVER: Key = Key::MAX;
const GROUP: usize = 4;

impl EventQueue {
    /// A queue for sources below `sources`.
    pub(crate) fn new(sources: usize) -> Self {
        let source_bits = sources.next_power_of_two().trailing_zeros();
        let rounds = source_bits.div_ceil(2).max(1);
        let places: usize = (1..=rounds).map(|round| GROUP.pow(round)).sum();
        Self {
            places: vec![NEVER; places].into_boxed_slice(),
            first_round: GROUP.pow(rounds),
            winner: NEVER,
            source_bits,
        }
    }

    /// Events from here on are taken for never: 2⁵² ns = 52 days with up to 4096 sources, half of that with each
    /// doubling.
    pub(crate) fn end_of_time(&self) -> Instant {
        Instant::from_nanos(NEVER >> self.source_bits)
    }

    /// When the first event is; [`Self::end_of_time`] when there is none.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        Instant::from_nanos(self.winner >> self.source_bits)
    }

    /// Whose the first event is.
    #[inline]
    pub(crate) fn first_source(&self) -> u32 {
        self.scramble(self.first_at(), self.winner)
    }

    /// Gives `source` an event at `at` in place of the one it had, or with [`Instant::MAX`] takes that away.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let mut winner = self.key(at, source);
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        loop {
            // Rounds begin at multiples of four, so these are the others of the group.
            let place = round + number;
            let others = self.places[place ^ 1].min(self.places[place ^ 2]).min(self.places[place ^ 3]);
            self.places[place] = winner;
            winner = winner.min(others);
            if length == GROUP {
                self.winner = winner;
                return;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
    }

    /// Gives `source`, which has none, an event at `at`.
    #[inline]
    pub(crate) fn enter(&mut self, source: u32, at: Instant) {
        let key = self.key(at, source);
        let (mut round, mut length, mut number) = (0, self.first_round, source as usize);
        // It wins against whoever is later, up to the first who is not.
        while key < self.places[round + number] {
            self.places[round + number] = key;
            if length == GROUP {
                self.winner = self.winner.min(key);
                return;
            }
            (round, length, number) = (round + length, length / GROUP, number / GROUP);
        }
    }

    #[inline]
    fn key(&self, at: Instant, source: u32) -> Key {
        let key = at.as_nanos() << self.source_bits | u64::from(self.scramble(at, u64::from(source)));
        select_unpredictable(at >= self.end_of_time(), NEVER, key)
    }

    /// From a source to the low bits of its key and back.
    #[inline]
    fn scramble(&self, at: Instant, source: u64) -> u32 {
        // Times are often multiples of round numbers, whose low bits never change.
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
        fn events_come_in_order_whatever_the_order_in_which_they_were_entered(
            sources in 1usize..70,
            steps in proptest::collection::vec((any::<u32>(), prop_oneof![0u64..30, Just(u64::MAX)]), 0..200),
        ) {
            let mut queue = EventQueue::new(sources);
            let mut expected = BTreeMap::new();
            for &(source, at) in &steps {
                let source = source % sources as u32;
                let new = expected.insert(source, at).is_none_or(|before| before == u64::MAX);
                if new && at != u64::MAX {
                    queue.enter(source, Instant::from_nanos(at));
                } else {
                    queue.set(source, Instant::from_nanos(at));
                }
            }
            expected.retain(|_, at| *at != u64::MAX);
            let mut at_once = EventQueue::new(sources);
            for (&source, &at) in expected.iter().rev() {
                at_once.enter(source, Instant::from_nanos(at));
            }
            let events = drain(&mut queue);
            prop_assert!(events.is_sorted_by_key(|event| event.0));
            prop_assert_eq!(&events, &drain(&mut at_once));
            prop_assert_eq!(events.into_iter().map(|(at, source)| (source, at)).collect::<BTreeMap<_, _>>(), expected);
        }
    }

    #[test]
    fn beyond_the_end_of_time_is_never() {
        let mut queue = EventQueue::new(4096);
        assert_eq!(queue.end_of_time().as_nanos(), (1 << 52) - 1);
        queue.enter(7, queue.end_of_time());
        assert_eq!(queue.first_at(), queue.end_of_time());
        queue.set(7, Instant::from_nanos((1 << 52) - 2));
        assert_eq!(queue.first_source(), 7);
    }

    #[test]
    fn one_source_is_enough_and_none_too() {
        let mut queue = EventQueue::new(1);
        queue.enter(0, Instant::from_nanos(5));
        assert_eq!((queue.first_at().as_nanos(), queue.first_source()), (5, 0));
        let none = EventQueue::new(0);
        assert_eq!(none.first_at(), none.end_of_time());
    }
}
