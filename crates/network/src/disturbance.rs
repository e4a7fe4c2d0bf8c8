//! Packets that arrive late or twice.

use std::collections::BTreeMap;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use crate::link::Parcel;
use crate::netem::Netem;
use crate::{LinkConfig, LinkId, Probability, Reordering};

/// What a disturbed link does to packets at its far end.
#[derive(Debug)]
pub(crate) struct Disturbance {
    duplication: Probability,
    reordering: Option<Reordering>,
    netem: Option<Netem>,
    random: Pcg64Mcg,
}

impl Disturbance {
    /// `None` when nothing is to be done.
    pub(crate) fn new(config: &LinkConfig, random: Pcg64Mcg) -> Option<Self> {
        let &LinkConfig { duplication, reordering, delay, jitter, overtaking, .. } = config;
        let netem = Netem::new(delay, jitter, overtaking);
        if duplication == Probability::NEVER && reordering.is_none() && netem.is_none() {
            return None;
        }
        Some(Self { duplication, reordering, netem, random })
    }

    /// What the delays of packets differ from, where they do.
    pub(crate) fn netem_delay(&self) -> Option<Duration> {
        self.netem.as_ref().map(|netem| netem.delay)
    }

    /// Changes that.
    pub(crate) fn set_netem_delay(&mut self, delay: Duration) {
        self.netem.iter_mut().for_each(|netem| netem.delay = delay);
    }

    /// How long the next packet is held back, if it is.
    pub(crate) fn holds_back(&mut self) -> Option<Duration> {
        let delay = self.netem.as_mut().and_then(|netem| netem.next(&mut self.random));
        let late = self.reordering.filter(|reordering| reordering.probability.draw(&mut self.random));
        match (delay, late) {
            (Some(delay), Some(late)) => Some(delay + late.extra_delay),
            (delay, late) => delay.or(late.map(|late| late.extra_delay)),
        }
    }

    /// Whether the next packet comes twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.duplication.draw(&mut self.random)
    }
}

/// Packets that were held back, in order of their late arrival, then of being held back.
#[derive(Debug, Default)]
pub(crate) struct Stragglers {
    waiting: BTreeMap<(Instant, u64), (LinkId, Parcel)>,
    held_back: u64,
}

impl Stragglers {
    /// When the next one arrives, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        self.waiting.first_key_value().map_or(Instant::MAX, |(&(at, _), _)| at)
    }

    /// Holds `packet` back, which came over `link`, until `at`.
    pub(crate) fn push(&mut self, at: Instant, link: LinkId, packet: Parcel) {
        self.waiting.insert((at, self.held_back), (link, packet));
        self.held_back += 1;
    }

    /// Takes the first one, if there is any.
    pub(crate) fn pop(&mut self) -> Option<(LinkId, Parcel)> {
        self.waiting.pop_first().map(|(_, straggler)| straggler)
    }
}
