//! Events as a wheel of buckets, of which those that are due next are sorted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Key, NEVER};

/// Buckets of equal spans of time. The events of the next ones are sorted; there the events after the first are known.
#[derive(Debug)]
pub(super) struct Wheel {
    /// From `next` on, all events up to the end of bucket `sorted_to`, in order.
    sorted: Vec<Key>,
    next: usize,
    sorted_to: u64,
    /// The events of the following buckets, each in the slot of its number modulo [`BUCKETS`].
    buckets: Box<[Vec<Key>]>,
    /// Bit set of the slots that have events.
    occupied: [u64; BUCKETS / 64],
    /// Events after the last bucket.
    later: BinaryHeap<Reverse<Key>>,
    /// Memory of buckets that have become empty.
    spare: Vec<Vec<Key>>,
    /// The number of the bucket of a key is the key without so many low bits.
    shift: u32,
    /// The least that `shift` may be.
    source_bits: u32,
    /// Buckets and events that were sorted since `shift` was last considered.
    opened: u32,
    events: u32,
}

const BUCKETS: usize = 1024;

/// So many events are sorted, if there are so many soon.
const AHEAD: usize = 40;

/// The span of a bucket is halved if it has more events on average, and doubled if it has fewer than [`FEW`]. Sorting
/// and inserting into many events takes long; advancing to a bucket takes as long as a few events.
const MANY: u32 = 96;
const FEW: u32 = 16;

/// So many buckets are opened before their span is considered again.
const PERIOD: u32 = 256;

impl Wheel {
    pub(super) fn new(source_bits: u32) -> Self {
        Self {
            sorted: Vec::new(),
            next: 0,
            sorted_to: 0,
            buckets: vec![Vec::new(); BUCKETS].into_boxed_slice(),
            occupied: [0; BUCKETS / 64],
            later: BinaryHeap::new(),
            spare: Vec::new(),
            // 2 µs.
            shift: source_bits + 11,
            source_bits,
            opened: 0,
            events: 0,
        }
    }

    /// All events.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let sorted = self.sorted[self.next..].iter();
        let later = self.later.iter().map(|Reverse(key)| key);
        sorted.chain(self.buckets.iter().flatten()).chain(later).copied()
    }

    /// The next events in order, beginning with the first one, as far as they are sorted.
    #[inline]
    pub(super) fn next_keys(&self) -> &[Key] {
        &self.sorted[self.next..]
    }

    #[inline]
    fn first(&self) -> Key {
        self.sorted.get(self.next).copied().unwrap_or(NEVER)
    }

    /// Replaces the first event by `key` and returns the one that is then the first.
    #[inline]
    pub(super) fn replace_first(&mut self, key: Key) -> Key {
        self.next += 1;
        self.insert(key)
    }

    /// Inserts `key`, if it is not [`NEVER`], and returns the first event.
    #[inline]
    pub(super) fn insert(&mut self, key: Key) -> Key {
        if key != NEVER {
            let bucket = key >> self.shift;
            if bucket <= self.sorted_to {
                self.insert_sorted(key);
            } else {
                self.put(bucket, key);
            }
        }
        if self.sorted.len() - self.next < AHEAD {
            self.refill();
        }
        self.first()
    }

    fn insert_sorted(&mut self, key: Key) {
        let place = self.next + self.sorted[self.next..].partition_point(|&other| other < key);
        if place == self.next && self.next > 0 {
            self.next -= 1;
            self.sorted[self.next] = key;
        } else {
            self.sorted.insert(place, key);
        }
    }

    /// Puts `key` into its `bucket`, which is not sorted yet.
    #[inline]
    fn put(&mut self, bucket: u64, key: Key) {
        if bucket - self.sorted_to >= BUCKETS as u64 {
            return self.later.push(Reverse(key));
        }
        let slot = bucket as usize % BUCKETS;
        let events = &mut self.buckets[slot];
        if events.is_empty() {
            self.occupied[slot / 64] |= 1 << (slot % 64);
            *events = self.spare.pop().unwrap_or_default();
        }
        events.push(key);
    }

    /// Sorts the next buckets until enough events are sorted, but none beyond an empty bucket as long as there are sorted
    /// events: those that come before a distant bucket would all have to be inserted into the sorted ones.
    fn refill(&mut self) {
        while self.sorted.len() - self.next < AHEAD {
            let following = (self.sorted_to + 1) as usize % BUCKETS;
            let bucket = match self.occupied[following / 64] >> (following % 64) & 1 {
                1 => self.sorted_to + 1,
                _ if self.next < self.sorted.len() => return,
                _ => match self.next_bucket() {
                    Some(bucket) => bucket,
                    None => return,
                },
            };
            self.sorted.drain(..self.next);
            self.next = 0;
            self.open(bucket);
        }
    }

    /// The first bucket after the sorted ones that has events.
    fn next_bucket(&self) -> Option<u64> {
        let later = self.later.peek().map(|Reverse(key)| key >> self.shift);
        let start = (self.sorted_to + 1) as usize % BUCKETS;
        // The rest of the word of the first slot, the other words, and the begin of the first word.
        let words = BUCKETS / 64;
        let near = (0..=words).find_map(|turn| {
            let word = (start / 64 + turn) % words;
            let mut occupied = self.occupied[word];
            if turn == 0 {
                occupied &= u64::MAX << (start % 64);
            }
            let slot = word * 64 + occupied.trailing_zeros() as usize;
            (occupied != 0).then(|| self.sorted_to + 1 + (slot.wrapping_sub(start) % BUCKETS) as u64)
        });
        near.into_iter().chain(later).min()
    }

    /// Sorts the events of `bucket`, before which there are no others that are not sorted.
    fn open(&mut self, bucket: u64) {
        let sorted_before = self.sorted.len();
        let slot = bucket as usize % BUCKETS;
        self.sorted_to = bucket;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut events = core::mem::take(&mut self.buckets[slot]);
        self.sorted.append(&mut events);
        if events.capacity() > 0 {
            self.spare.push(events);
        }
        while let Some(&Reverse(key)) = self.later.peek()
            && (key >> self.shift) - bucket < BUCKETS as u64
        {
            self.later.pop();
            match key >> self.shift {
                own if own == bucket => self.sorted.push(key),
                other => self.put(other, key),
            }
        }
        self.sorted[sorted_before..].sort_unstable();
        self.opened += 1;
        self.events = self.events.saturating_add((self.sorted.len() - sorted_before) as u32);
        if self.opened == PERIOD {
            self.consider_span();
        }
    }

    /// Adapts the span of the buckets to the number of events in them.
    fn consider_span(&mut self) {
        let mean = self.events / self.opened;
        (self.opened, self.events) = (0, 0);
        let shift = match mean {
            MANY.. if self.shift > self.source_bits => self.shift - 1,
            ..FEW if self.shift < 63 => self.shift + 1,
            _ => return,
        };
        let Some(&last) = self.sorted.last() else { return };
        let mut others: Vec<Key> = self.later.drain().map(|Reverse(key)| key).collect();
        for events in &mut self.buckets {
            others.append(events);
        }
        self.occupied = [0; BUCKETS / 64];
        self.shift = shift;
        // A bucket that is sorted in part is sorted as a whole.
        self.sorted_to = last >> shift;
        for key in others {
            match key >> shift {
                bucket if bucket <= self.sorted_to => self.insert_sorted(key),
                bucket => self.put(bucket, key),
            }
        }
    }

    /// Removes the events for which `is_kept` is false.
    #[cold]
    pub(super) fn retain(&mut self, is_kept: impl Fn(Key) -> bool) {
        self.sorted.drain(..self.next);
        self.next = 0;
        self.sorted.retain(|&key| is_kept(key));
        self.later.retain(|&Reverse(key)| is_kept(key));
        for (slot, events) in self.buckets.iter_mut().enumerate().filter(|(_, events)| !events.is_empty()) {
            events.retain(|&key| is_kept(key));
            if events.is_empty() {
                self.occupied[slot / 64] &= !(1 << (slot % 64));
            }
        }
    }
}
