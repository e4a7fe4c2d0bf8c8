//! The state of connections and their subflows, as people ask for it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use subflow_transport::{Endpoint, mptcp};

use crate::carried::CarriedBytes;
use crate::state::State;

/// The state of a subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowState {
    /// This side's address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Smoothed RTT, if it was measured.
    pub srtt: Option<Duration>,
    /// Congestion window in packets.
    pub window: u32,
    /// Payload bytes acknowledged by the peer.
    pub bytes_acknowledged: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// Segments sent again.
    pub retransmissions: u64,
}

/// The state of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionState {
    /// The peer's address and port; those of the initial subflow.
    pub remote: SocketAddr,
    /// Whether the connection uses plain TCP.
    pub has_fallen_back: bool,
    /// Its open subflows.
    pub subflows: Vec<SubflowState>,
}

/// Whether the connection of this endpoint uses plain TCP.
pub(crate) fn has_fallen_back(endpoint: &Endpoint) -> bool {
    endpoint.as_mptcp().is_none_or(mptcp::Connection::has_fallen_back)
}

/// The open subflows of this endpoint.
pub(crate) fn subflows_of(endpoint: &Endpoint) -> Vec<SubflowState> {
    let Some(connection) = endpoint.as_mptcp() else { return Vec::new() };
    let open = connection.subflows().iter().filter(|subflow| !subflow.is_closed());
    let states = open.map(|subflow| {
        let tcp = subflow.connection();
        SubflowState {
            local: tcp.ends().local,
            remote: tcp.ends().remote,
            srtt: tcp.rtt().srtt().map(|srtt| Duration::from_nanos(srtt.as_nanos())),
            window: connection.congestion().path(tcp.path()).cwnd(),
            bytes_acknowledged: tcp.counters().bytes_acknowledged,
            bytes_received: tcp.counters().bytes_received,
            retransmissions: tcp.counters().retransmissions,
        }
    });
    states.collect()
}

impl State {
    /// The connections that are not over.
    pub(crate) fn connection_states(&self) -> Vec<ConnectionState> {
        let state = |endpoint: &Endpoint| ConnectionState {
            remote: endpoint.ends().remote,
            has_fallen_back: has_fallen_back(endpoint),
            subflows: subflows_of(endpoint),
        };
        self.endpoints().map(state).collect()
    }

    /// What subflows carried that have ended.
    pub(crate) fn ended_bytes(&self) -> BTreeMap<IpAddr, CarriedBytes> {
        let mut carried = self.carried.clone();
        for endpoint in self.endpoints() {
            let subflows = endpoint.as_mptcp().into_iter().flat_map(|connection| connection.subflows().iter());
            let open: Vec<usize> = subflows.filter(|one| !one.is_closed()).map(|one| one.number()).collect();
            carried.add_without(endpoint, &open);
        }
        carried.0
    }
}
