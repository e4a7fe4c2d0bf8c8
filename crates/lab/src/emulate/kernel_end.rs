//! The figures of one end of a flow on a kernel socket.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use subflow_linux::{ConnectionInfo, Stream, SubflowInfo};
use subflow_network::Network;
use subflow_transport::mptcp::SubflowTotals;
use subflow_transport::tcp::{Closed, Ends};
use subflow_transport::{Figures, PathFigures};

/// One end of a flow. Its application updates it, the run reads it.
#[derive(Default)]
pub(super) struct KernelEnd {
    /// Payload bytes that the application has read.
    pub(super) delivered: AtomicU64,
    /// Datagrams sent and received.
    pub(super) datagrams: [AtomicU64; 2],
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    stream: Option<Arc<Stream>>,
    /// All subflows seen so far.
    subflows: Vec<Seen>,
    reinjected_bytes: u64,
    fallback: bool,
    ended: Option<Closed>,
    /// The largest congestion window seen, in packets.
    largest_cwnd: u32,
}

/// A subflow with its latest figures.
struct Seen {
    info: SubflowInfo,
    open: bool,
    /// As for [`PathFigures::reopens`].
    reopens: bool,
}

impl Seen {
    /// Whether `info` is of this subflow. One that has the ports of an earlier one has counted less.
    fn is(&self, info: &SubflowInfo) -> bool {
        ends(&self.info) == ends(info) && self.info.bytes_received <= info.bytes_received
    }
}

impl Record {
    fn update(&mut self, info: ConnectionInfo) {
        self.subflows.iter_mut().for_each(|known| known.open = false);
        let mut new = Vec::new();
        for info in info.subflows {
            self.largest_cwnd = self.largest_cwnd.max(info.cwnd);
            match self.subflows.iter_mut().find(|known| known.is(&info)) {
                Some(known) => (known.info, known.open) = (info, true),
                None => new.push(info),
            }
        }
        // Which of those before have ended is known now.
        for info in new {
            let addresses = ends(&info).addresses();
            let same = || self.subflows.iter().filter(|known| ends(&known.info).addresses() == addresses);
            let reopens = same().filter(|known| !known.open).count() > same().filter(|known| known.reopens).count();
            self.subflows.push(Seen { info, open: true, reopens });
        }
        let written = self.subflows.iter().map(|known| known.info.bytes_written).sum();
        self.reinjected_bytes = self.reinjected_bytes.max(info.data.reinjected_bytes(written));
        self.fallback |= info.fallback;
    }
}

/// The number of TCP among the protocols of IP.
const IPPROTO_TCP: u8 = 6;
/// More packets than a congestion window of a run can have: 1.5 GB.
const MOST_CWND: u32 = 1 << 20;

impl KernelEnd {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to observe the connection.
    pub(super) fn observe(&self, stream: Stream) {
        self.record().stream = Some(Arc::new(stream));
        self.watch();
    }

    /// Reads the figures of the connection from the kernel.
    pub(super) fn watch(&self) {
        // The network's thread also reads the record and must not wait for the kernel's answer.
        let stream = self.record().stream.clone();
        // For a connection that is just ending the kernel may not return figures any more.
        let Some(Ok(info)) = stream.map(|stream| stream.info()) else { return };
        self.record().update(info);
    }

    /// Why the run is not valid: a congestion window that no algorithm can have made.
    pub(super) fn objection(&self) -> Option<String> {
        let cwnd = Some(self.record().largest_cwnd).filter(|&cwnd| cwnd > MOST_CWND)?;
        Some(format!("the kernel had a congestion window of {cwnd} packets (bound {MOST_CWND})"))
    }

    /// The open subflows with their latest figures and their numbers in the order in which they were opened.
    pub(super) fn open_subflows(&self) -> Vec<(usize, SubflowInfo)> {
        let record = self.record();
        let open = record.subflows.iter().enumerate().filter(|(_, subflow)| subflow.open);
        open.map(|(number, subflow)| (number, subflow.info.clone())).collect()
    }

    /// Records that the connection ended, and how.
    pub(super) fn end(&self, how: Closed) {
        self.record().ended.get_or_insert(how);
    }

    /// Records that the connection failed.
    pub(super) fn fail(&self, error: &io::Error) {
        self.end(match error.kind() {
            io::ErrorKind::ConnectionRefused => Closed::Refused,
            io::ErrorKind::TimedOut => Closed::TimedOut,
            io::ErrorKind::ConnectionAborted => Closed::Aborted,
            _ => Closed::Reset,
        });
    }

    /// The current figures.
    pub(super) fn figures(&self, udp: bool) -> Figures {
        let record = self.record();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Figures {
            delivered: count(&self.delivered),
            paths: record.subflows.iter().map(|subflow| figures(&subflow.info, subflow.reopens)).collect(),
            others: SubflowTotals::default(),
            reinjected_bytes: record.reinjected_bytes,
            fallback: record.fallback,
            ended: record.ended,
            abandoned: None,
            datagrams: udp.then(|| [count(&self.datagrams[0]), count(&self.datagrams[1])]),
        }
    }
}

/// The figures of a kernel with the ends that hosts have, where a middlebox has translated those that the kernel knows.
pub(super) fn with_original_ends(mut figures: Figures, network: &Network) -> Figures {
    figures.paths.iter_mut().for_each(|path| path.ends = original_ends(path.ends, network));
    figures
}

/// The ends of a connection of TCP as hosts have them.
pub(super) fn original_ends(ends: Ends, network: &Network) -> Ends {
    if !network.has_middleboxes() {
        return ends;
    }
    let original = |end| network.original_end(IPPROTO_TCP, end);
    Ends { local: original(ends.local), remote: original(ends.remote) }
}

/// The ends of a subflow in the type of our stack.
pub(super) fn ends(info: &SubflowInfo) -> Ends {
    Ends { local: info.local, remote: info.remote }
}

fn figures(info: &SubflowInfo, reopens: bool) -> PathFigures {
    PathFigures {
        ends: ends(info),
        other_sources: Vec::new(),
        reopens,
        bytes_received: info.bytes_received,
        packets_sent: info.segments_sent,
        retransmissions: info.retransmissions,
        timeouts: info.timeouts,
        // The kernel does not count these.
        duplicate_acks: 0,
        srtt: (!info.srtt.is_zero()).then_some(info.srtt),
        cwnd: info.cwnd.into(),
        copies: 0,
        retransmitted: None,
        bytes_acknowledged: None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn a_window_that_ran_away_makes_a_run_invalid_also_when_it_is_small_again() {
        let end = KernelEnd::default();
        let seen = |cwnd| ConnectionInfo { subflows: vec![subflow(cwnd)], ..ConnectionInfo::default() };
        end.record().update(seen(MOST_CWND));
        assert_eq!(end.objection(), None);
        end.record().update(seen(882_000_000));
        end.record().update(seen(10));
        assert!(end.objection().is_some_and(|words| words.contains("882000000 packets (bound 1048576)")));
    }

    #[test]
    fn a_subflow_that_comes_after_the_end_of_another_between_the_same_addresses_was_opened_again() {
        let end = KernelEnd::default();
        let seen = |ports: &[u16]| {
            let subflows = ports.iter().map(|port| subflow_from(*port, 10)).collect();
            end.record().update(ConnectionInfo { subflows, ..ConnectionInfo::default() });
            end.figures(false).paths.iter().map(|path| path.reopens).collect::<Vec<bool>>()
        };
        assert_eq!(seen(&[1, 2]), [false, false], "two at the same time");
        assert_eq!(seen(&[2]), [false, false]);
        assert_eq!(seen(&[2, 3, 4]), [false, false, true, false], "one of two has ended");
    }

    fn subflow(cwnd: u32) -> SubflowInfo {
        subflow_from(1, cwnd)
    }

    fn subflow_from(port: u16, cwnd: u32) -> SubflowInfo {
        let end = SocketAddr::from(([10, 0, 0, 1], port));
        SubflowInfo {
            local: end,
            remote: end,
            data_segments_sent: 0,
            segments_sent: 0,
            retransmissions: 0,
            timeouts: 0,
            bytes_received: 0,
            bytes_acknowledged: 0,
            bytes_written: 0,
            srtt: subflow_quantity::Duration::ZERO,
            cwnd,
            ssthresh: None,
            in_flight: 0,
            flight_size: 0,
        }
    }
}
