//! Mappings that cover more than one segment (RFC 8684, section 3.3.1): senders with segmentation offload map up to 64
//! KB at once. If the mapping has a checksum, its data is delivered only when all of it has arrived and the checksum is
//! correct.

use std::collections::VecDeque;

use core::ops::Range;

use subflow_wire::checksum::{ones_complement_add, sum_at_offset};
use subflow_wire::tcp::mptcp::Mapping;

/// Maximum number of mappings kept for a subflow, and of separate pieces of mappings with checksums. Data beyond the
/// bound is not accepted, and the peer retransmits it. A window of 32 MB in mappings of 64 KB fits.
const MAX_KEPT: usize = 512;

/// First of the data offsets that represent subflow bytes which are acknowledged and discarded. No stream reaches it.
pub(super) const DISCARD: u64 = 1 << 62;

/// The mappings of a subflow that its in-order data has not passed yet: disjoint, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedMappings {
    kept: VecDeque<ReceivedMapping>,
    /// Number of pieces of all mappings.
    pieces: usize,
}

/// A mapping of subflow bytes onto data bytes. Offsets count from 0.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedMapping {
    /// First subflow byte.
    pub(crate) start: u64,
    /// Subflow byte after the last. A DATA_FIN counts in the length of the mapping and is not a byte.
    pub(crate) end: u64,
    /// Data-level offset of the first byte.
    pub(crate) data: u64,
    /// The mapping as received, for the verification of its checksum.
    wire: Mapping,
    verification: Verification,
}

#[derive(Clone, Debug)]
enum Verification {
    /// It has no checksum.
    NotNeeded,
    /// The pieces that have arrived: disjoint and not adjacent, in ascending order.
    Pending(Vec<Piece>),
    Intact,
    Broken,
}

/// Subflow bytes that have arrived, with their one's-complement sum relative to the first byte of the mapping.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    sum: u16,
}

/// The relation of a segment to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The segment lies within the mapping, and nothing needs to be verified.
    Within,
    /// Only this number of its first bytes lies within the mapping.
    Prefix(u64),
    /// The segment contains bytes whose verification requires other segments: pass them to
    /// [`ReceivedMappings::add_piece`] once TCP has accepted them.
    Piece,
    /// All of its bytes were accepted before.
    Repeated,
    /// The mapping cannot be verified: its checksum is wrong, or the sender changed its segmentation, so that the sum
    /// of the overlapping bytes is unknown.
    Broken,
    /// There is no room to record it.
    NoRoom,
}

/// The treatment of bytes that the subflow has in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InOrder {
    /// They are delivered.
    Passes,
    /// They wait for the rest of their mapping.
    Waits,
    /// They complete a verified mapping: all of this data is delivered.
    Completes(Range<u64>),
    /// They are discarded, since their mapping could not be verified.
    Discarded,
}

impl ReceivedMapping {
    /// The mapping `wire`, whose first byte is subflow byte `start` and data byte `data`; `covered` subflow bytes
    /// belong to it.
    pub(crate) fn new(start: u64, covered: u64, data: u64, wire: Mapping) -> Self {
        let verification = match wire.checksum {
            Some(_) => Verification::Pending(Vec::new()),
            None => Verification::NotNeeded,
        };
        Self { start, end: start + covered, data, wire, verification }
    }

    /// Whether a segment of `length` bytes at subflow offset `offset` covers the whole mapping.
    pub(crate) fn covers_exactly(&self, offset: u64, length: u64) -> bool {
        self.start == offset && self.end == offset + length
    }

    /// Whether the one's-complement sum of all bytes that the mapping covers matches its checksum.
    pub(crate) fn is_intact(&self, sum: u16) -> bool {
        self.wire.is_intact(sum)
    }

    /// Data-level offset of subflow byte `offset`, which lies within the mapping.
    pub(crate) fn data_of(&self, offset: u64) -> u64 {
        self.data + (offset - self.start)
    }

    /// The relation of a segment of `length` bytes at subflow offset `offset`, which lies within the mapping, to the
    /// mapping.
    pub(crate) fn fit(&self, offset: u64, length: u64) -> Fit {
        let end = offset + length;
        match &self.verification {
            Verification::NotNeeded if end > self.end => Fit::Prefix(self.end - offset),
            Verification::NotNeeded => Fit::Within,
            Verification::Broken => Fit::Broken,
            Verification::Intact if end > self.end => Fit::Prefix(self.end - offset),
            Verification::Intact => Fit::Repeated,
            Verification::Pending(_) if end > self.end => Fit::Broken,
            Verification::Pending(pieces) => {
                let first = pieces.partition_point(|piece| piece.end <= offset);
                match pieces.get(first).filter(|piece| piece.start < end) {
                    None => Fit::Piece,
                    Some(piece) if piece.start <= offset && end <= piece.end => Fit::Repeated,
                    Some(_) if covers_all(&pieces[first..], offset, end) => Fit::Piece,
                    Some(_) => Fit::Broken,
                }
            }
        }
    }

    /// Adds a piece and returns the change in the number of pieces.
    fn add(&mut self, offset: u64, length: u64, sum: u16) -> isize {
        let Verification::Pending(pieces) = &mut self.verification else { return 0 };
        let mut added = Piece { start: offset, end: offset + length, sum: sum_at_offset(sum, offset - self.start) };
        let before = pieces.len();
        let first = pieces.partition_point(|piece| piece.end < added.start);
        while let Some(next) = pieces.get(first).copied().filter(|next| next.start <= added.end) {
            pieces.remove(first);
            let apart = next.end == added.start || next.start == added.end;
            // The sum already includes its bytes if the segment repeats them.
            added.sum = if apart { ones_complement_add(added.sum, next.sum) } else { added.sum };
            (added.start, added.end) = (added.start.min(next.start), added.end.max(next.end));
        }
        pieces.insert(first, added);
        let change = pieces.len() as isize - before as isize;
        if (added.start, added.end) != (self.start, self.end) {
            return change;
        }
        let intact = self.wire.is_intact(added.sum);
        self.verification = if intact { Verification::Intact } else { Verification::Broken };
        change - 1
    }
}

/// Whether `start..end` covers every piece that it touches; `pieces` begins with the first of these.
fn covers_all(pieces: &[Piece], start: u64, end: u64) -> bool {
    let mut touched = pieces.iter().take_while(|piece| piece.start < end);
    touched.all(|piece| start <= piece.start && piece.end <= end)
}

impl ReceivedMappings {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether there is no room for further mappings.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= MAX_KEPT
    }

    /// Keeps `mapping`, unless it overlaps a known mapping (the sender must not map bytes differently) or the maximum
    /// is reached. Returns whether a mapping with this start is known now.
    pub(crate) fn keep(&mut self, mapping: ReceivedMapping) -> bool {
        let at = self.kept.partition_point(|known| known.end <= mapping.start);
        match self.kept.get(at).filter(|known| known.start < mapping.end) {
            Some(known) => known.start == mapping.start,
            None if self.is_full() => false,
            None => {
                self.kept.insert(at, mapping);
                true
            }
        }
    }

    /// The mapping that contains subflow byte `offset`.
    pub(crate) fn around(&self, offset: u64) -> Option<&ReceivedMapping> {
        let at = self.kept.partition_point(|known| known.end <= offset);
        self.kept.get(at).filter(|known| known.start <= offset)
    }

    /// The relation of a segment at subflow offset `offset` to `mapping`, which is one of the kept mappings.
    pub(crate) fn fit(&self, mapping: &ReceivedMapping, offset: u64, length: u64) -> Fit {
        match mapping.fit(offset, length) {
            Fit::Piece if self.pieces >= MAX_KEPT => Fit::NoRoom,
            fit => fit,
        }
    }

    /// TCP has accepted `length` bytes with this sum at subflow offset `offset`. Returns the data offset of the mapping
    /// that these bytes complete if its checksum is wrong.
    pub(crate) fn add_piece(&mut self, offset: u64, length: u64, sum: u16) -> Option<u64> {
        let at = self.kept.partition_point(|known| known.end <= offset);
        let mapping = self.kept.get_mut(at).filter(|known| known.start <= offset)?;
        self.pieces = self.pieces.saturating_add_signed(mapping.add(offset, length, sum));
        matches!(mapping.verification, Verification::Broken).then_some(mapping.data)
    }

    /// Marks the mapping around `offset` as one that cannot be verified.
    pub(crate) fn give_up(&mut self, offset: u64) {
        let at = self.kept.partition_point(|known| known.end <= offset);
        if let Some(mapping) = self.kept.get_mut(at).filter(|known| known.start <= offset) {
            self.pieces -= mapping.pieces();
            mapping.verification = Verification::Broken;
        }
    }

    /// Nothing needs to be verified any more.
    pub(crate) fn waive(&mut self) {
        self.pieces = 0;
        self.kept.iter_mut().for_each(|mapping| mapping.verification = Verification::NotNeeded);
    }

    /// The first of the bytes below `done` that waits for the rest of its mapping, and its data offset.
    pub(crate) fn first_waiting(&self, done: u64) -> Option<(u64, u64)> {
        let first = self.kept.front().filter(|first| first.start < done && first.data < DISCARD)?;
        Some((first.start, first.data))
    }

    /// Ends all mappings at subflow byte `offset`, because another mapping applies from there on.
    pub(crate) fn cut(&mut self, offset: u64) {
        while let Some(last) = self.kept.back_mut().filter(|last| last.end > offset) {
            self.pieces -= last.pieces();
            last.verification = Verification::Broken;
            last.end = offset;
            if last.start >= last.end {
                self.kept.pop_back();
            }
        }
    }

    /// The treatment of the first of the in-order bytes `start..end` of the subflow, and the end of the bytes so
    /// treated.
    pub(crate) fn in_order(&self, start: u64, end: u64) -> (u64, InOrder) {
        let at = self.kept.partition_point(|known| known.end <= start);
        let Some(mapping) = self.kept.get(at).filter(|known| known.start < end) else { return (end, InOrder::Passes) };
        if start < mapping.start {
            return (mapping.start, InOrder::Passes);
        }
        let until = end.min(mapping.end);
        match mapping.verification {
            Verification::NotNeeded => (until, InOrder::Passes),
            Verification::Broken => (until, InOrder::Discarded),
            Verification::Intact if end >= mapping.end => {
                let length = mapping.end - mapping.start;
                (until, InOrder::Completes(mapping.data..mapping.data + length))
            }
            Verification::Intact | Verification::Pending(_) => (until, InOrder::Waits),
        }
    }

    /// Removes the mappings below `offset`, which the in-order data of the subflow has passed.
    pub(crate) fn forget_below(&mut self, offset: u64) {
        while let Some(front) = self.kept.front().filter(|front| front.end <= offset) {
            self.pieces -= front.pieces();
            self.kept.pop_front();
        }
    }
}

impl ReceivedMapping {
    fn pieces(&self) -> usize {
        match &self.verification {
            Verification::Pending(pieces) => pieces.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
