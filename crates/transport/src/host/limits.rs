//! Bounds on the state that a host keeps for peers that have not yet proved that they receive at their address.

use rustc_hash::FxHashMap;

use super::EndpointId;
use crate::Endpoint;

/// Bounds on the state that peers can create in a host before they have answered a SYN/ACK (RFC 4987).
///
/// A half-open connection takes up to 3 kB if the listener is TCP and 5 kB if it is MPTCP, a half-open subflow up to
/// 2.5 kB: by default at most 20 MB for each listening port and 10 MB for all subflows. SCTP keeps no state for an
/// INIT: the state is in its cookie (RFC 9260, section 5.1.3). A half-open connection of QUIC takes up to 8 kB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Half-open TCP, MPTCP and QUIC connections for each listening port: 4096, as with Linux's `net.core.somaxconn`. Above
    /// the bound SYNs are answered with [SYN cookies](super::Host#syn-cookies); 0 answers all SYNs with cookies, as
    /// `tcp_syncookies` = 2 does. Above it Initial packets of new QUIC connections are dropped, and their clients try again; from
    /// [`retry_from`](crate::quic::Config::retry_from) half-open connections on clients have to prove their address. A
    /// connection that ends before it is established counts until it is
    /// [removed](super::Host::remove).
    ///
    /// The same number of connections, of all ports together, may wait for [`poll_accept`](super::Host::poll_accept).
    /// Above it SYNs and third ACKs are dropped.
    pub backlog: usize,
    /// Half-open subflows (MP_JOIN) of all connections of the host: 4096. Further SYNs are dropped. One connection has
    /// at most [`max_subflows`](crate::mptcp::Config::max_subflows) subflows, including half-open ones, which may be
    /// replaced by others (`mptcp/half_open_joins.rs`).
    pub half_open_joins: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { backlog: 4096, half_open_joins: 4096 }
    }
}

/// The half-open connections and subflows of a host.
#[derive(Clone, Debug, Default)]
pub(super) struct HalfOpen {
    /// Connections that a listener has accepted and that are not established, with their local port.
    connections: FxHashMap<EndpointId, u16>,
    by_port: FxHashMap<u16, usize>,
    /// Half-open subflows, by connection.
    joins: FxHashMap<EndpointId, usize>,
    all_joins: usize,
}

impl HalfOpen {
    /// Whether there are none, which is so after most packets.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.connections.is_empty() && self.joins.is_empty()
    }

    /// Half-open connections to `port`.
    pub(super) fn connections(&self, port: u16) -> usize {
        self.by_port.get(&port).copied().unwrap_or(0)
    }

    /// Half-open subflows of all connections.
    pub(super) fn joins(&self) -> usize {
        self.all_joins
    }

    /// Adds a connection that a listener has created for a SYN to `port`.
    pub(super) fn add_connection(&mut self, id: EndpointId, port: u16) {
        self.connections.insert(id, port);
        *self.by_port.entry(port).or_default() += 1;
    }

    /// Whether connection `id` counts as half-open.
    pub(super) fn has_connection(&self, id: EndpointId) -> bool {
        self.connections.contains_key(&id)
    }

    /// Updates the entries of an endpoint after a packet or a timer.
    #[cold]
    pub(super) fn update(&mut self, id: EndpointId, endpoint: &Endpoint) {
        if self.connections.contains_key(&id) && endpoint.has_proven_peer() {
            self.remove_connection(id);
        }
        if self.joins.contains_key(&id) {
            self.set_joins(id, endpoint.half_open_joins());
        }
    }

    /// Removes an endpoint.
    pub(super) fn remove(&mut self, id: EndpointId) {
        self.remove_connection(id);
        self.set_joins(id, 0);
    }

    fn remove_connection(&mut self, id: EndpointId) {
        if let Some(port) = self.connections.remove(&id)
            && let Some(count) = self.by_port.get_mut(&port)
        {
            *count -= 1;
        }
    }

    /// Connection `id` has `count` half-open subflows.
    pub(super) fn set_joins(&mut self, id: EndpointId, count: usize) {
        let before = if count > 0 { self.joins.insert(id, count) } else { self.joins.remove(&id) };
        self.all_joins = self.all_joins - before.unwrap_or(0) + count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_count_for_their_port_until_they_are_removed() {
        let mut half_open = HalfOpen::default();
        half_open.add_connection(EndpointId(1), 80);
        half_open.add_connection(EndpointId(2), 81);
        half_open.remove(EndpointId(1));
        half_open.remove(EndpointId(1));
        assert_eq!((half_open.connections(80), half_open.connections(81)), (0, 1));
        half_open.remove(EndpointId(2));
        assert!(half_open.is_empty());
    }

    #[test]
    fn joins_are_the_sum_of_those_of_all_connections() {
        let mut half_open = HalfOpen::default();
        half_open.set_joins(EndpointId(1), 3);
        half_open.set_joins(EndpointId(2), 2);
        half_open.set_joins(EndpointId(1), 1);
        assert_eq!(half_open.joins(), 3);
        half_open.set_joins(EndpointId(1), 0);
        half_open.set_joins(EndpointId(2), 0);
        assert!(half_open.is_empty() && half_open.joins() == 0);
    }
}
