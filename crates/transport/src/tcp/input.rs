//! Arriving segments (RFC 9293, section 3.10.7).

use core::ops::Range;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::acceptability::{Answer, Offsets, Verdict};
use super::acknowledge::DataContext;
use super::output::Reset;
use super::reassembly::Run;
use super::{Closed, Connection, State, sequence};
use crate::edge::Taken;

/// Time between answers to unacceptable segments without data (Linux `tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

impl Connection {
    /// Takes in a segment. `data` is the application-stream offset of its first payload byte, or `None` for the
    /// connection's own stream (plain TCP). Returns whether the segment was acceptable: one that was not has no effect
    /// but an answer.
    pub fn on_segment(&mut self, segment: &TcpSegment, data: Option<u64>, now: Instant, cc: &mut Controller) -> bool {
        let verdict = self.judge(segment, now);
        self.on_judged_segment(segment, verdict, data, now, cc)
    }

    /// [`on_segment`](Self::on_segment) with the `verdict` that [`judge`](Self::judge) has just given.
    pub fn on_judged_segment(
        &mut self,
        segment: &TcpSegment,
        verdict: Verdict,
        data: Option<u64>,
        now: Instant,
        cc: &mut Controller,
    ) -> bool {
        self.receive.taken = None;
        if self.state.is_closed() {
            return false;
        }
        match verdict {
            Verdict::Acceptable(offsets) => self.on_acceptable_segment(segment, offsets, data, now, cc),
            Verdict::Reset => {
                self.close(if self.state == State::SynSent { Closed::Refused } else { Closed::Reset });
                false
            }
            Verdict::Unacceptable(answer) => {
                self.answer_unacceptable(answer, segment, now);
                false
            }
        }
    }

    fn on_acceptable_segment(
        &mut self,
        segment: &TcpSegment,
        offsets: Offsets,
        data: Option<u64>,
        now: Instant,
        cc: &mut Controller,
    ) -> bool {
        let start = offsets.start;
        let length = u64::from(segment.payload.length);
        match self.state {
            State::SynSent => {
                self.on_segment_in_syn_sent(segment, now, cc);
                return self.state.is_synchronised();
            }
            State::SynReceived => self.leave_syn_received(segment, now, cc),
            _ => {}
        }
        if segment.flags.contains(TcpFlags::SYN) {
            return true;
        }
        self.note_timestamp(segment, start, length, now);
        self.on_acknowledgment(segment, offsets, now, cc);
        if self.state.is_closed() {
            return true;
        }
        if length > 0 {
            let data = data.unwrap_or_else(|| start.max(1) - 1);
            self.on_data(start..start + length, data, now);
        }
        if segment.flags.contains(TcpFlags::FIN) {
            let fin = *self.receive.fin.get_or_insert(start + length);
            if fin < self.receive.nxt {
                self.on_fin_again(now);
            }
        }
        if self.receive.fin == Some(self.receive.nxt) {
            self.receive.nxt += 1;
            self.acknowledge.owed = true;
            self.acknowledge.now = true;
            self.on_fin_received(now);
        }
        true
    }

    fn answer_unacceptable(&mut self, answer: Answer, segment: &TcpSegment, now: Instant) {
        match answer {
            Answer::Nothing => {}
            Answer::Challenge => self.challenge(now),
            Answer::Acknowledgment => {
                if let Some(start) = sequence::unwrap(segment.sequence, self.receive.initial, self.receive.nxt) {
                    let fin = u64::from(segment.flags.contains(TcpFlags::FIN));
                    self.note_duplicate(start, start + u64::from(segment.payload.length) + fin);
                }
                self.acknowledge.on_duplicate(self.window_left());
                self.handshake.acknowledge |= self.state == State::SynReceived;
            }
            Answer::SynAck => self.handshake.due = true,
            Answer::ThirdAck => self.repeat_third_ack(),
            Answer::Reset => self.queue.reset = Some(Reset::Refusal(segment.acknowledgment)),
        }
    }

    /// Offset of the segment's first payload byte in the peer's stream on this connection, not counting the SYN.
    pub fn offset_of(&self, segment: &TcpSegment) -> Option<u64> {
        sequence::unwrap(segment.sequence, self.receive.initial, self.receive.nxt)?.checked_sub(1)
    }

    /// The receiver's own RTT estimate, from timestamps.
    pub fn receiver_rtt(&self) -> Option<Duration> {
        self.receive.window.rtt()
    }

    /// Answers a segment without data that does not fit, at most so often: two ends that do not fit each other would
    /// acknowledge each other's acknowledgments for ever (Linux `tcp_oow_rate_limited`).
    fn challenge(&mut self, now: Instant) {
        if self.challenged_at.is_none_or(|at| now.since(at) >= CHALLENGE_INTERVAL) {
            self.challenged_at = Some(now);
            self.acknowledge.on_duplicate(self.window_left());
            self.handshake.acknowledge |= self.state == State::SynReceived;
        }
    }

    /// Notes what an acceptable segment says in its timestamps.
    fn note_timestamp(&mut self, segment: &TcpSegment, start: u64, length: u64, now: Instant) {
        let Some(timestamps) = segment.options.timestamps.filter(|_| self.negotiated.timestamps) else { return };
        if start <= self.receive.acknowledged {
            self.receive.timestamp = Some(timestamps.value);
            self.receive.timestamp_at = now;
        }
        let fresh = timestamps.echo != self.receive.last_echo;
        self.receive.last_echo = timestamps.echo;
        if fresh && timestamps.echo != 0 && length >= self.acknowledge.segment_size {
            let elapsed = super::segment::timestamp(now).wrapping_sub(timestamps.echo).max(1);
            if elapsed < u32::MAX / 2 {
                self.receive.window.on_rtt(Duration::from_millis(u64::from(elapsed)));
            }
        }
    }

    fn note_duplicate(&mut self, start: u64, end: u64) {
        if self.negotiated.sack && start < end && end <= self.receive.nxt {
            self.receive.duplicate = Some(start..end);
        }
    }

    fn on_data(&mut self, sequence: Range<u64>, data: u64, now: Instant) {
        let Range { start, end } = sequence;
        if end <= self.receive.nxt {
            self.note_duplicate(start, end);
            return self.acknowledge.on_duplicate(self.window_left());
        }
        if matches!(self.state, State::CloseWait | State::Closing | State::LastAck | State::TimeWait) {
            return;
        }
        if start >= self.receive.nxt + self.window_left() {
            return self.acknowledge.on_duplicate(self.window_left());
        }
        let skip = self.receive.nxt.saturating_sub(start);
        if skip > 0 {
            self.note_duplicate(start, self.receive.nxt);
        }
        let run = Run { start: start + skip, end, data: data + skip };
        let taken = Taken { payload_offset: skip as u32, stream: run.data..data + (end - start) };
        if run.start == self.receive.nxt {
            self.receive.taken = Some(taken);
            self.on_in_order(run);
        } else {
            let stored = self.receive.reassembly.insert(run);
            self.receive.taken = (!stored.dropped).then_some(taken);
            if self.negotiated.sack && stored.duplicate.is_some() {
                self.receive.duplicate = stored.duplicate;
            }
        }
        self.after_data(end - start, now);
    }

    fn on_in_order(&mut self, run: Run) {
        self.deliver(run);
        if self.receive.reassembly.is_empty() {
            return;
        }
        while let Some(run) = self.receive.reassembly.pop_ready(self.receive.nxt) {
            self.deliver(run);
        }
        if self.receive.reassembly.is_empty() {
            // RFC 5681, section 4.2: a filled gap is acknowledged at once.
            self.acknowledge.now = true;
        }
    }

    fn deliver(&mut self, run: Run) {
        let length = run.end - run.start;
        self.receive.nxt = run.end;
        self.counters.bytes_received += length;
        match self.receive.ready.last_mut() {
            Some(last) if last.end == run.data => last.end += length,
            _ => self.receive.ready.push(run.data..run.data + length),
        }
    }

    /// The window that this connection shares rose by data that arrived here.
    pub(crate) fn on_window_growth(&mut self) {
        self.acknowledge.on_window_growth();
    }

    fn after_data(&mut self, length: u64, now: Instant) {
        let held = self.receive.unread + self.receive.reassembly.bytes();
        if self.acknowledge.is_immediate() {
            self.acknowledge.owed = true;
            self.acknowledge.now = true;
        } else {
            self.decide_acknowledgment(length, now);
        }
        if self.receive.shared_window.is_none() {
            if self.receive.window.on_segment(length, held) {
                self.acknowledge.on_window_growth();
            }
            if self.receive.unread == 0 {
                self.receive.window.on_read(now, self.receive.nxt);
                self.acknowledge.on_read(self.receive.nxt, self.receive.acknowledged);
            }
        }
    }

    fn decide_acknowledgment(&mut self, length: u64, now: Instant) {
        let rtt = match (self.rtt.srtt(), self.receive.window.rtt()) {
            (Some(sender), Some(receiver)) => Some(sender.min(receiver)),
            (sender, receiver) => receiver.or(sender),
        };
        self.acknowledge.on_data(&DataContext {
            now,
            length,
            next: self.receive.nxt,
            acknowledged: self.receive.acknowledged,
            out_of_order: !self.receive.reassembly.is_empty(),
            window: self.window_left(),
            rto: self.rto(),
            rtt,
            sack: self.negotiated.sack,
        });
    }

    fn window_left(&self) -> u64 {
        self.receive.window.left(self.receive.nxt)
    }

    /// How much in-order data the application has left unread: it shrinks the advertised window. A window that opens
    /// again is announced at once.
    pub fn set_unread(&mut self, unread: u64, now: Instant) {
        let before = self.receive.window.left(self.receive.nxt);
        let opened = self.receive.unread > unread;
        self.receive.unread = unread;
        if opened && self.state.is_synchronised() {
            let held = unread + self.receive.reassembly.bytes();
            let after = self.receive.window.clone().select(self.receive.nxt, held);
            if after >= 2 * before && after > 0 {
                self.acknowledge.owed = true;
                self.acknowledge.now = true;
            }
            self.receive.window.on_read(now, self.receive.nxt - unread);
        }
    }

    /// On an MPTCP subflow: the connection's window, in bytes, to advertise from now on.
    pub fn share_window(&mut self, window: u64) {
        self.receive.shared_window = Some(window);
    }

    /// Asks for an acknowledgment to leave now (MPTCP: one that carries a DATA_ACK or a signal).
    pub fn request_ack(&mut self) {
        self.acknowledge.owed = true;
        self.acknowledge.now = true;
    }
}
