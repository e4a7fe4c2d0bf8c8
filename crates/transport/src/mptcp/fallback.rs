//! Fallback to plain TCP, the infinite mapping and MP_FAIL (RFC 8684, section 3.7).

use arrayvec::ArrayVec;
use subflow_quantity::Instant;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{Mapping, MptcpOption, ResetReason};

use super::Connection;
pub(super) use super::mode::Mode;
use super::placement::{DISCARD, Placement};
use super::subflow::Stage;
use crate::Event;

/// The most infinite mappings of the peer that are kept at a time. It begins anew where this side asks it to.
const MAX_INFINITE: usize = 8;

/// The infinite mappings of both directions: from subflow offset `.0` on, bytes are data from offset `.1` on.
///
/// Bytes before that keep the mappings they were sent with, also when they are sent again. Where they were corrupted the
/// data comes once more under the infinite mapping, and what the subflow still brings of them is discarded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Infinite {
    /// This side's.
    send: Option<(u64, u64)>,
    /// The peer's that still apply, in ascending order: more than one where it had to begin anew.
    receive: ArrayVec<(u64, u64), MAX_INFINITE>,
    /// The data offset that this side's MP_FAIL names. It is said with every acknowledgment until the peer begins an
    /// infinite mapping there: an acknowledgment may be lost.
    pub(crate) failed_at: Option<u64>,
    /// The data offset that an MP_FAIL of this side, also one that answers the peer's, named and from which the peer has not
    /// begun anew. It may: which mapping bytes beyond a hole have is not known until then.
    requested: Option<u64>,
    /// The data offset that the peer's MP_FAIL named.
    peer_failed_at: Option<u64>,
}

impl Connection {
    /// The peer does not speak MPTCP, or a middlebox took the options away: the initial subflow goes on as plain TCP.
    pub(super) fn fall_back(&mut self, now: Instant) {
        self.mode = Mode::Plain;
        self.confirmed = false;
        let subflow = &mut self.subflows[0];
        subflow.stage = Stage::Established;
        subflow.tcp.reserve_options(0);
        self.emit(Event::FellBack);
        self.touch(0);
        self.drop_other_subflows(0, now);
    }

    /// Whether no subflow but the initial one can ever have carried data: its bytes are the data, in order. Neither
    /// side repeats data on it then ([`ask_for_data_ack`](Self::ask_for_data_ack)).
    pub(super) fn has_sole_carrier(&self) -> bool {
        !self.joined
    }

    /// The connection goes on with subflow `index` alone: joins that are still under way come too late, and addresses
    /// are of no more use.
    fn drop_other_subflows(&mut self, index: usize, now: Instant) {
        for other in (0..self.subflows.len()).filter(|&other| other != index) {
            if !self.subflows[other].is_closed() {
                self.reset_subflow(other, ResetReason::MPTCP_SPECIFIC, now);
            }
        }
        self.subflows[index].signals.clear();
        self.addresses.repeat_at = None;
    }

    fn has_other_subflows(&self, index: usize) -> bool {
        self.subflows.iter().enumerate().any(|(i, subflow)| i != index && subflow.is_established())
    }

    /// A mapping of subflow byte `offset` cannot be verified; it begins at data offset `data`. With other subflows this one is
    /// reset. Alone it falls back, and everything that has not arrived in order is asked for again.
    pub(super) fn on_checksum_failure(&mut self, index: usize, data: u64, offset: u64, now: Instant) {
        self.counters.checksum_failures += 1;
        self.subflows[index].mappings.give_up(offset);
        if self.has_other_subflows(index) {
            let fail = self.fail_option(data);
            self.subflows[index].reset_with = vec![fail, MptcpOption::Reset(ResetReason::MIDDLEBOX_INTERFERENCE)];
            return self.close_subflow_with_reset(index, now);
        }
        self.refuse_data(index, offset);
        self.enter_infinite(index, None, now);
    }

    /// Says MP_FAIL until the peer begins anew: byte `offset` of subflow `index` belongs to data that this side cannot
    /// take. Nothing is to be said where the peer has begun anew behind it, so that the data comes again.
    pub(super) fn refuse_data(&mut self, index: usize, offset: u64) {
        let next = self.receive.next;
        if self.infinite.receive.iter().any(|&(start, data)| start > offset && data <= next) {
            return;
        }
        self.infinite.failed_at = Some(next);
        self.infinite.requested = Some(next);
        self.subflows[index].tcp.request_ack();
    }

    /// Whether data was refused, or is missing before what has arrived.
    pub(super) fn misses_data(&self) -> bool {
        self.infinite.failed_at.is_some() || !self.receive.held.is_empty()
    }

    fn fail_option(&self, data: u64) -> MptcpOption {
        MptcpOption::Fail { data_sequence: self.remote_key.map_or(0, |key| key.data_sequence(data)) }
    }

    /// MP_FAIL of this side, until it is answered.
    pub(super) fn fail_signal(&self) -> Option<MptcpOption> {
        Some(self.fail_option(self.infinite.failed_at?))
    }

    /// The peer's MP_FAIL: it did not accept data from `sequence` on. It is sent again under an infinite mapping.
    pub(super) fn on_fail(&mut self, index: usize, sequence: u64, now: Instant) {
        let offset = self.local_key.offset(sequence, true, self.send.una);
        let known = self.infinite.peer_failed_at == Some(offset);
        if matches!(self.mode, Mode::Plain | Mode::Opening)
            || self.has_other_subflows(index)
            || offset > self.send.next
            || known
        {
            return;
        }
        self.infinite.peer_failed_at = Some(offset);
        if self.subflows[index].tcp.is_finishing() {
            // Nothing can be sent again behind the FIN. That was not sent before all mapped data was acknowledged, so
            // this can only be the answer to an MP_FAIL of this side.
            return;
        }
        let unasked = self.mode == Mode::Multipath;
        self.enter_infinite(index, Some(offset.max(self.send.una)), now);
        if unasked && !self.subflows[index].is_closed() {
            // Answered in kind: Linux resets a subflow whose MP_FAIL is not.
            let expected = self.fail_option(self.receive.next);
            self.infinite.requested = Some(self.receive.next);
            self.subflows[index].signal(expected);
        }
    }

    /// From now on data is sent on `index` alone and without mappings: what follows, or where `again` is given, all from
    /// that data offset on.
    fn enter_infinite(&mut self, index: usize, mut again: Option<u64>, now: Instant) {
        if !matches!(self.mode, Mode::Infinite { .. }) {
            // What other subflows took along with them is sent again, too: nothing is reinjected any more.
            let lost = self.send.outstanding.iter().find(|sent| !sent.carried_by.contains(index));
            again = again.or(lost.map(|sent| sent.range.start.max(self.send.una)));
            self.mode = Mode::Infinite { subflow: index };
            self.emit(Event::FellBack);
            self.drop_other_subflows(index, now);
        } else if again.is_none() {
            return;
        }
        if let Some(from) = again {
            self.subflows[index].tcp.discard_unsent(0);
            self.send.rewind(from);
        }
        self.infinite.send = Some((self.subflows[index].tcp.push_offset(), self.send.next));
        self.touch(index);
    }

    /// Where a connection that fell back sends without mappings: the subflow, and from which offset of it on.
    pub(super) fn unmapped_from(&self) -> Option<(usize, u64)> {
        match self.mode {
            Mode::Plain => Some((0, 0)),
            Mode::Infinite { subflow } => Some((subflow, self.infinite.send?.0)),
            Mode::Opening | Mode::Multipath => None,
        }
    }

    /// The mapping of a data segment at subflow offset `offset`: its own before the infinite one, that one at its first
    /// segment, then none.
    pub(super) fn infinite_mapping(&mut self, offset: u64, segment: &TcpSegment) -> Option<Mapping> {
        let (mut start, mut data) = self.infinite.send?;
        let end = offset + u64::from(segment.payload.length);
        if offset < start && start < end {
            // What was queued before and what came after share a segment, which has a mapping of its own.
            (start, data) = (end, data + (end - start));
            self.infinite.send = Some((start, data));
        }
        match offset.cmp(&start) {
            core::cmp::Ordering::Less => Some(self.mapping(offset, segment)),
            core::cmp::Ordering::Equal => Some(Mapping {
                data_sequence: self.local_key.data_sequence(data),
                wide: true,
                subflow_sequence: (start + 1) as u32,
                length: 0,
                checksum: self.checksum.then_some(0),
            }),
            core::cmp::Ordering::Greater => None,
        }
    }

    /// The peer's infinite mapping, on a segment at subflow offset `offset`. Returns whether the segment may be placed: not
    /// where there is no room for the mapping.
    pub(super) fn on_infinite_mapping(&mut self, index: usize, mapping: &Mapping, offset: u64, now: Instant) -> bool {
        if !matches!(self.mode, Mode::Multipath | Mode::Infinite { .. }) || self.has_other_subflows(index) {
            return true;
        }
        let start = self.subflow_offset(index, mapping.subflow_sequence);
        let Some(data) = self.data_offset(mapping).filter(|_| start <= offset) else { return true };
        if !self.map_from(index, start, data) {
            return false;
        }
        self.enter_infinite(index, None, now);
        if self.infinite.failed_at.is_some_and(|failed| data <= failed) {
            self.infinite.failed_at = None;
        }
        if self.infinite.requested.is_some_and(|requested| data <= requested) {
            self.infinite.requested = None;
        }
        true
    }

    /// Notes that the bytes of subflow `index` from offset `start` on are data from offset `data` on. Returns whether there was
    /// room.
    fn map_from(&mut self, index: usize, start: u64, data: u64) -> bool {
        let done = self.subflows[index].tcp.counters().bytes_received;
        let known = &mut self.infinite.receive;
        // Of those that begin below what has arrived only the last one still applies.
        let past = known.partition_point(|&(start, _)| start <= done);
        known.drain(..past.saturating_sub(1));
        self.subflows[index].mappings.cut(start);
        let at = known.partition_point(|&(known, _)| known < start);
        known.get(at).is_some_and(|&(known, _)| known == start) || known.try_insert(at, (start, data)).is_ok()
    }

    /// Data without a mapping on the only subflow there ever was: options are being taken away. Its bytes are the data, so
    /// it goes on where it stands; the acknowledgments, which have no DATA_ACK from now on, tell the peer.
    pub(super) fn map_in_sequence(&mut self, index: usize, now: Instant) {
        self.enter_infinite(index, None, now);
        let done = self.subflows[index].tcp.counters().bytes_received;
        self.map_from(index, done, self.receive.next);
    }

    /// A subflow says nothing of MPTCP any more, though every segment of a peer that speaks it does. Where it is the only one
    /// there ever was, the peer goes on without; else it is of no use, since nothing tells what arrived at the data level.
    pub(super) fn check_missing_options(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        let options = &segment.options;
        let silent = options.dss.is_none() && options.mptcp.is_empty();
        if !silent || !self.confirmed || self.is_done() {
            return;
        }
        if self.has_sole_carrier() {
            self.map_in_sequence(index, now);
        } else if self.subflows[index].is_established() && self.has_other_subflows(index) {
            self.reset_subflow(index, ResetReason::MIDDLEBOX_INTERFERENCE, now);
        }
    }

    /// Progress at the data level by the subflow's acknowledgments. Beside a DSS there is no room for MP_FAIL, so there
    /// the DATA_ACK counts.
    pub(super) fn acknowledge_infinite(&mut self, index: usize, segment: &TcpSegment) {
        let una = self.send.una;
        let acknowledged = match segment.options.dss.and_then(|dss| dss.data_ack) {
            Some(ack) => {
                let offset = self.local_key.offset(ack.value, ack.wide, una);
                if offset <= self.send.next { offset } else { una }
            }
            None => self.infinite_progress(index).unwrap_or(una),
        };
        self.send.una = una.max(acknowledged).min(self.stream.written);
    }

    /// The data offset up to which subflow `index` has delivered; `None` while it has not delivered all that was
    /// mapped.
    fn infinite_progress(&self, index: usize) -> Option<u64> {
        let acknowledged = self.subflows[index].tcp.counters().bytes_acknowledged;
        let (start, data) = self.infinite.send.filter(|&(start, _)| acknowledged >= start)?;
        Some(data + (acknowledged - start))
    }

    /// Whether a FIN may end the stream on subflow `index`: not before all that was sent with mappings is acknowledged,
    /// since the peer may refuse it (MP_FAIL) and nothing can be sent again behind a FIN.
    pub(super) fn may_end_plain(&self, index: usize) -> bool {
        self.mode == Mode::Plain || self.infinite_progress(index).is_some()
    }

    /// Where the payload of `segment` belongs once there is an infinite mapping, or one must come.
    pub(super) fn place_infinite(&mut self, index: usize, segment: &TcpSegment, offset: u64) -> Placement {
        let Some(&(start, data)) = self.infinite.receive.iter().rfind(|&&(start, _)| start <= offset) else {
            return match self.place_mapped(index, segment, offset) {
                // Without the infinite mapping nobody knows what it is: it will come again after the mapping.
                Placement::Unmapped if self.infinite.receive.is_empty() => Placement::Drop,
                Placement::Unmapped | Placement::Broken(_) => self.discard(index, offset),
                own => own,
            };
        };
        // The segment's own mapping, where it has one that is right.
        let length = u64::from(segment.payload.length);
        if let Some(Some(own)) = self.mapping_of(index, segment)
            && own.covers_exactly(offset, length)
        {
            return match own.place_whole(segment.payload.sum) {
                Placement::Broken(_) => self.discard(index, offset),
                own => own,
            };
        }
        if self.infinite.requested.is_some() && offset > self.subflows[index].tcp.counters().bytes_received {
            self.subflows[index].tcp.request_ack();
            return Placement::Drop;
        }
        Placement::At(data + (offset - start))
    }

    /// The subflow acknowledges the segment's bytes and nobody gets them; the peer hears that it has to send the data
    /// again.
    fn discard(&mut self, index: usize, offset: u64) -> Placement {
        self.refuse_data(index, offset);
        Placement::At(DISCARD + offset)
    }
}
