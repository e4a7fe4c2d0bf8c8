//! Transmission of data (RFC 9293, section 3.8; RFC 5681; the order is that of Linux).

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;
use subflow_wire::TcpSegment;

use super::Connection;
use super::recovery::Transmission;
use super::sent_segments::Tags;
use super::small_queue::Data;
use super::timers::Purpose;

impl Connection {
    /// Fills `segment` with the next segment to send at `now` and returns the offset of its first payload byte in this
    /// connection's own stream (not counting the SYN). Returns `None` and leaves `segment` unchanged if there is
    /// nothing to send. The caller repeats the call until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, segment: &mut TcpSegment, cc: &mut Controller) -> Option<u64> {
        if self.has_control() {
            return self.poll_control(segment, now);
        }
        if self.is_quiet() {
            return self.acknowledge.is_due().then(|| self.build_ack(segment, now));
        }
        let sent = self.next_data_segment(segment, now, cc);
        if sent.is_some() {
            return sent;
        }
        self.on_transmission_over(now, cc);
        if self.recovery.take_request(Transmission::WindowProbe) {
            return Some(self.probe_window(segment, now, cc));
        }
        self.acknowledge.is_due().then(|| self.build_ack(segment, now))
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may return a segment. If not, it returns none and changes nothing.
    #[inline]
    pub(crate) fn may_transmit(&self) -> bool {
        self.has_control() || !self.is_quiet() || self.acknowledge.is_due()
    }

    /// Whether [`poll_transmit`](Self::poll_transmit), which has returned a segment, returns no other at `now`. What that
    /// call would change is then done.
    #[inline]
    pub(crate) fn ends_transmission(&mut self, now: Instant, cc: &mut Controller) -> bool {
        if self.has_control() || self.acknowledge.is_due() || self.recovery.requests_any() {
            return false;
        }
        self.is_quiet() || self.ends_data(now, cc)
    }

    fn ends_data(&mut self, now: Instant, cc: &mut Controller) -> bool {
        let ends = !self.may_send_new(now, cc);
        if ends {
            self.on_transmission_over(now, cc);
        }
        ends
    }

    /// Whether a segment of the handshake or a reset may be due.
    #[inline]
    fn has_control(&self) -> bool {
        !self.lifecycle.is_synchronised() || self.acknowledge.is_due_before_data()
    }

    /// Whether nothing except a pure acknowledgment can be due.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.send.queue().is_empty() && !self.window_use.has_sent() && !self.recovery.requests_any()
    }

    /// Builds segments of the handshake, and resets.
    #[cold]
    fn poll_control(&mut self, segment: &mut TcpSegment, now: Instant) -> Option<u64> {
        if let Some(reset) = self.lifecycle.take_reset() {
            return Some(self.build_reset(reset, segment, now));
        }
        if self.lifecycle.take_syn(now) {
            self.on_syn_sent(now);
            return Some(self.build_syn(segment, now));
        }
        // In SYN-SENT there is nothing to acknowledge, and what is closed acknowledges nothing.
        let acknowledges = self.acknowledge.is_due_before_data() && !self.lifecycle.is_closed();
        acknowledges.then(|| self.build_ack(segment, now))
    }

    #[inline(always)]
    fn next_data_segment(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> Option<u64> {
        if self.recovery.requests_any() {
            return self.next_in_recovery(segment, now, cc);
        }
        self.may_send_new(now, cc).then(|| self.send_new(segment, now, cc))
    }

    /// What recovery has requested, else new data.
    fn next_in_recovery(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> Option<u64> {
        let sent = self.next_requested(segment, now, cc);
        if sent.is_some() {
            return sent;
        }
        if self.may_send_new(now, cc) {
            return Some(self.send_new(segment, now, cc));
        }
        if self.recovery.take_request(Transmission::NewDataFirst) && self.send.next() <= self.recovery.point() {
            // F-RTO, step 2b: without new data to send, conventional recovery follows.
            self.recovery.end_timeout_test();
            self.recovery.request(Transmission::LostSegments);
            return self.next_data_segment(segment, now, cc);
        }
        None
    }

    /// The next segment that recovery has requested.
    fn next_requested(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> Option<u64> {
        if self.recovery.take_request(Transmission::Head) && !self.sent.is_empty() {
            if self.mtu_search.is_some() {
                self.cut_mtu_probe(self.sent.head_id());
            }
            return Some(self.retransmit(self.sent.head_id(), segment, now, cc));
        }
        if self.recovery.take_request(Transmission::LossProbe) {
            let probe = self.next_loss_probe(segment, now, cc);
            if probe.is_some() {
                return probe;
            }
        }
        if self.recovery.requests(Transmission::LostSegments) && !self.recovery.requests(Transmission::NewDataFirst) {
            let sent = self.next_retransmission(segment, now, cc);
            if sent.is_none() {
                self.recovery.take_request(Transmission::LostSegments);
            }
            return sent;
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
        if !(self.pacer.admits(now) && self.host_queue_admits(Data::Lost, now, cc)) {
            return None;
        }
        if self.mtu_search.is_some() {
            self.cut_mtu_probe(id);
        }
        Some(self.retransmit(id, segment, now, cc))
    }

    /// Whether state, congestion window, send window and Nagle's algorithm admit the next new segment.
    #[inline(always)]
    fn may_send_new(&mut self, now: Instant, cc: &mut Controller) -> bool {
        if self.send.queue().is_empty() || !self.lifecycle.may_send() {
            return false;
        }
        if self.sent.is_empty() {
            self.restart_after_idle(now, cc);
        }
        self.sent.in_flight() < cc.path(self.path).cwnd()
            && self.admits_next()
            && self.pacer.admits(now)
            && self.host_queue_admits(Data::New, now, cc)
    }

    /// Whether the send window and Nagle's algorithm admit the next new segment.
    pub(super) fn admits_next(&self) -> bool {
        self.send.admits_next(self.size.mss(), self.config.nagle)
    }

    /// Sends the next new segment.
    pub(super) fn send_new(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        let idle_before = self.sent.is_empty();
        if idle_before {
            cc.on_transmit_after_idle(self.path, now, self.send.idle(now));
            self.note_restart(now, cc);
        }
        let mut full = self.send.full_size(self.size.mss());
        if self.mtu_search.is_some() {
            full = self.size_with_probe(full, now, cc);
        }
        let new = self.send.take(full, now);
        if new.has_fin {
            self.lifecycle.on_fin_sent();
        }
        let length = new.data.end - new.data.start;
        let push = new.is_last && length > 0;
        let tags = if push { Tags::PUSH } else { Tags::default() };
        self.sent.push(new.sequence.clone(), new.data.start, now, tags);
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_sent(new.sequence.end, idle_before, self.recovery.delivered(), now);
        }
        self.window_use.on_sent();
        self.counters.data_segments_sent += u64::from(length > 0);
        cc.on_sent(self.path, 1);
        self.acknowledge.on_data_sent(now);
        // A probe timer gives way to that of the segment.
        if idle_before || matches!(self.timer.purpose(), Some(Purpose::LossProbe | Purpose::WindowProbe)) {
            self.rearm_retransmission(now);
        }
        self.pace(length, now, cc);
        let offset = self.build_data(new.sequence.start, new.data, new.has_fin, push, segment, now);
        if self.ecn.is_used() {
            self.make_capable(segment);
        }
        offset
    }

    /// `bytes` of data leave now: what follows them leaves later, if the connection is paced.
    #[inline]
    fn pace(&mut self, bytes: u64, now: Instant, cc: &Controller) {
        if self.pacer.is_on() {
            let rate = self.actual_pacing_rate(cc);
            self.pacer.on_sent(bytes as u32, rate, now);
        }
    }

    /// Retransmits segment `id`, which is considered lost.
    pub(crate) fn retransmit(&mut self, id: u32, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        self.sent.note_retransmission(id, now);
        self.undo.on_retransmission(super::timestamps::timestamp(now));
        cc.on_sent(self.path, 1);
        if id == self.sent.head_id() && !self.timer.is_pending(Purpose::Reordering) {
            self.timer.arm(Purpose::Retransmission, now, self.rto.backed_off());
        }
        self.send_again(id, segment, now, cc)
    }

    /// Sends the last segment again as a tail loss probe; it is not considered lost.
    pub(super) fn probe_with_last(&mut self, segment: &mut TcpSegment, now: Instant, cc: &Controller) -> u64 {
        let id = self.sent.last_id();
        self.sent.note_probe(id, now);
        self.send_again(id, segment, now, cc)
    }

    fn send_again(&mut self, id: u32, segment: &mut TcpSegment, now: Instant, cc: &Controller) -> u64 {
        self.counters.retransmissions += 1;
        self.send.on_retransmission(now);
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_sent_again(id, self.recovery.delivered());
        }
        self.pace(self.sent.get(id).length(), now, cc);
        self.build_sent(id, segment, now)
    }

    /// Builds segment `id` of the retransmission queue.
    fn build_sent(&mut self, id: u32, segment: &mut TcpSegment, now: Instant) -> u64 {
        let sent = self.sent.get(id);
        let fin = self.send.queue().has_fin_at(sent.end - 1);
        let length = sent.length() - u64::from(fin);
        let (start, push) = (sent.start, sent.tags.has(Tags::PUSH));
        self.build_data(start, sent.data..sent.data + length, fin, push, segment, now)
    }
}
