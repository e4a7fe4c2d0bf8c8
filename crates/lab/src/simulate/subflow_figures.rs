//! The figures of one subflow of any protocol.

use subflow_quantity::Duration;
use subflow_transport::mptcp::SubflowRecord;
use subflow_transport::tcp::{Ends, TcpEndpoint};

use crate::results::Retransmitted;

/// The figures of one subflow, as seen by one end.
#[derive(Clone, Debug)]
pub(crate) struct SubflowFigures {
    pub(crate) ends: Ends,
    pub(crate) bytes_received: u64,
    pub(crate) packets_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) srtt: Option<Duration>,
    pub(crate) cwnd: f64,
    /// Segments with copies of data that another subflow carried.
    pub(crate) copies: u64,
    /// The retransmissions by reason, if the protocol counts them.
    pub(crate) retransmitted: Option<Retransmitted>,
    /// Acknowledged bytes, if only the sender knows which subflow delivered them.
    pub(crate) bytes_acknowledged: Option<u64>,
}

impl SubflowFigures {
    /// The figures of an MPTCP subflow.
    pub(super) fn of(record: &SubflowRecord) -> Self {
        Self {
            ends: record.ends,
            bytes_received: record.bytes_received,
            packets_sent: record.counters.segments_sent,
            retransmissions: record.counters.retransmissions,
            timeouts: record.counters.timeouts,
            duplicate_acks: record.counters.duplicate_acks,
            srtt: record.srtt,
            cwnd: f64::from(record.cwnd),
            copies: record.copies,
            retransmitted: None,
            bytes_acknowledged: None,
        }
    }

    /// The figures of a plain TCP connection, as its only subflow.
    pub(super) fn of_tcp(tcp: &TcpEndpoint) -> Self {
        let connection = tcp.connection();
        Self::of(&SubflowRecord {
            number: 0,
            ends: connection.ends(),
            counters: *connection.counters(),
            bytes_received: connection.counters().bytes_received,
            copies: 0,
            srtt: connection.rtt().srtt(),
            cwnd: tcp.congestion().path(connection.path()).cwnd(),
        })
    }
}
