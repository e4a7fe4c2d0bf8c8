//! Partial reliability at the sender (RFC 3758; RFC 7496): when data is given up, and when the peer is told. What is
//! given up is in [`Outbound`](super::outbound::Outbound).

use subflow_quantity::Instant;

use super::Association;

impl Association {
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
        if self.peer.has_forward_tsn() && self.outbound.drop_expired(&mut self.counters, now) {
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
