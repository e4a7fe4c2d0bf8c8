//! The subflows of a connection, by place. A connection has at most [`MAX_SUBFLOWS`] subflows at a time, and any number
//! over its lifetime.
//!
//! The place of a subflow is its index in [`Connection::subflows`], in the views of the scheduler, in the paths of
//! congestion control, and in [`SubflowSet`]s. New subflows get new places until there are [`MAX_SUBFLOWS`]; then they
//! reuse the places of closed subflows, the oldest first. Place 0 is reserved for the initial subflow, whose addresses
//! and ports identify the connection. The statistics of a subflow are recorded before its place is reused
//! (`former_subflows.rs`).
//!
//! A place is free when its subflow is closed, the last segment of the subflow has been sent, and the result of the
//! latest segment is no longer needed ([`Connection::taken`]). Outstanding data of the subflow was marked for
//! reinjection when it was closed.
//!
//! A subflow that is changed may have something to send, and its timers and its summary are not known until it is
//! drained. So a subflow can be changed only after it was [touched](Subflows::touch), which builds with debug
//! assertions check.
//!
//! [`Connection::subflows`]: super::Connection::subflows
//! [`Connection::taken`]: super::Connection::taken

use core::ops::{Deref, Index, IndexMut};
use std::net::IpAddr;

use subflow_policy::congestion::Controller;
use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::scheduler::SubflowSet;
use subflow_quantity::{Duration, Instant};

use super::former_subflows::FormerSubflows;
use super::received_mappings::DISCARD;
use super::subflow::Subflow;
use super::subflow_summaries::{SubflowSummary, Summaries};
use crate::edge::Taken;
use crate::notes::Noted;
use crate::tcp::{Ends, ReceiveWindow};

/// The initial retransmission timeout, used if no RTT is known (RFC 6298, section 2).
const INITIAL_RTO: Duration = Duration::from_secs(1);

/// The subflows by place, and which of them have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    list: Vec<Subflow>,
    /// Those that may have something to send.
    changed: SubflowSet,
    /// Those that had nothing more to send, and whose summaries are not made yet. The summaries of all others that have
    /// not changed are up to date.
    drained: SubflowSet,
    /// What every packet needs of all subflows.
    summaries: Summaries,
    former: FormerSubflows,
    /// The subflow whose TCP processed the latest segment.
    passed_to: Option<usize>,
}

impl Deref for Subflows {
    type Target = [Subflow];

    #[inline]
    fn deref(&self) -> &[Subflow] {
        &self.list
    }
}

impl Index<usize> for Subflows {
    type Output = Subflow;

    #[inline]
    fn index(&self, index: usize) -> &Subflow {
        &self.list[index]
    }
}

/// Of a subflow that was touched before.
impl IndexMut<usize> for Subflows {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Subflow {
        debug_assert!(self.changed.contains(index), "a subflow is changed without a call of touch()");
        &mut self.list[index]
    }
}

impl Subflows {
    /// Subflow `index`, which may have something to send after what the caller changes.
    #[inline]
    pub(super) fn touch(&mut self, index: usize) -> &mut Subflow {
        self.changed.0 |= 1 << index;
        &mut self.list[index]
    }

    /// The subflows that may have something to send.
    #[inline]
    pub(super) fn changed(&self) -> SubflowSet {
        self.changed
    }

    /// The first subflow that may have something to send.
    #[inline]
    pub(super) fn first_changed(&self) -> Option<usize> {
        (!self.changed.is_empty()).then(|| self.changed.0.trailing_zeros() as usize)
    }

    /// Subflow `index` has nothing more to send.
    #[inline]
    pub(super) fn set_drained(&mut self, index: usize) {
        self.changed.0 &= !(1 << index);
        self.drained.0 |= 1 << index;
    }

    /// All subflows are drained: their summaries are made, once however often each of them was drained.
    #[inline]
    pub(super) fn summarise_drained(&mut self) {
        for index in core::mem::take(&mut self.drained).iter() {
            self.summarise(index);
        }
    }

    /// Those whose summaries are not up to date.
    #[inline]
    fn without_summary(&self) -> SubflowSet {
        SubflowSet(self.changed.0 | self.drained.0)
    }

    fn summarise(&mut self, index: usize) {
        self.summaries.set(index, self.list[index].summary());
    }

    /// Closes subflow `index` for MPTCP, whose TCP connection is closed.
    pub(super) fn close(&mut self, index: usize) {
        self.list[index].close();
        self.summarise(index);
    }

    /// Nothing is sent any more on subflow `index`.
    pub(super) fn silence(&mut self, index: usize) {
        self.changed.remove(index);
    }

    /// The summaries that are known, by subflow.
    #[inline]
    pub(super) fn summaries(&self) -> &[SubflowSummary] {
        self.summaries.as_slice()
    }

    /// The deadline of the earliest timer of all subflows; [`Instant::MAX`] if there is none.
    pub(super) fn deadline(&self) -> Instant {
        let first = || self.list.iter().map(Subflow::deadline).min().unwrap_or(Instant::MAX);
        if !self.without_summary().is_empty() {
            return first();
        }
        // This method is called after every packet. If all subflows are drained, their deadlines need not be computed.
        let known = self.summaries.first_deadline();
        debug_assert_eq!(known, first(), "a subflow's timers changed without a call of touch()");
        known
    }

    /// The largest RTT of a receiver, while only subflow `changed` has changed since it was drained.
    pub(super) fn slowest_receiver_rtt(&self, changed: usize) -> Option<Duration> {
        let all = || self.list.iter().filter_map(Subflow::receiver_rtt).max();
        if !self.drained.is_empty() {
            return all();
        }
        let slowest = self.summaries.slowest_rtt(changed, self.list[changed].receiver_rtt());
        debug_assert_eq!(slowest, all());
        slowest
    }

    /// Whether all data assigned to subflow `index` has been delivered.
    pub(super) fn has_delivered(&self, index: usize) -> bool {
        match self.summaries.get(index).filter(|_| !self.without_summary().contains(index)) {
            Some(summary) => {
                debug_assert_eq!(
                    summary.delivered,
                    self.list[index].has_delivered(),
                    "a subflow changed without a call of touch()"
                );
                summary.delivered
            }
            None => self.list[index].has_delivered(),
        }
    }

    /// The subflow whose TCP processes the latest segment; `None` if no payload of it is taken.
    #[inline]
    pub(super) fn pass_to(&mut self, index: Option<usize>) {
        self.passed_to = index;
    }

    /// The part of the latest segment's payload that was accepted.
    pub(super) fn taken(&self) -> Option<Taken> {
        self.list[self.passed_to?].tcp.taken().filter(|taken| taken.stream.start < DISCARD)
    }
}

/// Changes of subflows that send nothing and concern no timer.
impl Subflows {
    /// The shared buffer has grown.
    pub(super) fn follow_buffer(&mut self, window: &ReceiveWindow) {
        self.list.iter_mut().for_each(|subflow| subflow.tcp.follow_buffer(window));
    }

    /// Ends a period in which subflow `index` had data to deliver (`stale_subflows.rs`).
    pub(super) fn note_period(&mut self, index: usize) {
        self.list[index].delivery.note_period();
    }

    /// The window of another subflow was halved for subflow `index`.
    pub(super) fn note_penalty(&mut self, index: usize, now: Instant) {
        self.list[index].note_penalty(now);
    }

    /// A packet with `payload` bytes, which was sent between these ends, has entered the queue of this host.
    pub(super) fn note_queued(&mut self, ends: Ends, payload: u32) {
        let sender = self.list.iter_mut().find(|subflow| subflow.tcp.ends() == ends);
        sender.into_iter().for_each(|subflow| subflow.tcp.on_queued(payload));
    }

    /// A packet of subflow `index` has left it, or leaves it at `at`. Returns whether data of the subflow waited for that; then it is touched.
    pub(super) fn note_left_queue(&mut self, index: usize, payload: u32, at: Instant) -> bool {
        let waited = self.list[index].tcp.on_left_queue(payload, at);
        if waited {
            self.touch(index);
        }
        waited
    }

    pub(super) fn keep_notes(&mut self) {
        self.list.iter_mut().for_each(|subflow| subflow.tcp.keep_notes());
    }

    pub(super) fn take_notes(&mut self, into: &mut Vec<Noted>) {
        self.list.iter_mut().for_each(|subflow| subflow.tcp.take_notes(into));
    }

    pub(super) fn take_rtts(&mut self, each: &mut impl FnMut(Ends, &[Duration])) {
        self.list.iter_mut().for_each(|subflow| subflow.tcp.take_rtts(&mut *each));
    }
}

/// Places.
impl Subflows {
    /// Adds a subflow at the place that corresponds to its path in congestion control, which is free.
    pub(super) fn add(&mut self, mut subflow: Subflow) -> usize {
        let index = subflow.tcp.path();
        let addresses = subflow.tcp.ends().addresses();
        self.former.note_opening(addresses, self.ended_between(addresses, index));
        subflow.set_number(self.former.count_opened());
        match self.list.get_mut(index) {
            Some(former) => *former = subflow,
            None => self.list.push(subflow),
        }
        self.touch(index);
        index
    }

    /// The number of subflows between these addresses that have ended, while `place` is taken by a new one: the one there
    /// before is among the former ones.
    fn ended_between(&self, addresses: [IpAddr; 2], place: usize) -> usize {
        let has_ended = |subflow: &Subflow| subflow.is_closed() && subflow.tcp.ends().addresses() == addresses;
        let present = self.list.iter().enumerate().filter(|(index, subflow)| *index != place && has_ended(subflow));
        self.former.between(addresses) + present.count()
    }

    /// Records the statistics of the subflow at `index`, whose place is reused.
    pub(super) fn retire(&mut self, index: usize, congestion: &Controller) {
        let reopens = self.former.reopens(self.list[index].number());
        self.former.add(self.list[index].record(congestion, reopens));
        self.summaries.clear(index);
    }

    pub(super) fn former(&self) -> &FormerSubflows {
        &self.former
    }

    /// A free place; that of a closed subflow if there is no new one.
    pub(super) fn free_place(&self) -> Option<usize> {
        if self.list.len() < MAX_SUBFLOWS {
            return Some(self.list.len());
        }
        let is_free = |&index: &usize| self.list[index].is_closed() && self.is_unused(index);
        (1..MAX_SUBFLOWS).filter(is_free).min_by_key(|&index| self.list[index].number())
    }

    /// How many subflows could get a place now. Half-open joins can be replaced.
    pub(super) fn available_places(&self) -> usize {
        let is_over = |index: usize| self.list[index].is_closed() && !self.changed.contains(index);
        let goes = |&index: &usize| self.list[index].is_half_open_join() || is_over(index);
        let reusable = (1..self.list.len()).filter(goes).filter(|&index| self.passed_to != Some(index)).count();
        MAX_SUBFLOWS - self.list.len() + reusable
    }

    fn is_unused(&self, index: usize) -> bool {
        !self.changed.contains(index) && self.passed_to != Some(index)
    }

    /// Number of subflows that are not closed.
    pub(super) fn open(&self) -> usize {
        self.list.iter().filter(|subflow| !subflow.is_closed()).count()
    }

    /// Whether there is another established subflow than `index`.
    pub(super) fn has_others(&self, index: usize) -> bool {
        self.list.iter().enumerate().any(|(other, subflow)| other != index && subflow.is_established())
    }

    /// Number of subflows that the peer is joining and that are not yet authenticated.
    pub(super) fn half_open_joins(&self) -> usize {
        self.list.iter().filter(|subflow| subflow.is_half_open_join()).count()
    }

    /// The oldest of them.
    pub(super) fn oldest_half_open_join(&self) -> Option<usize> {
        let half_open = (0..self.list.len()).filter(|&index| self.list[index].is_half_open_join());
        half_open.min_by_key(|&index| self.list[index].number())
    }

    /// The time for which a half-open join is kept before another may replace it: the longest retransmission timeout of
    /// the established subflows, but at most the time until its SYN/ACK is retransmitted.
    pub(super) fn half_open_timeout(&self) -> Duration {
        let established = self.list.iter().filter(|subflow| subflow.is_established());
        established.filter_map(|subflow| subflow.tcp.rtt().rto()).max().unwrap_or(INITIAL_RTO).min(INITIAL_RTO)
    }
}
