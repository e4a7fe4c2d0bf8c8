//! Reordering and duplication.

use std::collections::BTreeMap;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_wire::icmp::IcmpError;

use super::{LinkConfig, Parcel, Reordering};
use crate::middlebox::Ticket;
use crate::netem::Netem;
use crate::wifi::Access;
use crate::{InterfaceId, LinkId, Probability};

/// The reordering, duplication and varying delay of a link, applied to packets at its far end.
#[derive(Debug)]
pub(crate) struct Disturbance {
    duplication: Probability,
    reordering: Option<Reordering>,
    netem: Option<Netem>,
    random: Pcg64Mcg,
}

impl Disturbance {
    /// `None` if the link has none of these.
    pub(crate) fn new(config: &LinkConfig, random: Pcg64Mcg) -> Option<Self> {
        let &LinkConfig { duplication, reordering, delay, jitter, overtaking, .. } = config;
        let netem = Netem::new(delay, jitter, overtaking);
        if duplication == Probability::NEVER && reordering.is_none() && netem.is_none() {
            return None;
        }
        Some(Self { duplication, reordering, netem, random })
    }

    /// The mean delay, if delays vary.
    pub(crate) fn netem_delay(&self) -> Option<Duration> {
        self.netem.as_ref().map(|netem| netem.delay)
    }

    /// Sets the mean delay.
    pub(crate) fn set_netem_delay(&mut self, delay: Duration) {
        self.netem.iter_mut().for_each(|netem| netem.delay = delay);
    }

    /// The extra delay of the next packet, if it has one.
    pub(crate) fn holds_back(&mut self) -> Option<Duration> {
        let delay = self.netem.as_mut().and_then(|netem| netem.next(&mut self.random));
        let late = self.reordering.filter(|reordering| reordering.probability.draw(&mut self.random));
        match (delay, late) {
            (Some(delay), Some(late)) => Some(delay + late.extra_delay),
            (delay, late) => delay.or(late.map(|late| late.extra_delay)),
        }
    }

    /// Whether the next packet is duplicated.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.duplication.draw(&mut self.random)
    }
}

/// What arrives without being in the ring of a link.
#[derive(Debug)]
pub(crate) enum Late {
    /// A packet that came over a link.
    Packet(LinkId, Parcel),
    /// An ICMP error for the host of an interface.
    Error(InterfaceId, Box<IcmpError>),
    /// The end of the time for which a packet may wait at a middlebox of a link.
    Held(LinkId, Ticket),
    /// Stations of a WiFi channel begin to send.
    Access(Access),
}

/// Packets with an extra delay and ICMP errors, in order of their arrival, then of being added.
#[derive(Debug, Default)]
pub(crate) struct LatePackets {
    waiting: BTreeMap<(Instant, u64), Late>,
    held_back: u64,
}

impl LatePackets {
    /// When the next one arrives; [`Instant::MAX`] if there is none.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        self.waiting.first_key_value().map_or(Instant::MAX, |(&(at, _), _)| at)
    }

    /// Adds `packet`, which came over `link` and arrives at `at`.
    pub(crate) fn push(&mut self, at: Instant, link: LinkId, packet: Parcel) {
        self.add(at, Late::Packet(link, packet));
    }

    /// Adds `error`, which arrives at `interface` at `at`.
    pub(crate) fn push_error(&mut self, at: Instant, interface: InterfaceId, error: IcmpError) {
        self.add(at, Late::Error(interface, Box::new(error)));
    }

    /// The packet with `ticket` waits at a middlebox of `link`, until `at` at the latest.
    pub(crate) fn push_held(&mut self, at: Instant, link: LinkId, ticket: Ticket) {
        self.add(at, Late::Held(link, ticket));
    }

    /// Stations of a WiFi channel begin to send at `at`.
    pub(crate) fn push_access(&mut self, at: Instant, access: Access) {
        self.add(at, Late::Access(access));
    }

    fn add(&mut self, at: Instant, late: Late) {
        self.waiting.insert((at, self.held_back), late);
        self.held_back += 1;
    }

    /// Removes the first one, if there is any.
    pub(crate) fn pop(&mut self) -> Option<Late> {
        self.waiting.pop_first().map(|(_, late)| late)
    }
}
