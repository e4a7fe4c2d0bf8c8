//! The chunks of data of one end: what SACKs say of them, and why they are sent again.
//!
//! A sender does not say why. The rules, in this order:
//!
//! 1. *timeout*: the chunk is the earliest outstanding one that was sent last on its path, and none has acknowledged the
//!    earliest of the path for the smoothed round-trip time or longer (T3-rtx, RFC 9260, section 6.3.3), unless a SACK has
//!    just triggered it, which happens once to a chunk; and all further chunks that were outstanding on the path then,
//!    until they are acknowledged.
//! 2. *fast*: SACKs have reported chunks behind it (section 7.2.4).

use std::collections::BTreeMap;

use subflow_wire::sctp::chunk_type;

use super::number;
use super::path::Path;
use crate::ranges::Ranges;
use crate::tcp::{Cause, extend};

/// Chunks that are outstanding and remembered, at most: SACKs may be missing from a capture.
const MOST_OUTSTANDING: usize = 65_536;
/// A SACK triggers a retransmission within this time, in nanoseconds.
const TRIGGERED: u64 = 1_000_000;

/// The chunks of data of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    sent: Ranges,
    /// The chunks that the cumulative TSN of no SACK has covered.
    outstanding: BTreeMap<u64, Outstanding>,
    next: u64,
    /// The position in the data behind the last chunk.
    end: u64,
    /// Bytes of user data in chunks captured for the first time.
    pub(crate) bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) last_new: Option<u64>,
    pub(crate) last_acknowledged: Option<u64>,
    acknowledged: Option<u64>,
    last_sack: Option<u64>,
    timers: Vec<Timer>,
}

/// What is known of the timer of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Timer {
    /// When the earliest chunk of the path was acknowledged last, or one was sent while none was outstanding.
    start: u64,
    /// Chunks before this TSN were outstanding when it expired.
    expired_until: u64,
}

/// A chunk that was sent and is not acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// The path of its last copy.
    path: usize,
    bytes: u64,
    /// Of its first byte in the data.
    position: u64,
    time: u64,
    is_again: bool,
    /// Whether a gap block covers it.
    is_received: bool,
    /// Whether a gap block has covered a later chunk.
    is_missing: bool,
}

/// What sending a chunk was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    First,
    /// A copy of a chunk that was sent last on this path, and why it is sent again.
    Another {
        before: usize,
        cause: Cause,
    },
    /// A copy of a chunk that was acknowledged already.
    Acknowledged,
}

impl Chunks {
    /// The end `end` sends a chunk on a path. Also returned is its position in the data.
    pub(super) fn send(
        &mut self,
        tsn: u32,
        path: usize,
        bytes: u64,
        paths: &mut [Path],
        end: usize,
        time: u64,
    ) -> (Sent, u64) {
        let is_first = self.next == 0;
        let tsn = if is_first { 1 << 32 | u64::from(tsn) } else { extend(self.next, tsn) };
        let position = if is_first { 0 } else { self.position(tsn, bytes) };
        self.end = self.end.max(position.saturating_add(bytes));
        self.next = self.next.max(tsn + 1);
        let is_new = self.sent.insert(tsn, tsn + 1) > 0;
        let chunk =
            Outstanding { path, bytes, position, time, is_again: !is_new, is_received: false, is_missing: false };
        if is_new {
            self.bytes += bytes;
            self.last_new = Some(time);
            if paths[path].sent[end].in_flight == 0 {
                self.timer(path).start = time;
            }
            paths[path].sent[end].put_in_flight(bytes, time);
            self.insert(tsn, chunk, paths, end);
            return (Sent::First, position);
        }
        self.retransmissions += 1;
        paths[path].sent[end].retransmissions += 1;
        let Some(&before) = self.outstanding.get(&tsn) else { return (Sent::Acknowledged, position) };
        let cause = self.classify(tsn, &before, path, paths, end, time);
        if !before.is_received {
            paths[before.path].sent[end].take_from_flight(before.bytes);
        }
        paths[path].sent[end].put_in_flight(bytes, time);
        self.insert(tsn, chunk, paths, end);
        (Sent::Another { before: before.path, cause }, position)
    }

    /// The position of a chunk. Of those that were not captured only the number is known: they count as long as this one.
    fn position(&self, tsn: u64, bytes: u64) -> u64 {
        let (near, position) =
            self.outstanding.range(tsn..).next().map_or((self.next, self.end), |(&near, chunk)| (near, chunk.position));
        if tsn < near {
            position.saturating_sub((near - tsn).saturating_mul(bytes))
        } else {
            position.saturating_add((tsn - near).saturating_mul(bytes))
        }
    }

    fn insert(&mut self, tsn: u64, chunk: Outstanding, paths: &mut [Path], end: usize) {
        self.outstanding.insert(tsn, chunk);
        if self.outstanding.len() > MOST_OUTSTANDING
            && let Some((_, forgotten)) = self.outstanding.pop_first()
        {
            paths[forgotten.path].sent[end].take_from_flight(forgotten.bytes);
        }
    }

    fn timer(&mut self, path: usize) -> &mut Timer {
        if self.timers.len() <= path {
            self.timers.resize(path + 1, Timer::default());
        }
        &mut self.timers[path]
    }

    /// Counts a retransmission on `path` by its cause; `before` is the copy that was sent last.
    fn classify(
        &mut self,
        tsn: u64,
        before: &Outstanding,
        path: usize,
        paths: &mut [Path],
        end: usize,
        time: u64,
    ) -> Cause {
        let is_first = self.is_earliest(tsn, before.path);
        let is_triggered = self.last_sack.is_some_and(|sack| time.saturating_sub(sack) < TRIGGERED);
        let round_trip = paths[before.path].sent[end].round_trips.smoothed().unwrap_or(TRIGGERED);
        let next = self.next;
        let timer = self.timer(before.path);
        let waited = time.saturating_sub(timer.start.max(before.time)) >= round_trip;
        let is_expiry = is_first && waited && (!is_triggered || before.is_again);
        if is_expiry {
            *timer = Timer { start: time, expired_until: next };
            paths[before.path].sent[end].timeouts += 1;
        }
        let half = &mut paths[path].sent[end];
        if is_expiry || tsn < self.timers[before.path].expired_until {
            half.after_timeout += 1;
            return Cause::Timeout;
        }
        if before.is_missing {
            half.fast += 1;
            return Cause::Fast;
        }
        Cause::Other
    }

    /// A SACK on a path: the cumulative TSN, the window, numbers of gap blocks and duplicates, and the blocks. NR-SACK has
    /// the same at its start, and gap blocks behind the reserved field.
    pub(super) fn acknowledge(&mut self, chunk: &[u8], path: usize, paths: &mut [Path], end: usize, time: u64) {
        let (Some(cumulative), Some(counts)) = (number(chunk, 4), number(chunk, 12)) else { return };
        let is_sack = chunk[0] == chunk_type::SACK;
        if is_sack {
            paths[path].sent[end].duplicates += u64::from(counts & 0xffff);
        }
        if self.next == 0 {
            return;
        }
        self.last_sack = Some(time);
        let cumulative = extend(self.next, cumulative);
        let mut newest: Vec<Option<u64>> = vec![None; paths.len()];
        if self.acknowledged.is_none_or(|before| cumulative > before) {
            self.acknowledged = Some(cumulative);
            let kept = self.outstanding.split_off(&(cumulative + 1));
            for chunk in std::mem::replace(&mut self.outstanding, kept).into_values() {
                if !chunk.is_received {
                    self.timer(chunk.path).start = time;
                }
                self.received(&chunk, &mut newest, paths, end, time);
            }
            self.last_acknowledged = Some(time);
        }
        let gaps_at = if is_sack { 16 } else { 20 };
        self.read_gaps(
            cumulative,
            chunk.get(gaps_at..).unwrap_or_default(),
            counts >> 16,
            (&mut newest, paths),
            end,
            time,
        );
        for (path, newest) in paths.iter_mut().zip(newest) {
            if let Some(sent) = newest {
                path.sent[end].add_round_trip(sent, time);
            }
        }
    }

    /// Gap blocks: the first and the last chunk that were received, from the cumulative TSN on.
    fn read_gaps(
        &mut self,
        cumulative: u64,
        blocks: &[u8],
        count: u32,
        (newest, paths): (&mut [Option<u64>], &mut [Path]),
        end: usize,
        time: u64,
    ) {
        let mut last_new = None;
        for block in blocks.chunks_exact(4).take(count as usize) {
            let offset = |at: usize| u64::from(u16::from_be_bytes([block[at], block[at + 1]]));
            let (first, last) = (cumulative + offset(0), cumulative + offset(2));
            if first > last {
                continue;
            }
            let mut covered: Vec<Outstanding> = Vec::new();
            for (&tsn, chunk) in self.outstanding.range_mut(first..=last).filter(|(_, chunk)| !chunk.is_received) {
                covered.push(*chunk);
                chunk.is_received = true;
                last_new = last_new.max(Some(tsn));
            }
            for chunk in &covered {
                if newest[chunk.path].is_none() && self.is_earliest(first, chunk.path) {
                    self.timer(chunk.path).start = time;
                }
                self.received(chunk, newest, paths, end, time);
            }
        }
        if let Some(last) = last_new {
            let behind = self.outstanding.range_mut(..last).filter(|(_, chunk)| !chunk.is_received);
            behind.for_each(|(_, chunk)| chunk.is_missing = true);
        }
    }

    /// A chunk is acknowledged for the first time, if no gap block has covered it.
    fn received(&self, chunk: &Outstanding, newest: &mut [Option<u64>], paths: &mut [Path], end: usize, time: u64) {
        if chunk.is_received {
            return;
        }
        let half = &mut paths[chunk.path].sent[end];
        half.take_from_flight(chunk.bytes);
        half.over_time.acknowledged(time, chunk.bytes);
        if !chunk.is_again {
            newest[chunk.path] = newest[chunk.path].max(Some(chunk.time));
        }
    }

    /// Whether no chunk before a TSN is outstanding on a path.
    fn is_earliest(&self, tsn: u64, path: usize) -> bool {
        !self.outstanding.range(..tsn).any(|(_, chunk)| chunk.path == path && !chunk.is_received)
    }
}
