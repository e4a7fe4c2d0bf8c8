//! The payload bytes of all transfers, and the check of those that arrive over SCTP.

use std::collections::BTreeMap;

use subflow_transport::sctp::Association;
use subflow_wire::{Body, Packet};

/// A stream of bytes of which any part can be generated and checked independently, so data in flight need not be
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern;

const WORD: u64 = 8;

/// The eight bytes at `word · 8` (the finaliser of SplitMix64, so that different offsets have different bytes).
fn word(word: u64) -> [u8; 8] {
    let mut x = word.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 27)).to_le_bytes()
}

impl Pattern {
    /// Fills `bytes` with the stream's bytes from `offset` on.
    pub fn fill(self, offset: u64, bytes: &mut [u8]) {
        let (head, body, tail) = split(offset, bytes.len());
        let first = word(offset / WORD);
        bytes[..head].copy_from_slice(&first[(offset % WORD) as usize..][..head]);
        let mut next = (offset + head as u64) / WORD;
        for place in bytes[head..head + body].chunks_exact_mut(WORD as usize) {
            place.copy_from_slice(&word(next));
            next += 1;
        }
        bytes[head + body..].copy_from_slice(&word(next)[..tail]);
    }

    /// The index of the first byte that differs from the stream's bytes from `offset` on; `None` if all are equal.
    pub fn first_difference(self, offset: u64, bytes: &[u8]) -> Option<usize> {
        let (head, body, tail) = split(offset, bytes.len());
        let first = word(offset / WORD);
        let mut next = (offset + head as u64) / WORD;
        let mut same = bytes[..head] == first[(offset % WORD) as usize..][..head];
        for place in bytes[head..head + body].chunks_exact(WORD as usize) {
            same &= place == word(next);
            next += 1;
        }
        same &= bytes[head + body..] == word(next)[..tail];
        if same {
            return None;
        }
        let mut expected = vec![0; bytes.len()];
        self.fill(offset, &mut expected);
        bytes.iter().zip(&expected).position(|(found, expected)| found != expected)
    }
}

/// Divides `length` bytes from `offset` on into the end of a word, whole words, and the start of a word.
fn split(offset: u64, length: usize) -> (usize, usize, usize) {
    let head = ((WORD - offset % WORD) % WORD).min(length as u64) as usize;
    let tail = (length - head) % WORD as usize;
    (head, length - head - tail, tail)
}

/// Checks that the user data of an association's peer is [`Pattern`], in the order of the TSNs, which is the order in
/// which the peer wrote it. It does not hold for a peer that abandons messages (RFC 3758).
#[derive(Clone, Debug, Default)]
pub struct SctpData {
    /// The number of TSNs checked so far, counted as [`Association::taken_chunks`] counts.
    checked: u64,
    /// The number of bytes checked so far.
    offset: u64,
    /// The data of later TSNs.
    waiting: BTreeMap<u64, Vec<u8>>,
}

impl SctpData {
    /// Handles `packet`, which `association` has just handled; `bytes` are those of the packet from the common header
    /// on.
    ///
    /// # Errors
    ///
    /// If a byte differs from what was sent.
    pub fn check(&mut self, association: &Association, packet: &Packet, bytes: &[u8]) -> Result<(), String> {
        let Body::Sctp(body) = &packet.body else { return Ok(()) };
        if association.taken_chunks().is_empty() {
            return Ok(());
        }
        let data = body.chunks.iter().enumerate().filter(|(_, chunk)| chunk.payload().is_some());
        let ranges: Vec<_> = data.map(|(index, _)| index).zip(body.payload_ranges()).collect();
        for taken in association.taken_chunks().iter().filter(|taken| taken.tsn > self.checked) {
            let range = ranges.iter().find(|(index, _)| *index == taken.index).map(|(_, range)| range.clone());
            let chunk = range.and_then(|range| bytes.get(range)).unwrap_or_default();
            self.waiting.insert(taken.tsn, chunk.to_vec());
        }
        while let Some(chunk) = self.waiting.remove(&(self.checked + 1)) {
            if let Some(position) = Pattern.first_difference(self.offset, &chunk) {
                let offset = self.offset + position as u64;
                return Err(format!("byte {offset} differs from what was sent"));
            }
            self.checked += 1;
            self.offset += chunk.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_concatenate_to_the_whole() {
        let mut whole = [0; 100];
        Pattern.fill(0, &mut whole);
        for start in 0..100 {
            for end in start..100 {
                let mut part = vec![0; end - start];
                Pattern.fill(start as u64, &mut part);
                assert_eq!(part, whole[start..end]);
                assert_eq!(Pattern.first_difference(start as u64, &part), None);
            }
        }
    }

    #[test]
    fn a_wrong_byte_is_found() {
        let mut bytes = [0; 50];
        Pattern.fill(13, &mut bytes);
        for position in 0..50 {
            let mut broken = bytes;
            broken[position] ^= 0x40;
            assert_eq!(Pattern.first_difference(13, &broken), Some(position));
        }
        assert!(Pattern.first_difference(14, &bytes).is_some(), "at the wrong offset");
    }
}
