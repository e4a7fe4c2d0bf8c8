//! The measurements of links, and of interfaces whose energy is counted.

use serde::{Deserialize, Serialize};

use crate::number;

/// The measurements of one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkResult {
    /// Its name in the scenario.
    pub name: String,
    /// Packets that reached the far end, both directions together.
    pub packets: u64,
    /// Packets dropped by the queues, both directions together.
    pub drops: u64,
    /// Packets lost after they were transmitted, because the link was down, or to a middlebox; both directions
    /// together.
    pub losses: u64,
    /// The share of the run (after the warm-up) in which the busier direction transmitted.
    #[serde(serialize_with = "number::serialize")]
    pub utilisation: f64,
    /// From the first end to the second.
    pub up: DirectionResult,
    /// From the second end to the first.
    pub down: DirectionResult,
}

/// The measurements of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionResult {
    /// Packets that reached the far end.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Packets on which the queue set Congestion Experienced.
    #[serde(default, skip_serializing_if = "number::is_zero")]
    pub marks: u64,
    /// Packets lost after they were transmitted, because the link was down, or to a middlebox.
    pub losses: u64,
    /// The share of the run (after the warm-up) in which it transmitted.
    #[serde(serialize_with = "number::serialize")]
    pub utilisation: f64,
    /// Maximum number of packets in its queue.
    pub max_queue_packets: u64,
    /// Mean number of packets in its queue over time.
    #[serde(serialize_with = "number::serialize")]
    pub mean_queue_packets: f64,
}

impl LinkResult {
    /// The measurements of a link from those of its two directions.
    pub fn new(name: impl Into<String>, up: DirectionResult, down: DirectionResult) -> Self {
        Self {
            name: name.into(),
            packets: up.packets + down.packets,
            drops: up.drops + down.drops,
            losses: up.losses + down.losses,
            utilisation: up.utilisation.max(down.utilisation),
            up,
            down,
        }
    }
}

/// What the radio of an interface has taken, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceResult {
    /// `host.interface`.
    pub name: String,
    /// Joules, in all states.
    #[serde(serialize_with = "number::serialize")]
    pub energy_j: f64,
    /// IP bytes that it has sent, also those that were lost afterwards.
    pub sent_bytes: u64,
    /// IP bytes that it has received.
    pub received_bytes: u64,
    /// How often it went from idle to connected.
    pub promotions: u64,
    /// Seconds in promotions.
    #[serde(serialize_with = "number::serialize")]
    pub promotion_s: f64,
    /// Seconds of continuous reception.
    #[serde(serialize_with = "number::serialize")]
    pub active_s: f64,
    /// Seconds in tails.
    #[serde(serialize_with = "number::serialize")]
    pub tail_s: f64,
    /// Seconds without a connection.
    #[serde(serialize_with = "number::serialize")]
    pub idle_s: f64,
}

impl InterfaceResult {
    /// Joules for each megabyte (10⁶ bytes of IP packets) sent or received; `None` if there was none.
    pub fn energy_j_per_mb(&self) -> Option<f64> {
        per_megabyte(self.energy_j, self.sent_bytes + self.received_bytes)
    }
}

/// Joules for each 10⁶ bytes; `None` if there are none.
pub(super) fn per_megabyte(joules: f64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| joules / (bytes as f64 * 1e-6))
}
