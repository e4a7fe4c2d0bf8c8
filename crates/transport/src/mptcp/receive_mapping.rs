//! Mappings received that more than one segment fills (RFC 8684, section 3.3.1): senders with segmentation offload map up
//! to 64 KB at once.

use subflow_wire::checksum::{ones_complement_add, sum_at_offset};
use subflow_wire::tcp::mptcp::Mapping;

/// A mapping of subflow bytes onto data bytes. Offsets count from 0.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedMapping {
    /// First subflow byte.
    pub(crate) start: u64,
    /// Subflow byte after the last.
    pub(crate) end: u64,
    /// Data-level offset of the first.
    pub(crate) data: u64,
    /// The mapping as received, to check its checksum with.
    wire: Mapping,
    /// Bytes of it summed so far; they come in order.
    summed: u64,
    sum: u16,
}

/// What a checksum said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No checksum, or not all of the mapping has arrived.
    Pending,
    /// It is right.
    Intact,
    /// It is wrong.
    Broken,
}

impl ReceivedMapping {
    pub(crate) fn new(start: u64, data: u64, wire: Mapping) -> Self {
        Self { start, end: start + u64::from(wire.length), data, wire, summed: 0, sum: 0 }
    }

    /// Data-level offset of subflow byte `offset`.
    pub(crate) fn data_of(&self, offset: u64) -> Option<u64> {
        (self.start..self.end).contains(&offset).then(|| self.data + (offset - self.start))
    }

    /// Subflow bytes `offset..offset + length` with this sum arrived. Only bytes that continue what was summed count: the
    /// rest will come again by retransmission, or has been counted.
    pub(crate) fn add(&mut self, offset: u64, length: u64, sum: u16) -> Verdict {
        if self.wire.checksum.is_none() || offset != self.start + self.summed {
            return Verdict::Pending;
        }
        self.sum = ones_complement_add(self.sum, sum_at_offset(sum, self.summed));
        self.summed += length;
        if self.start + self.summed < self.end {
            return Verdict::Pending;
        }
        if self.wire.is_intact(self.sum) { Verdict::Intact } else { Verdict::Broken }
    }
}
