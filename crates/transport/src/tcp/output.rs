//! Transmission of data (RFC 9293, section 3.8; RFC 5681; the order is that of Linux).

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;
use subflow_wire::TcpSegment;

use super::recovery::Due;
use super::sent_segment::Tags;
use super::timers::Purpose;
use super::{Connection, State};

impl Connection {
    /// Fills `segment` with the next segment to send at `now` and returns the offset of its first payload byte in this
    /// connection's own stream (not counting the SYN). Returns `None` and leaves `segment` unchanged if there is
    /// nothing to send. The caller repeats the call until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, segment: &mut TcpSegment, cc: &mut Controller) -> Option<u64> {
        if self.has_control() {
            return self.poll_control(segment, now);
        }
        if self.is_quiet() {
            return self.acknowledge.now.then(|| self.build_ack(segment, now));
        }
        let sent = self.next_data_segment(segment, now, cc);
        if sent.is_some() {
            return sent;
        }
        self.on_transmission_over(now, cc);
        if self.recovery.due.window_probe {
            self.recovery.due.window_probe = false;
            return Some(self.probe_window(segment, now, cc));
        }
        self.acknowledge.now.then(|| self.build_ack(segment, now))
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may return a segment. If not, it returns none and changes nothing.
    #[inline]
    pub(crate) fn may_transmit(&self) -> bool {
        self.has_control() || !self.is_quiet() || self.acknowledge.now
    }

    /// Whether a segment of the handshake or a reset may be due.
    #[inline]
    fn has_control(&self) -> bool {
        self.queue.reset.is_some() || !self.state.is_synchronised() || self.handshake.acknowledge
    }

    /// Whether nothing except a pure acknowledgment can be due.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.queue.is_empty() && !self.window_use.has_sent && self.recovery.due == Due::default()
    }

    /// Builds segments of the handshake, and resets.
    #[cold]
    fn poll_control(&mut self, segment: &mut TcpSegment, now: Instant) -> Option<u64> {
        if let Some(reset) = self.queue.reset.take() {
            return Some(self.build_reset(reset, segment, now));
        }
        match self.state {
            State::SynSent | State::SynReceived if self.handshake.due => {
                self.on_syn_sent(now);
                Some(self.build_syn(segment, now))
            }
            State::SynReceived if self.handshake.acknowledge => {
                self.handshake.acknowledge = false;
                Some(self.build_ack(segment, now))
            }
            State::SynSent | State::SynReceived | State::Closed(_) => None,
            _ => {
                self.handshake.acknowledge = false;
                Some(self.build_ack(segment, now))
            }
        }
    }

    fn next_data_segment(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> Option<u64> {
        if self.recovery.due.head {
            self.recovery.due.head = false;
            if !self.sent.is_empty() {
                if self.mtu_search.is_some() {
                    self.cut_mtu_probe(self.sent.head_id());
                }
                return Some(self.retransmit(self.sent.head_id(), segment, now, cc));
            }
        }
        if self.recovery.due.probe {
            self.recovery.due.probe = false;
            let probe = self.next_loss_probe(segment, now, cc);
            if probe.is_some() {
                return probe;
            }
        }
        if self.recovery.due.retransmissions && !self.recovery.due.new_data_first {
            let sent = self.next_retransmission(segment, now, cc);
            if sent.is_some() {
                return sent;
            }
            self.recovery.due.retransmissions = false;
        }
        if self.may_send_new(now, cc) {
            return Some(self.send_new(segment, now, cc));
        }
        if self.recovery.due.new_data_first {
            // F-RTO, step 2b: without new data to send, conventional recovery follows.
            self.recovery.due.new_data_first = false;
            if self.send.nxt <= self.recovery.point {
                self.recovery.frto = false;
                self.recovery.due.retransmissions = true;
                return self.next_data_segment(segment, now, cc);
            }
        }
        None
    }

    pub(super) fn next_retransmission(
        &mut self,
        segment: &mut TcpSegment,
        now: Instant,
        cc: &mut Controller,
    ) -> Option<u64> {
        if self.sent.in_flight() >= cc.path(self.path).cwnd() {
            return None;
        }
        let id = self.sent.next_to_retransmit()?;
        if self.mtu_search.is_some() {
            self.cut_mtu_probe(id);
        }
        Some(self.retransmit(id, segment, now, cc))
    }

    /// Whether state, congestion window, send window and Nagle's algorithm admit the next new segment.
    fn may_send_new(&mut self, now: Instant, cc: &mut Controller) -> bool {
        if self.queue.is_empty() || !self.state.may_send() {
            return false;
        }
        if self.sent.is_empty() {
            self.restart_after_idle(now, cc);
        }
        self.sent.in_flight() < cc.path(self.path).cwnd() && self.admits_next()
    }

    /// Whether the send window and Nagle's algorithm admit the next new segment.
    pub(crate) fn admits_next(&self) -> bool {
        let Some(front) = self.queue.front_bytes() else { return self.queue.wants_fin() };
        let full = self.full_size();
        let length = full.min(front);
        let fits = self.send.nxt + length <= self.send.window_end;
        fits && (length == full || length < self.queue.bytes() || self.admits_small())
    }

    /// Nagle's algorithm with Minshall's modification (RFC 9293, section 3.7.4; Linux `tcp_nagle_check`): whether a
    /// segment below full size may be sent. The last segment of the stream always may.
    fn admits_small(&self) -> bool {
        !self.config.nagle || self.queue.wants_fin() || self.send.una >= self.send.small_until
    }

    /// Payload bytes that make a segment full-sized for the sender's silly window avoidance (RFC 9293, section
    /// 3.8.6.2.1): the MSS, or half of the largest window that the peer ever offered if that is less (Linux
    /// `tcp_bound_to_half_wnd`).
    fn full_size(&self) -> u64 {
        let bound = if self.send.max_window > 536 { self.send.max_window / 2 } else { self.send.max_window.max(1) };
        u64::from(self.send.mss).min(bound)
    }

    /// Sends the next new segment.
    pub(crate) fn send_new(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        if self.sent.is_empty() {
            let idle = now.since(self.send.last_sent_at);
            cc.on_transmit_after_idle(self.path, now, idle);
        }
        let mut full = self.full_size();
        if self.mtu_search.is_some() {
            full = self.size_with_probe(full, now, cc);
        }
        let data = self.queue.take(full.min(self.send.window_end.saturating_sub(self.send.nxt)));
        let length = data.end - data.start;
        let last = self.queue.bytes() == 0;
        let fin = last && self.queue.wants_fin();
        let start = self.send.nxt;
        let end = start + length + u64::from(fin);
        if fin {
            self.queue.on_fin_sent(end - 1);
            self.on_fin_sent();
        }
        if length < full {
            self.send.small_until = end;
        }
        let mut tags = Tags::default();
        if last && length > 0 {
            tags.set(Tags::PUSH);
        }
        let idle_before = self.sent.is_empty();
        self.sent.push(start, end, data.start, now, tags);
        self.send.nxt = end;
        self.send.last_sent_at = now;
        self.window_use.has_sent = true;
        self.counters.data_segments_sent += u64::from(length > 0);
        cc.on_sent(self.path, 1);
        self.acknowledge.on_data_sent(now);
        if idle_before || self.pending(Purpose::LossProbe) || self.pending(Purpose::WindowProbe) {
            self.rearm_retransmission(now);
        }
        self.build_sent(self.sent.last_id(), segment, now)
    }

    /// Retransmits segment `id`, which is considered lost.
    pub(crate) fn retransmit(&mut self, id: u32, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        self.sent.note_retransmission(id, now);
        self.recovery.undo.on_retransmission(super::timestamps::timestamp(now));
        cc.on_sent(self.path, 1);
        if id == self.sent.head_id() && !self.pending(Purpose::Reordering) {
            self.arm(Purpose::Retransmission, now, self.backed_off_rto());
        }
        self.send_again(id, segment, now)
    }

    /// Sends the last segment again as a tail loss probe; it is not considered lost.
    pub(crate) fn probe_with_last(&mut self, segment: &mut TcpSegment, now: Instant) -> u64 {
        let id = self.sent.last_id();
        self.sent.note_probe(id, now);
        self.send_again(id, segment, now)
    }

    fn send_again(&mut self, id: u32, segment: &mut TcpSegment, now: Instant) -> u64 {
        self.counters.retransmissions += 1;
        self.send.last_sent_at = now;
        self.build_sent(id, segment, now)
    }

    /// Builds segment `id` of the retransmission queue.
    fn build_sent(&mut self, id: u32, segment: &mut TcpSegment, now: Instant) -> u64 {
        let (start, end, data, tags) = {
            let sent = self.sent.get(id);
            (sent.start, sent.end, sent.data, sent.tags)
        };
        let fin = self.queue.has_fin_at(end - 1);
        let length = end - start - u64::from(fin);
        self.build_data(start, data..data + length, fin, tags.has(Tags::PUSH), segment, now)
    }
}
