//! Packet number spaces (RFC 9000, section 12.3).

use subflow_wire::quic::PacketHeader;

use super::crypto_stream::CryptoStream;
use super::received::Received;
use super::sent::SentPackets;

/// A packet number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpaceId {
    Initial,
    Handshake,
    /// That of the 1-RTT packets of the path at this place.
    Data(u8),
}

impl SpaceId {
    /// Those of the initial path, on which the handshake takes place.
    pub(super) const OF_INITIAL_PATH: [Self; 3] = [Self::Initial, Self::Handshake, Self::Data(0)];

    /// The space of 1-RTT packets of the path at `place`.
    pub(super) const fn of_path(place: usize) -> Self {
        Self::Data(place as u8)
    }

    /// The place of the path on which its packets are sent.
    #[inline]
    pub(super) const fn path(self) -> usize {
        match self {
            Self::Initial | Self::Handshake => 0,
            Self::Data(place) => place as usize,
        }
    }

    /// Its place among the spaces of the handshake.
    #[inline]
    pub(super) const fn index(self) -> usize {
        matches!(self, Self::Handshake) as usize
    }

    #[inline]
    pub(super) const fn is_data(self) -> bool {
        matches!(self, Self::Data(_))
    }

    /// The space of a packet that has arrived on the path at `place`, if an end processes it.
    pub(super) fn of(header: &PacketHeader, place: usize) -> Option<Self> {
        match header {
            PacketHeader::Initial { .. } => Some(Self::Initial),
            PacketHeader::Handshake { .. } => Some(Self::Handshake),
            PacketHeader::OneRtt { .. } => Some(Self::of_path(place)),
            // 0-RTT is not accepted.
            PacketHeader::ZeroRtt { .. } | PacketHeader::Retry { .. } | PacketHeader::VersionNegotiation { .. } => None,
        }
    }
}

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
