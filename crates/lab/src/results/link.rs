//! The measurements of links.

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
