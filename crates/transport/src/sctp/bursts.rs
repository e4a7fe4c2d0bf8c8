//! What may leave at once in answer to one event, beside what the windows allow (RFC 9260, sections 6.1, 6.3.3 and
//! 7.2.4).

use super::Association;

/// Maximum number of bytes that segmentation offload divides into packets.
const MAX_OFFLOADED_BYTES: u32 = 1 << 16;

/// What one event lets an association send, to all destinations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bursts {
    /// Bytes of retransmitted chunks that may still leave, where they are counted.
    retransmissions: Option<u32>,
    /// Bursts that messages written since then still entitle to (see [`Config::burst_per_message`](super::Config)).
    messages: u64,
}

impl Bursts {
    /// Messages were written, each of which entitles to a burst.
    pub(super) fn on_written(&mut self, messages: u64) {
        self.messages = self.messages.saturating_add(messages);
    }

    /// So many further bytes of retransmitted chunks may leave, and no others.
    pub(super) fn allow_retransmissions(&mut self, bytes: u32) {
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + bytes);
    }

    /// Whether so many bytes of retransmitted chunks may leave.
    pub(super) fn allows_retransmission(&self, bytes: u32) -> bool {
        self.retransmissions.is_none_or(|room| room >= bytes)
    }

    /// So many bytes of retransmitted chunks leave.
    pub(super) fn on_retransmitted(&mut self, bytes: u32) {
        self.retransmissions = self.retransmissions.map(|room| room.saturating_sub(bytes));
    }
}

/// What one event lets an association send to one destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DestinationBurst {
    /// Bytes in flight up to which new data may go.
    end: Option<u64>,
    /// A packet of fast retransmissions is due, whatever the window (RFC 9260, section 7.2.4, rule 3).
    fast_packet: bool,
}

impl DestinationBurst {
    /// Whether new data may be added to `in_flight` bytes: the burst at hand, of `size` bytes, goes on, or another one
    /// begins.
    #[inline]
    pub(super) fn allows(&mut self, in_flight: u64, size: u64, bursts: &mut Bursts) -> bool {
        let next_end = in_flight.saturating_add(size);
        let end = self.end.get_or_insert(next_end);
        if in_flight >= *end && bursts.messages > 0 {
            bursts.messages -= 1;
            *end = next_end;
        }
        in_flight < *end
    }

    /// A packet of fast retransmissions is due.
    pub(super) fn require_fast_packet(&mut self) {
        self.fast_packet = true;
    }

    #[inline]
    pub(super) fn fast_packet_is_due(&self) -> bool {
        self.fast_packet
    }

    /// The packet of fast retransmissions was sent.
    pub(super) fn on_fast_packet(&mut self) {
        self.fast_packet = false;
    }
}

impl Association {
    /// An event begins: the packets sent in response are a burst of their own (see `Config::max_burst`), and the
    /// privileges of packets that an earlier event has not sent end.
    pub(super) fn begin_burst(&mut self) {
        self.bursts = Bursts::default();
        let mut leftover = false;
        for destination in self.destinations.iter_mut() {
            destination.burst.end = None;
            destination.timer.end_event();
            leftover |= self.config.single_fast_packet && core::mem::take(&mut destination.burst.fast_packet);
        }
        if leftover {
            // What was marked for fast retransmission and has not left waits for the window from now on.
            self.outbound.queue.let_indicated_wait();
        }
    }

    /// Whether the burst at hand (see `Config::max_burst`) may go on, or another one begin.
    #[inline]
    pub(super) fn burst_allows(&mut self, index: usize) -> bool {
        let Some(packets) = self.config.max_burst else { return true };
        let destination = &mut self.destinations[index];
        let size = u64::from(packets) * u64::from(self.config.mtu);
        destination.burst.allows(destination.flight.bytes(), size, &mut self.bursts)
    }

    /// At most one packet of retransmissions leaves for a destination before the next event.
    pub(super) fn allow_retransmission_packet(&mut self, index: usize) {
        let packet = self.room();
        self.bursts.allow_retransmissions(match self.config.segmentation_offload {
            true => packet.max(MAX_OFFLOADED_BYTES.min(self.congestion.path(index).cwnd() / 2)),
            false => packet,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_ends_and_each_message_entitles_to_another() {
        let (mut burst, mut bursts) = (DestinationBurst::default(), Bursts::default());
        let mut allowed = |in_flight: u64, bursts: &mut Bursts| burst.allows(in_flight, 400, bursts);
        assert_eq!([1000, 1399, 1400].map(|in_flight| allowed(in_flight, &mut bursts)), [true, true, false]);
        bursts.on_written(1);
        assert_eq!([1400, 1799, 1800].map(|in_flight| allowed(in_flight, &mut bursts)), [true, true, false]);
    }

    #[test]
    fn retransmissions_are_bounded_only_where_they_are_counted() {
        let mut bursts = Bursts::default();
        assert!(bursts.allows_retransmission(u32::MAX));
        bursts.allow_retransmissions(1000);
        bursts.on_retransmitted(400);
        assert_eq!([600, 601].map(|bytes| bursts.allows_retransmission(bytes)), [true, false]);
    }
}
