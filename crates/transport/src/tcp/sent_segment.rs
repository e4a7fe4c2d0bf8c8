//! One sent segment, and what is known about it.

use subflow_quantity::Instant;

/// What is known about a sent segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags(u8);

impl Tags {
    /// Selectively acknowledged.
    pub(crate) const SACKED: Self = Self(1);
    /// Believed lost.
    pub(crate) const LOST: Self = Self(2);
    /// Retransmitted, and the retransmission is believed in flight.
    pub(crate) const RETRANSMITTED: Self = Self(4);
    /// Retransmitted at some time.
    pub(crate) const EVER_RETRANSMITTED: Self = Self(8);
    /// Its data was the last that the application had written (PSH).
    pub(crate) const PUSH: Self = Self(32);
    /// Linked into the order of transmissions.
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
pub(crate) struct SentSegment {
    /// First offset.
    pub(crate) start: u64,
    /// Offset after the last.
    pub(crate) end: u64,
    /// Application stream offset of the first byte (MPTCP: at the data level).
    pub(crate) data: u64,
    /// Last transmission.
    pub(crate) sent_at: Instant,
    pub(crate) tags: Tags,
    /// The transmissions before and after it; a segment at the end of the order names itself.
    pub(super) older: u32,
    pub(super) newer: u32,
}
