//! Room for further subflows.
//!
//! Joins of the peer that are not yet authenticated may occupy every free place (`subflows.rs`): a peer that follows the protocol opens
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

use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::scheduler::Scheduler;
use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::ResetReason;

use super::Connection;
use super::join::Refused;
use super::subflow::Subflow;
use crate::tcp::Closed;

/// Half-open joins may keep one in this number of places against further joins.
const HALF_OPEN_SHARE: usize = 4;

impl Connection {
    /// Adds a subflow at the place that corresponds to its path in congestion control.
    pub(super) fn add_subflow(&mut self, mut subflow: Subflow) -> usize {
        if self.notes.is_some() {
            subflow.tcp.keep_notes();
        }
        let index = self.subflows.add(subflow);
        self.views.add(index);
        self.phase.go_on();
        index
    }

    /// Returns a free place, cleared of the former subflow.
    pub(super) fn take_place(&mut self) -> Option<usize> {
        let index = self.subflows.free_place()?;
        if index < self.subflows.len() {
            self.clear_place(index);
        }
        self.congestion.set_path(index, 1, self.config.tcp.initial_window);
        Some(index)
    }

    /// Records the statistics of the subflow at `index` and clears its place.
    fn clear_place(&mut self, index: usize) {
        if self.subflows[index].tcp.push_offset() > 0 {
            self.send.forget_carrier(index);
        }
        self.refresh_views();
        self.scheduler.on_replaced(index, &self.views.all()[index]);
        self.views.clear(index);
        self.subflows.retire(index, &self.congestion);
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
        let patience = self.subflows.half_open_timeout();
        let oldest = self.subflows.oldest_half_open_join();
        if let Some(oldest) = oldest.filter(|&oldest| now.since(self.subflows[oldest].opened_at()) >= patience) {
            self.drop_half_open(oldest, now);
            if self.has_room() {
                return Ok(());
            }
        }
        let kept = self.config.max_subflows.min(MAX_SUBFLOWS) / HALF_OPEN_SHARE;
        if self.subflows.half_open_joins() > kept.max(1) {
            return Err(Refused::Silently);
        }
        // RFC 8684, section 3.2, names this code for a limit on the number of subflows.
        Err(Refused::Reset(ResetReason::MPTCP_SPECIFIC))
    }

    /// Makes room for a subflow of this side by replacing a half-open join if necessary.
    pub(super) fn make_room_for_local(&mut self, now: Instant) {
        if !self.has_room()
            && let Some(oldest) = self.subflows.oldest_half_open_join()
        {
            self.drop_half_open(oldest, now);
        }
    }

    fn has_room(&self) -> bool {
        self.subflows.open() < self.config.max_subflows && self.subflows.free_place().is_some()
    }

    /// Closes a half-open join.
    fn drop_half_open(&mut self, index: usize, now: Instant) {
        self.subflows.touch(index).tcp.close(Closed::Aborted);
        self.subflows.silence(index);
        self.on_subflow_closed(index, now);
    }

    /// How many further subflows this side may request. Half-open joins count as free places.
    pub(super) fn room_for_requests(&self) -> usize {
        let stays = |subflow: &&Subflow| !subflow.is_closed() && !subflow.is_half_open_join();
        let open = self.subflows.iter().filter(stays).count();
        let initial_is_over = usize::from(self.subflows[0].is_closed());
        let most = self.config.max_subflows.min(MAX_SUBFLOWS - initial_is_over);
        most.saturating_sub(open + self.path_manager.requests())
    }
}
