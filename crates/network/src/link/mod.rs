//! One direction of a link: queue, transmitter and propagation.

mod admission;
mod aggregate;
mod change;
mod config;
mod departures;
mod disturbance;
mod extras;
mod hand_over;
mod radio;
mod ring;
mod token_bucket;
mod transmitter;
mod transport_blocks;
mod wifi;

use core::hint::select_unpredictable;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

pub(crate) use aggregate::OnAir;
pub use change::LinkChange;
pub use config::{LinkConfig, LossPosition, Reordering, Service};
use disturbance::Disturbance;
pub(crate) use disturbance::{Late, LatePackets};
use extras::Extras;
pub(crate) use ring::Parcel;
use ring::{Descriptor, Ring};
pub use token_bucket::{Peak, TokenBucketConfig};
use transmitter::Transmitter;
pub use transport_blocks::CellularConfig;

use crate::host_table::FarEnd;
use crate::metrics::{Arrived, QueueTimes};
use crate::packet_pool::PacketPool;
use crate::prefetch::prefetch;
use crate::queue::DropTail;
use crate::{LinkMetrics, PacketId};

/// One direction of a link.
///
/// When a packet comes, the link decides whether it is dropped or lost and computes all its times ([`Link::accept`]).
/// The packet then stays in the ring until it arrives at the far end. The ring contains first the packets in
/// propagation, then the one in transmission, then those that wait; only the clock separates these three. The start and
/// end of a transmission are no events: the cursor `departed`, which separates packets that have left from the others,
/// is updated when the next packet comes.
///
/// A packet whose last bit leaves at T frees its space for one that comes at T.
///
/// If the queue discipline acts on departure, all of this happens when the transmission of a packet starts, which is an
/// event as long as packets wait (`departures.rs`). The ring then has no waiting packets.
///
/// The fields are ordered by cache line: all that a delivery needs is in the first one, what an acceptance needs besides
/// is in the two others.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    ring: Ring,
    /// The first descriptor that had not left at the last update. The queue holds the descriptors from this one on.
    departed: u32,
    /// The first descriptor that has not been delivered. On a fused link, packets are delivered before they arrive, and
    /// even before they depart.
    delivered: u32,
    /// Packets that have arrived, and their bytes. They are not beside each other: two additions take fewer instructions
    /// than one of a vector.
    arrived_packets: u64,
    pub(crate) far_end: FarEnd,
    arrived_bytes: u64,
    overhead: u16,
    /// Whether the link works and has none of the features in `extras`. Most links are plain, and a hop asks for nothing
    /// else of `extras` and `intake`.
    plain: bool,
    intake: Intake,
    /// Whether packets are passed on as soon as they come to this link: to the next one (see `fusion.rs`) or, if
    /// `exported`, to another part of the network (see `parts/`).
    fused: bool,
    exported: bool,
    counts_transmitting: bool,

    /// Bytes, including overhead, of the packets held by the queue.
    held_bytes: u64,
    /// When the last packet leaves.
    last_departure: Instant,
    /// When the last packet arrives. No later packet arrives earlier.
    last_arrival: Instant,
    delay: Duration,
    transmitter: Transmitter,

    times: QueueTimes,
    limit: DropTail,
    /// When the transmission of the last packet starts.
    last_start: Instant,
    extras: Box<Extras>,
}

const _: () = assert!(size_of::<Link>() == 3 * 64 && core::mem::offset_of!(Link, held_bytes) == 64);

/// What a link does with packets that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intake {
    /// It decides everything at once.
    AtOnce,
    /// They wait in its backlog.
    Backlog,
    /// They pass its middleboxes first.
    Middleboxes,
    /// It drops them.
    Down,
}

impl Intake {
    /// Of a link that works.
    fn of(extras: &Extras) -> Self {
        match extras {
            Extras { has_middleboxes: true, .. } => Self::Middleboxes,
            Extras { backlog: Some(_), .. } => Self::Backlog,
            _ => Self::AtOnce,
        }
    }
}

/// A packet that a link has accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    /// Its arrival time at the far end.
    pub(crate) arrival: Instant,
    /// Whether it is the next packet to arrive.
    pub(crate) first: bool,
    /// Whether it is lost after transmission.
    pub(crate) lost: bool,
}

/// Random streams of one link.
pub(crate) struct LinkStreams {
    /// Of the queue discipline.
    pub(crate) queue: Pcg64Mcg,
    pub(crate) loss: Pcg64Mcg,
    pub(crate) disturbance: Pcg64Mcg,
    /// Of the transmitter.
    pub(crate) service: Pcg64Mcg,
}

impl Link {
    pub(crate) fn new(config: &LinkConfig, far_end: FarEnd, streams: LinkStreams) -> Self {
        let mut extras = Box::new(Extras::new(config, streams));
        let transmitter = Transmitter::new(&config.service, &mut extras.service_random);
        // Varying delays are added at the far end.
        let delay = if extras.delays_differ() { Duration::ZERO } else { config.delay };
        Self {
            ring: Ring::new(),
            departed: 0,
            delivered: 0,
            arrived_packets: 0,
            far_end,
            arrived_bytes: 0,
            overhead: config.overhead,
            plain: extras.are_none(),
            intake: Intake::of(&extras),
            fused: false,
            exported: false,
            counts_transmitting: config.queue.counts_transmitting,
            held_bytes: 0,
            last_departure: Instant::ZERO,
            last_arrival: Instant::ZERO,
            delay,
            transmitter,
            times: QueueTimes::default(),
            limit: DropTail::new(config.queue.limit),
            last_start: Instant::ZERO,
            extras,
        }
    }

    /// Whether it works, and does nothing with packets but to let them wait, transmit them and drop them above the limit.
    /// All its events are arrivals.
    #[inline(always)]
    pub(crate) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether it works and has neither a backlog nor middleboxes: [`Self::accept`] decides on packets that come.
    pub(crate) const fn decides_at_once(&self) -> bool {
        matches!(self.intake, Intake::AtOnce)
    }

    /// Processes a packet that comes at `now`; `None` if it is dropped, or if the link does not
    /// [decide at once](Self::decides_at_once) and has done nothing. Packets come in order of time.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketPool) -> Option<Accepted> {
        let occupied = self.occupied(parcel);
        let first = self.restart_if_empty();
        // If the packet fits and is no new maximum even if none of the others has left, there is no need to know which
        // ones have.
        let may_matter = self.held() >= self.times.max_queue
            || !self.limit.fits(self.held(), self.held_bytes, occupied)
            || !self.plain;
        if may_matter && !self.admits(now, occupied, parcel.packet, packets) {
            return None;
        }
        Some(self.schedule(now, now, parcel, first))
    }

    /// What a packet takes on the link, in bytes.
    #[inline(always)]
    fn occupied(&self, parcel: Parcel) -> u32 {
        u32::from(parcel.size) + u32::from(self.overhead)
    }

    /// Whether no packet is on the link.
    #[inline(always)]
    fn restart_if_empty(&mut self) -> bool {
        let empty = self.delivered == self.ring.tail();
        if empty && !self.fused {
            // All packets have arrived, so all have left. An empty ring restarts at its first slots, which are in the
            // cache.
            self.ring.restart();
            (self.departed, self.delivered, self.held_bytes) = (0, 0, 0);
        }
        empty
    }

    /// Computes the times of a packet that came at `came` and is transmitted as soon as the transmitter is free, but not
    /// before `ready`. `first`: no other packet is on the link.
    #[inline(always)]
    fn schedule(&mut self, came: Instant, ready: Instant, parcel: Parcel, first: bool) -> Accepted {
        let occupied = self.occupied(parcel);
        let start = ready.max(self.last_departure);
        let departure = self.transmitter.departure(ready, self.last_departure, occupied);
        let arrival = departure.saturating_add(self.delay).max(self.last_arrival);
        let lost = !self.plain && self.extras.loses_after_queue();
        self.ring.push(self.oldest(), Descriptor { departure, arrival, parcel, lost });
        self.last_start = start;
        self.last_departure = departure;
        self.last_arrival = arrival;
        self.held_bytes += u64::from(occupied);
        self.times.count_accepted(came, start, departure, self.held());
        Accepted { arrival, first, lost }
    }

    /// Removes the first packet and returns it, and whether it is lost.
    #[inline(always)]
    pub(crate) fn deliver(&mut self) -> (Parcel, bool) {
        let Descriptor { parcel, lost, .. } = *self.ring.at(self.delivered);
        self.deliver_known(parcel.size, lost);
        (parcel, lost)
    }

    /// Removes the first packet, whose size and loss are known.
    #[inline(always)]
    pub(crate) fn deliver_known(&mut self, size: u16, lost: bool) {
        self.delivered = self.delivered.wrapping_add(1);
        if lost {
            self.extras.dropped.loss += 1;
        } else {
            self.arrived_packets += 1;
            self.arrived_bytes += u64::from(size);
        }
    }

    /// When the first packet arrives; [`Instant::MAX`] if there is none. Both cases are frequent, so it is computed
    /// without a branch.
    #[inline(always)]
    pub(crate) fn next_arrival(&self) -> Instant {
        let first = self.ring.at(self.delivered).arrival;
        select_unpredictable(self.delivered == self.ring.tail(), Instant::MAX, first)
    }

    /// The next packet to arrive, if there is one.
    #[inline(always)]
    pub(crate) fn first_packet(&self) -> Option<PacketId> {
        (self.delivered != self.ring.tail()).then(|| self.ring.at(self.delivered).parcel.packet)
    }

    /// The next packet to arrive with its route, if there is one.
    #[inline]
    pub(crate) fn first_parcel(&self) -> Option<Parcel> {
        (self.delivered != self.ring.tail()).then(|| self.ring.at(self.delivered).parcel)
    }

    /// The disturbance of packets that arrive, if any.
    #[inline]
    pub(crate) fn disturbance(&mut self) -> Option<&mut Disturbance> {
        if self.plain { None } else { self.extras.disturbance.as_mut() }
    }

    /// Fetches the first line into the cache.
    #[inline]
    pub(crate) fn prefetch_first(&self) {
        prefetch(&self.ring);
    }

    /// Fetches what the arrival of the first packet needs, once the first line can be read.
    #[inline]
    pub(crate) fn prefetch_delivery(&self) {
        self.ring.prefetch(self.delivered);
        // Its arrival is the link's next event.
        self.ring.prefetch(self.delivered.wrapping_add(1));
    }

    /// Fetches what the acceptance of a packet needs.
    #[inline]
    pub(crate) fn prefetch_acceptance(&self) {
        prefetch(&self.ring);
        prefetch(&self.held_bytes);
        prefetch(&self.times);
    }

    /// Fetches the place of the next packet and the first that may have left, once the first line can be read.
    #[inline]
    pub(crate) fn prefetch_queue(&self) {
        self.ring.prefetch(self.ring.tail());
        self.ring.prefetch(self.departed);
    }

    /// Whether packets are passed on as soon as they come, and have no event.
    #[inline]
    pub(crate) const fn passes_on(&self) -> bool {
        self.fused
    }

    /// Whether packets are passed on to the next link.
    pub(crate) const fn is_fused(&self) -> bool {
        self.fused && !self.exported
    }

    /// Sets whether packets are passed on to the next link.
    pub(crate) fn set_fused(&mut self, fused: bool) {
        self.fused = fused;
    }

    /// Updates which packets have left by `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Instant) {
        while self.departed != self.ring.tail() && self.ring.at(self.departed).departure <= now {
            let size = self.ring.at(self.departed).parcel.size;
            self.held_bytes -= u64::from(size) + u64::from(self.overhead);
            self.departed = self.departed.wrapping_add(1);
        }
    }

    /// The number of packets in the ring that have not left: with a backlog only the one in transmission, else all
    /// packets held by the queue. At the last update.
    #[inline]
    pub(crate) const fn held(&self) -> u32 {
        self.ring.tail().wrapping_sub(self.departed)
    }

    /// Whether it works.
    pub(crate) const fn is_up(&self) -> bool {
        !matches!(self.intake, Intake::Down)
    }

    /// Propagation delay; the mean if delays vary.
    pub(crate) fn delay(&self) -> Duration {
        self.extras.disturbance.as_ref().and_then(Disturbance::netem_delay).unwrap_or(self.delay)
    }

    /// Whether every packet takes more than zero time on this link.
    pub(crate) fn takes_time(&self) -> bool {
        !self.delay.is_zero()
            || matches!(self.transmitter, Transmitter::Rate(_) | Transmitter::Cellular(_) | Transmitter::Wifi(_))
    }

    /// The counters at `now`, to which the link has been updated.
    pub(crate) fn metrics(&self, now: Instant) -> LinkMetrics {
        let unfinished = self.last_departure.since(now);
        let held = (0..self.held()).map(|number| self.ring.at(self.departed.wrapping_add(number)));
        let to_wait = held.map(|packet| u128::from(packet.departure.since(now).as_nanos())).sum();
        let arrived = Arrived { packets: self.arrived_packets, bytes: self.arrived_bytes };
        let counters = (arrived, self.extras.dropped, &self.times);
        let waited = self.extras.backlog.as_ref().map_or(0, |backlog| backlog.waited(now));
        let metrics = LinkMetrics::new(now, counters, unfinished, to_wait, waited + self.waited_for_channel(now));
        LinkMetrics { busy: metrics.busy + self.waits_for_a_block(now), ..metrics }
    }

    /// Packets that left the link at its far end.
    pub(crate) const fn hops(&self) -> u64 {
        self.arrived_packets
    }

    /// The first descriptor that is still needed.
    #[inline]
    const fn oldest(&self) -> u32 {
        // Numbers wrap, so their difference decides which one is ahead.
        if self.delivered.wrapping_sub(self.departed).cast_signed() > 0 { self.departed } else { self.delivered }
    }
}
