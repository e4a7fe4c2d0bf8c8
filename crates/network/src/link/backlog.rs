//! The packets that wait at a link whose queue discipline acts on departure.

use subflow_policy::queue::Backlog;
use subflow_quantity::Instant;

use super::Parcel;

/// The packets that wait at a link.
#[derive(Debug)]
pub(super) struct LinkBacklog {
    pub(super) packets: Backlog<Parcel>,
    /// From when on the next packet could have been transmitted if the transmitter had been free: since then there have
    /// been packets, and the transmitter has not changed.
    pub(super) ready: Instant,
    /// When the next transmission starts; [`Instant::MAX`] if no packet waits.
    pub(super) next_start: Instant,
}

impl Default for LinkBacklog {
    fn default() -> Self {
        Self { packets: Backlog::default(), ready: Instant::ZERO, next_start: Instant::MAX }
    }
}

impl LinkBacklog {
    /// The number of waiting packets.
    pub(super) fn len(&self) -> u32 {
        self.packets.waiting().packets()
    }

    /// Their bytes, including overhead.
    pub(super) fn bytes(&self) -> u64 {
        self.packets.waiting().bytes()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of the times that they have waited, in nanoseconds.
    pub(super) fn waited(&self, now: Instant) -> u128 {
        self.packets.came().map(|came| u128::from(now.since(came).as_nanos())).sum()
    }
}
