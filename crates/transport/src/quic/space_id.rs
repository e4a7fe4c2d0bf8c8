//! The packet number spaces of a connection (RFC 9000, section 12.3; draft-ietf-quic-multipath-21, section 2.3).

use subflow_wire::quic::{PacketHeader, PacketKind};

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

    /// The same of a packet whose protection is not removed.
    pub(super) fn of_kind(kind: PacketKind, place: usize) -> Option<Self> {
        match kind {
            PacketKind::Initial => Some(Self::Initial),
            PacketKind::Handshake => Some(Self::Handshake),
            PacketKind::OneRtt => Some(Self::of_path(place)),
            PacketKind::ZeroRtt | PacketKind::Retry | PacketKind::VersionNegotiation | PacketKind::OtherVersion => None,
        }
    }
}
