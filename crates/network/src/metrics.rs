//! What links and the network count.

use subflow_quantity::Duration;

/// What one direction of a link has done until now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkMetrics {
    /// Packets that reached the far end.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped by the queue: over its limit, or by RED.
    pub dropped_queue: u64,
    /// Packets lost at random.
    pub dropped_loss: u64,
    /// Packets dropped because the link was down.
    pub dropped_down: u64,
    /// Copies made by duplication.
    pub duplicated: u64,
    /// Time spent transmitting.
    pub busy: Duration,
    /// The most packets that the queue held at once, the one in transmission included.
    pub max_queue: u32,
    /// Packets in the queue on average over time since the run began, the one in transmission included.
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

/// What the whole network has done until now. `transmitted + duplicated` = `delivered + dropped + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkMetrics {
    /// Packets that hosts transmitted.
    pub transmitted: u64,
    /// Packets handed to hosts.
    pub delivered: u64,
    /// Packets dropped on links, or for want of a route.
    pub dropped: u64,
    /// Of those, packets for an address that nobody has or no route leads to.
    pub dropped_unroutable: u64,
    /// Copies made by links.
    pub duplicated: u64,
    /// Packets on links now.
    pub in_flight: u64,
    /// Packets that left a link: one packet over three links is three hops.
    pub packet_hops: u64,
    /// Events that the loop processed.
    pub events: u64,
}
