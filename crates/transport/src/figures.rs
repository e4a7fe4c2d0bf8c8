//! What an endpoint of any protocol can tell about itself, its paths and its algorithms: for results, metrics over time
//! and logs.
//!
//! A path is a TCP connection, a subflow of MPTCP or a destination of SCTP. UDP has none.

use subflow_policy::congestion::{Controller, Path};
use subflow_quantity::Duration;

use crate::mptcp::{LISTED_SUBFLOWS, PathRecord, Subflow, SubflowRecord, SubflowTotals};
use crate::notes::{Kept, Noted};
use crate::sctp::Association;
use crate::tcp::{Closed, Connection, Ends, TcpEndpoint};
use crate::{Endpoint, mptcp};

/// An endpoint so far.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Payload bytes that can be read, or were.
    pub delivered: u64,
    /// Its paths in the order in which they were opened.
    pub paths: Vec<PathFigures>,
    /// The sums over the subflows of MPTCP that are not listed ([`LISTED_SUBFLOWS`]).
    pub others: SubflowTotals,
    /// Bytes that MPTCP sent again on another subflow.
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
    /// Segments with copies of data that another path carried.
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
}

impl Endpoint {
    /// The endpoint so far.
    pub fn figures(&self) -> Figures {
        let figures = Figures { delivered: self.bytes_received(), ended: self.ended(), ..Figures::default() };
        match self {
            Self::Tcp(tcp) => Figures { paths: vec![of_tcp(tcp)], ..figures },
            Self::Mptcp(mptcp) => Figures {
                paths: mptcp.subflow_records().iter().map(of_subflow).collect(),
                others: *mptcp.unlisted_subflows(),
                reinjected_bytes: mptcp.counters().bytes_reinjected,
                fallback: mptcp.has_fallen_back(),
                ..figures
            },
            Self::Sctp(sctp) => {
                let (messages, bytes) = (sctp.counters().messages_abandoned, sctp.counters().bytes_abandoned);
                let paths = (0..sctp.destinations().len()).map(|index| of_destination(sctp, index)).collect();
                Figures { paths, abandoned: Some(AbandonedMessages { messages, bytes }), ..figures }
            }
            Self::Udp(udp) => {
                let counters = udp.counters();
                Figures { datagrams: Some([counters.datagrams_sent, counters.datagrams_received]), ..figures }
            }
        }
    }

    /// Whether it is itself its only path, now and later.
    pub fn is_single_path(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Udp(_))
    }

    /// Calls `visit` with the state of each open path that is listed ([`LISTED_SUBFLOWS`]).
    pub fn visit_paths(&self, mut visit: impl FnMut(PathState)) {
        match self {
            Self::Tcp(tcp) => visit(state_of_tcp(0, tcp.connection(), tcp.congestion())),
            Self::Mptcp(mptcp) => {
                let open = listed(mptcp).filter(|subflow| !subflow.is_closed());
                open.for_each(|subflow| {
                    visit(state_of_tcp(subflow.number(), subflow.connection(), mptcp.congestion()));
                });
            }
            Self::Sctp(sctp) => (0..sctp.destinations().len()).for_each(|index| visit(state_of(sctp, index))),
            Self::Udp(_) => {}
        }
    }

    /// The numbers and ends of all listed paths that have a place, open or not.
    pub fn path_ends(&self) -> Vec<(usize, Ends)> {
        match self {
            Self::Tcp(tcp) => vec![(0, tcp.connection().ends())],
            Self::Mptcp(mptcp) => {
                listed(mptcp).map(|subflow| (subflow.number(), subflow.connection().ends())).collect()
            }
            Self::Sctp(sctp) => (0..sctp.destinations().len()).map(|index| (index, sctp.ends_to(index))).collect(),
            Self::Udp(_) => Vec::new(),
        }
    }

    /// The number of the path with these ends. `place` is where it was found last, and is updated; `known` is its number
    /// there, with which it is found at once.
    pub fn path_number(&self, ends: Ends, place: &mut usize, known: Option<usize>) -> Option<usize> {
        match self {
            Self::Tcp(tcp) => (tcp.connection().ends() == ends).then_some(0),
            Self::Mptcp(mptcp) => {
                let at_place = mptcp.subflows().get(*place).map(Subflow::number);
                if known.is_some() && at_place == known {
                    return known;
                }
                subflow_with(mptcp, ends, place).map(Subflow::number)
            }
            Self::Sctp(sctp) => (0..sctp.destinations().len()).find(|&index| sctp.ends_to(index) == ends),
            Self::Udp(_) => None,
        }
    }

    /// The data bytes that arrived first on the path with these ends, 0 if there is none. `place` is where it was found
    /// last, and is updated.
    pub fn bytes_received_on(&self, ends: Ends, place: &mut usize) -> u64 {
        if let Self::Mptcp(mptcp) = self
            && let Some(subflow) = subflow_with(mptcp, ends, place)
        {
            return subflow.bytes_received();
        }
        // Its place was taken by another subflow.
        self.figures().paths.iter().rfind(|path| path.ends == ends).map_or(0, |path| path.bytes_received)
    }

    /// Calls `visit` with each open connection of TCP or subflow of MPTCP, and the owner of its window.
    pub fn visit_connections(&self, mut visit: impl FnMut(&Connection, &Controller)) {
        match self {
            Self::Tcp(tcp) => visit(tcp.connection(), tcp.congestion()),
            Self::Mptcp(mptcp) => {
                let open = mptcp.subflows().iter().filter(|subflow| !subflow.is_closed());
                open.for_each(|subflow| visit(subflow.connection(), mptcp.congestion()));
            }
            Self::Sctp(_) | Self::Udp(_) => {}
        }
    }

    /// All samples of its subflows, if [they are kept](mptcp::Config::record_paths).
    pub fn path_records(&self) -> &[PathRecord] {
        match self {
            Self::Mptcp(mptcp) => mptcp.path_records(),
            Self::Tcp(_) | Self::Sctp(_) | Self::Udp(_) => &[],
        }
    }
}

impl Endpoint {
    /// Notes from now on what algorithms do; of the scheduler only if `decisions` is set.
    pub fn keep_notes(&mut self, decisions: bool) {
        match self {
            Self::Tcp(tcp) => tcp.connection.keep_notes(),
            Self::Mptcp(mptcp) => mptcp.keep_notes(decisions),
            Self::Sctp(sctp) => sctp.notes = Kept::new(),
            Self::Udp(_) => {}
        }
    }

    /// Whether there is something to take. It takes less time than to find nothing.
    #[inline]
    pub fn has_notes(&self) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.connection.has_notes(),
            Self::Mptcp(mptcp) => mptcp.has_notes(),
            Self::Sctp(sctp) => sctp.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty()),
            Self::Udp(_) => false,
        }
    }

    /// Appends what was noted since the last call to `into`; nothing if no notes are kept.
    pub fn take_notes(&mut self, into: &mut Vec<Noted>) {
        match self {
            Self::Tcp(tcp) => tcp.connection.take_notes(into),
            Self::Mptcp(mptcp) => mptcp.take_notes(into),
            Self::Sctp(sctp) => {
                if let Some(notes) = &mut sctp.notes {
                    into.append(&mut notes.noted);
                }
            }
            Self::Udp(_) => {}
        }
    }

    /// Calls `each` with the RTTs that were measured since the last call, and the ends of their subflow; nothing if no
    /// notes are kept. An acknowledgment measures at most one on a subflow: the time from its transmission of the
    /// segment that was sent last among those newly acknowledged, without retransmitted ones (Karn's algorithm).
    #[inline]
    pub fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        match self {
            Self::Tcp(tcp) => tcp.connection.take_rtts(&mut each),
            Self::Mptcp(mptcp) => mptcp.take_rtts(each),
            Self::Sctp(sctp) => {
                if let Some(notes) = &mut sctp.notes {
                    notes.rtts.drain(..).for_each(|(ends, sample)| each(ends, &[sample]));
                }
            }
            Self::Udp(_) => {}
        }
    }
}

fn listed(mptcp: &mptcp::Connection) -> impl Iterator<Item = &Subflow> {
    mptcp.subflows().iter().filter(|subflow| subflow.number() < LISTED_SUBFLOWS)
}

/// The subflow with these ends, looked for in its last place first.
fn subflow_with<'a>(mptcp: &'a mptcp::Connection, ends: Ends, place: &mut usize) -> Option<&'a Subflow> {
    let subflows = mptcp.subflows();
    let has_ends = |subflow: &Subflow| subflow.connection().ends() == ends;
    if !subflows.get(*place).is_some_and(has_ends) {
        *place = subflows.iter().position(has_ends)?;
    }
    subflows.get(*place)
}

fn of_subflow(record: &SubflowRecord) -> PathFigures {
    PathFigures {
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

fn of_tcp(tcp: &TcpEndpoint) -> PathFigures {
    let connection = tcp.connection();
    of_subflow(&SubflowRecord {
        number: 0,
        ends: connection.ends(),
        counters: *connection.counters(),
        bytes_received: connection.counters().bytes_received,
        copies: 0,
        srtt: connection.rtt().srtt(),
        cwnd: tcp.congestion().path(connection.path()).cwnd(),
    })
}

/// The receiving end of SCTP does not know which path carried a chunk: the acknowledged bytes are counted.
fn of_destination(sctp: &Association, index: usize) -> PathFigures {
    let destination = &sctp.destinations()[index];
    let counters = destination.counters();
    let retransmitted = RetransmissionsByReason {
        fast: counters.fast_retransmissions,
        timeout: counters.timeout_retransmissions,
        timeouts: counters.timeouts,
        fast_recoveries: counters.fast_recoveries,
    };
    let path = sctp.congestion().path(index);
    PathFigures {
        ends: sctp.ends_to(index),
        bytes_received: 0,
        packets_sent: counters.packets_sent,
        retransmissions: retransmitted.fast + retransmitted.timeout,
        timeouts: retransmitted.timeouts,
        duplicate_acks: 0,
        srtt: destination.rtt().srtt(),
        cwnd: f64::from(path.cwnd()) / f64::from(path.quantum()),
        copies: 0,
        retransmitted: Some(retransmitted),
        bytes_acknowledged: Some(counters.bytes_acknowledged),
    }
}

fn state_of_tcp(number: usize, tcp: &Connection, controller: &Controller) -> PathState {
    let path = controller.path(tcp.path());
    PathState {
        number,
        ends: tcp.ends(),
        cwnd: path.cwnd().into(),
        ssthresh: (path.ssthresh() < Path::INFINITE).then(|| path.ssthresh().into()),
        in_flight: tcp.in_flight().into(),
        flight_size: tcp.unacknowledged_bytes(),
        srtt: tcp.rtt().srtt(),
        bytes_acknowledged: None,
    }
}

/// The windows of SCTP count bytes.
fn state_of(sctp: &Association, index: usize) -> PathState {
    let destination = &sctp.destinations()[index];
    let path = sctp.congestion().path(index);
    let in_packets = |bytes: f64| bytes / f64::from(path.quantum());
    PathState {
        number: index,
        ends: sctp.ends_to(index),
        cwnd: in_packets(path.cwnd().into()),
        ssthresh: (path.ssthresh() < Path::INFINITE).then(|| in_packets(path.ssthresh().into())),
        in_flight: in_packets(destination.bytes_in_flight() as f64),
        flight_size: destination.bytes_in_flight(),
        srtt: destination.rtt().srtt(),
        bytes_acknowledged: Some(destination.counters().bytes_acknowledged),
    }
}
