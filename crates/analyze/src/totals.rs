//! Connections of which only totals are kept, by protocol and by how they ended.

use std::collections::BTreeMap;

/// Connections of one protocol that ended in one way, of which only totals are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TotalRow {
    /// `tcp`, `mptcp`, `mptcp v0`, `sctp` or `udp`.
    pub protocol: &'static str,
    /// As in [`ConnectionRow`](crate::ConnectionRow::outcome).
    pub outcome: &'static str,
    /// How many connections these are.
    pub connections: u64,
    /// Of them, those that had not ended: what they sent later is in another connection.
    pub unfinished: u64,
    /// Their packets in both directions.
    pub packets: u64,
    /// Bytes of data that reached the peers in both directions, each counted once.
    pub bytes: u64,
    /// Segments, or chunks of SCTP, that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

impl TotalRow {
    pub(crate) const fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.unfinished += other.unfinished;
        self.packets += other.packets;
        // Of forged acknowledgments it may be any number.
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }
}

/// Totals by protocol and outcome.
pub(crate) type Totals = BTreeMap<(&'static str, &'static str), TotalRow>;

/// Adds connections to those of the same protocol and outcome.
pub(crate) fn add(totals: &mut Totals, row: &TotalRow) {
    let TotalRow { protocol, outcome, .. } = *row;
    let empty = TotalRow { protocol, outcome, ..TotalRow::default() };
    totals.entry((protocol, outcome)).or_insert(empty).add(row);
}
