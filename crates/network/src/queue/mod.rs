//! Queue disciplines: which packets a link lets in.
//!
//! Disciplines here decide when a packet *comes*. A packet that is let in has its departure computed in that moment,
//! and this is what makes one event per hop possible. Disciplines that decide when a packet *leaves* (CoDel, FQ-CoDel,
//! fair queueing) do not know departures beforehand. They would be variants of [`Discipline`] whose links keep their
//! waiting packets apart from the ring of those in propagation and put one more event per packet, the end of its
//! transmission, into the event loop.

mod drop_tail;
mod idle_ageing;
mod red;

pub(crate) use drop_tail::DropTail;
pub use idle_ageing::IdleAgeing;
pub(crate) use red::{Occupancy, Red};
pub use red::{RedConfig, RedDrop, RedUnit};

/// How much a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// Anything.
    #[default]
    Unlimited,
    /// This many packets.
    Packets(u32),
    /// This many bytes, link overhead included.
    Bytes(u64),
}

/// Which packets are dropped before the limit is reached.
#[derive(Clone, Debug, Default)]
pub enum Discipline {
    /// None.
    #[default]
    DropTail,
    /// Random early detection.
    Red(RedConfig),
}

/// The queue of one direction of a link.
#[derive(Clone, Debug)]
pub struct QueueConfig {
    /// Which packets are dropped before the limit is reached. Default: none.
    pub discipline: Discipline,
    /// How much it holds; a packet that does not fit is dropped. Default: unlimited.
    pub limit: Limit,
    /// Whether the packet being transmitted counts as held by the queue, for the limit and for RED's average. It does
    /// in tc netem (which holds a packet until its transmission ends) and does not in ns-3's device queues and
    /// FreeBSD's dummynet. Default: it counts.
    pub counts_transmitting: bool,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self { discipline: Discipline::DropTail, limit: Limit::Unlimited, counts_transmitting: true }
    }
}

impl QueueConfig {
    /// Drop-tail on `limit` packets, the one being transmitted included.
    pub fn packets(limit: u32) -> Self {
        Self { limit: Limit::Packets(limit), ..Self::default() }
    }

    /// Drop-tail on `limit` bytes, those of the packet being transmitted included.
    pub fn bytes(limit: u64) -> Self {
        Self { limit: Limit::Bytes(limit), ..Self::default() }
    }

    /// RED on a queue of `limit`.
    pub fn red(config: RedConfig, limit: Limit) -> Self {
        Self { discipline: Discipline::Red(config), limit, ..Self::default() }
    }

    /// The same queue, where only waiting packets count.
    #[must_use]
    pub fn counting_waiting_only(self) -> Self {
        Self { counts_transmitting: false, ..self }
    }
}
