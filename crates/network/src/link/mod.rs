//! One direction of a link: its queue, its transmitter, its propagation.

mod change;
mod config;
mod ring;
mod transmitter;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

pub use change::LinkChange;
pub use config::{LinkConfig, LossPosition, Reordering, Service};
pub(crate) use ring::Descriptor;
use ring::Ring;
use transmitter::Transmitter;

use crate::disturbance::Disturbance;
use crate::host_table::FarEnd;
use crate::loss::LossProcess;
use crate::metrics::LinkCounters;
use crate::queue::{Discipline, DropTail, Occupancy, Red};
use crate::{LinkMetrics, PacketId};

/// One direction of a link.
///
/// A packet's fate and all its times are settled when it comes ([`Link::accept`]). It then stays in the ring until its
/// arrival at the far end, in three stretches told apart by the clock alone: first those that propagate, then the one
/// in transmission, then those that wait. Nothing happens when a transmission begins or ends; the cursor `departed`,
/// which separates those that have left from the rest, catches up when the next packet comes.
///
/// A packet whose last bit leaves at T makes room for one that comes at T.
#[derive(Debug)]
pub(crate) struct Link {
    ring: Ring,
    /// The first descriptor that had not left when the link last looked; those from here on are held by the queue.
    departed: u32,
    /// The first descriptor that has not been delivered. On a fused link, packets are delivered before they arrive, and
    /// even before they depart.
    delivered: u32,
    /// When the packet that came last begins to be transmitted.
    last_start: Instant,
    /// When it has left.
    last_departure: Instant,
    /// When it arrives. No later one arrives earlier.
    last_arrival: Instant,
    delay: Duration,
    /// Bytes, overhead included, of the packets held by the queue.
    held_bytes: u64,
    transmitter: Transmitter,
    limit: DropTail,
    overhead: u16,
    counts_transmitting: bool,
    loss_before_queue: bool,
    up: bool,
    /// Whether packets are passed on to the next link as soon as they have come to this one (see `fusion.rs`).
    fused: bool,
    pub(crate) far_end: FarEnd,
    red: Option<Box<Red>>,
    loss: Option<Box<LossProcess>>,
    loss_random: Pcg64Mcg,
    pub(crate) disturbance: Option<Box<Disturbance>>,
    counters: LinkCounters,
}

/// What becomes of a packet that comes to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is alone on the link and arrives then (or is lost then).
    First(Instant),
    /// It comes after others.
    Behind,
    /// It is dropped at once.
    Dropped,
}

/// Random streams of one link.
pub(crate) struct LinkStreams {
    pub(crate) red: Pcg64Mcg,
    pub(crate) loss: Pcg64Mcg,
    pub(crate) disturbance: Pcg64Mcg,
}

impl Link {
    pub(crate) fn new(config: &LinkConfig, far_end: FarEnd, streams: LinkStreams) -> Self {
        let red = match &config.queue.discipline {
            Discipline::DropTail => None,
            Discipline::Red(red) => Some(Box::new(Red::new(red.clone(), streams.red))),
        };
        Self {
            ring: Ring::new(),
            departed: 0,
            delivered: 0,
            last_start: Instant::ZERO,
            last_departure: Instant::ZERO,
            last_arrival: Instant::ZERO,
            delay: config.delay,
            held_bytes: 0,
            transmitter: Transmitter::new(&config.service),
            limit: DropTail::new(config.queue.limit),
            overhead: config.overhead,
            counts_transmitting: config.queue.counts_transmitting,
            loss_before_queue: config.loss_position == LossPosition::BeforeQueue,
            up: true,
            fused: false,
            far_end,
            red,
            loss: LossProcess::new(&config.loss),
            loss_random: streams.loss,
            disturbance: Disturbance::new(config.duplication, config.reordering, streams.disturbance),
            counters: LinkCounters::default(),
        }
    }

    /// Settles the fate of a packet of `size` IP bytes that comes at `now`. Packets come in order of time.
    #[inline]
    pub(crate) fn accept(&mut self, now: Instant, packet: PacketId, destination: u32, size: u16) -> Fate {
        self.catch_up(now);
        let occupied = u32::from(size) + u32::from(self.overhead);
        if !self.up {
            self.counters.dropped_down += 1;
            return Fate::Dropped;
        }
        if self.loss_before_queue && self.loses() {
            self.counters.dropped_loss += 1;
            return Fate::Dropped;
        }
        if !self.admits(now, occupied) {
            self.counters.dropped_queue += 1;
            return Fate::Dropped;
        }
        let start = now.max(self.last_departure);
        let departure = self.transmitter.departure(start, occupied);
        let arrival = (departure + self.delay).max(self.last_arrival);
        let lost = !self.loss_before_queue && self.loses();
        let alone = self.delivered == self.ring.tail();
        self.ring.push(self.oldest(), Descriptor { departure, arrival, packet, destination, size, lost });
        self.last_start = start;
        self.last_departure = departure;
        self.last_arrival = arrival;
        self.held_bytes += u64::from(occupied);
        self.counters.count_accepted(now, start, departure, self.held());
        if alone { Fate::First(arrival) } else { Fate::Behind }
    }

    /// Removes the first packet, whose arrival has come.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Descriptor {
        let first = *self.ring.at(self.delivered);
        self.delivered = self.delivered.wrapping_add(1);
        self.counters.count_arrived(&first);
        first
    }

    /// When the first packet arrives.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        if self.delivered == self.ring.tail() { None } else { Some(self.ring.at(self.delivered).arrival) }
    }

    #[inline]
    pub(crate) const fn is_fused(&self) -> bool {
        self.fused
    }

    /// Makes the link one whose packets are delivered as soon as they have come, or undoes it.
    pub(crate) fn set_fused(&mut self, fused: bool) {
        self.fused = fused;
    }

    /// Notes which packets have left by `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Instant) {
        while self.departed != self.ring.tail() && self.ring.at(self.departed).departure <= now {
            let size = self.ring.at(self.departed).size;
            self.held_bytes -= u64::from(size) + u64::from(self.overhead);
            self.departed = self.departed.wrapping_add(1);
        }
    }

    /// Packets held by the queue, the one in transmission included, when the link last looked.
    #[inline]
    pub(crate) const fn held(&self) -> u32 {
        self.ring.tail().wrapping_sub(self.departed)
    }

    /// Propagation delay.
    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    /// The least time that any packet takes here is not zero.
    pub(crate) fn takes_time(&self) -> bool {
        !self.delay.is_zero() || matches!(self.transmitter, Transmitter::Rate(_))
    }

    /// What the link has done until `now`, to which it has been brought up.
    pub(crate) fn metrics(&self, now: Instant) -> LinkMetrics {
        let unfinished = self.last_departure.since(now);
        let mut to_wait = Duration::ZERO;
        for number in 0..self.held() {
            to_wait += self.ring.at(self.departed.wrapping_add(number)).departure.since(now);
        }
        self.counters.report(now, unfinished, to_wait)
    }

    /// Packets that left the link for the far end.
    pub(crate) const fn hops(&self) -> u64 {
        self.counters.packets
    }

    /// The first descriptor that is still needed.
    #[inline]
    const fn oldest(&self) -> u32 {
        // Numbers wrap, so their difference tells which is ahead.
        if self.delivered.wrapping_sub(self.departed).cast_signed() > 0 { self.departed } else { self.delivered }
    }

    #[inline]
    fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some(loss) => loss.loses(&mut self.loss_random),
        }
    }

    /// Whether the queue lets a packet in that occupies so many bytes. First RED, which sees every packet, then the
    /// limit.
    #[inline]
    fn admits(&mut self, now: Instant, occupied: u32) -> bool {
        let (mut packets, mut bytes) = (self.held(), self.held_bytes);
        if !self.counts_transmitting && packets > 0 {
            packets -= 1;
            bytes -= u64::from(self.ring.at(self.departed).size) + u64::from(self.overhead);
        }
        if let Some(red) = &mut self.red {
            let occupancy = if packets > 0 {
                Occupancy::Holding { packets, bytes }
            } else {
                let since = if self.counts_transmitting { self.last_departure } else { self.last_start };
                Occupancy::Idle(now.since(since))
            };
            if red.drops(occupancy, occupied, |bytes| self.transmitter.typical_time(bytes)) {
                return false;
            }
        }
        self.limit.fits(packets, bytes, occupied)
    }
}
