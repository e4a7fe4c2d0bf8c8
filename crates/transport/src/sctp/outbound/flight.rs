//! What is in flight to one destination.

/// Bytes and chunks in flight to a destination, copies included. Only the
/// [queue](super::queue::RetransmissionQueue) changes it.
#[derive(Clone, Debug, Default)]
pub(in crate::sctp) struct Flight {
    bytes: u64,
    chunks: u64,
    /// A chunk in flight is being timed.
    is_timing: bool,
}

impl Flight {
    #[inline]
    pub(in crate::sctp) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(in crate::sctp) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// The bytes as congestion control counts them.
    #[inline]
    pub(in crate::sctp) fn amount(&self) -> u32 {
        u32::try_from(self.bytes).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(super) fn add(&mut self, length: u64) {
        self.bytes += length;
        self.chunks += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, length: u64) {
        self.bytes -= length;
        self.chunks -= 1;
    }

    #[inline]
    pub(super) fn is_timing(&self) -> bool {
        self.is_timing
    }

    /// A chunk is sent that is `timed`, or not.
    #[inline]
    pub(super) fn begin_timing(&mut self, timed: bool) {
        self.is_timing |= timed;
    }

    /// A chunk is no longer in flight that was `timed`, or not.
    #[inline]
    pub(super) fn end_timing(&mut self, timed: bool) {
        self.is_timing &= !timed;
    }
}
