//! Arriving segments (RFC 9293, section 3.10.7).

use core::ops::Range;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::acknowledge::DataContext;
use super::output::Reset;
use super::reassembly::Run;
use super::{Closed, Connection, State, sequence};
use crate::edge::Taken;

/// Time between answers to unacceptable segments without data (Linux `tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

impl Connection {
    /// Takes in a segment. `data` is the application-stream offset of its first payload byte, or `None` for the
    /// connection's own stream (plain TCP). Returns whether the segment was acceptable: one that was not tells nothing.
    pub fn on_segment(&mut self, segment: &TcpSegment, data: Option<u64>, now: Instant, cc: &mut Controller) -> bool {
        self.receive.taken = None;
        match self.state {
            State::Closed(_) => return false,
            State::SynSent => {
                self.on_segment_in_syn_sent(segment, now, cc);
                return self.state.is_synchronised();
            }
            _ => {}
        }
        let Some(start) = sequence::unwrap(segment.sequence, self.receive.initial, self.receive.nxt) else {
            self.challenge(now);
            return false;
        };
        let length = u64::from(segment.payload.length);
        if self.state == State::SynReceived && start == 0 && segment.flags.contains(TcpFlags::SYN | TcpFlags::ACK) {
            return self.on_syn_ack_in_syn_received(segment, now, cc);
        }
        if !self.is_acceptable(segment, start, length, now) {
            return false;
        }
        self.note_timestamp(segment, start, length, now);
        if self.state == State::SynReceived && !self.leave_syn_received(segment, now, cc) {
            return false;
        }
        if !self.on_acknowledgment(segment, start, now, cc) {
            self.challenge(now);
            return false;
        }
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

    /// Offset of the segment's first payload byte in the peer's stream on this connection, not counting the SYN.
    pub fn offset_of(&self, segment: &TcpSegment) -> Option<u64> {
        sequence::unwrap(segment.sequence, self.receive.initial, self.receive.nxt)?.checked_sub(1)
    }

    /// The receiver's own RTT estimate, from timestamps.
    pub fn receiver_rtt(&self) -> Option<Duration> {
        self.receive.window.rtt()
    }

    /// RFC 9293, section 3.10.7.4, first to fourth check, with RFC 7323 (PAWS) and RFC 5961 (blind resets).
    fn is_acceptable(&mut self, segment: &TcpSegment, start: u64, length: u64, now: Instant) -> bool {
        let flags = segment.flags;
        let end = start + length + u64::from(flags.contains(TcpFlags::FIN));
        let window = self.window_left();
        let reset = flags.contains(TcpFlags::RST);
        if flags.contains(TcpFlags::SYN) {
            self.on_stray_syn(segment, now);
            return false;
        }
        let stale = !reset && self.is_stale(segment);
        if stale || end < self.receive.acknowledged || start > self.receive.nxt + window {
            if !reset && length > 0 {
                self.note_duplicate(start, end);
                self.acknowledge.on_duplicate(window);
            } else if !reset {
                self.challenge(now);
            }
            return false;
        }
        if reset {
            if self.state == State::TimeWait {
                // RFC 1337: an old duplicate may be refused by a peer that is done; that must not cut TIME-WAIT short.
            } else if start == self.receive.nxt || self.state == State::SynReceived {
                self.close(Closed::Reset);
            } else {
                self.challenge(now);
            }
            return false;
        }
        flags.contains(TcpFlags::ACK)
    }

    /// A SYN on a synchronised connection: the peer repeats its SYN or SYN/ACK, or somebody guesses (RFC 5961).
    fn on_stray_syn(&mut self, segment: &TcpSegment, now: Instant) {
        let same = segment.sequence == self.receive.initial;
        match self.state {
            State::SynReceived if same => self.handshake.due = true,
            _ if same && segment.flags.contains(TcpFlags::ACK) => self.repeat_third_ack(),
            _ => self.challenge(now),
        }
    }

    /// Answers a segment without data that does not fit, at most so often: two ends that do not fit each other would
    /// acknowledge each other's acknowledgments for ever (Linux `tcp_oow_rate_limited`).
    fn challenge(&mut self, now: Instant) {
        if self.challenged_at.is_none_or(|at| now.since(at) >= CHALLENGE_INTERVAL) {
            self.challenged_at = Some(now);
            self.acknowledge.on_duplicate(self.window_left());
        }
    }

    /// PAWS (RFC 7323, section 5.3): the timestamp is older than the one last accepted.
    fn is_stale(&self, segment: &TcpSegment) -> bool {
        match (self.negotiated.timestamps, segment.options.timestamps, self.receive.timestamp) {
            (true, Some(theirs), Some(recent)) => (theirs.value.wrapping_sub(recent) as i32) < 0,
            _ => false,
        }
    }

    fn note_timestamp(&mut self, segment: &TcpSegment, start: u64, length: u64, now: Instant) {
        let Some(timestamps) = segment.options.timestamps.filter(|_| self.negotiated.timestamps) else { return };
        if start <= self.receive.acknowledged {
            self.receive.timestamp = Some(timestamps.value);
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

    fn leave_syn_received(&mut self, segment: &TcpSegment, now: Instant, cc: &mut Controller) -> bool {
        let acknowledgment = sequence::unwrap(segment.acknowledgment, self.send.initial, 1);
        if acknowledgment.is_none_or(|offset| offset < 1 || offset > self.send.nxt) {
            self.queue.reset = Some(Reset::Refusal(segment.acknowledgment));
            return false;
        }
        self.send.una = 1;
        self.send.window_end = 1 + (u64::from(segment.window) << self.send.scale);
        self.establish(now, cc);
        true
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
        self.receive.taken = Some(Taken { payload_offset: skip as u32, stream: run.data..data + (end - start) });
        if run.start == self.receive.nxt {
            self.on_in_order(run);
        } else if let Some(duplicate) = self.receive.reassembly.insert(run)
            && self.negotiated.sack
        {
            self.receive.duplicate = Some(duplicate);
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
