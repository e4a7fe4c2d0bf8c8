//! Events as a wheel of buckets, of which those that are due next are sorted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Key, NEVER, source_of};

/// An event. The source could be computed from the key, but those of the next events are needed many times
/// (`look_ahead.rs`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(super) key: Key,
    pub(crate) source: u32,
    /// What `look_ahead.rs` has found out about the event; [`Event::UNKNOWN`] at first.
    pub(crate) found: u32,
}

impl Event {
    /// Nothing has been found out.
    pub(crate) const UNKNOWN: u32 = u32::MAX;

    /// The event with this key.
    #[inline]
    fn new(key: Key, source_bits: u32) -> Self {
        Self { key, source: source_of(key, source_bits), found: Self::UNKNOWN }
    }
}

/// Buckets of equal spans of time. The events of the next ones are sorted; there the events after the first are known.
#[derive(Debug)]
pub(super) struct Wheel {
    /// From `next` on, all events up to the end of bucket `sorted_to`, in order.
    sorted: Vec<Event>,
    next: usize,
    sorted_to: u64,
    /// The keys of the events of the following buckets, each in the slot of its number modulo the number of slots, a
    /// power of two. Keys alone take half the memory, and are sorted in less time.
    buckets: Box<[Vec<Key>]>,
    /// Bit set of the slots that have events.
    occupied: Box<[u64]>,
    /// Events after the last bucket.
    later: BinaryHeap<Reverse<Key>>,
    /// Memory of buckets that have become empty.
    spare: Vec<Vec<Key>>,
    /// The number of the bucket of a key is the key without so many low bits.
    shift: u32,
    /// The number of low bits of a key that identify the source: the least that `shift` may be.
    source_bits: u32,
    /// Buckets and events that were sorted since `shift` was last considered.
    opened: u32,
    events: u32,
}

/// There is a slot for so many sources, and at least [`FEWEST`] slots. The span of the buckets adapts to the number of
/// events, so that more events need more buckets to reach as far ahead. Events beyond all buckets take longer.
const SOURCES_PER_SLOT: usize = 4;
const FEWEST: usize = 1024;

/// So many events are sorted, if there are so many soon.
const AHEAD: usize = 32;

/// The span of a bucket is halved if it has more events on average, and doubled if it has fewer than [`FEW`]. Sorting
/// and inserting into many events takes long; advancing to a bucket takes as long as a few events.
const MANY: u32 = 40;
const FEW: u32 = 8;

/// So many buckets are opened before their span is considered again.
const PERIOD: u32 = 256;

impl Wheel {
    pub(super) fn new(source_bits: u32) -> Self {
        let slots = ((1 << source_bits) / SOURCES_PER_SLOT).max(FEWEST);
        Self {
            sorted: Vec::new(),
            next: 0,
            sorted_to: 0,
            buckets: vec![Vec::new(); slots].into_boxed_slice(),
            occupied: vec![0; slots / 64].into_boxed_slice(),
            later: BinaryHeap::new(),
            spare: Vec::new(),
            // 2 µs.
            shift: source_bits + 11,
            source_bits,
            opened: 0,
            events: 0,
        }
    }

    /// The keys of all events.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let sorted = self.sorted[self.next..].iter().map(|event| event.key);
        let later = self.later.iter().map(|&Reverse(key)| key);
        sorted.chain(self.buckets.iter().flatten().copied()).chain(later)
    }

    /// The next events in order, beginning with the first one, as far as they are sorted.
    #[inline]
    pub(super) fn next_events(&self) -> &[Event] {
        &self.sorted[self.next..]
    }

    /// Notes what was found out about the event at `place` of the next events.
    #[inline]
    pub(super) fn note(&mut self, place: usize, found: u32) {
        if let Some(event) = self.sorted.get_mut(self.next + place) {
            event.found = found;
        }
    }

    /// The source of the first event.
    #[inline]
    pub(super) fn first_source(&self) -> u32 {
        self.sorted.get(self.next).map_or(0, |event| event.source)
    }

    /// The slot of the bucket with this number.
    #[inline]
    fn slot_of(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn first(&self) -> Key {
        self.sorted.get(self.next).map_or(NEVER, |event| event.key)
    }

    /// Replaces the first event by another and returns the key of the one that is then the first.
    #[inline]
    pub(super) fn replace_first(&mut self, key: Key) -> Key {
        self.next += 1;
        self.insert(key)
    }

    /// Inserts an event, if its key is not [`NEVER`], and returns the key of the first event.
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
        let event = Event::new(key, self.source_bits);
        let place = self.next + self.sorted[self.next..].partition_point(|other| other.key < key);
        if place == self.next && self.next > 0 {
            self.next -= 1;
            self.sorted[self.next] = event;
        } else {
            self.sorted.insert(place, event);
        }
    }

    /// Puts an event into its `bucket`, which is not sorted yet.
    #[inline]
    fn put(&mut self, bucket: u64, key: Key) {
        if bucket - self.sorted_to >= self.buckets.len() as u64 {
            return self.later.push(Reverse(key));
        }
        let slot = self.slot_of(bucket);
        let keys = &mut self.buckets[slot];
        if keys.is_empty() {
            self.occupied[slot / 64] |= 1 << (slot % 64);
            *keys = self.spare.pop().unwrap_or_default();
        }
        keys.push(key);
    }

    /// Sorts the next buckets until enough events are sorted, but none beyond an empty bucket as long as there are sorted
    /// events: those that come before a distant bucket would all have to be inserted into the sorted ones.
    fn refill(&mut self) {
        while self.sorted.len() - self.next < AHEAD {
            let following = self.slot_of(self.sorted_to + 1);
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
        let start = self.slot_of(self.sorted_to + 1);
        // The rest of the word of the first slot, the other words, and the begin of the first word.
        let words = self.occupied.len();
        let near = (0..=words).find_map(|turn| {
            let word = (start / 64 + turn) % words;
            let mut occupied = self.occupied[word];
            if turn == 0 {
                occupied &= u64::MAX << (start % 64);
            }
            let slot = word * 64 + occupied.trailing_zeros() as usize;
            (occupied != 0).then(|| self.sorted_to + 1 + self.slot_of(slot.wrapping_sub(start) as u64) as u64)
        });
        near.into_iter().chain(later).min()
    }

    /// Sorts the events of `bucket`, before which there are no others that are not sorted.
    fn open(&mut self, bucket: u64) {
        let slot = self.slot_of(bucket);
        self.sorted_to = bucket;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut keys = core::mem::take(&mut self.buckets[slot]);
        while let Some(&Reverse(key)) = self.later.peek()
            && (key >> self.shift) - bucket < self.buckets.len() as u64
        {
            self.later.pop();
            match key >> self.shift {
                own if own == bucket => keys.push(key),
                other => self.put(other, key),
            }
        }
        keys.sort_unstable();
        let source_bits = self.source_bits;
        self.sorted.extend(keys.iter().map(|&key| Event::new(key, source_bits)));
        self.events = self.events.saturating_add(keys.len() as u32);
        keys.clear();
        if keys.capacity() > 0 {
            self.spare.push(keys);
        }
        self.opened += 1;
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
        for keys in &mut self.buckets {
            others.append(keys);
        }
        self.occupied.fill(0);
        self.shift = shift;
        // A bucket that is sorted in part is sorted as a whole.
        self.sorted_to = last.key >> shift;
        for key in others {
            match key >> shift {
                bucket if bucket <= self.sorted_to => self.insert_sorted(key),
                bucket => self.put(bucket, key),
            }
        }
    }

    /// Removes the event of a source.
    #[cold]
    pub(super) fn remove(&mut self, source: u32) {
        let source_bits = self.source_bits;
        let is_other = |key: Key| source_of(key, source_bits) != source;
        self.sorted.drain(..self.next);
        self.next = 0;
        self.sorted.retain(|event| event.source != source);
        self.later.retain(|&Reverse(key)| is_other(key));
        for (slot, keys) in self.buckets.iter_mut().enumerate().filter(|(_, keys)| !keys.is_empty()) {
            keys.retain(|&key| is_other(key));
            if keys.is_empty() {
                self.occupied[slot / 64] &= !(1 << (slot % 64));
            }
        }
    }
}
