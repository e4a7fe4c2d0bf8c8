//! Whether a packet that comes to a link without a backlog is accepted.

use subflow_policy::queue::Verdict;
use subflow_quantity::Instant;
use subflow_wire::Packet;

use super::extras::QueueState;
use super::{Accepted, Intake, Link, Parcel};
use crate::PacketId;
use crate::metrics::Dropped;
use crate::packet_pool::PacketPool;

impl Link {
    /// The packets and bytes in the queue that count for the limit and the discipline.
    #[inline(always)]
    fn counted(&self) -> (u32, u64) {
        let (packets, bytes) = (self.held(), self.held_bytes);
        if self.counts_transmitting || packets == 0 {
            return (packets, bytes);
        }
        let in_transmission = u64::from(self.ring.at(self.departed).parcel.size) + u64::from(self.overhead);
        (packets - 1, bytes - in_transmission)
    }

    /// The state of the queue for the discipline.
    fn queue_state(&self) -> QueueState {
        let (packets, bytes) = self.counted();
        let idle_since = if self.counts_transmitting { self.last_departure } else { self.last_start };
        QueueState { packets, bytes, idle_since, last_departure: self.last_departure }
    }

    /// Whether packet `id`, of `occupied` bytes, passes loss, the discipline and the limit of a link that decides at once.
    #[inline(always)]
    pub(super) fn admits(&mut self, now: Instant, occupied: u32, id: PacketId, packets: &mut PacketPool) -> bool {
        if !self.plain && !self.decides_at_once() {
            return false;
        }
        self.admits_now(now, occupied, id, packets)
    }

    #[inline(always)]
    fn admits_now(&mut self, now: Instant, occupied: u32, id: PacketId, packets: &mut PacketPool) -> bool {
        self.catch_up(now);
        if !self.plain {
            return self.admits_with_extras(now, occupied, &mut packets[id]);
        }
        let (packets, bytes) = self.counted();
        if self.limit.fits(packets, bytes, occupied) {
            return true;
        }
        self.extras.dropped.queue += 1;
        false
    }

    fn admits_with_extras(&mut self, now: Instant, occupied: u32, packet: &mut Packet) -> bool {
        let queue = self.queue_state();
        if self.extras.loses_before_queue() {
            self.extras.dropped.loss += 1;
            return false;
        }
        let verdict = self.extras.verdict_on_arrival(now, occupied, queue, self.transmitter.speed(), packet);
        let fits = self.limit.fits(queue.packets, queue.bytes, occupied);
        if verdict == Verdict::Drop || !fits {
            self.extras.dropped.queue += 1;
            return false;
        }
        if verdict == Verdict::Mark {
            self.extras.mark(packet);
        }
        true
    }

    /// Puts middleboxes in front of the queue.
    pub(crate) fn place_middleboxes(&mut self) {
        self.extras.has_middleboxes = true;
        (self.plain, self.intake) = (false, Intake::Middleboxes);
    }

    /// Whether packets pass middleboxes before they come to the queue.
    pub(crate) fn has_middleboxes(&self) -> bool {
        self.extras.has_middleboxes
    }

    /// As [`accept`](Self::accept), for a packet that has passed the middleboxes of a link without a backlog.
    pub(crate) fn accept_behind_middleboxes(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketPool,
    ) -> Option<Accepted> {
        let occupied = self.occupied(parcel);
        let first = self.restart_if_empty();
        self.admits_now(now, occupied, parcel.packet, packets).then(|| self.schedule(now, now, parcel, first))
    }

    /// A middlebox has dropped a packet, or has `replaced` it by others.
    pub(crate) fn count_ended_at_middlebox(&mut self, replaced: bool) {
        let Dropped { middlebox, replaced: instead, .. } = &mut self.extras.dropped;
        *(if replaced { instead } else { middlebox }) += 1;
    }
}
