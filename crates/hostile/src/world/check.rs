//! What has to hold after every action.

use subflow_transport::tcp::State;
use subflow_transport::{Endpoint, EndpointId};

use super::World;
use crate::limits;
use crate::setup::{CLIENT, SERVER};
use crate::stack::{acknowledges_what_is_delivered, connections};

impl World<'_> {
    /// Counts agree with each other, and memory is within its bounds. Returns what the host that holds most holds, and
    /// what it may.
    pub(crate) fn check(&self) -> (i64, i64) {
        let mut most = (0, 1);
        for host in [CLIENT, SERVER] {
            let (held, allowed) = (self.hosts[host].held(), self.allowed(host));
            let endpoints = self.hosts[host].endpoints();
            assert!(held <= allowed, "memory: host {host} holds {held} bytes for {endpoints} endpoints, not {allowed}");
            if held * most.1 > most.0 * allowed {
                most = (held, allowed);
            }
        }
        self.check_half_open();
        for connection in self.ledger.connections.iter().rev().take(limits::CONNECTIONS_CHECKED) {
            let id = |side: usize| connection.sides[side].as_ref().and_then(|side| side.id);
            for side in [CLIENT, SERVER] {
                let Some(own) = id(side).map(|id| self.hosts[side].endpoint(id)) else { continue };
                check_endpoint(own);
                if let Some(peer) = id(1 - side).map(|id| self.hosts[1 - side].endpoint(id))
                    && connection.honest
                    && !connection.forged
                {
                    check_pair(own, peer, connection.hides_refusals());
                }
            }
        }
        most
    }

    /// Bytes that a host may hold now.
    fn allowed(&self, host: usize) -> i64 {
        let end = &self.case.setup.ends[host];
        let endpoint = |id: EndpointId| limits::of_endpoint(self.hosts[host].endpoint(id), end);
        let endpoints: i64 = self.hosts[host].endpoint_ids().into_iter().map(endpoint).sum();
        limits::of_host(self.most_endpoints[host], self.hosts[host].most_ends()) + endpoints
    }

    /// The number of half-open connections is bounded, whatever the number of SYNs.
    fn check_half_open(&self) {
        let server = &self.hosts[SERVER];
        let is_half_open = |&id: &EndpointId| {
            connections(server.endpoint(id)).first().is_some_and(|first| first.state() == State::SynReceived)
        };
        if server.endpoints() > limits::HALF_OPEN {
            let half_open = server.endpoint_ids().iter().filter(|&id| is_half_open(id)).count();
            assert!(half_open <= limits::HALF_OPEN, "memory: {half_open} connections are half open");
        }
    }
}

fn check_endpoint(endpoint: &Endpoint) {
    assert!(endpoint.bytes_acknowledged() <= endpoint.bytes_written(), "more is acknowledged than was written");
    for connection in connections(endpoint) {
        // A segment and its repetition, for each byte at most.
        let most = connection.unacknowledged_bytes().max(1) * 2;
        assert!(u64::from(connection.in_flight()) <= most, "{} packets are in flight", connection.in_flight());
    }
}

/// Compares the states of both ends of a connection for which no packet was forged.
fn check_pair(own: &Endpoint, peer: &Endpoint, hides_refusals: bool) {
    assert!(own.bytes_received() <= peer.bytes_written(), "more has arrived than was written");
    if acknowledges_what_is_delivered(own) && !hides_refusals {
        let (acknowledged, received) = (own.bytes_acknowledged(), peer.bytes_received());
        assert!(acknowledged <= received, "{acknowledged} bytes are acknowledged, {received} have arrived");
    }
}
