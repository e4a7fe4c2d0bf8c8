//! Packet schedulers: which subflow carries which data.
//!
//! The transport calls the scheduler while data may be sent and at least one subflow is eligible. It passes an
//! immutable view of the subflows and of the send queue. The scheduler returns a subflow and what to send there: the
//! next new data, or a copy of a given range. The transport repeats the call until the result is `None`.
//!
//! Each scheduler is one file with its formula, source and tests. `candidates` has the rules that all share
//! (eligibility, priority), and [`Scheduling`] lists the schedulers by name.

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
mod red_module;
mod red_readings;
mod redundant;
mod round_robin;
#[cfg(test)]
mod test_states;
mod window_share;

use core::ops::Range;

use subflow_quantity::{Duration, Instant};

use crate::FlowEnd;
use crate::bottleneck::Correlations;
use crate::catalogue::{catalogue, dispatch};

pub use adaptive::Adaptive;
pub use blest::Blest;
pub use candidates::next_work;
pub use ecf::Ecf;
pub use highest_sending_rate::HighestSendingRate;
pub use largest_window_space::LargestWindowSpace;
pub use linux_default::LinuxDefault;
pub use lowest_latency::LowestLatency;
pub use lowest_time_space::LowestTimeSpace;
pub use red_diversity::RedDiversity;
pub use red_module::RedModule;
pub use red_readings::{RedAllocation, RedCopies};
pub use redundant::Redundant;
pub use round_robin::RoundRobin;

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
    /// Removes `subflow`.
    pub fn remove(&mut self, subflow: usize) {
        self.0 &= !(1 << subflow);
    }
    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// The subflows in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// The subflows in this set and not in `other`.
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// The largest index in the set.
    pub const fn last(self) -> Option<usize> {
        match self.0.checked_ilog2() {
            Some(index) => Some(index as usize),
            None => None,
        }
    }
    /// The indices in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let index = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(index)
        })
    }
}

/// The state of one subflow, as passed to a scheduler. Windows are in packets.
#[derive(Clone, Debug, Default)]
pub struct SubflowView {
    /// Address ID of its local end (RFC 8684, section 3.2).
    pub local_id: u8,
    /// Smoothed RTT; absent before the first sample.
    pub srtt: Option<Duration>,
    /// RTT variation (RFC 6298 RTTVAR).
    pub rtt_variation: Duration,
    /// The latest raw RTT sample.
    pub latest_rtt: Option<Duration>,
    /// Congestion window.
    pub cwnd: u32,
    /// Packets in flight (sent, not acknowledged, not marked lost), including queued ones.
    pub in_flight: u32,
    /// Payload bytes of a full-sized segment.
    pub mss: u32,
    /// Bytes assigned to this subflow and not yet sent.
    pub queued_bytes: u64,
    /// Used bytes of its send buffer (Linux: `sk_wmem_queued`): the assigned and not acknowledged data, plus the memory
    /// overhead of each packet if the transport accounts for it.
    pub held_bytes: u64,
    /// Whether its send buffer is full. Data may be queued beyond the congestion window only while it is not.
    pub buffer_full: bool,
    /// Pacing rate in bytes per second (Linux: `sk_pacing_rate`): cwnd·mss/srtt times 2 in slow start, times 1.2 after
    /// it.
    pub pacing_rate: u64,
    /// Packets with data sent so far, including resent ones.
    pub packets_sent: u64,
    /// Resent packets so far.
    pub packets_resent: u64,
    /// Whether it is in slow start.
    pub slow_start: bool,
    /// Whether it is fully established and can carry data.
    pub established: bool,
    /// Whether either side marked it as a backup: it is used only if no other subflow is established.
    pub backup: bool,
    /// Whether it is in the Loss state and must not send, or is stale.
    pub potentially_failed: bool,
    /// Whether it has window space and the peer's receive window allows a segment.
    pub can_send: bool,
}

impl SubflowView {
    /// Whether it is established and not potentially failed. Backups are used only while no regular subflow is live.
    pub fn is_live(&self) -> bool {
        self.established && !self.potentially_failed
    }
    /// The number of packets that the congestion window still allows; zero or less if it is full.
    pub fn space(&self) -> i64 {
        i64::from(self.cwnd) - i64::from(self.in_flight)
    }
    /// Whether this subflow may now carry a segment that the subflows `carried` have already carried (lima2017,
    /// section 4: established, not in the Loss state, with window space, and not a carrier of the same segment).
    pub fn eligible(&self, index: usize, carried: SubflowSet) -> bool {
        self.is_live() && self.can_send && !carried.contains(index)
    }
}

/// What all subflows may do, in sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowSets {
    /// Those that are [live](SubflowView::is_live).
    pub live: SubflowSet,
    /// Those that are backups.
    pub backup: SubflowSet,
    /// Those that [can send](SubflowView::can_send).
    pub open: SubflowSet,
}

impl SubflowSets {
    /// The sets of `subflows`.
    pub fn of(subflows: &[SubflowView]) -> Self {
        let mut sets = Self::default();
        // From the last to the first, so that each takes one shift by a constant: there may be dozens.
        for subflow in subflows.iter().rev() {
            sets.live.0 = sets.live.0 << 1 | u64::from(subflow.is_live());
            sets.backup.0 = sets.backup.0 << 1 | u64::from(subflow.backup);
            sets.open.0 = sets.open.0 << 1 | u64::from(subflow.can_send);
        }
        sets
    }

    /// Subflow `index` has changed.
    #[inline]
    pub fn update(&mut self, index: usize, subflow: &SubflowView) {
        let put = |set: &mut SubflowSet, is_in: bool| set.0 = set.0 & !(1 << index) | u64::from(is_in) << index;
        put(&mut self.live, subflow.is_live());
        put(&mut self.backup, subflow.backup);
        put(&mut self.open, subflow.can_send);
    }
}

/// A range of data that has been assigned to subflows and is not yet acknowledged at the data level.
#[derive(Clone, Debug)]
pub struct SentRange {
    /// Data-level offsets.
    pub range: Range<u64>,
    /// The subflows that have carried it.
    pub carried_by: SubflowSet,
    /// Whether the transport requests a reinjection (after a timeout or the failure of a subflow).
    pub reinject: bool,
}

/// The state of the send queue, as passed to a scheduler.
#[derive(Clone, Debug, Default)]
pub struct QueueView<'a> {
    /// The current time.
    pub now: Instant,
    /// New data: from the first byte that was never assigned to the end of the written data that the peer's
    /// connection-level window allows. Empty if only copies may be sent.
    pub new_data: Range<u64>,
    /// The end of the fragment of written data in which new data begins; Linux assigns fragments as a whole. Equal to
    /// the start of new data if data is not divided into fragments.
    pub fragment_end: u64,
    /// Written bytes that are not assigned to any subflow, whether or not the window allows them.
    pub backlog: u64,
    /// The connection-level send window: the number of bytes from the first unacknowledged one to the end that the peer
    /// allows.
    pub window: u64,
    /// What that window admits beyond the start of new data, in bytes, whether or not it has been written.
    pub window_left: u64,
    /// How often that window has so far prevented a subflow with window space from sending.
    pub blocked: u64,
    /// A range that the transport requests to be sent again, before any new data.
    pub reinjection: Option<&'a SentRange>,
    /// Ranges that are sent and not acknowledged, oldest first (the two slices of a ring buffer).
    pub outstanding: (&'a [SentRange], &'a [SentRange]),
    /// The sets of the subflows, if the transport keeps them: then no scheduler has to look at every view.
    pub sets: Option<SubflowSets>,
}

impl<'a> QueueView<'a> {
    /// The outstanding ranges, starting with the one that contains `offset` or the next one above it.
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
    /// The next new data, at most this number of bytes (the transport limits it to the subflow's MSS).
    New {
        /// Upper bound in bytes; `u64::MAX` if the scheduler sets none.
        at_most: u64,
    },
    /// A copy of data that was assigned before. The range is within one of [`QueueView::outstanding`], or is the
    /// reinjection.
    Copy {
        /// Data-level offsets.
        range: Range<u64>,
    },
}

/// The decision of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Index of the subflow in the view.
    pub subflow: usize,
    /// What to send on it.
    pub what: What,
}

/// A packet scheduler for one connection.
pub trait Scheduler {
    /// The next assignment, or `None` to send nothing now. A reinjection has priority over new data if a subflow is
    /// eligible for it.
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment>;

    /// Whether new data may be assigned to a subflow whose window is full ([`SubflowView::can_send`] is false) and wait
    /// in that subflow's queue ([`SubflowView::queued_bytes`]), as in the Linux kernel. The transport then calls the
    /// scheduler whenever there is new data or a reinjection, not only while a subflow is eligible. Otherwise every
    /// assignment must go to a subflow that can send.
    fn queues_ahead(&self) -> bool {
        false
    }

    /// Whether it sends copies of outstanding data on its own initiative. The transport then also calls it if there is
    /// neither new data nor a reinjection.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether it uses the correlations of the subflows. The transport then passes it the results of a detector.
    fn goes_by_correlations(&self) -> bool {
        false
    }

    /// Receives the degrees of all pairs of subflows after each sample, and when a subflow has been replaced.
    fn on_correlations(&mut self, _correlations: &Correlations) {}

    /// Another subflow takes the place `_subflow` in the view: nothing that is known of the former one holds for it.
    /// `_last` is the last view of the former one.
    fn on_replaced(&mut self, _subflow: usize, _last: &SubflowView) {}

    /// Called once, before any connection: what this scheduler and its clones serve.
    fn begin(&mut self, _end: FlowEnd) {}
}

// The types of all schedulers, in the order of lists. See `catalogue/list.rs`.
macro_rules! schedulers {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! {
            [
                LowestLatency RoundRobin Redundant RedDiversity RedModule LargestWindowSpace
                LowestTimeSpace HighestSendingRate Blest Ecf Adaptive LinuxDefault
            ]
            [Custom CustomScheduler: Scheduler]
            $($arguments)*
        }
    };
}

schedulers! { catalogue!
    /// One of the schedulers, chosen by name. It is an enum so that a decision per packet needs no dynamic call.
    Scheduling
}

// Every method goes to every scheduler: one that overrides a default of the trait is asked.
impl Scheduler for Scheduling {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        schedulers!(dispatch! self, scheduler => scheduler.next(subflows, queue))
    }

    fn queues_ahead(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.queues_ahead())
    }

    fn repeats(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.repeats())
    }

    fn goes_by_correlations(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.goes_by_correlations())
    }

    fn on_correlations(&mut self, correlations: &Correlations) {
        schedulers!(dispatch! self, scheduler => scheduler.on_correlations(correlations))
    }

    fn on_replaced(&mut self, subflow: usize, last: &SubflowView) {
        schedulers!(dispatch! self, scheduler => scheduler.on_replaced(subflow, last))
    }

    fn begin(&mut self, end: FlowEnd) {
        schedulers!(dispatch! self, scheduler => scheduler.begin(end))
    }
}

impl Scheduling {
    /// Whether it may read [`SubflowView::pacing_rate`], which takes a division. If not, the transport may leave it 0.
    #[inline]
    pub fn reads_pacing_rates(&self) -> bool {
        matches!(self, Self::LinuxDefault(_) | Self::Custom(..))
    }
}

/// `ll`.
impl Default for Scheduling {
    fn default() -> Self {
        Self::LowestLatency(LowestLatency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn what_a_scheduler_overrides_is_asked_of_it() {
        let those = |asked: fn(&Scheduling) -> bool| -> Vec<_> {
            let all = Scheduling::prototypes().into_iter();
            all.filter(asked).map(|scheduler| scheduler.name().to_owned()).collect()
        };
        assert_eq!(those(Scheduling::queues_ahead), ["linux-default"]);
        // `red-module` always repeats, `red-diversity` only while it places copies: a new one does not.
        assert_eq!(those(Scheduling::repeats), ["redundant", "red-module"]);
        assert_eq!(those(Scheduling::goes_by_correlations), ["red-diversity"]);
    }
}
