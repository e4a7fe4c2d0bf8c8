//! Processing of arriving segments and their MPTCP options (RFC 8684, sections 3.3 to 3.7).
//!
//! TCP tests a segment for acceptability first (RFC 9293, section 3.10.7.4, with RFC 5961). The options of a segment
//! that is not acceptable have no effect.

use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::IpHeader;
use subflow_wire::icmp::IcmpError;
use subflow_wire::tcp::mptcp::{MptcpOption, ResetReason};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::handshake::capable_of;
use super::payload_placement::Placement;
use super::phase::Mode;
use super::received_mappings::DISCARD;
use crate::Change;
use crate::tcp::{Answer, State, Verdict};

impl Connection {
    /// Processes a segment for subflow `index`, which arrived with the network header `ip`.
    pub(crate) fn handle_segment(&mut self, now: Instant, index: usize, ip: &IpHeader, segment: &TcpSegment) {
        self.subflows.touch(index);
        self.subflows.pass_to(None);
        if self.subflows[index].is_closed() {
            return;
        }
        let verdict = self.subflows[index].tcp.judge(segment, now);
        let accepted = match verdict {
            Verdict::Acceptable(offsets) => {
                // A SYN takes a sequence number and is not a byte of the stream.
                let offset = offsets.start.checked_sub(1);
                if offset.is_none() && segment.payload.length > 0 && !segment.flags.contains(TcpFlags::SYN) {
                    // Its first byte has the number of the SYN: no mapping can place that.
                    self.subflows[index].tcp.request_ack();
                    false
                } else {
                    self.take_in(index, ip, segment, verdict, offset.unwrap_or(0), now)
                }
            }
            Verdict::Reset | Verdict::Unacceptable(_) => {
                self.refuse_segment(index, ip, segment, verdict, now);
                false
            }
        };
        if self.phase.ended().is_some() {
            // All subflows are closed. Data beside an MP_FASTCLOSE is not counted, since the application knows the end.
            return;
        }
        self.collect_data(index, now);
        self.after_subflow_event(index, now);
        if accepted {
            self.finish_if_done();
            self.limit_closing(now);
        }
    }

    /// Processes an ICMP error about a segment of subflow `index`.
    pub(crate) fn handle_icmp(&mut self, index: usize, error: &IcmpError, now: Instant) {
        self.subflows.pass_to(None);
        self.subflows.touch(index).tcp.on_icmp(error, now, &mut self.congestion);
        self.after_subflow_event(index, now);
    }

    /// Changes an option of all subflows, and of those to come. Returns whether TCP has it.
    pub(crate) fn change(&mut self, change: Change) -> bool {
        let tcp = &mut Arc::make_mut(&mut self.config).tcp;
        let known = Arc::make_mut(tcp).change(change);
        for index in 0..self.subflows.len() {
            self.subflows.touch(index).tcp.change(change);
        }
        known
    }

    /// Processes a reset or an unacceptable segment: TCP closes the subflow, or answers.
    #[cold]
    fn refuse_segment(&mut self, index: usize, ip: &IpHeader, segment: &TcpSegment, verdict: Verdict, now: Instant) {
        let reset = segment.flags.contains(TcpFlags::RST);
        // A reset at another number than RCV.NXT is challenged (RFC 5961, section 3.2), whatever its options: the answer
        // to the challenge is at that number.
        if verdict == Verdict::Reset {
            for option in &segment.options.mptcp {
                if let MptcpOption::FastClose { receiver_key } = option {
                    self.on_fast_close(index, true, *receiver_key);
                }
            }
        }
        if verdict == Verdict::Unacceptable(Answer::ThirdAck) && index == 0 {
            self.phase.set_keys_sent(false);
        }
        let tcp = &mut self.subflows[index].tcp;
        tcp.on_judged_segment(ip, segment, verdict, None, now, &mut self.congestion);
        if reset && tcp.state().is_closed() {
            self.subflows[index].on_reset(reset_reason_of(segment));
        }
    }

    /// Processes an acceptable segment whose first byte is byte `offset` of the subflow's stream. Returns whether it
    /// was accepted at the data level.
    fn take_in(
        &mut self,
        index: usize,
        ip: &IpHeader,
        segment: &TcpSegment,
        verdict: Verdict,
        offset: u64,
        now: Instant,
    ) -> bool {
        let was = self.subflows[index].tcp.state();
        if was == State::SynReceived && index == 0 && self.phase.is_opening() && !self.on_capable_ack(segment, now) {
            return false;
        }
        if self.lacks_proof(index, segment) {
            self.reset_subflow(index, ResetReason::MPTCP_SPECIFIC, now);
            return false;
        }
        if let Some(mapping) = segment.options.dss.as_ref().and_then(|dss| dss.mapping.as_ref()) {
            self.peer_is_wide = mapping.wide;
        }
        let mut placement = self.place(index, segment, offset, now);
        if placement == Placement::Unmapped && self.on_unmapped(index, segment, offset, now) {
            placement = self.place(index, segment, offset, now);
        }
        let prefix;
        let (segment, data) = match placement {
            Placement::Drop | Placement::Unmapped => return false,
            Placement::SubflowStream => (segment, None),
            Placement::At(data) | Placement::Piece(data) | Placement::Repeated(data) => (segment, Some(data)),
            Placement::Prefix { data, length } => {
                prefix = prefix_of(segment, length);
                (&prefix, Some(data))
            }
            Placement::Broken(data) => {
                self.on_checksum_failure(index, data, offset, now);
                if self.subflows[index].is_closed() {
                    return false;
                }
                let kept = self.phase.infinite().and_then(|infinite| infinite.data_of(offset));
                (segment, Some(kept.unwrap_or(DISCARD + offset)))
            }
        };
        let accepted = self.pass_to_tcp(index, ip, segment, verdict, data, now);
        match placement {
            Placement::Piece(_) => self.note_piece(index, segment, offset, now),
            Placement::Repeated(_) => self.subflows.pass_to(None),
            _ => {}
        }
        if accepted && !self.subflows[index].is_closed() {
            self.after_acceptance(index, segment, was, data.is_some(), now);
        }
        accepted
    }

    /// Records the bytes that TCP has accepted of a mapping whose checksum covers several segments.
    #[cold]
    fn note_piece(&mut self, index: usize, segment: &TcpSegment, offset: u64, now: Instant) {
        let subflow = &mut self.subflows[index];
        if subflow.tcp.taken().is_none() {
            return;
        }
        let (length, sum) = (u64::from(segment.payload.length), segment.payload.sum);
        if let Some(data) = subflow.mappings.add_piece(offset, length, sum) {
            match self.phase.is_multipath() {
                true => self.on_checksum_failure(index, data, offset, now),
                false => self.refuse_data(index, offset),
            }
        }
    }

    fn pass_to_tcp(
        &mut self,
        index: usize,
        ip: &IpHeader,
        segment: &TcpSegment,
        verdict: Verdict,
        data: Option<u64>,
        now: Instant,
    ) -> bool {
        self.subflows.pass_to(Some(index));
        let tcp = &mut self.subflows[index].tcp;
        let accepted = tcp.on_judged_segment(ip, segment, verdict, data, now, &mut self.congestion);
        self.subflows[index].delivery.received_segments += u64::from(accepted);
        if accepted && self.announcements.concerns(index) {
            self.announcements.on_working_path(index, now);
        }
        if accepted && self.observation.is_some() {
            self.observe(index, segment, now);
        }
        accepted
    }

    /// `mapped` is whether a mapping has placed the payload: such a segment needs no option of its own (RFC 8684, section
    /// 3.3.1).
    fn after_acceptance(&mut self, index: usize, segment: &TcpSegment, was: State, mapped: bool, now: Instant) {
        if index == 0 {
            if was == State::SynSent && self.phase.is_opening() {
                self.on_capable_syn_ack(segment, now);
            } else if was == State::SynSent {
                self.on_established();
            } else if was == State::SynReceived {
                self.on_established();
                if self.phase.is_multipath() {
                    // A client that has sent both keys supports MPTCP.
                    self.confirm(now);
                }
            }
            self.judge_first_answer(segment, now);
        }
        if self.subflows[index].is_joining() && self.subflows[index].tcp.state().is_synchronised() {
            self.on_join_progress(index, segment, now);
            if self.subflows[index].is_closed() {
                // The join is not authenticated: no option of the segment has an effect.
                return;
            }
        }
        if self.phase.is_multipath() && !mapped {
            self.check_missing_options(index, segment, now);
            if self.subflows[index].is_closed() {
                return;
            }
        }
        if self.phase.is_multipath() {
            self.on_data_level(index, segment);
        }
        for option in &segment.options.mptcp {
            self.on_option(index, option, now);
        }
        // After MP_FAIL: the same segment acknowledges on the subflow the data that it refuses.
        if self.phase.has_fallen_back() && !self.subflows[index].is_closed() {
            self.on_plain_progress(index, segment, now);
        }
    }

    /// Processes the DATA_ACK, the window and the DATA_FIN.
    fn on_data_level(&mut self, index: usize, segment: &TcpSegment) {
        let window = self.subflows[index].tcp.peer_window(segment);
        let dss = segment.options.dss.as_ref();
        if let Some(ack) = dss.and_then(|dss| dss.data_ack) {
            let acknowledged = self.local_key.offset(ack.value, ack.wide, self.send.una());
            self.on_data_ack(acknowledged, window);
        } else {
            // The window in the handshake of a join is not the one that all subflows share: Linux advertises a new
            // window there, and drops data beyond the shared one.
            let opening = index == 0 && segment.flags.contains(TcpFlags::SYN);
            if opening || !self.phase.is_confirmed() || capable_of(segment).is_some() {
                self.send.open_window(window);
            }
        }
        let Some(dss) = dss else { return };
        if let (Some(mapping), true) = (&dss.mapping, dss.data_fin)
            && let Some(start) = self.data_offset(mapping)
        {
            let is_new = self.on_data_fin(start + u64::from(mapping.length).saturating_sub(1));
            // Beyond a hole, an answer that contains a DATA_FIN would be answered in turn. A side that has a DATA_FIN
            // to send repeats it anyway, together with the DATA_ACK.
            let answers_in_turn = self.fin.offset().is_some();
            if self.receive.has_ended() || is_new || !answers_in_turn {
                self.subflows[index].tcp.request_ack();
            }
        }
    }

    fn on_option(&mut self, index: usize, option: &MptcpOption, now: Instant) {
        match (self.phase.mode(), option) {
            (Mode::Opening | Mode::Plain, _) => {}
            (_, MptcpOption::Fail { data_sequence }) => self.on_fail(index, *data_sequence, now),
            (_, MptcpOption::FastClose { receiver_key }) => self.on_fast_close(index, false, *receiver_key),
            (Mode::Infinite(_), _) => {}
            (Mode::Multipath(_), option) => self.on_multipath_option(index, option, now),
        }
    }

    fn on_multipath_option(&mut self, index: usize, option: &MptcpOption, now: Instant) {
        match option {
            MptcpOption::AddAddress(announced) => self.on_add_address(index, announced, now),
            MptcpOption::RemoveAddress(ids) => self.on_remove_address(ids, now),
            MptcpOption::Priority { backup } => self.on_priority(index, *backup),
            // The joiner repeats its third ACK until it is acknowledged.
            MptcpOption::Join(_) => self.subflows[index].tcp.request_ack(),
            MptcpOption::Capable(_)
            | MptcpOption::Reset(_)
            | MptcpOption::Fail { .. }
            | MptcpOption::FastClose { .. } => {}
        }
    }
}

/// The first `length` payload bytes of a segment. The peer retransmits the rest, and a FIN after it.
#[cold]
fn prefix_of(segment: &TcpSegment, length: u64) -> TcpSegment {
    let mut prefix = segment.clone();
    prefix.payload.length = length as u32;
    prefix.flags.0 &= !TcpFlags::FIN.0;
    prefix
}

/// The MP_TCPRST of a segment.
fn reset_reason_of(segment: &TcpSegment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Reset(reason) => Some(*reason),
        _ => None,
    })
}
