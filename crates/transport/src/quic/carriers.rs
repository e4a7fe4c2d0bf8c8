//! Which path carried each byte last: what is sent again on another one is a reinjection.

use core::ops::Range;
use std::collections::BTreeMap;

/// The paths that carried the data of a stream last, from the first byte that may be sent again on. A path is any number.
#[derive(Clone, Debug, Default)]
pub struct Carriers {
    /// From this byte to the next key it was this path.
    runs: BTreeMap<u64, u32>,
    /// The end of what was sent.
    end: u64,
}

impl Carriers {
    /// `range` is sent on `path`. Returns how many bytes of it another path carried last.
    pub fn carry(&mut self, range: Range<u64>, path: u32) -> u64 {
        if range.start >= self.end {
            self.end = range.end;
            if self.runs.last_key_value().is_none_or(|(_, &last)| last != path) {
                self.runs.insert(range.start, path);
            }
            return 0;
        }
        let mut moved = 0;
        let mut at = range.start;
        let mut current = self.runs.range(..=at).next_back().map(|(_, &last)| last);
        let within: Vec<(u64, u32)> = self.runs.range(at + 1..range.end).map(|(&start, &last)| (start, last)).collect();
        for (start, next) in within.into_iter().map(|(start, next)| (start, Some(next))).chain([(range.end, None)]) {
            moved += if current.is_some_and(|last| last != path) { start.min(self.end) - at } else { 0 };
            (at, current) = (start, next.or(current));
            if next.is_some() {
                self.runs.remove(&start);
            }
        }
        // What follows stays with the path that carried it.
        if let Some(following) = current.filter(|_| range.end < self.end) {
            self.runs.entry(range.end).or_insert(following);
        }
        self.runs.insert(range.start, path);
        self.end = self.end.max(range.end);
        moved
    }

    /// Nothing below `offset` is sent again.
    pub fn forget_below(&mut self, offset: u64) {
        while self.runs.iter().nth(1).is_some_and(|(&start, _)| start <= offset) {
            self.runs.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_another_path_carried_last_has_moved() {
        let mut carriers = Carriers::default();
        let moved = [(0..100, 0), (100..200, 1), (200..300, 0), (50..250, 1), (50..250, 1), (0..60, 0), (300..310, 1)]
            .map(|(range, path)| carriers.carry(range, path));
        assert_eq!(moved, [0, 0, 0, 100, 0, 10, 0]);
    }

    proptest! {
        /// As if each byte had a note of its own.
        #[test]
        fn runs_say_what_each_byte_says(
            sent in prop::collection::vec((0..400_u64, 1..60_u64, 0..3_u32), 1..60),
            acknowledged in 0..200_u64,
        ) {
            let (mut carriers, mut bytes) = (Carriers::default(), Vec::<u32>::new());
            for (number, (start, length, path)) in sent.into_iter().enumerate() {
                if number == 30 {
                    carriers.forget_below(acknowledged.min(bytes.len() as u64));
                }
                let from = if number < 30 { 0 } else { acknowledged };
                let start = start.max(from).min(bytes.len() as u64);
                let range = start..start + length;
                // Data is new or was sent before, not both.
                let range = if start < bytes.len() as u64 { start..range.end.min(bytes.len() as u64) } else { range };
                let mut moved = 0;
                for byte in range.clone() {
                    match bytes.get_mut(byte as usize) {
                        Some(before) => moved += u64::from(core::mem::replace(before, path) != path),
                        None => bytes.push(path),
                    }
                }
                prop_assert_eq!(carriers.carry(range, path), moved);
            }
        }
    }
}
