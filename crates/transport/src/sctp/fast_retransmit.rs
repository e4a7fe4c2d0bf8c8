//! Fast retransmission (RFC 9260, section 7.2.4), as far as a single chunk goes.

/// Where a chunk stands with fast retransmission, which it gets once (RFC 9260, section 7.2.4, rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastRetransmit {
    Eligible,
    /// Indicated and not sent yet.
    Needed,
    /// Indicated, and what leaves with the indication has left without it (see
    /// [`Config::single_fast_packet`](super::Config)).
    Waiting,
    Done,
}

impl FastRetransmit {
    /// Whether the chunk waits to be sent again because of misses.
    pub(crate) fn is_indicated(self) -> bool {
        matches!(self, Self::Needed | Self::Waiting)
    }
}
