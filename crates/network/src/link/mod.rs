//! One direction of a link: queue, transmitter and propagation.

mod change;
mod config;
mod disturbance;
mod extras;
mod hand_over;
mod ring;
mod token_bucket;
mod transmitter;

use core::hint::select_unpredictable;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

pub use change::LinkChange;
pub use config::{LinkConfig, LossPosition, Reordering, Service};
use disturbance::Disturbance;
pub(crate) use disturbance::LatePackets;
use extras::{Extras, QueueState};
pub(crate) use ring::Parcel;
use ring::{Descriptor, Ring};
pub use token_bucket::{Peak, TokenBucketConfig};
use transmitter::Transmitter;

use crate::host_table::FarEnd;
use crate::look_ahead::prefetch;
use crate::metrics::{Arrived, QueueTimes};
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
    pub(crate) far_end: FarEnd,
    arrived: Arrived,
    overhead: u16,
    /// Whether the link has none of the features in `extras`.
    plain: bool,
    up: bool,
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
}

impl Link {
    pub(crate) fn new(config: &LinkConfig, far_end: FarEnd, streams: LinkStreams) -> Self {
        let extras = Box::new(Extras::new(config, streams));
        // Varying delays are added at the far end.
        let delay = if extras.delays_differ() { Duration::ZERO } else { config.delay };
        Self {
            ring: Ring::new(),
            departed: 0,
            delivered: 0,
            far_end,
            arrived: Arrived::default(),
            overhead: config.overhead,
            plain: extras.are_none(),
            up: true,
            fused: false,
            exported: false,
            counts_transmitting: config.queue.counts_transmitting,
            held_bytes: 0,
            last_departure: Instant::ZERO,
            last_arrival: Instant::ZERO,
            delay,
            transmitter: Transmitter::new(&config.service),
            times: QueueTimes::default(),
            limit: DropTail::new(config.queue.limit),
            last_start: Instant::ZERO,
            extras,
        }
    }

    /// Processes a packet that comes at `now`; `None` if it is dropped at once. Packets come in order of time.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Instant, parcel: Parcel) -> Option<Accepted> {
        let occupied = u32::from(parcel.size) + u32::from(self.overhead);
        if !self.up {
            self.extras.dropped.down += 1;
            return None;
        }
        let first = self.delivered == self.ring.tail();
        if first && !self.fused {
            // All packets have arrived, so all have left. An empty ring restarts at its first slots, which are in the
            // cache.
            self.ring.restart();
            (self.departed, self.delivered, self.held_bytes) = (0, 0, 0);
        }
        // If the packet fits and is no new maximum even if none of the others has left, there is no need to know which
        // ones have.
        let may_matter = self.held() >= self.times.max_queue
            || !self.limit.fits(self.held(), self.held_bytes, occupied)
            || !self.plain;
        if may_matter && !self.admits(now, occupied) {
            return None;
        }
        let start = now.max(self.last_departure);
        let departure = self.transmitter.departure(now, self.last_departure, occupied);
        let arrival = departure.saturating_add(self.delay).max(self.last_arrival);
        let lost = !self.plain && self.extras.loses_after_queue();
        self.ring.push(self.oldest(), Descriptor { departure, arrival, parcel, lost });
        self.last_start = start;
        self.last_departure = departure;
        self.last_arrival = arrival;
        self.held_bytes += u64::from(occupied);
        self.times.count_accepted(now, start, departure, self.held());
        Some(Accepted { arrival, first, lost })
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
            self.arrived.packets += 1;
            self.arrived.bytes += u64::from(size);
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

    /// The first packet to arrive, whose arrival is a pending event.
    #[inline]
    pub(crate) fn first_parcel(&self) -> Parcel {
        self.ring.at(self.delivered).parcel
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

    /// The number of packets held by the queue, including the one in transmission, at the last update.
    #[inline]
    pub(crate) const fn held(&self) -> u32 {
        self.ring.tail().wrapping_sub(self.departed)
    }

    /// Whether it works.
    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    /// Propagation delay; the mean if delays vary.
    pub(crate) fn delay(&self) -> Duration {
        self.extras.disturbance.as_ref().and_then(Disturbance::netem_delay).unwrap_or(self.delay)
    }

    /// Whether every packet takes more than zero time on this link.
    pub(crate) fn takes_time(&self) -> bool {
        !self.delay.is_zero() || matches!(self.transmitter, Transmitter::Rate(_))
    }

    /// The counters at `now`, to which the link has been updated.
    pub(crate) fn metrics(&self, now: Instant) -> LinkMetrics {
        let unfinished = self.last_departure.since(now);
        let held = (0..self.held()).map(|number| self.ring.at(self.departed.wrapping_add(number)));
        let to_wait = held.map(|packet| u128::from(packet.departure.since(now).as_nanos())).sum();
        LinkMetrics::new(now, (self.arrived, self.extras.dropped, &self.times), unfinished, to_wait)
    }

    /// Packets that left the link at its far end.
    pub(crate) const fn hops(&self) -> u64 {
        self.arrived.packets
    }

    /// The first descriptor that is still needed.
    #[inline]
    const fn oldest(&self) -> u32 {
        // Numbers wrap, so their difference decides which one is ahead.
        if self.delivered.wrapping_sub(self.departed).cast_signed() > 0 { self.departed } else { self.delivered }
    }

    /// The state of the queue for the limit and the discipline.
    #[inline]
    fn queue_state(&self) -> QueueState {
        let (packets, bytes) = (self.held(), self.held_bytes);
        if self.counts_transmitting || packets == 0 {
            let idle_since = if self.counts_transmitting { self.last_departure } else { self.last_start };
            return QueueState { packets, bytes, idle_since, last_departure: self.last_departure };
        }
        let in_transmission = u64::from(self.ring.at(self.departed).parcel.size) + u64::from(self.overhead);
        QueueState {
            packets: packets - 1,
            bytes: bytes - in_transmission,
            idle_since: self.last_start,
            last_departure: self.last_departure,
        }
    }

    /// Whether a packet of `occupied` bytes passes loss, the discipline and the limit.
    #[inline(always)]
    fn admits(&mut self, now: Instant, occupied: u32) -> bool {
        self.catch_up(now);
        let queue = self.queue_state();
        if !self.plain && !self.passes_extras(now, occupied, queue) {
            return false;
        }
        let fits = self.limit.fits(queue.packets, queue.bytes, occupied);
        self.extras.dropped.queue += u64::from(!fits);
        fits
    }

    /// Whether a packet passes loss and the discipline.
    fn passes_extras(&mut self, now: Instant, occupied: u32, queue: QueueState) -> bool {
        if self.extras.loses_before_queue() {
            self.extras.dropped.loss += 1;
            return false;
        }
        let transmitter = &self.transmitter;
        if self.extras.queue_drops(now, occupied, queue, |bytes| transmitter.typical_time(bytes)) {
            self.extras.dropped.queue += 1;
            return false;
        }
        true
    }
}
