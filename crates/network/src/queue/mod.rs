//! Queue disciplines: which packets a link accepts.
//!
//! These disciplines act when a packet *comes*. The departure of an accepted packet is computed at that moment, so one
//! event per hop is enough. Disciplines that act when a packet *leaves* (CoDel, FQ-CoDel, fair queueing) cannot compute
//! departures in advance. They would be variants of [`Discipline`] whose links store waiting packets separately from
//! the ring of packets in propagation, and need one more event per packet, the end of its transmission.

mod custom;
mod drop_tail;
mod idle_ageing;
mod red;

pub use custom::{Arrival, CustomQueue, QueueDiscipline};
pub(crate) use drop_tail::DropTail;
pub use idle_ageing::IdleAgeing;
pub(crate) use red::{Occupancy, Red};
pub use red::{RedConfig, RedDrop, RedUnit};

/// The limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    #[default]
    Unlimited,
    /// In packets.
    Packets(u32),
    /// In bytes, including link overhead.
    Bytes(u64),
}

/// The discipline: which packets are dropped before the limit is reached.
#[derive(Clone, Debug, Default)]
pub enum Discipline {
    /// No packet is dropped before the limit.
    #[default]
    DropTail,
    /// Random early detection.
    Red(RedConfig),
    /// One of a library user's crate.
    Custom(Box<dyn CustomQueue>),
}

/// The queue of one direction of a link.
#[derive(Clone, Debug)]
pub struct QueueConfig {
    /// The discipline: which packets are dropped before the limit is reached. Default: none.
    pub discipline: Discipline,
    /// The limit; a packet that does not fit is dropped. Default: unlimited.
    pub limit: Limit,
    /// Whether the packet in transmission counts for the limit and for RED's average. It counts in tc netem (which
    /// holds a packet until its transmission ends) and does not count in ns-3's device queues and FreeBSD's dummynet.
    /// Default: it counts.
    pub counts_transmitting: bool,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self { discipline: Discipline::DropTail, limit: Limit::Unlimited, counts_transmitting: true }
    }
}

impl QueueConfig {
    /// Drop-tail with a limit in packets, including the one in transmission.
    pub fn packets(limit: u32) -> Self {
        Self { limit: Limit::Packets(limit), ..Self::default() }
    }

    /// Drop-tail with a limit in bytes, including the packet in transmission.
    pub fn bytes(limit: u64) -> Self {
        Self { limit: Limit::Bytes(limit), ..Self::default() }
    }

    /// RED with `limit`.
    pub fn red(config: RedConfig, limit: Limit) -> Self {
        Self { discipline: Discipline::Red(config), limit, ..Self::default() }
    }

    /// The same queue, but only waiting packets count.
    #[must_use]
    pub fn counting_waiting_only(self) -> Self {
        Self { counts_transmitting: false, ..self }
    }
}
