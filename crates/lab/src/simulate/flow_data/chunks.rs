//! The chunks of SCTP that carry a flow's data: which were sent, and which have arrived and were not delivered.

use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

/// The chunks that were sent and may be sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct SentChunks {
    /// In the order of their TSNs.
    all: VecDeque<SentChunk>,
}

#[derive(Clone, Copy, Debug)]
struct SentChunk {
    tsn: u32,
    /// Where its data ends in the stream.
    end: u64,
    /// The destination that it was sent to last, as an index.
    subflow: usize,
}

/// How a transmission of a chunk relates to those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transmission {
    First,
    SameDestination,
    OtherDestination,
}

impl SentChunks {
    /// A chunk is sent whose data ends at `end`. `is_same` tells whether two subflows have the same destination: the source
    /// of packets to it may change.
    pub(super) fn on_sent(
        &mut self,
        tsn: u32,
        end: u64,
        subflow: usize,
        is_same: impl FnOnce(usize, usize) -> bool,
    ) -> Transmission {
        let index = self.position(tsn);
        match self.all.get_mut(index) {
            Some(chunk) if chunk.tsn == tsn => {
                match is_same(core::mem::replace(&mut chunk.subflow, subflow), subflow) {
                    true => Transmission::SameDestination,
                    false => Transmission::OtherDestination,
                }
            }
            _ => {
                self.all.insert(index, SentChunk { tsn, end, subflow });
                Transmission::First
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The end of the data of all chunks up to `tsn`.
    pub(super) fn end_of(&self, tsn: u32) -> Option<u64> {
        let behind = self.position(tsn.wrapping_add(1));
        Some(self.all.get(behind.checked_sub(1)?)?.end)
    }

    /// No chunk up to `tsn` is sent again.
    pub(super) fn forget_through(&mut self, tsn: u32) {
        let behind = self.position(tsn.wrapping_add(1));
        self.all.drain(..behind);
    }

    /// The index of the first chunk from `tsn` on.
    fn position(&self, tsn: u32) -> usize {
        self.all.partition_point(|chunk| (chunk.tsn.wrapping_sub(tsn) as i32) < 0)
    }
}

/// At the receiver, the data of chunks that have arrived and were not delivered, by number. It is needed where messages
/// may be delivered before earlier ones, or instead of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Undelivered(BTreeMap<u64, Range<u64>>);

impl Undelivered {
    pub(super) fn insert(&mut self, number: u64, data: Range<u64>) {
        self.0.insert(number, data);
    }

    /// Removes the chunks with these numbers.
    pub(super) fn take(&mut self, numbers: (u64, u64)) -> impl Iterator<Item = Range<u64>> + '_ {
        (numbers.0..=numbers.1).filter_map(|number| self.0.remove(&number))
    }
}
