//! Arriving segments: where their data belongs, and what their options say (RFC 8684, sections 3.3 to 3.7).

use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::{Mapping, MptcpOption, ResetReason};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::fallback::Mode;
use super::handshake::capable_of;
use super::receive_mapping::{ReceivedMapping, Verdict};
use super::subflow::Stage;
use crate::tcp::State;

/// Data offsets from here on stand for subflow bytes that are acknowledged and thrown away. No stream gets that far.
pub(super) const DISCARD: u64 = 1 << 62;

/// Data so far beyond the window is not taken. A little of it is: a probe, or what an older window of the peer's subflow
/// admitted.
const BEYOND_WINDOW: u64 = 1 << 16;

/// Where a segment's payload belongs at the data level.
pub(super) enum Placement {
    /// Nowhere: there is none.
    Empty,
    /// At this data offset.
    At(u64),
    /// No mapping covers it.
    Unmapped,
    /// Its mapping's checksum is wrong; the mapping begins at this data offset.
    Broken(u64),
    /// It is of no use: drop the segment.
    Drop,
}

impl Connection {
    /// Takes in a segment for subflow `index`.
    pub(crate) fn handle_segment(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        self.touch(index);
        self.passed_to = None;
        if index == 0 && segment.flags.contains(TcpFlags::SYN) {
            self.keys_shown = false;
        }
        if self.subflows[index].is_closed() {
            return;
        }
        if segment.flags.contains(TcpFlags::RST) {
            for option in &segment.options.mptcp {
                if let MptcpOption::FastClose { receiver_key } = option {
                    self.on_fast_close(index, true, *receiver_key);
                }
            }
            if self.subflows[index].is_closed() {
                return;
            }
        }
        let was_opening = self.subflows[index].tcp.state();
        if was_opening == State::SynReceived
            && index == 0
            && self.mode == Mode::Opening
            && segment.flags.contains(TcpFlags::ACK)
            && !segment.flags.contains(TcpFlags::RST)
            && !self.on_capable_ack(segment, now)
        {
            return;
        }
        let mut placement = self.place(index, segment, now);
        if let Placement::Broken(data) = placement {
            self.on_checksum_failure(index, data, now);
            if self.subflows[index].is_closed() {
                return;
            }
            placement = Placement::At(DISCARD + self.subflows[index].tcp.offset_of(segment).unwrap_or(0));
        }
        let accepted = match placement {
            Placement::Drop | Placement::Broken(_) => return,
            Placement::Unmapped => return self.on_unmapped(index, segment, now),
            Placement::Empty => self.pass_to_tcp(index, segment, None, now),
            Placement::At(data) => self.pass_to_tcp(index, segment, Some(data), now),
        };
        if accepted {
            self.after_acceptance(index, segment, was_opening, now);
        }
        self.collect_data(index, now);
        self.after_subflow_event(index, now);
        if accepted {
            self.finish_if_done();
            self.limit_closing(now);
        }
    }

    fn pass_to_tcp(&mut self, index: usize, segment: &TcpSegment, data: Option<u64>, now: Instant) -> bool {
        self.passed_to = Some(index);
        let accepted = self.subflows[index].tcp.on_segment(segment, data, now, &mut self.congestion);
        if segment.flags.contains(TcpFlags::RST) && self.subflows[index].tcp.state().is_closed() {
            self.subflows[index].reset_reason = reset_reason_of(segment);
        }
        self.subflows[index].delivery.heard += u64::from(accepted);
        if accepted && self.observation.is_some() {
            self.observe(index, segment, now);
        }
        accepted
    }

    fn after_acceptance(&mut self, index: usize, segment: &TcpSegment, was: State, now: Instant) {
        if index == 0 {
            if was == State::SynSent && self.mode == Mode::Opening {
                self.on_capable_syn_ack(segment, now);
            } else if was == State::SynReceived {
                self.on_established();
                if self.mode == Mode::Multipath {
                    // With both keys shown the server knows that the client speaks MPTCP.
                    self.confirm(now);
                }
            }
            self.judge_first_answer(segment, now);
        }
        if matches!(self.subflows[index].stage, Stage::Joining | Stage::PreEstablished)
            && self.subflows[index].tcp.state().is_synchronised()
        {
            self.on_join_progress(index, segment, now);
            if self.subflows[index].is_closed() {
                // It could not prove itself: nothing of what it says counts.
                return;
            }
        }
        if self.mode == Mode::Multipath {
            self.judge_silence(index, segment, now);
            if self.subflows[index].is_closed() {
                return;
            }
        }
        match self.mode {
            Mode::Multipath => self.on_data_level(index, segment),
            Mode::Plain | Mode::Infinite { .. } => self.on_plain_progress(index),
            Mode::Opening => {}
        }
        for option in &segment.options.mptcp {
            self.on_option(index, option, now);
        }
    }

    /// DATA_ACK, window and DATA_FIN.
    fn on_data_level(&mut self, index: usize, segment: &TcpSegment) {
        let window = self.subflows[index].tcp.peer_window(segment);
        let Some(dss) = &segment.options.dss else {
            // The window in the handshake of a join says nothing of the one that all subflows share: Linux offers a fresh one
            // there, and drops what comes beyond the other.
            let opening = index == 0 && segment.flags.contains(TcpFlags::SYN);
            if opening || !self.confirmed || capable_of(segment).is_some() {
                self.send.window_end = self.send.window_end.max(self.send.una + window);
            }
            return;
        };
        if let Some(ack) = dss.data_ack {
            let acknowledged = self.local_key.offset(ack.value, ack.wide, self.send.una);
            self.on_data_ack(acknowledged, window);
        }
        if let (Some(mapping), true) = (&dss.mapping, dss.data_fin)
            && let Some(start) = self.data_offset(mapping)
        {
            self.on_data_fin(start + u64::from(mapping.length).saturating_sub(1));
            self.subflows[index].tcp.request_ack();
        }
    }

    /// The data offset at which `mapping` begins; `None` where that lies beyond the window.
    pub(super) fn data_offset(&self, mapping: &Mapping) -> Option<u64> {
        let offset = self.remote_key?.offset(mapping.data_sequence, mapping.wide, self.receive.next);
        (offset <= self.receive.window.right_edge() + BEYOND_WINDOW).then_some(offset)
    }

    /// Where the payload of `segment` belongs.
    fn place(&mut self, index: usize, segment: &TcpSegment, now: Instant) -> Placement {
        if let Some(mapping) = segment.options.dss.and_then(|dss| dss.mapping).filter(|mapping| mapping.length == 0) {
            self.on_infinite_mapping(index, &mapping, now);
        }
        if segment.payload.length == 0 || segment.flags.contains(TcpFlags::SYN) {
            return Placement::Empty;
        }
        match self.mode {
            Mode::Opening => Placement::Drop,
            Mode::Plain => Placement::Empty,
            Mode::Infinite { .. } => self.place_infinite(index, segment),
            Mode::Multipath => self.place_mapped(index, segment),
        }
    }

    pub(super) fn place_mapped(&mut self, index: usize, segment: &TcpSegment) -> Placement {
        let Some(offset) = self.subflows[index].tcp.offset_of(segment) else { return Placement::Drop };
        let length = u64::from(segment.payload.length);
        let Some((start, mut mapping)) = self.mapping_of(index, segment) else {
            return self.place_by_stored(index, offset, length, segment.payload.sum);
        };
        let (Some(remote), Some(data)) = (self.remote_key, self.data_offset(&mapping)) else { return Placement::Drop };
        mapping.data_sequence = remote.data_sequence(data);
        let fin = u64::from(segment.options.dss.is_some_and(|dss| dss.data_fin));
        let whole = start == offset && u64::from(mapping.length) - fin.min(u64::from(mapping.length)) == length;
        if whole {
            return if mapping.is_intact(segment.payload.sum) { Placement::At(data) } else { Placement::Broken(data) };
        }
        let stored = &mut self.subflows[index].mappings;
        if !stored.iter().any(|known| known.start == start) {
            stored.push_back(ReceivedMapping::new(start, data, mapping));
        }
        self.place_by_stored(index, offset, length, segment.payload.sum)
    }

    /// The mapping that `segment` itself carries, with the subflow offset at which it begins.
    fn mapping_of(&self, index: usize, segment: &TcpSegment) -> Option<(u64, Mapping)> {
        let proper = |mapping: &Mapping| mapping.subflow_sequence != 0 && mapping.length > 0;
        if let Some(mapping) = segment.options.dss.and_then(|dss| dss.mapping).filter(proper) {
            return Some((self.subflow_offset(index, mapping.subflow_sequence), mapping));
        }
        let capable = capable_of(segment)?;
        let mapping = Mapping {
            data_sequence: self.remote_key?.data_sequence(0),
            wide: true,
            subflow_sequence: 1,
            length: capable.data_length?,
            checksum: capable.checksum,
        };
        Some((0, mapping))
    }

    fn place_by_stored(&mut self, index: usize, offset: u64, length: u64, sum: u16) -> Placement {
        let done = self.subflows[index].tcp.counters().bytes_received;
        let stored = &mut self.subflows[index].mappings;
        while stored.front().is_some_and(|mapping| mapping.end <= done) {
            stored.pop_front();
        }
        let Some(mapping) = stored.iter_mut().find(|mapping| mapping.data_of(offset).is_some()) else {
            // Data that TCP has already taken in needs no mapping any more.
            return if offset + length <= done { Placement::At(0) } else { Placement::Unmapped };
        };
        let data = mapping.data_of(offset).expect("just found");
        match mapping.add(offset, length, sum) {
            Verdict::Broken => Placement::Broken(mapping.data),
            Verdict::Pending | Verdict::Intact => Placement::At(data),
        }
    }

    /// Subflow offset of relative subflow sequence number `relative`, which counts from 1 and wraps at 32 bits.
    pub(super) fn subflow_offset(&self, index: usize, relative: u32) -> u64 {
        let near = self.subflows[index].tcp.counters().bytes_received;
        let delta = relative.wrapping_sub(1).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(i64::from(delta))
    }

    /// Data without a mapping: the peer fell back, or a middlebox took the option away (RFC 8684, section 3.7).
    fn on_unmapped(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        let alone = self.is_sole_carrier(index);
        if alone && self.receive.next == 0 && capable_of(segment).is_none() {
            self.fall_back(now);
            return self.handle_segment(index, segment, now);
        }
        if alone && matches!(self.mode, Mode::Multipath) {
            self.map_in_sequence(index, now);
            return self.handle_segment(index, segment, now);
        }
        self.reset_subflow(index, ResetReason::MIDDLEBOX_INTERFERENCE, now);
    }

    /// Moves what the subflow has in order to the data level.
    fn collect_data(&mut self, index: usize, now: Instant) {
        if !self.subflows[index].tcp.has_received() {
            return;
        }
        let mut ready = core::mem::take(&mut self.scratch);
        self.subflows[index].tcp.take_received(&mut ready);
        if self.mode == Mode::Plain {
            for range in ready.drain(..) {
                let length = range.end - range.start;
                self.subflows[index].bytes_received += length;
                self.receive.next += length;
                self.stream.on_received(length);
            }
            if !self.stream.reading {
                self.subflows[index].tcp.set_unread(self.stream.unread(), now);
            }
        } else {
            for range in ready.drain(..).filter(|range| range.start < DISCARD) {
                self.on_data(index, range, now);
            }
        }
        self.scratch = ready;
    }

    fn on_option(&mut self, index: usize, option: &MptcpOption, now: Instant) {
        match option {
            MptcpOption::AddAddress(announced) => self.on_add_address(index, announced, now),
            MptcpOption::RemoveAddress(ids) => self.on_remove_address(ids, now),
            MptcpOption::Priority { backup } => self.on_priority(index, *backup),
            MptcpOption::Fail { data_sequence } => self.on_fail(index, *data_sequence, now),
            MptcpOption::FastClose { receiver_key } => self.on_fast_close(index, false, *receiver_key),
            // The joiner repeats its third ACK until it sees an acknowledgment.
            MptcpOption::Join(_) => self.subflows[index].tcp.request_ack(),
            MptcpOption::Capable(_) | MptcpOption::Reset(_) => {}
        }
    }
}

/// The MP_TCPRST of a segment.
fn reset_reason_of(segment: &TcpSegment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Reset(reason) => Some(*reason),
        _ => None,
    })
}
