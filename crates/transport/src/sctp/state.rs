//! States and counters of an association.

use crate::tcp::Closed;

/// States of an association (RFC 9260, section 4). CLOSED before the handshake belongs to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// INIT was sent.
    CookieWait,
    /// The cookie was sent back.
    CookieEchoed,
    /// Data flows both ways.
    Established,
    /// This side wants to end and has data outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent,
    /// SHUTDOWN was received and this side has data outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent,
    /// The association has ended.
    Closed(Closed),
}

impl State {
    /// Whether the association has ended.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Whether this side may send data that was written.
    pub fn may_send_data(self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived)
    }

    /// Whether data of the peer is accepted.
    pub fn may_receive_data(self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownSent)
    }
}

/// The counters of an association, in addition to those of its [destinations](super::Destination::counters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// SACKs and NR-SACKs sent and received.
    pub sacks_sent: u64,
    /// SACKs and NR-SACKs received.
    pub sacks_received: u64,
    /// DATA chunks received, duplicates included.
    pub data_chunks_received: u64,
    /// DATA chunks received again.
    pub duplicates_received: u64,
    /// Chunks that the peer acknowledged and then dropped.
    pub reneged_by_peer: u64,
    /// Chunks that this side acknowledged and then dropped.
    pub reneged: u64,
    /// Messages given up (RFC 3758).
    pub messages_abandoned: u64,
    /// User data given up, in bytes, sent or not.
    pub bytes_abandoned: u64,
    /// FORWARD-TSNs sent.
    pub forward_tsns_sent: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Packets with data that arrived with the ECN codepoint CE.
    pub ce_received: u64,
    /// Reductions of a window because the network had marked data.
    pub mark_reductions: u64,
}
