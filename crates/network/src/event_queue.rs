//! The pending events of all links: a tournament over the heads of their rings.

use subflow_quantity::Instant;

/// Sources from 0 on are links; from here on timers.
pub(crate) const TIMERS: u32 = 1 << 30;
/// Sources from here on are packets held back.
pub(crate) const STRAGGLERS: u32 = 1 << 31;

/// An event: when, and whose.
///
/// Events at one instant are ordered by their sources' numbers, scrambled by the instant. So the order depends on
/// nothing but the events themselves: not on when they were entered, not on the data structure, not on whether hops are
/// fused; and no link has a lasting advantage over another where their packets keep coming at the same instants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event(u128);

impl Event {
    /// After all events.
    pub(crate) const NEVER: Self = Self(u128::MAX);

    #[inline]
    pub(crate) fn new(at: Instant, source: u32) -> Self {
        // An odd factor makes a permutation of the sources, the exclusive or another one for each instant.
        let instant = (at.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let tie = source.wrapping_mul(0x9e37_79b1) ^ instant;
        Self(u128::from(at.as_nanos()) << 64 | u128::from(tie) << 32 | u128::from(source))
    }

    #[inline]
    pub(crate) const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    pub(crate) const fn source(self) -> u32 {
        self.0 as u32
    }
}

/// At most one pending event per source, the first of all at hand.
///
/// A tournament: a binary tree whose leaves are the sources and whose inner nodes hold the earlier of their two
/// children. Replacing a source's event replays its way to the root, over addresses known beforehand and without a
/// branch that depends on data.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Node 1 is the root, node n has the children 2n and 2n + 1, leaf s is node `leaves` + s.
    nodes: Box<[Event]>,
    leaves: usize,
}

impl EventQueue {
    /// A queue for sources below `sources`.
    pub(crate) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two();
        Self { nodes: vec![Event::NEVER; 2 * leaves].into_boxed_slice(), leaves }
    }

    /// The first event, or [`Event::NEVER`].
    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.nodes[1]
    }

    /// Gives `source` an event at `at` in place of the one it had, if any.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        self.replay(source, Event::new(at, source));
    }

    /// Takes the event of `source` away.
    #[inline]
    pub(crate) fn clear(&mut self, source: u32) {
        self.replay(source, Event::NEVER);
    }

    #[inline]
    fn replay(&mut self, source: u32, event: Event) {
        let mut node = self.leaves + source as usize;
        let mut winner = event;
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = winner;
        }
    }
}

impl core::fmt::Debug for Event {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}#{}", self.at(), self.source())
    }
}
