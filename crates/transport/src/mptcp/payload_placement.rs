//! Placement of the payload of acceptable segments at the data level (RFC 8684, sections 3.3.1 and 3.7).

use subflow_quantity::Instant;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Capable, Dss, Mapping, ResetReason};

use super::Connection;
use super::handshake::capable_of;
use super::keys::Key;
use super::phase::Mode;
use super::received_mappings::{DISCARD, Fit, ReceivedMapping};

/// The place of a segment's payload at the data level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// As in the subflow's stream: there is no payload, or the connection is plain TCP.
    SubflowStream,
    /// At this data offset.
    At(u64),
    /// Only the first `length` bytes have a place, at offset `data`; the rest has no mapping.
    Prefix { data: u64, length: u64 },
    /// At this data offset, once the checksum of the whole mapping is verified.
    Piece(u64),
    /// At this data offset. All of the data was accepted before.
    Repeated(u64),
    /// No mapping covers it.
    Unmapped,
    /// The checksum of its mapping is wrong, or cannot be verified; the mapping begins at this data offset.
    Broken(u64),
    /// The payload is not accepted now and is treated as lost.
    Drop,
}

impl Connection {
    /// Places the payload of `segment`, whose first byte is byte `offset` of the stream of subflow `index`.
    pub(super) fn place(&mut self, index: usize, segment: &TcpSegment, offset: u64, now: Instant) -> Placement {
        if segment.payload.length == 0 || segment.flags.contains(TcpFlags::SYN) {
            return Placement::SubflowStream;
        }
        let mapping = segment.options.dss.as_ref().and_then(|dss| dss.mapping.as_ref());
        if let Some(mapping) = mapping.filter(|mapping| mapping.length == 0)
            && !self.on_infinite_mapping(index, mapping, offset, now)
        {
            return Placement::Drop;
        }
        match self.phase.mode() {
            Mode::Opening => Placement::Drop,
            Mode::Plain => Placement::SubflowStream,
            Mode::Infinite(_) => self.place_infinite(index, segment, offset),
            Mode::Multipath(_) => self.place_mapped(index, segment, offset),
        }
    }

    /// Places the payload by the mapping that the segment carries, or by one received before.
    pub(super) fn place_mapped(&mut self, index: usize, segment: &TcpSegment, offset: u64) -> Placement {
        if let Some(data) = self.place_directly(index, segment, offset) {
            return Placement::At(data);
        }
        let length = u64::from(segment.payload.length);
        let Some(own) = self.mapping_of(index, segment) else { return self.place_by_known(index, offset, length) };
        if own.covers_exactly(offset, length) && self.subflows[index].mappings.is_empty() {
            return own.place_whole(segment.payload.sum);
        }
        self.place_by_own(index, own, segment, offset)
    }

    /// The data offset of the payload, if the segment's own mapping covers exactly the payload and there is nothing to
    /// verify and no other mapping: what most segments carry.
    #[inline]
    fn place_directly(&self, index: usize, segment: &TcpSegment, offset: u64) -> Option<u64> {
        let Some(Dss { mapping: Some(mapping), data_fin: false, .. }) = &segment.options.dss else { return None };
        let sequence = (offset + 1) as u32;
        let covers_exactly = mapping.subflow_sequence == sequence
            && sequence != 0
            && u32::from(mapping.length) == segment.payload.length
            && mapping.checksum.is_none();
        if !covers_exactly || !self.subflows[index].mappings.is_empty() {
            return None;
        }
        self.data_offset(mapping)
    }

    /// Places the payload by the segment's mapping if the mapping covers several segments, or if a mapping of several
    /// segments is unfinished.
    #[cold]
    fn place_by_own(&mut self, index: usize, own: ReceivedMapping, segment: &TcpSegment, offset: u64) -> Placement {
        let length = u64::from(segment.payload.length);
        let done = self.subflows[index].tcp.counters().bytes_received;
        let lies_within = (own.start..own.end).contains(&offset);
        let mappings = &mut self.subflows[index].mappings;
        let known = mappings.around(offset).is_some();
        if !lies_within || known || offset + length <= done {
            return self.place_by_known(index, offset, length);
        }
        if own.covers_exactly(offset, length) {
            return own.place_whole(segment.payload.sum);
        }
        if own.start >= done && mappings.keep(own.clone()) {
            return self.place_by_known(index, offset, length);
        }
        match own.fit(offset, length) {
            Fit::Within => Placement::At(own.data_of(offset)),
            Fit::Prefix(length) => Placement::Prefix { data: own.data_of(offset), length },
            // The peer retransmits it, and by then there may be room to verify it.
            _ if own.start >= done => Placement::Drop,
            // The bytes before it were accepted under another mapping.
            _ => Placement::Broken(own.data),
        }
    }

    fn place_by_known(&mut self, index: usize, offset: u64, length: u64) -> Placement {
        let subflow = &self.subflows[index];
        let Some(mapping) = subflow.mappings.around(offset) else {
            // Data that TCP has already accepted needs no mapping any more.
            let old = offset + length <= subflow.tcp.counters().bytes_received;
            return if old { Placement::At(0) } else { Placement::Unmapped };
        };
        let data = mapping.data_of(offset);
        match subflow.mappings.fit(mapping, offset, length) {
            Fit::Within => Placement::At(data),
            Fit::Prefix(length) => Placement::Prefix { data, length },
            // TCP accepts the part that is new only, and the sum is that of the whole. The acknowledgment says where the
            // peer has to begin.
            Fit::Piece if offset < subflow.tcp.counters().bytes_received => {
                self.subflows[index].tcp.request_ack();
                Placement::Drop
            }
            Fit::Piece => Placement::Piece(data),
            Fit::Repeated => Placement::Repeated(data),
            Fit::Broken => Placement::Broken(mapping.data),
            Fit::NoRoom => Placement::Drop,
        }
    }

    /// The mapping that `segment` carries, if any. Data beyond the data-level window is acknowledged on the subflow and
    /// discarded, as in Linux (`__mptcp_move_skb`): if the subflow refused it, nothing behind it could arrive there, not
    /// even the data that fills the hole at the data level.
    pub(super) fn mapping_of(&self, index: usize, segment: &TcpSegment) -> Option<ReceivedMapping> {
        let remote = self.phase.remote_key()?;
        let proper = |mapping: &Mapping| mapping.subflow_sequence != 0 && mapping.length > 0;
        let (mut mapping, start, fin) = match segment.options.dss {
            Some(Dss { mapping: Some(mapping), data_fin, .. }) if proper(&mapping) => {
                (mapping, self.subflow_offset(index, mapping.subflow_sequence), data_fin)
            }
            _ => (initial_mapping(capable_of(segment)?, remote)?, 0, false),
        };
        let offset = remote.offset(mapping.data_sequence, mapping.wide, self.receive.next());
        mapping.data_sequence = remote.data_sequence(offset);
        let covered = u64::from(mapping.length) - u64::from(fin);
        if self.receive.may_begin_at(offset) {
            return Some(ReceivedMapping::new(start, covered, offset, mapping));
        }
        // What is discarded needs no check.
        mapping.checksum = None;
        Some(ReceivedMapping::new(start, covered, DISCARD + start, mapping))
    }

    /// The data offset at which `mapping` begins; `None` if it is beyond the window.
    pub(super) fn data_offset(&self, mapping: &Mapping) -> Option<u64> {
        let offset = self.phase.remote_key()?.offset(mapping.data_sequence, mapping.wide, self.receive.next());
        self.receive.may_begin_at(offset).then_some(offset)
    }

    /// The subflow offset of relative subflow sequence number `relative`, which starts at 1 and wraps at 32 bits.
    pub(super) fn subflow_offset(&self, index: usize, relative: u32) -> u64 {
        let near = self.subflows[index].tcp.counters().bytes_received;
        let delta = relative.wrapping_sub(1).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(i64::from(delta))
    }

    /// Processes data without a mapping: the peer has fallen back, or a middlebox removed the option (RFC 8684, section
    /// 3.7). Returns whether to place the segment again, because the connection continues without mappings. Data beyond
    /// a hole causes no decision: the segment that fills the hole may carry the mapping.
    pub(super) fn on_unmapped(&mut self, index: usize, segment: &TcpSegment, offset: u64, now: Instant) -> bool {
        let subflow = &mut self.subflows[index];
        if offset > subflow.tcp.counters().bytes_received || subflow.mappings.is_full() {
            subflow.tcp.request_ack();
            return false;
        }
        // Before the first byte is placed, the bytes of the subflow's stream are the data. Later, a mapping may have
        // placed some bytes elsewhere, in order or beyond a hole.
        let is_first = !subflow.tcp.holds_data();
        // A join, which anyone may begin, does not decide for the connection.
        let alone = index == 0 && self.phase.has_sole_carrier();
        if alone && is_first && capable_of(segment).is_none() {
            self.fall_back(now);
            return true;
        }
        if alone && self.phase.is_multipath() {
            self.go_on_without_mappings(index, now);
            return true;
        }
        self.reset_subflow(index, ResetReason::MIDDLEBOX_INTERFERENCE, now);
        false
    }
}

impl ReceivedMapping {
    /// Places a segment that covers the whole mapping; `sum` is the sum of its payload.
    pub(super) fn place_whole(&self, sum: u16) -> Placement {
        if self.is_intact(sum) { Placement::At(self.data) } else { Placement::Broken(self.data) }
    }
}

/// The mapping of the first data, from MP_CAPABLE (RFC 8684, section 3.1).
fn initial_mapping(capable: &Capable, remote: &Key) -> Option<Mapping> {
    Some(Mapping {
        data_sequence: remote.data_sequence(0),
        wide: true,
        subflow_sequence: 1,
        length: capable.data_length?,
        checksum: capable.checksum,
    })
}
