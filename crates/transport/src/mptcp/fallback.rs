//! Fallback to plain TCP, the infinite mapping and MP_FAIL (RFC 8684, section 3.7).

use subflow_quantity::Instant;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{Mapping, MptcpOption, ResetReason};

use super::Connection;
use super::infinite_mappings::{InfiniteMappings, SentMapping};
use super::payload_placement::Placement;
use super::phase::Mode;
use super::received_mappings::DISCARD;
use crate::Event;

impl Connection {
    /// The peer does not support MPTCP, or a middlebox removed the options: the initial subflow continues as plain TCP.
    pub(super) fn fall_back(&mut self, now: Instant) {
        self.phase.fall_back();
        self.subflows.touch(0).continue_as_plain_tcp();
        self.emit(Event::FellBack);
        self.drop_other_subflows(0, now);
    }

    /// Closes all subflows except `index`, with which the connection continues. Pending joins are reset, and address
    /// announcements end.
    fn drop_other_subflows(&mut self, index: usize, now: Instant) {
        for other in (0..self.subflows.len()).filter(|&other| other != index) {
            if !self.subflows[other].is_closed() {
                self.reset_subflow(other, ResetReason::MPTCP_SPECIFIC, now);
            }
        }
        self.subflows[index].clear_signals();
        self.announcements.stop();
    }

    /// The checksum of a mapping of subflow byte `offset`, which begins at data offset `data`, is wrong. If there are
    /// other subflows, this one is reset. Otherwise the connection falls back. If the subflow is the only one that ever
    /// carried data, its stream is the data, and what a middlebox has altered is kept; if not, everything that has not
    /// arrived in order is requested again.
    pub(super) fn on_checksum_failure(&mut self, index: usize, data: u64, offset: u64, now: Instant) {
        self.counters.checksum_failures += 1;
        let others = self.subflows.has_others(index);
        if !others && self.phase.has_sole_carrier() {
            self.send_infinite(index, None, now);
            if let Some(infinite) = self.phase.infinite_mut() {
                infinite.report(data);
                self.subflows[index].tcp.request_ack();
            }
            return;
        }
        self.subflows[index].mappings.give_up(offset);
        if others {
            let fail = self.fail_option(data);
            self.subflows[index].reset_with(vec![fail, MptcpOption::Reset(ResetReason::MIDDLEBOX_INTERFERENCE)]);
            return self.close_subflow_with_reset(index, now);
        }
        self.send_infinite(index, None, now);
        self.refuse_data(index, offset);
    }

    /// Sends MP_FAIL until the peer starts a new infinite mapping: byte `offset` of subflow `index` belongs to data
    /// that this side cannot accept. No MP_FAIL is needed if such a mapping already starts beyond the byte, since the
    /// data is then sent again.
    pub(super) fn refuse_data(&mut self, index: usize, offset: u64) {
        if let Some(infinite) = self.phase.infinite_mut()
            && infinite.refuse(offset, self.receive.next())
        {
            self.subflows[index].tcp.request_ack();
        }
    }

    /// Whether data was refused, or there is a hole before data that has arrived.
    pub(super) fn misses_data(&self) -> bool {
        let refuses = self.failed_at().is_some() && !self.phase.has_sole_carrier();
        refuses || self.receive.has_hole()
    }

    fn fail_option(&self, data: u64) -> MptcpOption {
        MptcpOption::Fail { data_sequence: self.phase.remote_key().map_or(0, |key| key.data_sequence(data)) }
    }

    /// This side's MP_FAIL, until it is answered.
    pub(super) fn fail_signal(&self) -> Option<MptcpOption> {
        Some(self.fail_option(self.failed_at()?))
    }

    fn failed_at(&self) -> Option<u64> {
        self.phase.infinite()?.failed_at()
    }

    /// Processes the peer's MP_FAIL: a checksum of the data from `sequence` on was wrong. From now on data is sent under
    /// an infinite mapping. The peer has kept the data if the subflow is the only one that ever carried any. Otherwise it
    /// has refused it, and it is sent again.
    pub(super) fn on_fail(&mut self, index: usize, sequence: u64, now: Instant) {
        if self.subflows.has_others(index) {
            return;
        }
        let keeps = self.phase.has_sole_carrier();
        if let Some(infinite) = self.phase.infinite_mut().filter(|_| keeps) {
            // The answer to the MP_FAIL of this side, or a repetition.
            return infinite.on_answer();
        }
        let offset = self.local_key.offset(sequence, true, self.send.una());
        if offset > self.send.next() {
            return;
        }
        if self.phase.infinite_mut().is_some_and(|infinite| !infinite.on_refused(offset)) {
            return;
        }
        if self.subflows[index].tcp.is_finishing() {
            // Nothing can be sent after the FIN. The FIN was not sent before all mapped data was acknowledged, so this
            // MP_FAIL can only be the answer to one of this side.
            return;
        }
        let unsolicited = self.phase.is_multipath();
        let again = (!keeps).then_some(offset.max(self.send.una()));
        self.send_infinite(index, again, now);
        let expected = self.fail_option(self.receive.next());
        let Some(infinite) = self.phase.infinite_mut().filter(|_| unsolicited) else { return };
        infinite.on_refused(offset);
        if !self.subflows[index].is_closed() {
            // An MP_FAIL is answered with an MP_FAIL: Linux resets a subflow on which the answer is missing.
            if !keeps {
                infinite.request(self.receive.next());
            }
            self.subflows[index].signal(expected);
        }
    }

    /// From now on data is sent on `index` only and without mappings. If `again` is given, all data from this offset on
    /// is sent again. If no other subflow has ever carried data, what arrives is data in its order, without mappings,
    /// too: the connection goes on as TCP in both directions.
    fn send_infinite(&mut self, index: usize, mut again: Option<u64>, now: Instant) {
        let falls_back = self.phase.infinite().is_none();
        if falls_back {
            // Data that was lost with other subflows is sent again as well, since nothing is reinjected after a
            // fallback.
            again = again.or_else(|| self.send.first_not_carried_by(index));
        } else if again.is_none() {
            return;
        }
        self.subflows.touch(index);
        if let Some(from) = again {
            self.subflows[index].tcp.discard_unsent(0);
            self.send.rewind(from);
        }
        self.phase.send_without_mappings(index, self.subflows[index].tcp.push_offset(), self.send.next());
        if falls_back && self.phase.has_sole_carrier() {
            let acknowledged = self.send.una();
            let (start, data) = self.take_as_stream(index, now);
            if let Some(infinite) = self.phase.infinite_mut() {
                infinite.receive_all(start, data);
                if again.is_none() {
                    infinite.act_from(acknowledged);
                }
            }
        }
        if falls_back {
            self.emit(Event::FellBack);
            self.drop_other_subflows(index, now);
        }
    }

    /// Passes all that subflow `index` has in order to the data level, also what waits for the checksum of its mapping.
    /// Returns a byte of its stream, and the data offset of this byte.
    fn take_as_stream(&mut self, index: usize, now: Instant) -> (u64, u64) {
        let done = self.subflows[index].tcp.counters().bytes_received;
        let waiting = self.subflows[index].mappings.first_waiting(done);
        self.subflows[index].mappings.waive();
        if let Some((start, data)) = waiting {
            self.on_data(index, data..data + (done - start), now);
            return (start, data);
        }
        self.collect_data(index, now);
        (done, self.receive.next())
    }

    /// The subflow on which data is sent without mappings after a fallback, and the first subflow offset without a
    /// mapping.
    pub(super) fn unmapped_from(&self) -> Option<(usize, u64)> {
        match self.phase.mode() {
            Mode::Plain => Some((0, 0)),
            Mode::Infinite(infinite) => Some((infinite.subflow(), infinite.first_unmapped())),
            Mode::Opening | Mode::Multipath(_) => None,
        }
    }

    /// The mapping of a data segment at subflow offset `offset`: before the infinite mapping its own, at the start of
    /// the infinite mapping that one, and none beyond.
    pub(super) fn infinite_mapping(&mut self, offset: u64, segment: &TcpSegment) -> Option<Mapping> {
        let end = offset + u64::from(segment.payload.length);
        match self.phase.infinite_mut()?.mapping_of(offset, end) {
            SentMapping::Own => Some(self.mapping(offset, segment)),
            SentMapping::BeginsInfinite(start, data) => Some(Mapping {
                data_sequence: self.local_key.data_sequence(data),
                wide: true,
                subflow_sequence: (start + 1) as u32,
                length: 0,
                checksum: self.negotiated.has_checksum().then_some(0),
            }),
            SentMapping::Covered => None,
        }
    }

    /// Processes the peer's infinite mapping in a segment at subflow offset `offset`. Returns whether the segment may
    /// be placed; this is false if there is no room for the mapping.
    pub(super) fn on_infinite_mapping(&mut self, index: usize, mapping: &Mapping, offset: u64, now: Instant) -> bool {
        let is_join_under_way = index > 0 && !self.subflows[index].is_established();
        if !matches!(self.phase.mode(), Mode::Multipath(_) | Mode::Infinite(_))
            || self.subflows.has_others(index)
            || is_join_under_way
        {
            return true;
        }
        let start = self.subflow_offset(index, mapping.subflow_sequence);
        let Some(data) = self.data_offset(mapping).filter(|_| start <= offset) else { return true };
        self.send_infinite(index, None, now);
        let alone = self.phase.has_sole_carrier();
        let goes_on = |infinite: &&mut InfiniteMappings| alone && infinite.data_of(start) == Some(data);
        if let Some(infinite) = self.phase.infinite_mut().filter(goes_on) {
            infinite.on_answer();
            return true;
        }
        let has_room = self.map_from(index, start, data);
        if let Some(infinite) = self.phase.infinite_mut().filter(|_| has_room) {
            infinite.on_restart_of_peer(data);
        }
        has_room
    }

    /// Records that the bytes of subflow `index` from offset `start` on are data from offset `data` on. Returns whether
    /// there was room.
    fn map_from(&mut self, index: usize, start: u64, data: u64) -> bool {
        let done = self.subflows[index].tcp.counters().bytes_received;
        self.subflows[index].mappings.cut(start);
        self.phase.infinite_mut().is_some_and(|infinite| infinite.receive_from(start, data, done))
    }

    /// Data without a mapping arrived on the only subflow that the connection ever had: a middlebox removes the
    /// options. The bytes of the subflow are the data. Acknowledgments without DATA_ACK inform the peer.
    pub(super) fn go_on_without_mappings(&mut self, index: usize, now: Instant) {
        self.send_infinite(index, None, now);
    }

    /// Checks a segment whose payload no mapping covers for missing options: an MPTCP peer sends them. If the subflow is
    /// the only one that the connection ever had, the peer has fallen back. Otherwise the subflow is reset, since
    /// nothing shows what arrived at the data level.
    pub(super) fn check_missing_options(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        let options = &segment.options;
        let silent = options.dss.is_none() && options.mptcp.is_empty();
        if !silent || !self.phase.is_confirmed() || self.is_done() {
            return;
        }
        if self.phase.has_sole_carrier() {
            self.go_on_without_mappings(index, now);
        } else if self.subflows[index].is_established() {
            self.reset_subflow(index, ResetReason::MIDDLEBOX_INTERFERENCE, now);
        }
    }

    /// Derives progress at the data level from the acknowledgments of the subflow. A segment with a DSS has no room for
    /// MP_FAIL, so its DATA_ACK is used instead.
    pub(super) fn acknowledge_infinite(&mut self, index: usize, segment: &TcpSegment) {
        let una = self.send.una();
        let acknowledged = match segment.options.dss.and_then(|dss| dss.data_ack) {
            Some(ack) => {
                let offset = self.local_key.offset(ack.value, ack.wide, una);
                if offset <= self.send.next() { offset } else { una }
            }
            None => self.infinite_progress(index).unwrap_or(una),
        };
        self.send.on_plain_ack(una.max(acknowledged).min(self.stream.written));
    }

    /// The data offset up to which subflow `index` has delivered; `None` until all data with mappings is delivered.
    fn infinite_progress(&self, index: usize) -> Option<u64> {
        let acknowledged = self.subflows[index].tcp.counters().bytes_acknowledged;
        self.phase.infinite()?.delivered(acknowledged)
    }

    /// Whether a FIN may end the stream on subflow `index`: not before all data sent with mappings is acknowledged,
    /// since the peer may refuse that data (MP_FAIL) and nothing can be sent again after a FIN.
    pub(super) fn may_end_plain(&self, index: usize) -> bool {
        self.phase.is_plain() || self.infinite_progress(index).is_some()
    }

    /// Places the payload of `segment` when an infinite mapping exists or is expected.
    pub(super) fn place_infinite(&mut self, index: usize, segment: &TcpSegment, offset: u64) -> Placement {
        let Some(infinite) = self.phase.infinite() else { return Placement::Drop };
        if self.phase.has_sole_carrier()
            && let Some(data) = infinite.data_of(offset)
        {
            return Placement::At(data);
        }
        let (awaits_first, awaits_requested) = (infinite.awaits_first(), infinite.awaits_requested());
        let Some(data) = infinite.data_of(offset) else {
            return match self.place_mapped(index, segment, offset) {
                // The offset is unknown until the infinite mapping arrives. The data is retransmitted after the
                // mapping.
                Placement::Unmapped if awaits_first => Placement::Drop,
                Placement::Unmapped | Placement::Broken(_) => self.discard(index, offset),
                own => own,
            };
        };
        // The segment's own mapping applies if it has a correct one.
        let length = u64::from(segment.payload.length);
        if let Some(own) = self.mapping_of(index, segment)
            && own.covers_exactly(offset, length)
        {
            return match own.place_whole(segment.payload.sum) {
                Placement::Broken(_) => self.discard(index, offset),
                own => own,
            };
        }
        if awaits_requested && offset > self.subflows[index].tcp.counters().bytes_received {
            self.subflows[index].tcp.request_ack();
            return Placement::Drop;
        }
        Placement::At(data)
    }

    /// The subflow acknowledges the bytes, and they are discarded. MP_FAIL requests the data again.
    fn discard(&mut self, index: usize, offset: u64) -> Placement {
        self.refuse_data(index, offset);
        Placement::At(DISCARD + offset)
    }
}
