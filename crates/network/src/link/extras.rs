//! Features that most links do not have: a queue discipline, loss, disturbance; and what is seldom counted.

use std::net::SocketAddr;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_policy::queue::{Arrival, Backlog, Codepoint, Discipline, QueueDiscipline, Speed, Verdict};
use subflow_policy::routing::FlowKey;
use subflow_quantity::Instant;
use subflow_wire::{Ecn, Packet};

use super::disturbance::Disturbance;
use super::{LinkConfig, LinkStreams, LossPosition, Parcel, Service};
use crate::departures::Departures;
use crate::loss::{LossModel, PacketLoss};
use crate::metrics::Dropped;
use crate::routing::flow_key;

/// The state of a link that a plain one does not use, stored separately so that plain links stay small.
#[derive(Debug)]
pub(crate) struct Extras {
    pub(super) discipline: Discipline,
    /// The seed of [`Arrival::flow`], if the discipline reads it.
    flow_seed: Option<u64>,
    /// Whether the discipline reads [`Arrival::hosts`].
    reads_hosts: bool,
    /// The waiting packets, if the discipline acts on departure.
    pub(super) backlog: Option<Box<LinkBacklog>>,
    /// What has left the queue and the host does not know yet, if it is reported.
    pub(super) departures: Option<Box<Departures>>,
    loss: Option<LossModel>,
    loss_random: Pcg64Mcg,
    /// Of transmitters, each of which has a stream of its own from it.
    pub(super) service_random: Pcg64Mcg,
    loss_before_queue: bool,
    pub(crate) disturbance: Option<Disturbance>,
    pub(super) dropped: Dropped,
    /// Whether packets pass middleboxes before they come to the queue.
    pub(super) has_middleboxes: bool,
    /// If a radio sends on the link, how many packets that have not arrived are counted for it.
    pub(super) counted_for_radio: Option<u32>,
}

/// The state of the queue when a packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueState {
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// Since when the queue is empty, if it is empty.
    pub(super) idle_since: Instant,
    /// When the last packet leaves of those whose times are known.
    pub(super) last_departure: Instant,
}

impl Extras {
    pub(super) fn new(config: &LinkConfig, mut streams: LinkStreams) -> Self {
        let mut discipline = config.queue.discipline.clone();
        discipline.begin_with(&mut streams.queue);
        let is_wifi = matches!(config.service, Service::Wifi(_));
        Self {
            flow_seed: discipline.reads_flow().then(|| streams.queue.next_u64()),
            reads_hosts: discipline.reads_hosts(),
            backlog: (discipline.acts_on_departure() || config.reports_departures || is_wifi).then(Box::default),
            departures: config.reports_departures.then(Box::default),
            discipline,
            loss: config.loss.clone().filter(may_lose),
            loss_random: streams.loss,
            service_random: streams.service,
            loss_before_queue: config.loss_position == LossPosition::BeforeQueue,
            disturbance: Disturbance::new(config, streams.disturbance),
            dropped: Dropped::default(),
            has_middleboxes: false,
            counted_for_radio: None,
        }
    }

    /// Whether delays vary between packets.
    pub(super) fn delays_differ(&self) -> bool {
        self.disturbance.as_ref().is_some_and(|disturbance| disturbance.netem_delay().is_some())
    }

    /// Whether the link has none of these features.
    pub(super) fn are_none(&self) -> bool {
        self.discipline.is_drop_tail()
            && self.backlog.is_none()
            && self.loss.is_none()
            && self.disturbance.is_none()
            && !self.has_middleboxes
            && self.counted_for_radio.is_none()
    }

    pub(super) fn set_loss(&mut self, model: Option<LossModel>) {
        self.loss = model.filter(may_lose);
    }

    /// Whether the packet that comes is lost before the queue.
    pub(super) fn loses_before_queue(&mut self) -> bool {
        self.loss_before_queue && self.loses()
    }

    /// Whether the accepted packet is lost after transmission.
    pub(super) fn loses_after_queue(&mut self) -> bool {
        !self.loss_before_queue && self.loses()
    }

    /// What the discipline does with `packet`, which comes and takes `occupied` bytes. It processes every packet that
    /// comes to the queue, also if the packet then does not fit.
    pub(super) fn verdict_on_arrival(
        &mut self,
        now: Instant,
        occupied: u32,
        queue: QueueState,
        speed: Speed,
        packet: &Packet,
    ) -> Verdict {
        if self.discipline.is_drop_tail() {
            return Verdict::Pass;
        }
        let arrival = self.arrival(now, occupied, queue, speed, packet);
        self.discipline.on_arrival(&arrival).applied_to(arrival.ecn)
    }

    /// What the discipline gets to know of `packet`, which comes and takes `occupied` bytes.
    pub(super) fn arrival(
        &self,
        now: Instant,
        occupied: u32,
        queue: QueueState,
        speed: Speed,
        packet: &Packet,
    ) -> Arrival {
        let in_backlog = self.backlog.as_ref().map_or(0, |backlog| backlog.bytes());
        let ahead = speed.transmission_time(u32::try_from(in_backlog).unwrap_or(u32::MAX));
        Arrival {
            at: now,
            bytes: occupied,
            ecn: codepoint(packet.ip.ecn),
            dscp: packet.ip.dscp.value(),
            flow: self.flow_seed.map_or(0, |seed| flow_key(packet).hash(seed)),
            hosts: self.flow_seed.filter(|_| self.reads_hosts).map_or([0; 2], |seed| hosts(packet, seed)),
            held_packets: queue.packets,
            held_bytes: queue.bytes,
            wait: queue.last_departure.since(now).saturating_add(ahead),
            idle: (queue.packets == 0).then(|| now.since(queue.idle_since)),
            speed,
        }
    }

    /// Sets Congestion Experienced.
    pub(super) fn mark(&mut self, packet: &mut Packet) {
        packet.ip.ecn = Ecn::CongestionExperienced;
        self.dropped.marked += 1;
    }

    fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some(loss) => loss.loses(&mut self.loss_random),
        }
    }
}

fn may_lose(model: &LossModel) -> bool {
    !model.never_loses()
}

/// Hashes of the source and of the destination address.
fn hosts(packet: &Packet, seed: u64) -> [u16; 2] {
    [packet.ip.source, packet.ip.destination].map(|address| {
        let end = SocketAddr::new(address, 0);
        FlowKey { source: end, destination: end, protocol: 0 }.hash(seed)
    })
}

fn codepoint(ecn: Ecn) -> Codepoint {
    match ecn {
        Ecn::NotEct => Codepoint::NotEct,
        Ecn::Ect0 => Codepoint::Ect0,
        Ecn::Ect1 => Codepoint::Ect1,
        Ecn::CongestionExperienced => Codepoint::Ce,
    }
}

/// The packets that wait at a link.
#[derive(Debug)]
pub(super) struct LinkBacklog {
    pub(super) packets: Backlog<Parcel>,
    /// From when on the next packet could have been transmitted if the transmitter had been free: since then there have
    /// been packets, and the transmitter has not changed.
    pub(super) ready: Instant,
    /// When the next transmission starts; [`Instant::MAX`] if no packet waits.
    pub(super) next_start: Instant,
}

impl Default for LinkBacklog {
    fn default() -> Self {
        Self { packets: Backlog::default(), ready: Instant::ZERO, next_start: Instant::MAX }
    }
}

impl LinkBacklog {
    /// The number of waiting packets.
    pub(super) fn len(&self) -> u32 {
        self.packets.waiting().packets()
    }

    /// Their bytes, including overhead.
    pub(super) fn bytes(&self) -> u64 {
        self.packets.waiting().bytes()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of the times that they have waited, in nanoseconds.
    pub(super) fn waited(&self, now: Instant) -> u128 {
        self.packets.came().map(|came| u128::from(now.since(came).as_nanos())).sum()
    }
}
