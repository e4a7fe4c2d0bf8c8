//! One segment in the retransmission queue.

use subflow_quantity::Instant;

/// Marks of a sent segment (Linux `TCPCB_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags(u8);

impl Tags {
    /// Selectively acknowledged.
    pub(super) const SACKED: Self = Self(1);
    /// Considered lost.
    pub(super) const LOST: Self = Self(2);
    /// Retransmitted, and the retransmission is considered in flight.
    pub(super) const RETRANSMITTED: Self = Self(4);
    /// Retransmitted at some time.
    pub(super) const EVER_RETRANSMITTED: Self = Self(8);
    /// Sent with PSH: its data was the last in the send queue.
    pub(super) const PUSH: Self = Self(32);
    /// Contained in the order of transmissions.
    pub(super) const LISTED: Self = Self(16);

    pub(crate) const fn has(self, tag: Self) -> bool {
        self.0 & tag.0 != 0
    }
    pub(crate) fn set(&mut self, tag: Self) {
        self.0 |= tag.0;
    }
    pub(crate) fn clear(&mut self, tag: Self) {
        self.0 &= !tag.0;
    }
}

/// One sent segment.
#[derive(Clone, Debug)]
pub(super) struct SentSegment {
    /// First offset.
    pub(crate) start: u64,
    /// Offset after the last.
    pub(crate) end: u64,
    /// Application stream offset of the first byte (MPTCP: at the data level).
    pub(crate) data: u64,
    /// Time of the last transmission.
    pub(crate) sent_at: Instant,
    pub(crate) tags: Tags,
    /// Identifiers of its neighbours in the order of transmissions; its own identifier if there is none.
    pub(super) older: u32,
    pub(super) newer: u32,
}
