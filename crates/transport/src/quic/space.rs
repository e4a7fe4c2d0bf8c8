//! What belongs to a packet number space (RFC 9000, section 12.3).

use super::crypto_stream::CryptoStream;
use super::received::Received;
use super::sent::SentPackets;

/// What belongs to one packet number space.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    /// Whether there are keys: otherwise packets of the space are neither processed nor sent.
    is_open: bool,
    pub(super) received: Received,
    pub(super) sent: SentPackets,
    pub(super) crypto: CryptoStream,
    next_number: u64,
    /// Packets that are sent as probes, whatever the congestion window.
    pub(super) probes: u8,
}

impl Space {
    /// Its keys are there.
    pub(super) fn open(&mut self) {
        self.is_open = true;
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The number of the next packet.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.next_number
    }

    /// The next packet is sent.
    pub(super) fn advance(&mut self) {
        self.next_number += 1;
        self.probes = self.probes.saturating_sub(1);
    }

    /// Its keys are discarded (RFC 9001, section 4.9), with all that was to be sent. Returns how many packets were in
    /// flight.
    pub(super) fn discard(&mut self) -> u32 {
        let in_flight = self.sent.discard();
        *self = Self { next_number: self.next_number, ..Self::default() };
        in_flight
    }
}
