//! What may be sent now (RFC 9293, section 3.8; RFC 5681; the order is Linux's).

use core::ops::Range;
use std::collections::VecDeque;

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_wire::TcpSegment;

use super::recovery::{Due, is_reducing};
use super::sent_segment::Tags;
use super::timers::Purpose;
use super::{Connection, State};

/// What waits to be sent for the first time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    /// Ranges of the application stream (MPTCP: of the data level), in the order in which they are to leave.
    ranges: VecDeque<Range<u64>>,
    bytes: u64,
    /// A FIN follows the data.
    fin: Fin,
    /// A reset is to leave.
    pub(crate) reset: Option<Reset>,
    /// Something was sent since the window's use was last judged.
    burst: bool,
    /// End of the last segment below full size (Minshall's variant of Nagle's algorithm).
    small_until: u64,
    usage: WindowUsage,
}

/// Why a reset leaves (RFC 9293, section 3.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// This side gave up.
    Abort,
    /// The peer acknowledged this number, which was never sent: its connection is not this one.
    Refusal(u32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fin {
    #[default]
    None,
    Wanted,
    /// Sent; the offset of the FIN.
    Sent(u64),
    Acknowledged,
}

/// How much of the window was used (Linux `tcp_cwnd_validate`, in the spirit of RFC 7661).
#[derive(Clone, Debug, Default)]
struct WindowUsage {
    limited: bool,
    /// Most packets out in this round.
    most_out: u32,
    round_end: u64,
    /// Most packets out since the window was last full.
    used: u32,
    full_at: Instant,
}

impl SendQueue {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets of `mss` bytes that the data makes: none holds data of two ranges.
    pub(crate) fn packets(&self, mss: u64) -> u64 {
        self.ranges.iter().map(|range| (range.end - range.start).div_ceil(mss)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.fin != Fin::Wanted
    }

    pub(crate) fn finish(&mut self) {
        if self.fin == Fin::None {
            self.fin = Fin::Wanted;
        }
    }

    pub(crate) fn is_finishing(&self) -> bool {
        self.fin != Fin::None
    }

    pub(crate) fn fin_is_acknowledged(&self) -> bool {
        self.fin == Fin::Acknowledged
    }

    /// Whether `una` covers the FIN, told once.
    pub(crate) fn fin_acknowledged(&mut self, una: u64) -> bool {
        match self.fin {
            Fin::Sent(offset) if una > offset => {
                self.fin = Fin::Acknowledged;
                true
            }
            _ => false,
        }
    }

    /// Takes at most `most` bytes of contiguous data off the front.
    fn take(&mut self, most: u64) -> Range<u64> {
        let front = self.ranges.front_mut().expect("the caller saw data");
        let end = front.end.min(front.start.saturating_add(most));
        let taken = front.start..end;
        front.start = end;
        if front.start == front.end {
            self.ranges.pop_front();
        }
        self.bytes -= taken.end - taken.start;
        taken
    }
}

impl Connection {
    /// Appends `data`, a range of the application stream (MPTCP: data-level offsets), to what is to be sent.
    pub fn push_data(&mut self, data: Range<u64>) {
        debug_assert!(!self.is_finishing(), "data after the FIN");
        self.queue.bytes += data.end - data.start;
        match self.queue.ranges.back_mut() {
            Some(last) if last.end == data.start => last.end = data.end,
            _ => self.queue.ranges.push_back(data),
        }
    }

    /// Takes back what was pushed and not yet sent, but for its first `keep` bytes. Returns how many bytes that was.
    pub fn discard_unsent(&mut self, keep: u64) -> u64 {
        let excess = self.queue.bytes.saturating_sub(keep);
        let mut left = excess;
        while left > 0 {
            let last = self.queue.ranges.back_mut().expect("as many bytes as are counted");
            let cut = left.min(last.end - last.start);
            last.end -= cut;
            left -= cut;
            if last.start == last.end {
                self.queue.ranges.pop_back();
            }
        }
        self.queue.bytes -= excess;
        excess
    }

    /// Fills `segment` with the next segment to send at `now` and returns the offset of its first payload byte in this
    /// connection's own stream (not counting the SYN); `None`, with `segment` as it was, when there is nothing to
    /// send. Call again until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, segment: &mut TcpSegment, cc: &mut Controller) -> Option<u64> {
        if self.queue.reset.is_some() || !self.state.is_synchronised() || self.handshake.acknowledge {
            return self.poll_control(segment, now);
        }
        if self.is_quiet() {
            return self.acknowledge.now.then(|| self.build_ack(segment, now));
        }
        let sent = self.next_data_segment(segment, now, cc);
        if sent.is_some() {
            return sent;
        }
        self.judge_window_use(now, cc);
        if self.recovery.due.window_probe {
            self.recovery.due.window_probe = false;
            return Some(self.probe_window(segment, now, cc));
        }
        self.acknowledge.now.then(|| self.build_ack(segment, now))
    }

    /// Whether there is nothing to send but perhaps an acknowledgment.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.queue.ranges.is_empty()
            && self.queue.fin != Fin::Wanted
            && !self.queue.burst
            && self.recovery.due == Due::default()
    }

    /// Segments of the handshake, and resets.
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
            // F-RTO, step 2b: no new data to try with means conventional recovery.
            self.recovery.due.new_data_first = false;
            if self.send.nxt <= self.recovery.point {
                self.recovery.frto = false;
                self.recovery.due.retransmissions = true;
                return self.next_data_segment(segment, now, cc);
            }
        }
        None
    }

    fn next_retransmission(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> Option<u64> {
        if self.sent.in_flight() >= cc.path(self.path).cwnd {
            return None;
        }
        let id = self.sent.next_to_retransmit()?;
        Some(self.retransmit(id, segment, now, cc))
    }

    /// Whether the window, the peer and Nagle's algorithm admit the next new segment.
    fn may_send_new(&mut self, now: Instant, cc: &mut Controller) -> bool {
        if self.queue.is_empty() || !self.state.may_send() {
            return false;
        }
        if self.sent.is_empty() {
            self.restart_after_idle(now, cc);
        }
        self.sent.in_flight() < cc.path(self.path).cwnd && self.admits_next()
    }

    /// Whether the peer's window and Nagle's algorithm admit the next segment.
    pub(crate) fn admits_next(&self) -> bool {
        let mss = self.full_size();
        let Some(front) = self.queue.ranges.front() else {
            return self.queue.fin == Fin::Wanted;
        };
        let length = mss.min(front.end - front.start);
        if self.send.nxt + length > self.send.window_end {
            return false;
        }
        let last = length == self.queue.bytes;
        length == mss || !last || self.queue.fin == Fin::Wanted || self.send.una >= self.queue.small_until
    }

    /// Payload bytes of a segment that is worth sending (RFC 9293, section 3.8.6.2.1): the MSS, or half of the largest
    /// window that the peer ever offered where its buffer is smaller than two segments (Linux
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
        let mss = self.full_size();
        let most = mss.min(self.send.window_end.saturating_sub(self.send.nxt));
        let data = if self.queue.ranges.is_empty() { 0..0 } else { self.queue.take(most) };
        let length = data.end - data.start;
        let start = self.send.nxt;
        let fin = self.queue.ranges.is_empty() && self.queue.fin == Fin::Wanted;
        let end = start + length + u64::from(fin);
        if fin {
            self.queue.fin = Fin::Sent(end - 1);
            self.on_fin_sent();
        }
        if length < mss {
            self.queue.small_until = end;
        }
        let idle_before = self.sent.is_empty();
        self.sent.push(start, end, data.start, now, Tags::default());
        self.send.nxt = end;
        self.send.last_sent_at = now;
        self.queue.burst = true;
        self.counters.data_segments_sent += u64::from(length > 0);
        if is_reducing(self.recovery_state(cc)) {
            self.recovery.reduction.on_sent();
        }
        self.acknowledge.on_data_sent(now);
        if idle_before || self.pending(Purpose::LossProbe) || self.pending(Purpose::WindowProbe) {
            self.rearm_retransmission(now);
        }
        let push = self.queue.ranges.is_empty();
        self.build_data(start, data, fin, push, segment, now)
    }

    /// Sends a segment again.
    pub(crate) fn retransmit(&mut self, id: u32, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        let is_head = id == self.sent.head_id();
        self.sent.note_retransmission(id, now);
        self.counters.retransmissions += 1;
        self.recovery.undo.first_retransmission.get_or_insert(super::timestamps::timestamp(now));
        let undo = &mut self.recovery.undo;
        undo.unreported = undo.unreported.max(0) + 1;
        if is_reducing(self.recovery_state(cc)) {
            self.recovery.reduction.on_sent();
        }
        if is_head && !self.pending(Purpose::Reordering) {
            self.arm(Purpose::Retransmission, now, self.backed_off_rto());
        }
        self.send.last_sent_at = now;
        let (start, end, data) = {
            let sent = self.sent.get(id);
            (sent.start, sent.end, sent.data)
        };
        let fin = self.queue.fin == Fin::Sent(end - 1);
        let length = end - start - u64::from(fin);
        self.build_data(start, data..data + length, fin, fin, segment, now)
    }

    /// After an idle time of an RTO the window starts anew (RFC 5681, section 4.1; Linux `tcp_cwnd_restart`).
    fn restart_after_idle(&mut self, now: Instant, cc: &mut Controller) {
        let rto = self.backed_off_rto();
        let mut idle = now.since(self.send.last_sent_at);
        if !self.config.slow_start_after_idle || idle <= rto || rto.is_zero() {
            return;
        }
        let ssthresh = self.threshold_to_restore(cc);
        let path = cc.path_mut(self.path);
        let restart = self.config.initial_window.min(path.cwnd);
        path.ssthresh = ssthresh;
        while idle > rto && path.cwnd > restart {
            path.cwnd /= 2;
            idle -= rto;
        }
        path.cwnd = path.cwnd.max(restart);
        path.credit = 0;
        self.queue.usage = WindowUsage { full_at: now, ..WindowUsage::default() };
        self.send.last_sent_at = now;
    }

    /// Notes, once nothing more can be sent, how much of the window is used, and arms the timers for what is out.
    fn judge_window_use(&mut self, now: Instant, cc: &mut Controller) {
        let cwnd = cc.path(self.path).cwnd;
        let full = self.sent.in_flight() >= cwnd && !self.queue.is_empty();
        let full = full || (self.queue.burst && self.sent.in_flight() >= cwnd);
        if self.queue.burst || full {
            self.note_window_use(full, now, cc);
        }
        if self.queue.burst {
            self.queue.burst = false;
            self.schedule_loss_probe(now, false, cc);
        } else if self.sent.is_empty() && !self.queue.is_empty() && self.timer.is_none() && self.state.may_send() {
            self.arm_window_probe(now);
        }
    }

    fn note_window_use(&mut self, full: bool, now: Instant, cc: &mut Controller) {
        let out = self.sent.packets_out();
        let rto = self.backed_off_rto();
        let usage = &mut self.queue.usage;
        if self.send.una >= usage.round_end || full || (!usage.limited && out > usage.most_out) {
            usage.limited = full;
            usage.most_out = out;
            usage.round_end = self.send.nxt;
        }
        if self.was_window_limited(cc) {
            self.queue.usage.used = 0;
            self.queue.usage.full_at = now;
            return;
        }
        let usage = &mut self.queue.usage;
        usage.used = usage.used.max(out);
        if self.config.slow_start_after_idle && now.since(usage.full_at) >= rto {
            let used = core::mem::take(&mut usage.used).max(self.config.initial_window);
            usage.full_at = now;
            let ssthresh = self.threshold_to_restore(cc);
            let path = cc.path_mut(self.path);
            if path.state == RecoveryState::Open && used < path.cwnd {
                path.ssthresh = ssthresh;
                path.cwnd = (path.cwnd + used) / 2;
            }
        }
    }

    /// Whether the window was the limit, so that it may grow.
    pub(crate) fn was_window_limited(&self, cc: &Controller) -> bool {
        let path = cc.path(self.path);
        let usage = &self.queue.usage;
        !self.config.window_validation || usage.limited || (path.in_slow_start() && path.cwnd < 2 * usage.most_out)
    }

    /// The window has been too small for too long: what little it admits goes, or else a segment that asks for an
    /// answer (Linux `tcp_write_wakeup`).
    fn probe_window(&mut self, segment: &mut TcpSegment, now: Instant, cc: &mut Controller) -> u64 {
        if self.send.nxt < self.send.window_end && !self.queue.ranges.is_empty() {
            return self.send_new(segment, now, cc);
        }
        self.build_window_probe(segment, now)
    }

    /// The zero-window probe timer (RFC 9293, section 3.8.6.1).
    pub(crate) fn arm_window_probe(&mut self, now: Instant) {
        let delay = self.backed_off_rto().max(Duration::from_millis(200));
        self.arm(Purpose::WindowProbe, now, delay);
    }
}
