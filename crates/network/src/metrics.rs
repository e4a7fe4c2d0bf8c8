//! What links and the network count.

use subflow_quantity::{Duration, Instant};

/// What one direction of a link has done until now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkMetrics {
    /// Packets that reached the far end, copies made by duplication not counted.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped by the queue: over its limit, or by RED.
    pub dropped_queue: u64,
    /// Packets lost at random. One that is lost behind the queue counts when it would have arrived.
    pub dropped_loss: u64,
    /// Packets dropped because the link was down.
    pub dropped_down: u64,
    /// Time spent transmitting; with a capacity trace, the time in which there was something to transmit.
    pub busy: Duration,
    /// The most packets that the queue held at once, the one in transmission included.
    pub max_queue: u32,
    /// Packets in the queue on average over the time since the run began, the one in transmission included.
    pub mean_queue: f64,
}

impl LinkMetrics {
    /// All drops.
    pub fn drops(&self) -> u64 {
        self.dropped_queue + self.dropped_loss + self.dropped_down
    }

    /// The part of `elapsed` that was spent transmitting.
    pub fn utilisation(&self, elapsed: Duration) -> f64 {
        if elapsed.is_zero() { 0.0 } else { self.busy.as_secs_f64() / elapsed.as_secs_f64() }
    }
}

/// What the whole network has done until now. `transmitted` + `duplicated` = `delivered` + `dropped` + `in_flight`,
/// once hosts have taken or released what was delivered to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkMetrics {
    /// Packets that hosts transmitted.
    pub transmitted: u64,
    /// Copies made by links.
    pub duplicated: u64,
    /// Packets handed to hosts.
    pub delivered: u64,
    /// Packets dropped, on links or for want of a route.
    pub dropped: u64,
    /// Of those, packets for an address that nobody has, that no route leads to, or that may not be sent to.
    pub dropped_unroutable: u64,
    /// Packets in the network now.
    pub in_flight: u64,
    /// Packets that left a link: one packet over three links is three hops.
    pub packet_hops: u64,
    /// Events that the loop processed.
    pub events: u64,
}

/// A link's running counts. Packets are counted with their whole future when they come; [`Self::report`] takes back
/// what has not happened yet.
#[derive(Debug, Default)]
pub(crate) struct LinkCounters {
    pub(crate) packets: u64,
    bytes: u64,
    pub(crate) dropped_queue: u64,
    pub(crate) dropped_loss: u64,
    pub(crate) dropped_down: u64,
    /// Sum of transmission times, in nanoseconds.
    busy: u64,
    /// Sum of times from coming to leaving, in nanoseconds: the integral of the queue length over time.
    sojourn: u64,
    pub(crate) max_queue: u32,
}

impl LinkCounters {
    /// A packet came at `now`, is transmitted from `start` to `departure`, and makes `held` packets in the queue.
    #[inline]
    pub(crate) fn count_accepted(&mut self, now: Instant, start: Instant, departure: Instant, held: u32) {
        self.busy += departure.since(start).as_nanos();
        self.sojourn += departure.since(now).as_nanos();
        if departure > now {
            self.max_queue = self.max_queue.max(held);
        }
    }

    #[inline]
    pub(crate) fn count_arrived(&mut self, size: u16, lost: bool) {
        if lost {
            self.dropped_loss += 1;
        } else {
            self.packets += 1;
            self.bytes += u64::from(size);
        }
    }

    /// A packet that was to leave at `before` leaves at `after`.
    pub(crate) fn move_departure(&mut self, before: Instant, after: Instant) {
        self.sojourn = (self.sojourn + after.as_nanos()) - before.as_nanos();
    }

    /// The transmitter that was to be busy until `before` is so until `after`.
    pub(crate) fn move_end_of_busy_period(&mut self, before: Instant, after: Instant) {
        self.busy = (self.busy + after.as_nanos()) - before.as_nanos();
    }

    /// The counts at `now`, when the transmitter has `unfinished` before it, and the packets held by the queue
    /// `to_wait` in sum.
    pub(crate) fn report(&self, now: Instant, unfinished: Duration, to_wait: Duration) -> LinkMetrics {
        let sojourn = (self.sojourn - to_wait.as_nanos()) as f64;
        LinkMetrics {
            packets: self.packets,
            bytes: self.bytes,
            dropped_queue: self.dropped_queue,
            dropped_loss: self.dropped_loss,
            dropped_down: self.dropped_down,
            busy: Duration::from_nanos(self.busy) - unfinished,
            max_queue: self.max_queue,
            mean_queue: if now == Instant::ZERO { 0.0 } else { sojourn / now.as_nanos() as f64 },
        }
    }
}
