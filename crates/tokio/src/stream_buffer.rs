//! The bytes of one direction of a stream, by their offset.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes that are allocated together.
const BLOCK: usize = 16 << 10;

/// Bytes of a stream in blocks. A block exists from the first byte written to it until it is released, so that bytes
/// far behind the others, which a subflow without a working path still has to repeat, do not keep what follows them.
#[derive(Debug, Default)]
pub(crate) struct StreamBuffer {
    blocks: BTreeMap<u64, Box<[u8]>>,
    /// A released block, for the next one needed.
    spare: Option<Box<[u8]>>,
}

impl StreamBuffer {
    /// Stores `bytes` at `offset`, in place of those stored there before.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        for_each_block(offset, bytes.len(), |index, within, part| {
            let spare = &mut self.spare;
            let allocate = || spare.take().unwrap_or_else(|| vec![0; BLOCK].into_boxed_slice());
            let block = self.blocks.entry(index).or_insert_with(allocate);
            block[within].copy_from_slice(&bytes[part]);
        });
    }

    /// Copies the bytes from `offset` on to `into`, which must have been written and not released.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        for_each_block(offset, into.len(), |index, within, part| match self.blocks.get(&index) {
            Some(block) => into[part].copy_from_slice(&block[within]),
            None => {
                debug_assert!(false, "block {index} was released, or never written");
                into[part].fill(0);
            }
        });
    }

    /// Releases the blocks that lie before `offset`, except for those of `needed`.
    pub(crate) fn release_before(&mut self, offset: u64, needed: &BTreeSet<u64>) {
        let end = offset / BLOCK as u64;
        let released: Vec<u64> = self.blocks.range(..end).map(|(&index, _)| index).collect();
        for index in released.into_iter().filter(|index| !needed.contains(index)) {
            self.spare = self.blocks.remove(&index);
        }
    }

    /// Releases everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds the indices of the blocks of `range` to `into`.
    pub(crate) fn blocks_of(range: &Range<u64>, into: &mut BTreeSet<u64>) {
        if !range.is_empty() {
            into.extend(range.start / BLOCK as u64..=(range.end - 1) / BLOCK as u64);
        }
    }

    /// Bytes of memory in use.
    pub(crate) fn memory(&self) -> usize {
        (self.blocks.len() + usize::from(self.spare.is_some())) * BLOCK
    }
}

/// Calls `visit` for each block that `length` bytes at `offset` touch: its index, the place in it, and which bytes.
fn for_each_block(offset: u64, length: usize, mut visit: impl FnMut(u64, Range<usize>, Range<usize>)) {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let within = (at % BLOCK as u64) as usize;
        let part = (BLOCK - within).min(length - done);
        visit(at / BLOCK as u64, within..within + part, done..done + part);
        done += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(range: Range<usize>) -> Vec<u8> {
        range.map(|offset| (offset % 251) as u8).collect()
    }

    fn read(buffer: &StreamBuffer, range: Range<usize>) -> Vec<u8> {
        let mut into = vec![0; range.len()];
        buffer.read(range.start as u64, &mut into);
        into
    }

    #[test]
    fn bytes_come_back_from_any_place_in_any_order() {
        let mut buffer = StreamBuffer::default();
        for start in [50_000, 0, 25_000, 75_000] {
            buffer.write(start as u64, &bytes(start..start + 25_000));
        }
        assert_eq!(read(&buffer, 0..100_000), bytes(0..100_000));
        assert_eq!(read(&buffer, BLOCK - 1..BLOCK + 1), bytes(BLOCK - 1..BLOCK + 1));
        buffer.write(10, &[9; 3]);
        assert_eq!(read(&buffer, 9..14), [9, 9, 9, 9, 13]);
    }

    #[test]
    fn only_blocks_that_are_needed_remain() {
        let mut buffer = StreamBuffer::default();
        buffer.write(0, &bytes(0..10 * BLOCK));
        let mut needed = BTreeSet::new();
        StreamBuffer::blocks_of(&(2 * BLOCK as u64 - 1..2 * BLOCK as u64 + 1), &mut needed);
        StreamBuffer::blocks_of(&(5..5), &mut needed);
        buffer.release_before(8 * BLOCK as u64 + 3, &needed);
        // Blocks 1, 2, 8 and 9, and a spare one.
        assert_eq!(buffer.memory(), 5 * BLOCK);
        assert_eq!(read(&buffer, 2 * BLOCK - 4..2 * BLOCK + 4), bytes(2 * BLOCK - 4..2 * BLOCK + 4));
        buffer.clear();
        assert_eq!(buffer.memory(), 0);
    }
}
