//! Packets that arrive late or twice.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_pcg::Pcg64Mcg;
use slab::Slab;
use subflow_quantity::{Duration, Instant};

use crate::event_queue::{Event, STRAGGLERS};
use crate::link::Descriptor;
use crate::{LinkId, Probability, Reordering};

/// What a disturbed link does to packets at its far end.
#[derive(Debug)]
pub(crate) struct Disturbance {
    duplication: Probability,
    reordering: Option<Reordering>,
    random: Pcg64Mcg,
}

impl Disturbance {
    /// `None` when nothing is to be done.
    pub(crate) fn new(duplication: Probability, reordering: Option<Reordering>, random: Pcg64Mcg) -> Option<Box<Self>> {
        if duplication == Probability::NEVER && reordering.is_none() {
            return None;
        }
        Some(Box::new(Self { duplication, reordering, random }))
    }

    /// How long the next packet is held back, if it is.
    pub(crate) fn holds_back(&mut self) -> Option<Duration> {
        let Reordering { probability, extra_delay } = self.reordering?;
        probability.draw(&mut self.random).then_some(extra_delay)
    }

    /// Whether the next packet comes twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.duplication.draw(&mut self.random)
    }
}

/// Packets that were held back, in order of their late arrival.
#[derive(Debug, Default)]
pub(crate) struct Stragglers {
    events: BinaryHeap<Reverse<Event>>,
    waiting: Slab<(LinkId, Descriptor)>,
}

impl Stragglers {
    /// When the next one arrives, or [`Event::NEVER`].
    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.events.peek().map_or(Event::NEVER, |first| first.0)
    }

    /// Holds `packet` back, which came over `link`, until `at`.
    pub(crate) fn push(&mut self, at: Instant, link: LinkId, packet: Descriptor) {
        let place = self.waiting.insert((link, packet)) as u32;
        self.events.push(Reverse(Event::new(at, STRAGGLERS + place)));
    }

    /// Takes the first one, if there is any.
    pub(crate) fn pop(&mut self) -> Option<(LinkId, Descriptor)> {
        let Reverse(event) = self.events.pop()?;
        Some(self.waiting.remove((event.source() - STRAGGLERS) as usize))
    }
}
