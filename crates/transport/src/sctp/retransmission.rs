//! What is sent again, and to which destination (RFC 9260, section 6.4.1; the policies of Iyengar, Amer, Stewart 2006,
//! section V), and what is given up instead (RFC 3758; RFC 7496).

use rand_core::RngCore;
use subflow_quantity::Instant;

use subflow_wire::sctp::DataChunk;

use super::Association;
use super::config::RetransmissionPolicy;
use super::outbound::FastRetransmit;
use super::packet_size::padded;

impl Association {
    /// The lost chunk that is to be retransmitted now, and its destination. Chunks for a destination whose window is
    /// full wait.
    pub(super) fn next_retransmission(&mut self, now: Instant) -> Option<(u64, usize)> {
        let mut full = 0_u64;
        let mut held_up_classes = 0_u128;
        while let Some((tsn, class)) = self.outbound.queue.lost().first(held_up_classes) {
            if self.abandon_if_expired(tsn, now) {
                self.advance_abandoned_point(now);
                continue;
            }
            let chunk = self.outbound.queue.chunk(tsn)?;
            let (index, length) = (chunk.destination(), chunk.length());
            // Section 7.2.4, rule 3: one packet of fast retransmissions is sent whatever the window.
            let fast_packet = self.destinations[index].burst.fast_packet_is_due();
            let forced = chunk.fast() == FastRetransmit::Needed && fast_packet;
            held_up_classes |= 1 << class;
            if self.config.single_fast_packet && fast_packet && chunk.fast() == FastRetransmit::Eligible {
                continue;
            }
            let needed = padded(DataChunk::HEADER_LENGTH + chunk.fragment().length);
            if !self.peer_has_room(length) || !self.bursts.allows_retransmission(needed) {
                return None;
            }
            let Some(target) = self.target(index, chunk.fast(), forced) else {
                full = u64::MAX;
                continue;
            };
            let held_up = self.config.single_fast_packet && full >> target & 1 == 1;
            if !held_up && (forced || self.has_window(target)) {
                return Some((tsn, target));
            }
            full |= 1 << target;
            if full.count_ones() as usize >= self.destinations.len() && !self.fast_packet_is_due() {
                return None;
            }
        }
        None
    }

    /// Whether lost chunks wait for this destination: new data does not overtake them there (section 6.1, rule C).
    pub(super) fn is_owed_retransmissions(&mut self, index: usize) -> bool {
        use RetransmissionPolicy::{Alternate, Asap, Same};
        let Some((first, _)) = self.outbound.queue.lost().first(0) else { return false };
        match self.config.retransmission {
            _ if self.destinations.len() == 1 => true,
            Same | Alternate => {
                self.outbound.queue.lost().kinds().any(|(last, fast)| self.same_or_next(last, fast) == index)
            }
            // They are sent wherever there is window, so none is left.
            Asap => true,
            _ => {
                let last = self.outbound.queue.chunk(first).map_or(0, |chunk| chunk.destination());
                self.target(last, FastRetransmit::Eligible, true) == Some(index)
            }
        }
    }

    fn fast_packet_is_due(&self) -> bool {
        self.destinations.iter().any(|destination| destination.burst.fast_packet_is_due())
    }

    /// The destination that the policy chooses for a chunk that was last sent to `last`; `None` if it has to wait.
    fn target(&mut self, last: usize, fast: FastRetransmit, forced: bool) -> Option<usize> {
        use RetransmissionPolicy::{Alternate, Asap, LargestThreshold, LargestWindow, LowestLossRate, Same};
        let path = |index: usize| self.congestion.path(index);
        let best = match self.config.retransmission {
            Same | Alternate => return Some(self.same_or_next(last, fast)),
            Asap => return self.any_with_window(last, fast, forced),
            LargestWindow => self.best_active(|index| f64::from(path(index).cwnd())),
            LargestThreshold => self.best_active(|index| f64::from(path(index).ssthresh())),
            LowestLossRate => self.best_active(|index| -self.destinations[index].loss_rate()),
        };
        Some(best.unwrap_or_else(|| self.destinations.current()))
    }

    /// `rtx-same` and `rtx-alternate`: the same destination, or the next active one.
    fn same_or_next(&self, last: usize, fast: FastRetransmit) -> usize {
        let stays = self.config.retransmission == RetransmissionPolicy::Same || fast.is_indicated();
        let is_active = |index: &usize| self.destinations[*index].is_active();
        if stays && is_active(&last) {
            return last;
        }
        // In a cycle over all destinations: a chunk does not alternate between two of several.
        let others = (last + 1..self.destinations.len()).chain(0..=last);
        let mut active = others.filter(is_active);
        active.next().unwrap_or_else(|| self.destinations.current())
    }

    /// `rtx-asap`.
    fn any_with_window(&mut self, last: usize, fast: FastRetransmit, forced: bool) -> Option<usize> {
        let all = 0..self.destinations.len();
        let open = |association: &Self, index: &usize| {
            association.destinations[*index].is_active() && association.has_window(*index)
        };
        let count = all.clone().filter(|index| open(self, index)).count();
        match count {
            0 if forced => Some(self.same_or_next(last, fast)),
            0 if self.destinations.iter().any(|destination| destination.is_active()) => None,
            0 => Some(self.destinations.current()),
            _ => {
                let chosen = if count == 1 { 0 } else { self.rng.next_u32() as usize % count };
                all.filter(|index| open(self, index)).nth(chosen)
            }
        }
    }

    /// The active destination with the largest value, the first of equal ones.
    fn best_active(&self, value: impl Fn(usize) -> f64) -> Option<usize> {
        let active = (0..self.destinations.len()).filter(|&index| self.destinations[index].is_active());
        let best =
            active.map(|index| (index, value(index))).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(index, _)| index)
    }

    /// Chunks that were assigned to a destination and not sent go to another one; copies are not needed there.
    pub(super) fn reassign_queue(&mut self, index: usize) {
        let Some(other) = (0..self.destinations.len()).find(|&other| self.destinations[other].is_active()) else {
            return;
        };
        let mut moved = Vec::new();
        while let Some(tsn) = self.destinations[index].assigned.pop() {
            moved.extend(self.outbound.queue.reassign(tsn, other).map(|length| (tsn, length)));
        }
        self.destinations[other].assigned.merge(moved);
    }

    /// Abandons a lost chunk, and with it its message, if it is not to be retransmitted. Returns whether it did.
    pub(super) fn abandon_if_expired(&mut self, tsn: u64, now: Instant) -> bool {
        if !self.peer.has_forward_tsn() || !self.outbound.is_expired(tsn, now) {
            return false;
        }
        if self.notes.is_some() {
            self.note_message_lost(tsn);
        }
        self.outbound.abandon_message(tsn, &mut self.destinations, &mut self.counters, now);
        self.wake_writer();
        true
    }

    /// Drops messages whose lifetime is over and of which nothing was sent.
    pub(super) fn expire_messages(&mut self, now: Instant) {
        if self.peer.has_forward_tsn() {
            self.outbound.drop_expired(&mut self.counters, now);
            self.wake_writer();
        }
    }

    /// The peer has acknowledged something, or something is lost: what is expired of it is abandoned. If the peer has
    /// to be told, a FORWARD-TSN is due.
    pub(super) fn advance_abandoned_point(&mut self, now: Instant) {
        if !self.peer.has_forward_tsn() {
            return;
        }
        if self.outbound.queue.may_expire() {
            for tsn in self.outbound.queue.lost().all() {
                self.abandon_if_expired(tsn, now);
            }
        }
        if self.outbound.advance_peer_ack_point() {
            let round_trip = self.destinations[self.destinations.current()].rtt().srtt();
            self.outbound.schedule_forward_tsn(round_trip, now);
            self.keep_timer_running(now);
        }
    }
}
