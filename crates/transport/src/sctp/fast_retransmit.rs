//! Fast retransmission (RFC 9260, section 7.2.4): the state of a single chunk.

/// The state of a chunk's fast retransmission, which happens once (RFC 9260, section 7.2.4, rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastRetransmit {
    Eligible,
    /// Indicated by misses and not sent yet.
    Needed,
    /// Indicated by misses, but it did not fit in the packet sent at once (see
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
