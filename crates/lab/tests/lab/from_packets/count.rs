//! Counts what happens to the data of a flow from the packets that its hosts send and receive.

use core::ops::Range;
use std::collections::BTreeMap;

use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

use super::stream::{Connection, Data, FourTuple, four_tuple};

/// A range as it was sent first.
#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    sent_at: u64,
    arrived_at: Option<u64>,
    was_read: bool,
    was_repeated: bool,
    latest: FourTuple,
}

/// What was counted. Times are in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// From the first transmission of each segment until it could be read.
    pub(super) delays: Vec<u64>,
    /// The part of it after the arrival.
    pub(super) reassembly_delays: Vec<u64>,
    /// From the transmission to the arrival of segments that were sent once until then.
    pub(super) one_way_delays: Vec<u64>,
    /// After each packet: its time, the bytes outstanding, those out of order, and those that can be read.
    pub(super) states: Vec<(u64, u64, u64, u64)>,
    /// The subflows in the order of their first packets.
    pub(super) subflows: Vec<(FourTuple, OfSubflow)>,
}

/// What was counted on a subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct OfSubflow {
    pub(super) retransmissions: u64,
    /// Packets with data that another subflow carried before, and this one did not; of QUIC, that another path carried
    /// last.
    pub(super) copies: u64,
    pub(super) copied_bytes: u64,
    /// How long data that had arrived waited for data that was sent here last.
    pub(super) blocked: u64,
    /// The end of what was sent, in sequence numbers.
    end: Option<u32>,
    /// What the receiver has acknowledged, and the latest timestamp of a segment that it acknowledged (TS.Recent).
    acknowledged: Option<u32>,
    recent: Option<u32>,
    pub(super) is_closed: bool,
}

/// Counts while packets pass.
pub(super) struct Count<'a> {
    connection: &'a Connection,
    segments: BTreeMap<u64, Segment>,
    sent: Ranges,
    arrived: Ranges,
    readable: u64,
    now: u64,
    /// The destination that each chunk was sent to last.
    chunks: BTreeMap<u32, FourTuple>,
    /// Of QUIC, the path that each byte was sent on last.
    carriers: Vec<FourTuple>,
    pub(super) counted: Counted,
}

impl<'a> Count<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        let (sent, arrived) = (Ranges::default(), Ranges::default());
        let (segments, chunks, carriers) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let counted = Counted::default();
        Self { connection, segments, sent, arrived, readable: 0, now: 0, chunks, carriers, counted }
    }

    /// The sender sends a packet.
    pub(super) fn on_sent(&mut self, time: u64, packet: &Packet) {
        self.pass(time);
        let tuple = four_tuple(packet);
        self.subflow(tuple);
        let data = self.connection.data(packet);
        if let Body::Tcp(segment) = &packet.body {
            let takes = segment.payload.length
                + u32::from(segment.flags.contains(TcpFlags::SYN))
                + u32::from(segment.flags.contains(TcpFlags::FIN));
            self.subflow(tuple).is_closed |= segment.flags.contains(TcpFlags::RST);
            let is_old = data.first().is_some_and(|data| self.sent.covers(&data.range));
            let subflow = self.subflow(tuple);
            let is_first = subflow.end.is_none_or(|end| (segment.sequence.wrapping_sub(end) as i32) >= 0);
            if takes > 0 && !is_first {
                subflow.retransmissions += 1;
            } else if takes > 0 {
                subflow.end = Some(segment.sequence.wrapping_add(takes));
                subflow.copies += u64::from(is_old);
                subflow.copied_bytes += u64::from(is_old) * u64::from(segment.payload.length);
            }
        }
        if matches!(packet.body, Body::Quic(_)) {
            self.carry(tuple, &data);
        }
        for Data { range, number } in data {
            if matches!(packet.body, Body::Sctp(_)) {
                let before = self.chunks.insert(number, tuple);
                let length = range.end - range.start;
                let subflow = self.subflow(tuple);
                subflow.retransmissions += u64::from(before.is_some());
                subflow.copied_bytes += if before.is_some_and(|before| before != tuple) { length } else { 0 };
            }
            self.send(time, tuple, &range);
        }
        self.note_state(time);
    }

    /// A packet of QUIC carries data.
    fn carry(&mut self, tuple: FourTuple, data: &[Data]) {
        let (mut again, mut elsewhere) = (0, 0);
        for byte in data.iter().flat_map(|data| data.range.clone()) {
            match self.carriers.get_mut(byte as usize) {
                Some(before) => {
                    again += 1;
                    elsewhere += u64::from(std::mem::replace(before, tuple) != tuple);
                }
                None => self.carriers.push(tuple),
            }
        }
        let subflow = self.subflow(tuple);
        subflow.retransmissions += u64::from(again > 0);
        subflow.copies += u64::from(elsewhere > 0);
        subflow.copied_bytes += elsewhere;
    }

    fn send(&mut self, time: u64, tuple: FourTuple, range: &Range<u64>) {
        let overlapping = self.segments.range_mut(..range.end).rev().take_while(|(_, known)| known.end > range.start);
        for (_, segment) in overlapping {
            segment.was_repeated = true;
            segment.latest = tuple;
        }
        for new in self.sent.missing(range) {
            let segment = Segment {
                end: new.end,
                sent_at: time,
                arrived_at: None,
                was_read: false,
                was_repeated: false,
                latest: tuple,
            };
            self.segments.insert(new.start, segment);
        }
        self.sent.add(range.clone());
    }

    /// A packet of the sender arrives.
    pub(super) fn on_arrived(&mut self, time: u64, packet: &Packet) {
        self.pass(time);
        let subflow = self.subflow(four_tuple(packet));
        if subflow.is_closed || subflow.is_old(packet) {
            return;
        }
        for Data { range, .. } in self.connection.data(packet) {
            self.arrived.add(range.clone());
            let Self { segments, arrived, counted, .. } = self;
            let touched = segments.range_mut(..range.end).rev().take_while(|(_, known)| known.end > range.start);
            for (start, segment) in touched {
                if segment.arrived_at.is_none() && arrived.covers(&(*start..segment.end)) {
                    segment.arrived_at = Some(time);
                    if !segment.was_repeated {
                        counted.one_way_delays.push(time - segment.sent_at);
                    }
                }
            }
        }
        if let Body::Quic(_) = packet.body {
            self.read(time, self.arrived.end_of_first());
        }
        self.note_state(time);
    }

    /// The receiver sends a packet.
    pub(super) fn on_answered(&mut self, time: u64, packet: &Packet) {
        self.pass(time);
        if let Body::Tcp(segment) = &packet.body {
            let (source, destination, source_port, destination_port) = four_tuple(packet);
            let subflow = self.subflow((destination, source, destination_port, source_port));
            subflow.is_closed |= segment.flags.contains(TcpFlags::RST);
            subflow.acknowledged = Some(segment.acknowledgment);
        }
        if let Some(acknowledged) = self.connection.acknowledged(packet) {
            // A FIN takes a number, too.
            self.read(time, acknowledged.min(self.sent.end()));
            self.note_state(time);
        }
    }

    /// What is before `readable` can be read.
    fn read(&mut self, time: u64, readable: u64) {
        if readable <= self.readable {
            return;
        }
        for (_, segment) in self.segments.range_mut(..readable).rev().take_while(|(_, segment)| !segment.was_read) {
            if segment.end <= readable {
                segment.was_read = true;
                self.counted.delays.push(time - segment.sent_at);
                let arrived_at = segment.arrived_at.expect("what is acknowledged has arrived");
                self.counted.reassembly_delays.push(time - arrived_at);
            }
        }
        self.readable = readable;
    }

    /// Time passes, in which data may wait for a subflow.
    fn pass(&mut self, time: u64) {
        let span = time - std::mem::replace(&mut self.now, time);
        let missing = self.segments.range(..=self.readable).next_back();
        if let Some((_, segment)) = missing.filter(|(_, segment)| segment.end > self.readable)
            && self.arrived.bytes_from(self.readable) > 0
        {
            let latest = segment.latest;
            self.subflow(latest).blocked += span;
        }
    }

    fn note_state(&mut self, time: u64) {
        let outstanding = self.sent.end() - self.readable.min(self.sent.end());
        let out_of_order = self.arrived.bytes_from(self.readable);
        self.counted.states.push((time, outstanding, out_of_order, self.readable));
    }

    fn subflow(&mut self, tuple: FourTuple) -> &mut OfSubflow {
        let known = self.counted.subflows.iter().position(|(known, _)| *known == tuple);
        let index = known.unwrap_or_else(|| {
            self.counted.subflows.push((tuple, OfSubflow::default()));
            self.counted.subflows.len() - 1
        });
        &mut self.counted.subflows[index].1
    }
}

impl OfSubflow {
    /// Whether the receiver rejects a segment because of its timestamp, which is older than that of a segment that it
    /// has received in order (PAWS; RFC 7323, sections 4.3 and 5.3).
    fn is_old(&mut self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let Some(timestamps) = segment.options.timestamps else { return false };
        let is_before = |one: u32, other: u32| (one.wrapping_sub(other) as i32) < 0;
        if self.recent.is_some_and(|recent| is_before(timestamps.value, recent)) {
            return true;
        }
        // The timestamp of a segment with nothing new does not count: it is outside of the window.
        let end = segment.sequence.wrapping_add(segment.payload.length.max(1));
        let is_next = |acknowledged| !is_before(acknowledged, segment.sequence) && is_before(acknowledged, end);
        if self.acknowledged.is_none_or(is_next) {
            self.recent = Some(timestamps.value);
        }
        false
    }
}

/// Disjoint ranges.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    fn add(&mut self, range: Range<u64>) {
        let mut joined = range.clone();
        let touched: Vec<(u64, u64)> = self
            .0
            .range(..=range.end)
            .rev()
            .take_while(|(_, end)| **end >= range.start)
            .map(|(&start, &end)| (start, end))
            .collect();
        for (start, end) in touched {
            joined = joined.start.min(start)..joined.end.max(end);
            self.0.remove(&start);
        }
        self.0.insert(joined.start, joined.end);
    }

    fn covers(&self, range: &Range<u64>) -> bool {
        self.0.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end)
    }

    fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut at = range.start;
        let mut known: Vec<_> = self.0.range(..range.end).rev().take_while(|(_, end)| **end > range.start).collect();
        known.reverse();
        for (&start, &end) in known {
            if at < start {
                missing.push(at..start);
            }
            at = at.max(end);
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    /// The end of the range that begins with the first byte of all.
    fn end_of_first(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }

    fn end(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, end)| *end)
    }

    fn bytes_from(&self, from: u64) -> u64 {
        let parts = self.0.iter().rev().take_while(|(_, end)| **end > from);
        parts.map(|(&start, &end)| end - start.max(from)).sum()
    }
}
