//! Places of subflows. A connection has at most [`MAX_SUBFLOWS`] subflows at a time, and any number over its lifetime.
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
//! # Half-open joins
//!
//! Joins of the peer that are not yet authenticated may occupy every free place: a peer that follows the protocol opens
//! all subflows of a full mesh in one round trip, and a smaller bound would refuse some of them. But they may lose
//! their places again (RFC 4987, section 3.3, on half-open connections). If there is no place for a further join,
//!
//! 1. the oldest half-open one is replaced if it has not answered for a retransmission timeout, within which a peer
//!    that follows the protocol does. So a flood of SYNs delays joins, and a join that has a place has the time to
//!    complete its handshake;
//! 2. otherwise, if half-open joins hold more than a quarter of the places, the SYN is dropped: when the peer
//!    retransmits it, they have been authenticated or may be replaced;
//! 3. otherwise the join is refused.
//!
//! A subflow that this side opens replaces the oldest half-open join at once. No segment is sent for a replaced join:
//! if its peer still exists, its third ACK is answered with a reset. A reset of the peer frees the place at once.
//!
//! [`SubflowSet`]: subflow_policy::scheduler::SubflowSet

use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::scheduler::{Scheduler, SubflowView};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::ResetReason;

use super::Connection;
use super::join::Refused;
use super::subflow::{Stage, Subflow};
use crate::tcp::Closed;

/// Half-open joins may keep one in this number of places against further joins.
const HALF_OPEN_SHARE: usize = 4;
/// The initial retransmission timeout, used if no RTT is known (RFC 6298, section 2).
const INITIAL_RTO: Duration = Duration::from_secs(1);

impl Connection {
    /// Adds a subflow at the place that corresponds to its path in congestion control.
    pub(super) fn add_subflow(&mut self, mut subflow: Subflow) -> usize {
        let index = subflow.tcp.path();
        subflow.number = self.former.count_opened();
        if self.notes.is_some() {
            subflow.tcp.keep_notes();
        }
        match self.subflows.get_mut(index) {
            Some(former) => *former = subflow,
            None => {
                self.subflows.push(subflow);
                self.views.push(SubflowView::default());
            }
        }
        self.touch(index);
        self.phase.go_on();
        index
    }

    /// Returns a free place, cleared of the former subflow.
    pub(super) fn take_place(&mut self) -> Option<usize> {
        let index = self.free_place()?;
        if index < self.subflows.len() {
            self.clear_place(index);
        }
        self.congestion.set_path(index, 1, self.config.tcp.initial_window);
        Some(index)
    }

    fn free_place(&self) -> Option<usize> {
        if self.subflows.len() < MAX_SUBFLOWS {
            return Some(self.subflows.len());
        }
        let is_free = |&index: &usize| {
            self.subflows[index].is_closed() && self.dirty & 1 << index == 0 && self.passed_to != Some(index)
        };
        (1..MAX_SUBFLOWS).filter(is_free).min_by_key(|&index| self.subflows[index].number)
    }

    /// Records the statistics of the subflow at `index` and clears its place.
    fn clear_place(&mut self, index: usize) {
        let former = &self.subflows[index];
        self.former.add(former.record(&self.congestion));
        if former.tcp.push_offset() > 0 {
            self.send.forget_carrier(index);
        }
        self.refresh_views();
        self.scheduler.on_replaced(index, &self.views[index]);
        self.views[index] = SubflowView::default();
        self.sets.update(index, &self.views[index]);
        self.summaries.clear(index);
        if let Some(memory) = &mut self.memory {
            memory.remove(index);
        }
        self.forget_observations(index);
    }

    /// Makes room for a join of the peer, or says how the join is refused.
    pub(super) fn make_room_for_join(&mut self, now: Instant) -> Result<(), Refused> {
        if self.has_room() {
            return Ok(());
        }
        let patience = self.half_open_timeout();
        let oldest = self.oldest_half_open();
        if let Some(oldest) = oldest.filter(|&oldest| now.since(self.subflows[oldest].joined_at) >= patience) {
            self.drop_half_open(oldest, now);
            if self.has_room() {
                return Ok(());
            }
        }
        let kept = self.config.max_subflows.min(MAX_SUBFLOWS) / HALF_OPEN_SHARE;
        if self.half_open_joins() > kept.max(1) {
            return Err(Refused::Silently);
        }
        // RFC 8684, section 3.2, names this code for a limit on the number of subflows.
        Err(Refused::Reset(ResetReason::MPTCP_SPECIFIC))
    }

    /// Makes room for a subflow of this side by replacing a half-open join if necessary.
    pub(super) fn make_room_for_local(&mut self, now: Instant) {
        if !self.has_room()
            && let Some(oldest) = self.oldest_half_open()
        {
            self.drop_half_open(oldest, now);
        }
    }

    fn has_room(&self) -> bool {
        let open = self.subflows.iter().filter(|subflow| !subflow.is_closed()).count();
        open < self.config.max_subflows && self.free_place().is_some()
    }

    /// The time for which a half-open join is kept before another may replace it: the longest retransmission timeout of
    /// the established subflows, but at most the time until its SYN/ACK is retransmitted.
    fn half_open_timeout(&self) -> Duration {
        let established = self.subflows.iter().filter(|subflow| subflow.is_established());
        established.filter_map(|subflow| subflow.tcp.rtt().rto()).max().unwrap_or(INITIAL_RTO).min(INITIAL_RTO)
    }

    fn oldest_half_open(&self) -> Option<usize> {
        let half_open = (0..self.subflows.len()).filter(|&index| self.subflows[index].is_half_open_join());
        half_open.min_by_key(|&index| self.subflows[index].number)
    }

    /// Closes a half-open join.
    fn drop_half_open(&mut self, index: usize, now: Instant) {
        self.subflows[index].tcp.close(Closed::Aborted);
        // No further segment of it is sent.
        self.dirty &= !(1 << index);
        self.on_subflow_closed(index, now);
    }

    /// How many further subflows this side may request. Half-open joins count as free places.
    pub(super) fn room_for_requests(&self) -> usize {
        let stays = |subflow: &&Subflow| !subflow.is_closed() && !subflow.is_half_open_join();
        let open = self.subflows.iter().filter(stays).count();
        let initial_is_over = usize::from(self.subflows[0].is_closed());
        let most = self.config.max_subflows.min(MAX_SUBFLOWS - initial_is_over);
        most.saturating_sub(open + self.addresses.requests.len())
    }

    /// How many subflows could get a place now.
    pub(super) fn available_places(&self) -> usize {
        let goes = |index: usize| {
            let subflow = &self.subflows[index];
            subflow.is_half_open_join() || subflow.is_closed() && self.dirty & 1 << index == 0
        };
        let reusable = (1..self.subflows.len()).filter(|&index| goes(index) && self.passed_to != Some(index)).count();
        MAX_SUBFLOWS - self.subflows.len() + reusable
    }
}

impl Subflow {
    /// Whether the peer is joining with this subflow and is not yet authenticated.
    pub(crate) fn is_half_open_join(&self) -> bool {
        !self.initiator && self.stage == Stage::Joining
    }
}
