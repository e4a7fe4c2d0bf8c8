//! At the receiver, the data of streams that has arrived and cannot be read: each is read in its own order.

use core::ops::Range;
use std::collections::BTreeMap;

/// What has arrived of all streams, by their numbers. Ranges are places in the order in which the data of all was sent
/// first, in which the data of each stream has the order of the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamArrivals(BTreeMap<u64, Arrived>);

#[derive(Clone, Debug, Default)]
struct Arrived {
    /// Bytes that were read.
    read: u64,
    /// By start, the ends of ranges that were not.
    waiting: BTreeMap<u64, u64>,
}

impl StreamArrivals {
    /// A range of stream `number` has arrived.
    pub(super) fn insert(&mut self, number: u64, data: Range<u64>) {
        self.0.entry(number).or_default().waiting.insert(data.start, data.end);
    }

    /// Takes the ranges of stream `number` that can be read now that `readable` bytes of it can, or all of it if its end
    /// has arrived.
    pub(super) fn take(&mut self, number: u64, readable: Option<u64>, mut each: impl FnMut(Range<u64>)) {
        let Some(arrived) = self.0.get_mut(&number) else { return };
        while let Some(first) = arrived.waiting.first_entry() {
            let data = *first.key()..*first.get();
            let read = arrived.read + (data.end - data.start);
            if readable.is_some_and(|readable| read > readable) {
                return;
            }
            first.remove();
            arrived.read = read;
            each(data);
        }
        if readable.is_none() {
            self.0.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_is_read_in_its_own_order() {
        let mut arrivals = StreamArrivals::default();
        // Stream 1 was sent at 0..10 and 20..30, stream 2 between both. The first part of stream 1 is late.
        arrivals.insert(1, 20..30);
        arrivals.insert(2, 10..20);
        let mut read = |number, readable| {
            let mut ranges = Vec::new();
            arrivals.take(number, readable, |range| ranges.push(range));
            ranges
        };
        assert!(read(1, Some(0)).is_empty());
        assert_eq!(read(2, Some(10)).as_slice(), std::slice::from_ref(&(10..20)));
        arrivals.insert(1, 0..10);
        let mut ranges = Vec::new();
        arrivals.take(1, None, |range| ranges.push(range));
        assert_eq!((ranges, arrivals.0.contains_key(&1)), (vec![0..10, 20..30], false));
    }
}
