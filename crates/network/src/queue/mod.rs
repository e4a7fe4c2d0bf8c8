//! The queue of a link: its discipline (`subflow_policy::queue`), and the limit, which is checked here, where it costs
//! least: most links have nothing else.

mod drop_tail;

use subflow_policy::queue::{Discipline, Red, RedConfig};

pub(crate) use drop_tail::DropTail;

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

/// The queue of one direction of a link.
#[derive(Clone, Debug)]
pub struct QueueConfig {
    /// The discipline: which packets are dropped before the limit is reached, or marked, and which one leaves next.
    /// Default: drop-tail.
    pub discipline: Discipline,
    /// The limit; a packet that does not fit is dropped. Default: unlimited.
    pub limit: Limit,
    /// Whether the packet in transmission counts for the limit and in what the discipline sees. It counts in tc netem (which
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
        Self { discipline: Discipline::Red(Red::new(config)), limit, ..Self::default() }
    }

    /// The same queue, but only waiting packets count.
    #[must_use]
    pub fn counting_waiting_only(self) -> Self {
        Self { counts_transmitting: false, ..self }
    }
}
