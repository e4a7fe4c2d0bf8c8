//! The figures of one end of a flow on a kernel socket.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use subflow_linux::{Stream, SubflowInfo};
use subflow_transport::mptcp::SubflowTotals;
use subflow_transport::tcp::Ends;

use crate::simulate::figures::EndFigures;
use crate::simulate::subflow_figures::SubflowFigures;

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
    /// All subflows seen so far with their latest figures, and whether they are open.
    subflows: Vec<(SubflowInfo, bool)>,
    reinjected_bytes: u64,
    fallback: bool,
    ended: Option<&'static str>,
}

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
        let mut record = self.record();
        record.subflows.iter_mut().for_each(|(_, open)| *open = false);
        for subflow in info.subflows {
            let same = |known: &SubflowInfo| (known.local, known.remote) == (subflow.local, subflow.remote);
            match record.subflows.iter_mut().find(|(known, _)| same(known)) {
                Some(known) => *known = (subflow, true),
                None => record.subflows.push((subflow, true)),
            }
        }
        record.reinjected_bytes = record.reinjected_bytes.max(info.reinjected_bytes);
        record.fallback |= info.fallback;
    }

    /// The open subflows with their latest figures and their numbers in the order in which they were opened.
    pub(super) fn open_subflows(&self) -> Vec<(usize, SubflowInfo)> {
        let record = self.record();
        let open = record.subflows.iter().enumerate().filter(|(_, (_, open))| *open);
        open.map(|(number, (subflow, _))| (number, subflow.clone())).collect()
    }

    /// Records that the connection ended, and how.
    pub(super) fn end(&self, how: &'static str) {
        self.record().ended.get_or_insert(how);
    }

    /// Records that the connection failed.
    pub(super) fn fail(&self, error: &io::Error) {
        self.end(match error.kind() {
            io::ErrorKind::ConnectionRefused => "refused",
            io::ErrorKind::TimedOut => "timed-out",
            io::ErrorKind::ConnectionAborted => "aborted",
            _ => "reset",
        });
    }

    /// The current figures.
    pub(super) fn figures(&self, udp: bool) -> EndFigures {
        let record = self.record();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EndFigures {
            delivered: count(&self.delivered),
            subflows: record.subflows.iter().map(|(subflow, _)| figures(subflow)).collect(),
            others: SubflowTotals::default(),
            reinjected_bytes: record.reinjected_bytes,
            fallback: record.fallback,
            ended: record.ended,
            abandoned: None,
            datagrams: udp.then(|| [count(&self.datagrams[0]), count(&self.datagrams[1])]),
        }
    }
}

/// The ends of a subflow in the type of our stack.
pub(super) fn ends(info: &SubflowInfo) -> Ends {
    Ends { local: info.local, remote: info.remote }
}

fn figures(info: &SubflowInfo) -> SubflowFigures {
    SubflowFigures {
        ends: ends(info),
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
