//! Processing of arriving segments (RFC 9293, section 3.10.7).

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Ecn, IpHeader};

use super::acceptability::{Answer, Offsets, Verdict};
use super::{Closed, Connection, State};

impl Connection {
    /// Processes `segment`, which arrived with the network header `ip`. `data` is the application-stream offset of its
    /// first payload byte, or `None` if the stream is the connection's own (plain TCP). Returns whether the segment was
    /// acceptable; one that was not has no effect apart from the answer to it.
    #[inline(always)]
    pub fn on_segment(
        &mut self,
        ip: &IpHeader,
        segment: &TcpSegment,
        data: Option<u64>,
        now: Instant,
        cc: &mut Controller,
    ) -> bool {
        let verdict = self.judge(segment, now);
        self.on_judged_segment(ip, segment, verdict, data, now, cc)
    }

    /// [`on_segment`](Self::on_segment) with the `verdict` that [`judge`](Self::judge) returned for the segment.
    #[inline(always)]
    pub fn on_judged_segment(
        &mut self,
        ip: &IpHeader,
        segment: &TcpSegment,
        verdict: Verdict,
        data: Option<u64>,
        now: Instant,
        cc: &mut Controller,
    ) -> bool {
        self.receive.begin_segment();
        match verdict {
            Verdict::Acceptable(offsets) => {
                self.counters.ce_received += u64::from(ip.ecn == Ecn::CongestionExperienced);
                return self.on_acceptable_segment(ip, segment, offsets, data, now, cc);
            }
            Verdict::Reset => self.on_valid_reset(),
            Verdict::Unacceptable(answer) => self.answer_unacceptable(answer, segment, now),
        }
        false
    }

    #[cold]
    fn on_valid_reset(&mut self) {
        if !self.lifecycle.is_closed() {
            self.close(if self.state() == State::SynSent { Closed::Refused } else { Closed::Reset });
        }
    }

    fn on_acceptable_segment(
        &mut self,
        ip: &IpHeader,
        segment: &TcpSegment,
        offsets: Offsets,
        data: Option<u64>,
        now: Instant,
        cc: &mut Controller,
    ) -> bool {
        if !self.lifecycle.is_synchronised() {
            match self.state() {
                State::SynSent => {
                    self.on_segment_in_syn_sent(segment, now, cc);
                    return self.lifecycle.is_synchronised();
                }
                State::SynReceived => self.leave_syn_received(segment, now, cc),
                _ => return false,
            }
        }
        if segment.flags.contains(TcpFlags::SYN) {
            return true;
        }
        self.note_timestamps(segment, offsets.start, now);
        self.on_acknowledgment(segment, offsets, now, cc);
        if self.lifecycle.is_closed() {
            return true;
        }
        self.on_payload(ip, segment, offsets.start, data, now);
        true
    }

    #[cold]
    fn answer_unacceptable(&mut self, answer: Answer, segment: &TcpSegment, now: Instant) {
        match answer {
            _ if self.lifecycle.is_closed() => {}
            Answer::Nothing => {}
            Answer::Challenge => self.challenge(now),
            Answer::Acknowledgment => {
                if let Some(start) = self.receive.offset_of(segment.sequence) {
                    let fin = u64::from(segment.flags.contains(TcpFlags::FIN));
                    self.note_duplicate(start, start + u64::from(segment.payload.length) + fin);
                }
                self.acknowledge.on_duplicate(self.receive_window());
                self.answer_in_syn_received();
            }
            Answer::SynAck => self.lifecycle.request_syn(),
            Answer::ThirdAck => self.repeat_third_ack(),
            Answer::Reset => self.lifecycle.refuse(segment.acknowledgment),
        }
    }

    /// Offset of the segment's first payload byte in the peer's stream on this connection, not counting the SYN.
    pub fn offset_of(&self, segment: &TcpSegment) -> Option<u64> {
        self.receive.offset_of(segment.sequence)?.checked_sub(1)
    }

    /// The receiver's RTT estimate, from timestamps.
    pub fn receiver_rtt(&self) -> Option<Duration> {
        self.receive.rtt()
    }

    fn challenge(&mut self, now: Instant) {
        if self.acknowledge.challenge(self.receive_window(), now) {
            self.answer_in_syn_received();
        }
    }

    /// In SYN-RECEIVED, an acknowledgment that is due is sent although the handshake is not complete.
    fn answer_in_syn_received(&mut self) {
        if self.state() == State::SynReceived {
            self.acknowledge.request_before_data();
        }
    }
}
