//! What an endpoint of any protocol can tell about itself, its paths and its algorithms: for results, metrics over time
//! and logs.
//!
//! A path is a TCP connection, a subflow of MPTCP or a destination of SCTP. UDP has none.

use std::net::{IpAddr, SocketAddr};

use subflow_policy::congestion::{Controller, Path, PathModel};
use subflow_quantity::Duration;

use crate::mptcp::{SubflowRecord, SubflowTotals};
use crate::tcp::{Closed, Connection, Ends};

/// An endpoint so far.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Payload bytes that can be read, or were.
    pub delivered: u64,
    /// Its paths in the order in which they were opened.
    pub paths: Vec<PathFigures>,
    /// The sums over the subflows of MPTCP that are not listed ([`LISTED_SUBFLOWS`](crate::mptcp::LISTED_SUBFLOWS)).
    pub others: SubflowTotals,
    /// Bytes that MPTCP sent again on another subflow; QUIC on another path, and SCTP to another destination, than last.
    pub reinjected_bytes: u64,
    /// Whether an MPTCP connection fell back to plain TCP.
    pub fallback: bool,
    /// How it ended, if it did.
    pub ended: Option<Closed>,
    /// The messages that SCTP abandoned.
    pub abandoned: Option<AbandonedMessages>,
    /// Datagrams sent and received, of UDP.
    pub datagrams: Option<[u64; 2]>,
}

/// Messages that were abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbandonedMessages {
    /// Their number.
    pub messages: u64,
    /// Their bytes that were not acknowledged.
    pub bytes: u64,
}

/// A path so far, as seen by one end.
#[derive(Clone, Debug)]
pub struct PathFigures {
    /// Its ends, this host's first.
    pub ends: Ends,
    /// The further addresses that its packets left from: an SCTP path is a destination, whose source may change (RFC 9260,
    /// section 6.4.1).
    pub other_sources: Vec<IpAddr>,
    /// Whether it was opened in place of an earlier one between the same addresses, which had ended.
    pub reopens: bool,
    /// Data bytes that arrived on it first; 0 where the receiver does not know the path (SCTP).
    pub bytes_received: u64,
    /// Packets sent, of any kind.
    pub packets_sent: u64,
    /// Segments or chunks sent again.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Duplicate acknowledgments received.
    pub duplicate_acks: u64,
    /// Smoothed RTT, if there was a sample.
    pub srtt: Option<Duration>,
    /// Congestion window in packets; the last one if the path is closed.
    pub cwnd: f64,
    /// Segments with copies of data that another path carried; of QUIC packets, and of SCTP chunks, that another path
    /// carried last, which are among the retransmissions.
    pub copies: u64,
    /// The retransmissions by reason, if the protocol counts them.
    pub retransmitted: Option<RetransmissionsByReason>,
    /// Acknowledged bytes, if only the sender knows which path delivered them.
    pub bytes_acknowledged: Option<u64>,
}

/// Retransmitted chunks, and what they were for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetransmissionsByReason {
    /// Chunks sent again after three miss indications.
    pub fast: u64,
    /// Chunks sent again after a timeout.
    pub timeout: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Window reductions after miss indications.
    pub fast_recoveries: u64,
    /// Fast retransmissions: one for each SACK and path (Linux `SctpFastRetransmits`).
    pub fast_retransmits: u64,
}

/// An open path at one time, as seen by one end.
#[derive(Clone, Copy, Debug)]
pub struct PathState {
    /// Its number, which no later path of the connection gets.
    pub number: usize,
    /// Its ends, this host's first.
    pub ends: Ends,
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow-start threshold in packets, if it is finite.
    pub ssthresh: Option<f64>,
    /// Packets in flight.
    pub in_flight: f64,
    /// Unacknowledged bytes.
    pub flight_size: u64,
    /// Smoothed RTT, if there was an RTT sample.
    pub srtt: Option<Duration>,
    /// Acknowledged bytes, if only the sender knows which path delivered them.
    pub bytes_acknowledged: Option<u64>,
    /// The pacing rate in bytes of payload per second, if the path is paced.
    pub pacing_rate: Option<u64>,
    /// What its congestion control estimates of it, if that has a model.
    pub model: Option<PathModel>,
}

impl PathFigures {
    /// The ends of all its packets: one pair for each source address.
    pub fn all_ends(&self) -> impl Iterator<Item = Ends> + Clone + '_ {
        let from = move |&source: &IpAddr| Ends { local: SocketAddr::new(source, self.ends.local.port()), ..self.ends };
        core::iter::once(self.ends).chain(self.other_sources.iter().map(from))
    }

    /// A TCP connection, or a subflow.
    pub(crate) fn of_subflow(record: &SubflowRecord) -> Self {
        Self {
            ends: record.ends,
            other_sources: Vec::new(),
            reopens: record.reopens,
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
}

impl PathState {
    /// A TCP connection, or a subflow.
    pub(crate) fn of_connection(number: usize, tcp: &Connection, controller: &Controller) -> Self {
        let path = controller.path(tcp.path());
        Self {
            number,
            ends: tcp.ends(),
            cwnd: path.cwnd().into(),
            ssthresh: (path.ssthresh() < Path::INFINITE).then(|| path.ssthresh().into()),
            in_flight: tcp.in_flight().into(),
            flight_size: tcp.unacknowledged_bytes(),
            srtt: tcp.rtt().srtt(),
            bytes_acknowledged: None,
            pacing_rate: tcp.actual_pacing_rate(controller),
            model: tcp.model(controller),
        }
    }
}
