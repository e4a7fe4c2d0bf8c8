//! The pending events of all links: at most one per link, its first arrival.

mod tournament;
mod wheel;

use core::hint::select_unpredictable;

use subflow_quantity::{Duration, Instant};

use tournament::Tournament;
pub(crate) use wheel::Event;
use wheel::Wheel;

/// At most one pending event per source. The earliest one is always known.
///
/// Few events play a tournament. Many are kept in a wheel: there the events that follow the first one are known, too,
/// and what they need can be fetched from memory before their turn comes (`look_ahead.rs`). Which is better is
/// considered from time to time.
///
/// Events at the same instant are ordered by their source numbers, permuted depending on the instant. The order
/// therefore depends only on the events themselves, not on the order of insertion, on hop fusion or on how the events
/// are kept. And if packets of two links repeatedly arrive at the same instants, neither link has a permanent advantage.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The first event.
    first: Key,
    /// The number of low bits of a key that identify the source.
    source_bits: u32,
    /// Events at or after this time never happen.
    end_of_time: Instant,
    order: Order,
    /// After so many events it is considered how to keep them.
    until_review: u32,
}

#[derive(Debug)]
enum Order {
    Tournament(Tournament),
    Wheel(Box<Wheel>),
}

/// An instant in nanoseconds, then its source XOR a number that depends on the instant. One word instead of two makes
/// the tournament twice as fast.
type Key = u64;

const NEVER: Key = Key::MAX;

/// From this number of events on, the links that have them do not stay in the caches, and a wheel is better.
const MANY: usize = 256;
/// Below this number, a tournament is better.
const FEW: usize = 96;

/// The number of events between two reviews.
const PERIOD: u32 = 1 << 13;

/// The longest that a network with so many links can be run: 2⁵² ns = 52 days with up to 2048 links, half of that with
/// each doubling. (A link is two sources of events, one for each direction.)
pub fn longest_run(links: usize) -> Duration {
    // The end itself means never.
    end_of_time_with(source_bits(2 * links)).since(Instant::from_nanos(1))
}

fn source_bits(sources: usize) -> u32 {
    sources.next_power_of_two().trailing_zeros()
}

fn end_of_time_with(source_bits: u32) -> Instant {
    Instant::from_nanos(NEVER >> source_bits)
}

impl EventQueue {
    /// Creates a queue for sources below `sources`.
    pub(crate) fn new(sources: usize) -> Self {
        let source_bits = source_bits(sources);
        let order = Order::Tournament(Tournament::new(source_bits));
        let end_of_time = end_of_time_with(source_bits);
        Self { first: NEVER, source_bits, end_of_time, order, until_review: PERIOD }
    }

    /// Considers whether to keep the events in another way.
    #[cold]
    fn review(&mut self) {
        self.until_review = PERIOD;
        match &self.order {
            Order::Tournament(tournament) if tournament.keys().count() >= MANY => self.use_wheel(),
            Order::Wheel(wheel) if wheel.keys().count() < FEW => self.use_tournament(),
            _ => {}
        }
    }

    fn use_wheel(&mut self) {
        let Order::Tournament(tournament) = &self.order else { return };
        let mut wheel = Box::new(Wheel::new(self.source_bits));
        for key in tournament.keys() {
            wheel.insert(key);
        }
        self.order = Order::Wheel(wheel);
    }

    fn use_tournament(&mut self) {
        let Order::Wheel(wheel) = &self.order else { return };
        let mut tournament = Tournament::new(self.source_bits);
        for key in wheel.keys() {
            tournament.insert(source_of(key, self.source_bits), key);
        }
        self.order = Order::Tournament(tournament);
    }

    /// Events at or after this time never happen: 2⁵² ns = 52 days with up to 4096 sources, half of that with each
    /// doubling.
    #[inline]
    pub(crate) fn end_of_time(&self) -> Instant {
        self.end_of_time
    }

    /// The time of the first event; [`Self::end_of_time`] if there is none.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        Instant::from_nanos(self.first >> self.source_bits)
    }

    /// The source of the first event.
    #[inline]
    pub(crate) fn first_source(&self) -> u32 {
        match &self.order {
            Order::Tournament(_) => source_of(self.first, self.source_bits),
            Order::Wheel(wheel) => wheel.first_source(),
        }
    }

    /// The next events in order, beginning with the first one, as far as they are known; `None` if only the first one is
    /// known.
    #[inline]
    pub(crate) fn next_events(&self) -> Option<&[Event]> {
        match &self.order {
            Order::Tournament(_) => None,
            Order::Wheel(wheel) => Some(wheel.next_events()),
        }
    }

    /// Notes what was found out about the event at `place` of the [next events](Self::next_events).
    #[inline]
    pub(crate) fn note(&mut self, place: usize, found: u32) {
        if let Order::Wheel(wheel) = &mut self.order {
            wheel.note(place, found);
        }
    }

    /// Replaces the first event, which is that of `source`, by one at `at`, or removes it with [`Instant::MAX`].
    // Links with a backlog call it, too, so the compiler would not inline it into the event loop by itself.
    #[inline(always)]
    pub(crate) fn replace_first(&mut self, source: u32, at: Instant) {
        let key = self.key(at, source);
        self.first = match &mut self.order {
            Order::Tournament(tournament) => tournament.set(source, key),
            Order::Wheel(wheel) => wheel.replace_first(key),
        };
        self.until_review -= 1;
        if self.until_review == 0 {
            self.review();
        }
    }

    /// Replaces the event of `source` by one at `at`, or removes it with [`Instant::MAX`].
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let key = self.key(at, source);
        self.first = match &mut self.order {
            Order::Tournament(tournament) => tournament.set(source, key),
            Order::Wheel(wheel) => {
                wheel.remove(source);
                wheel.insert(key)
            }
        };
    }

    /// Inserts an event at `at` for `source`, which has none.
    #[inline]
    pub(crate) fn insert(&mut self, source: u32, at: Instant) {
        let key = self.key(at, source);
        self.first = match &mut self.order {
            Order::Tournament(tournament) => self.first.min(tournament.insert(source, key)),
            Order::Wheel(wheel) => wheel.insert(key),
        };
    }

    #[inline]
    pub(crate) fn key(&self, at: Instant, source: u32) -> Key {
        let key =
            at.as_nanos() << self.source_bits | u64::from(scramble(at.as_nanos(), source.into(), self.source_bits));
        select_unpredictable(at >= self.end_of_time(), NEVER, key)
    }
}

/// The source of the event with this key.
#[inline]
fn source_of(key: Key, source_bits: u32) -> u32 {
    scramble(key >> source_bits, key, source_bits)
}

/// Maps a source, or a key, to the low bits of its key and back; `at` is in nanoseconds.
#[inline]
fn scramble(at: u64, source: u64, source_bits: u32) -> u32 {
    // Times are often multiples of round numbers, whose low bits do not change.
    let permuted = source ^ at >> 6 ^ at >> 13;
    (permuted & ((1 << source_bits) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use rand_core::RngCore;

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
            for is_wheel in [false, true] {
                let mut queue = EventQueue::new(sources);
                if is_wheel {
                    queue.use_wheel();
                }
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
                let events: BTreeMap<_, _> = events.into_iter().map(|(at, source)| (source, at)).collect();
                prop_assert_eq!(events, expected);
            }
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

    /// The delays of events: mostly short, sometimes none, sometimes far beyond all buckets.
    fn delay(random: &mut impl RngCore) -> u64 {
        let number = u64::from(random.next_u32());
        match number % 16 {
            0 => 0,
            1 => number,
            2..8 => number % 500,
            _ => number % 20_000,
        }
    }

    #[test]
    fn many_events_come_in_order_while_they_become_few_and_many_again() {
        let mut random = crate::stream(1, "event queue");
        let mut queue = EventQueue::new(700);
        let (mut expected, mut free) = (BTreeSet::new(), (0..700).collect::<Vec<u32>>());
        let (mut wheels, mut was_wheel) = (0, false);
        for step in 0..150_000_u32 {
            let most = if step / 40_000 % 2 == 0 { 700 } else { 30 };
            let now = expected.first().map_or(0, |&(_, at, _)| at);
            if step % 4 == 0
                && expected.len() < most
                && let Some(source) = free.pop()
            {
                let at = Instant::from_nanos(now + delay(&mut random));
                queue.insert(source, at);
                expected.insert((queue.key(at, source), at.as_nanos(), source));
            }
            let Some(&first) = expected.first() else { continue };
            assert_eq!((queue.first_at().as_nanos(), queue.first_source()), (first.1, first.2));
            // A link's change moves an event that is not the first.
            let (is_first, moved) = match expected.last() {
                Some(&last) if step % 1000 == 0 => (false, last),
                _ => (true, first),
            };
            expected.remove(&moved);
            let at = if expected.len() > most { Instant::MAX } else { Instant::from_nanos(now + delay(&mut random)) };
            match is_first {
                true => queue.replace_first(moved.2, at),
                false => queue.set(moved.2, at),
            }
            match at {
                Instant::MAX => free.push(moved.2),
                at => _ = expected.insert((queue.key(at, moved.2), at.as_nanos(), moved.2)),
            }
            let is_wheel = matches!(queue.order, Order::Wheel(_));
            wheels += u32::from(is_wheel && !was_wheel);
            was_wheel = is_wheel;
        }
        assert_eq!(wheels, 2);
    }
}
