//! The priority of a stream (RFC 9218, sections 4 and 10).

use subflow_wire::quic::StreamId;

/// How important the data of a stream is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// From 0 to 7; the smaller, the earlier. Data of a more urgent stream goes first.
    pub urgency: u8,
    /// Whether the receiver uses parts of the data: streams with the same urgency take turns, packet by packet. Otherwise
    /// they are sent one after the other, in the order of their identifiers, and before those that take turns.
    pub incremental: bool,
}

impl Priority {
    /// The least urgent.
    pub const MOST: u8 = 7;
    /// That of a stream of which nothing is said, with turns.
    pub(super) const TURNS: Self = Self { urgency: 3, incremental: true };
}

impl Default for Priority {
    /// That of RFC 9218, section 4.
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

/// The place of a stream in the order in which data is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) priority: Priority,
    pub(super) id: StreamId,
}
