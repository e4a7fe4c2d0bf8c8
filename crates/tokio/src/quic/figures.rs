//! The state of a connection's paths, as people ask for it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use subflow_transport::Endpoint;
use subflow_transport::tcp::Ends;

/// The state of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathState {
    /// This side's address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Whether it is open: validated, or to be validated, and not abandoned.
    pub is_open: bool,
    /// Smoothed RTT, if it was measured.
    pub srtt: Option<Duration>,
    /// Congestion window in packets; the last one if it is not open.
    pub window: f64,
    /// Bytes of UDP payload sent.
    pub bytes_sent: u64,
    /// Bytes of UDP payload received.
    pub bytes_received: u64,
    /// Bytes of streams that arrived on it first.
    pub data_received: u64,
    /// Packets with data that was sent before, on this path or another.
    pub retransmissions: u64,
    /// Expirations of the probe timeout.
    pub timeouts: u64,
}

/// Bytes of UDP payload sent and received between two addresses and ports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// The bytes of a connection by the ends of its paths: this side's, and the peer's.
pub(super) type BytesByPath = BTreeMap<(SocketAddr, SocketAddr), Bytes>;

/// All paths of a connection, in the order in which they were opened.
pub(super) fn paths_of(endpoint: &Endpoint, bytes: &BytesByPath) -> Vec<PathState> {
    let mut sending = Vec::new();
    endpoint.visit_paths(|path| sending.push(path.ends));
    let states = endpoint.figures().paths.into_iter().map(|path| {
        let Ends { local, remote } = path.ends;
        let Bytes { sent, received } = bytes.get(&(local, remote)).copied().unwrap_or_default();
        PathState {
            local,
            remote,
            is_open: sending.contains(&path.ends),
            srtt: path.srtt.map(|srtt| Duration::from_nanos(srtt.as_nanos())),
            window: path.cwnd,
            bytes_sent: sent,
            bytes_received: received,
            data_received: path.bytes_received,
            retransmissions: path.retransmissions,
            timeouts: path.timeouts,
        }
    });
    states.collect()
}
