//! Packet schedulers: which subflow carries which data.
//!
//! The transport asks while data may be sent and at least one subflow is eligible. It shows an immutable view of the
//! subflows and of the send queue; the scheduler answers with a subflow and what to send there: the next new data, or
//! a copy of a named range. Asked again until it answers `None`.
//!
//! Each scheduler is one file with its formula, source and tests; `candidates` holds what all share (who is eligible, what
//! goes first) and [`Scheduling`] names them.

mod adaptive;
pub mod blest;
mod candidates;
mod ecf;
mod highest_sending_rate;
mod largest_window_space;
mod linux_default;
mod lowest_latency;
mod lowest_time_space;
#[cfg(test)]
mod properties;
mod red_diversity;
mod redundant;
mod round_robin;
mod scheduling;
#[cfg(test)]
mod test_states;

use core::ops::Range;

use subflow_quantity::{Duration, Instant};

use crate::bottleneck::Correlations;

pub use adaptive::Adaptive;
pub use blest::Blest;
pub use ecf::Ecf;
pub use highest_sending_rate::HighestSendingRate;
pub use largest_window_space::LargestWindowSpace;
pub use linux_default::LinuxDefault;
pub use lowest_latency::LowestLatency;
pub use lowest_time_space::LowestTimeSpace;
pub use red_diversity::RedDiversity;
pub use redundant::Redundant;
pub use round_robin::RoundRobin;
pub use scheduling::{Options, SchedulerEntry, Scheduling};

/// A set of subflows, by index below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowSet(pub u64);

impl SubflowSet {
    /// Whether `subflow` is in the set.
    pub const fn contains(self, subflow: usize) -> bool {
        self.0 >> subflow & 1 == 1
    }
    /// Adds `subflow`.
    pub fn insert(&mut self, subflow: usize) {
        self.0 |= 1 << subflow;
    }
    /// Whether nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Those in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// Those in this set and not in `other`.
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// The greatest index in the set.
    pub const fn last(self) -> Option<usize> {
        match self.0.checked_ilog2() {
            Some(index) => Some(index as usize),
            None => None,
        }
    }
    /// The indices, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let index = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(index)
        })
    }
}

/// One subflow as a scheduler sees it. Windows count packets.
#[derive(Clone, Debug, Default)]
pub struct SubflowView {
    /// Smoothed RTT; absent before the first sample.
    pub srtt: Option<Duration>,
    /// RTT variation (RFC 6298 RTTVAR).
    pub rtt_variation: Duration,
    /// The latest raw RTT sample.
    pub latest_rtt: Option<Duration>,
    /// Congestion window.
    pub cwnd: u32,
    /// Packets in flight (sent, not acknowledged, not believed lost), queued ones included.
    pub in_flight: u32,
    /// Payload bytes of a full-sized segment.
    pub mss: u32,
    /// Bytes assigned to this subflow and not yet sent.
    pub queued_bytes: u64,
    /// Bytes of its send buffer in use (Linux: `sk_wmem_queued`): what is assigned and not acknowledged, with what each
    /// packet takes beyond its payload where the transport accounts for that.
    pub held_bytes: u64,
    /// Whether its send buffer is full. Data may be assigned ahead of the window only while it is not.
    pub buffer_full: bool,
    /// Pacing rate in bytes per second (Linux: `sk_pacing_rate`): cwnd·mss/srtt times 2 in slow start, 1.2 after.
    pub pacing_rate: u64,
    /// Packets with data sent so far, those sent again included.
    pub packets_sent: u64,
    /// How many of them were sent again.
    pub packets_resent: u64,
    /// Whether it is in slow start.
    pub slow_start: bool,
    /// Fully established and able to carry data.
    pub established: bool,
    /// Marked as backup by either side: used only where no other subflow is established.
    pub backup: bool,
    /// In the Loss state with nothing allowed out, or given up as stale.
    pub potentially_failed: bool,
    /// Whether window space is left and the peer's receive window admits a segment.
    pub can_send: bool,
}

impl SubflowView {
    /// Whether it is established and neither stuck in the Loss state nor given up: what backups stand in for.
    pub fn is_live(&self) -> bool {
        self.established && !self.potentially_failed
    }
    /// Packets that the congestion window still admits; zero or less when it is full.
    pub fn space(&self) -> i64 {
        i64::from(self.cwnd) - i64::from(self.in_flight)
    }
    /// Whether this subflow may carry a segment now that `carried` have carried already (lima2017, section 4:
    /// established, not stuck in loss, with window space, and not a carrier of this very segment).
    pub fn eligible(&self, index: usize, carried: SubflowSet) -> bool {
        self.is_live() && self.can_send && !carried.contains(index)
    }
}

/// A range of data that has been assigned to subflows and is not yet acknowledged at the data level.
#[derive(Clone, Debug)]
pub struct SentRange {
    /// Data-level offsets.
    pub range: Range<u64>,
    /// The subflows that have carried it.
    pub carried_by: SubflowSet,
    /// Whether the transport asks for it to be sent once more (after a timeout or a subflow's death).
    pub reinject: bool,
}

/// The send queue as a scheduler sees it.
#[derive(Clone, Debug, Default)]
pub struct QueueView<'a> {
    /// The present.
    pub now: Instant,
    /// New data: from the next byte never assigned to the end of what the application wrote and the peer's
    /// connection-level window admits. Empty when only copies may be sent.
    pub new_data: Range<u64>,
    /// Where the piece of written data ends that new data begins in: Linux hands such pieces down whole. Where
    /// new data begins if nothing is cut.
    pub fragment_end: u64,
    /// Bytes that the application wrote and no subflow has yet, whether the window admits them or not.
    pub backlog: u64,
    /// The connection-level send window: bytes from the first one not acknowledged to the end of what the peer admits.
    pub window: u64,
    /// How often that window has kept a subflow with room from sending so far.
    pub blocked: u64,
    /// A range that the transport wants sent once more, before any new data.
    pub reinjection: Option<&'a SentRange>,
    /// Ranges sent and not acknowledged, oldest first (two halves of a ring).
    pub outstanding: (&'a [SentRange], &'a [SentRange]),
}

impl<'a> QueueView<'a> {
    /// The outstanding ranges from the one that holds `offset`, or the next above it, on.
    pub fn outstanding_from(&self, offset: u64) -> impl Iterator<Item = &'a SentRange> + use<'a> {
        let (older, newer) = self.outstanding;
        let from = |ranges: &'a [SentRange]| {
            let at = ranges.partition_point(|sent| sent.range.end <= offset);
            ranges[at..].iter()
        };
        from(older).chain(from(newer))
    }
}

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The next new data, at most this many bytes (the transport cuts at the subflow's MSS).
    New {
        /// Upper bound in bytes; `u64::MAX` for no bound of the scheduler's own.
        at_most: u64,
    },
    /// A copy of data assigned before; the range lies within one of [`QueueView::outstanding`] or is the reinjection.
    Copy {
        /// Data-level offsets.
        range: Range<u64>,
    },
}

/// A scheduler's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Index of the subflow in the view.
    pub subflow: usize,
    /// What it is to carry.
    pub what: What,
}

/// A packet scheduler for one connection.
pub trait Scheduler {
    /// The next assignment, or `None` to send nothing now. A reinjection, where there is one and a subflow is eligible
    /// for it, goes before new data.
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment>;

    /// Whether new data may be assigned to a subflow whose window is full ([`SubflowView::can_send`] is false), to wait in
    /// that subflow's own queue ([`SubflowView::queued_bytes`]), as the Linux kernel does. The transport then asks whenever
    /// there is new data or a reinjection, not only while a subflow is eligible. Otherwise every assignment goes to a subflow
    /// that can send.
    fn queues_ahead(&self) -> bool {
        false
    }

    /// Whether it sends copies of outstanding data that nobody asked for. The transport then asks also while there is
    /// neither new data nor a reinjection.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether it goes by how the subflows are correlated: the transport then passes on what a detector finds.
    fn goes_by_correlations(&self) -> bool {
        false
    }

    /// The degrees of all pairs of subflows, whenever a subflow gave a sample.
    fn on_correlations(&mut self, _correlations: &Correlations) {}
}
