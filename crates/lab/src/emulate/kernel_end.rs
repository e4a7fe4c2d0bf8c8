//! What one end of a flow on a kernel socket has done.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use subflow_linux::{Stream, SubflowInfo};
use subflow_transport::mptcp::SubflowTotals;
use subflow_transport::tcp::Ends;

use crate::simulate::figures::EndFigures;
use crate::simulate::subflow_figures::SubflowFigures;

/// One end of a flow. Its application writes, the run reads.
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
    /// All subflows that were ever seen, as they were last, and whether they are open.
    subflows: Vec<(SubflowInfo, bool)>,
    reinjected_bytes: u64,
    fallback: bool,
    ended: Option<&'static str>,
}

impl KernelEnd {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on the connection is looked at.
    pub(super) fn observe(&self, stream: Stream) {
        self.record().stream = Some(Arc::new(stream));
        self.watch();
    }

    /// Asks the kernel what the connection has done.
    pub(super) fn watch(&self) {
        // The network's thread looks at the record, too, and must not wait for the kernel's answer.
        let stream = self.record().stream.clone();
        // A connection that is just ending may have nothing to say any more.
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

    /// Its subflows that are open, with their numbers in the order of their opening, as they were seen last.
    pub(super) fn open_subflows(&self) -> Vec<(usize, SubflowInfo)> {
        let record = self.record();
        let open = record.subflows.iter().enumerate().filter(|(_, (_, open))| *open);
        open.map(|(number, (subflow, _))| (number, subflow.clone())).collect()
    }

    /// The connection is over, for this reason.
    pub(super) fn end(&self, how: &'static str) {
        self.record().ended.get_or_insert(how);
    }

    /// The connection failed.
    pub(super) fn fail(&self, error: &io::Error) {
        self.end(match error.kind() {
            io::ErrorKind::ConnectionRefused => "refused",
            io::ErrorKind::TimedOut => "timed-out",
            io::ErrorKind::ConnectionAborted => "aborted",
            _ => "reset",
        });
    }

    /// Its figures now.
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

/// Its ends, as our stack calls them.
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
        // The kernel does not count them.
        duplicate_acks: 0,
        srtt: (!info.srtt.is_zero()).then_some(info.srtt),
        cwnd: info.cwnd.into(),
        copies: 0,
        retransmitted: None,
        bytes_acknowledged: None,
    }
}
