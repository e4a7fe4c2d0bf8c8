//! Counters of links and of the network.

use subflow_quantity::{Duration, Instant};

/// The counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkMetrics {
    /// Packets that reached the far end, without copies made by duplication.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped by the queue: over its limit, or by its discipline.
    pub dropped_queue: u64,
    /// Packets on which the queue's discipline set Congestion Experienced.
    pub marked: u64,
    /// Packets lost at random. A packet lost after the queue is counted when it would have arrived.
    pub dropped_loss: u64,
    /// Packets dropped because the link was down.
    pub dropped_down: u64,
    /// Packets that middleboxes dropped.
    pub dropped_middlebox: u64,
    /// Packets that middleboxes replaced by others.
    pub replaced: u64,
    /// Time spent transmitting; with a capacity trace, the time during which the queue was not empty.
    pub busy: Duration,
    /// The maximum number of packets in the queue, including the one in transmission.
    pub max_queue: u32,
    /// The mean number of packets in the queue since the run began, including the one in transmission.
    pub mean_queue: f64,
}

impl LinkMetrics {
    /// All drops, with packets that were replaced.
    pub fn drops(&self) -> u64 {
        self.dropped_queue + self.dropped_loss + self.dropped_down + self.dropped_middlebox + self.replaced
    }

    /// The fraction of `elapsed` that was spent transmitting.
    pub fn utilisation(&self, elapsed: Duration) -> f64 {
        if elapsed.is_zero() { 0.0 } else { self.busy.as_secs_f64() / elapsed.as_secs_f64() }
    }
}

/// The counters of the whole network. `transmitted` + `duplicated` = `delivered` + `dropped` + `in_flight`, after hosts
/// have taken or released all delivered packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkMetrics {
    /// Packets that hosts transmitted.
    pub transmitted: u64,
    /// Copies made by links, and packets made by middleboxes.
    pub duplicated: u64,
    /// Packets delivered to hosts.
    pub delivered: u64,
    /// Packets dropped on links or without a route, or replaced by middleboxes.
    pub dropped: u64,
    /// Of those, packets to an address that does not exist, that has no route, or that the sender may not send to.
    pub dropped_unroutable: u64,
    /// Packets in the network.
    pub in_flight: u64,
    /// Packets that left a link: a packet over three links makes three hops.
    pub packet_hops: u64,
    /// Events that the loop processed.
    pub events: u64,
}

/// The packets that reached the far end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// The packets that did not, and those that were marked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dropped {
    pub(crate) queue: u64,
    pub(crate) loss: u64,
    pub(crate) down: u64,
    pub(crate) middlebox: u64,
    pub(crate) replaced: u64,
    pub(crate) marked: u64,
}

/// What the queue of a link held and for how long. A packet is counted when its times are known, with its future times:
/// when it comes, or when it leaves a backlog. [`LinkMetrics::new`] subtracts what has not happened yet, and adds what
/// packets in a backlog have waited.
#[derive(Debug, Default)]
pub(crate) struct QueueTimes {
    /// Sum of the times that packets spend in the queue, in nanoseconds: the integral of the queue length over time.
    /// Ten thousand packets in the queue for weeks exceed 64 bits.
    sojourn: u128,
    /// Sum of transmission times, in nanoseconds.
    busy: u64,
    pub(crate) max_queue: u32,
}

impl QueueTimes {
    /// Counts a packet that came at `came` and is transmitted from `start` to `departure`. The queue now holds `held`
    /// packets.
    #[inline]
    pub(crate) fn count_accepted(&mut self, came: Instant, start: Instant, departure: Instant, held: u32) {
        self.busy += departure.since(start).as_nanos();
        self.sojourn += u128::from(departure.since(came).as_nanos());
        if departure > came {
            self.max_queue = self.max_queue.max(held);
        }
    }

    /// Counts a packet that came at `came` and leaves a backlog at `now` without being transmitted.
    pub(crate) fn count_removed(&mut self, came: Instant, now: Instant) {
        self.sojourn += u128::from(now.since(came).as_nanos());
    }

    /// Counts the time from `start` to `end`, in which packets waited for a transmitter that was changed.
    pub(crate) fn count_busy(&mut self, start: Instant, end: Instant) {
        self.busy += end.since(start).as_nanos();
    }

    /// Moves the departure of a packet from `before` to `after`.
    pub(crate) fn move_departure(&mut self, before: Instant, after: Instant) {
        self.sojourn = (self.sojourn + u128::from(after.as_nanos())) - u128::from(before.as_nanos());
    }

    /// Moves the end of a busy period from `before` to `after`.
    pub(crate) fn move_end_of_busy_period(&mut self, before: Instant, after: Instant) {
        self.busy = self.busy.wrapping_add(after.as_nanos()).wrapping_sub(before.as_nanos());
    }
}

impl LinkMetrics {
    /// The metrics at `now`, where `unfinished` is the remaining transmission time, `to_wait` the sum of the remaining
    /// times in the queue of all packets whose times are counted, and `waited` the sum of the times that the others have
    /// waited, in nanoseconds.
    pub(crate) fn new(
        now: Instant,
        (arrived, dropped, times): (Arrived, Dropped, &QueueTimes),
        unfinished: Duration,
        to_wait: u128,
        waited: u128,
    ) -> Self {
        let sojourn = (times.sojourn - to_wait + waited) as f64;
        Self {
            packets: arrived.packets,
            bytes: arrived.bytes,
            dropped_queue: dropped.queue,
            marked: dropped.marked,
            dropped_loss: dropped.loss,
            dropped_down: dropped.down,
            dropped_middlebox: dropped.middlebox,
            replaced: dropped.replaced,
            busy: Duration::from_nanos(times.busy) - unfinished,
            max_queue: times.max_queue,
            mean_queue: if now == Instant::ZERO { 0.0 } else { sojourn / now.as_nanos() as f64 },
        }
    }
}
