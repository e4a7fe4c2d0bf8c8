//! What one subflow has done, whatever its protocol.

use subflow_quantity::Duration;
use subflow_transport::mptcp::SubflowRecord;
use subflow_transport::tcp::{Ends, TcpEndpoint};

use crate::results::Retransmitted;

/// What one subflow has done, seen from one end.
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
    /// Segments that were copies of what another subflow carried, as schedulers make them.
    pub(crate) copies: u64,
    /// What was sent again by reason, where the protocol tells.
    pub(crate) retransmitted: Option<Retransmitted>,
    /// Bytes acknowledged, where only the sender knows which subflow brought them.
    pub(crate) bytes_acknowledged: Option<u64>,
}

impl SubflowFigures {
    /// Of an MPTCP subflow.
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

    /// Of a plain TCP connection, as if it were the only subflow.
    pub(super) fn of_tcp(tcp: &TcpEndpoint) -> Self {
        let connection = tcp.connection();
        Self::of(&SubflowRecord {
            number: 0,
            ends: connection.ends(),
            counters: *connection.counters(),
            bytes_received: connection.counters().bytes_received,
            copies: 0,
            srtt: connection.rtt().srtt(),
            cwnd: tcp.congestion().path(connection.path()).cwnd,
        })
    }
}
