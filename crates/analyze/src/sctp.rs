//! SCTP associations: their paths, and the chunks of data on them (RFC 9260).
//!
//! Chunks are read from the captured bytes as far as they go: a capture may have the first bytes of a packet only, and
//! the CRC32c may be left to the network card.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_wire::sctp::chunk_type;

use crate::ranges::Ranges;
use crate::tcp::extend;

/// An association, with its ends 0, which sent the first INIT or packet, and 1.
#[derive(Debug)]
pub(crate) struct Association {
    /// The tags of packets to each end.
    pub(crate) tags: [Option<u32>; 2],
    pub(crate) paths: Vec<Path>,
    pub(crate) data: [Chunks; 2],
    pub(crate) first_time: u64,
    pub(crate) last_time: u64,
    pub(crate) has_init: bool,
    pub(crate) is_aborted: bool,
    pub(crate) is_shut_down: bool,
}

/// A pair of addresses.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) sent: [Sent; 2],
}

/// What one end sent on a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    /// Bytes of user data in chunks whose last copy went this way: the one that arrived, unless it was not needed.
    pub(crate) bytes: u64,
    /// Chunks that were captured before, on any path.
    pub(crate) retransmissions: u64,
}

/// The chunks of data of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    sent: Ranges,
    /// The path of the last copy of each chunk that no SACK has covered.
    outstanding: BTreeMap<u64, usize>,
    next: u64,
    /// Bytes of user data in chunks captured for the first time.
    pub(crate) bytes: u64,
    pub(crate) retransmissions: u64,
    /// TSNs that the peer reported as duplicates.
    pub(crate) duplicates: u64,
    pub(crate) last_new: Option<u64>,
    pub(crate) last_acknowledged: Option<u64>,
    acknowledged: Option<u64>,
}

/// Which copy of a chunk a packet has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sending {
    First,
    /// One that may be needed; the last copy before it went on the path `before`.
    Another {
        before: usize,
    },
    /// One of a chunk that is acknowledged already.
    Acknowledged,
}

const COMMON_HEADER: usize = 12;
const DATA_HEADER: u32 = 16;

/// The verification tag of a packet, and the initiate tag of its INIT or INIT ACK.
pub(crate) fn tags(packet: &[u8]) -> Option<(u32, Option<u32>)> {
    let tag = number(packet, 4)?;
    let kind = packet.get(COMMON_HEADER).copied();
    let initiate =
        if matches!(kind, Some(chunk_type::INIT | chunk_type::INIT_ACK)) { number(packet, 16) } else { None };
    Some((tag, initiate))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&four| u32::from_be_bytes(four))
}

impl Association {
    pub(crate) fn new(time: u64) -> Self {
        Self {
            tags: [None; 2],
            paths: Vec::new(),
            data: Default::default(),
            first_time: time,
            last_time: time,
            has_init: false,
            is_aborted: false,
            is_shut_down: false,
        }
    }

    /// A packet that the end `from` sends.
    pub(crate) fn observe(&mut self, from: usize, [source, destination]: [SocketAddr; 2], packet: &[u8], time: u64) {
        self.last_time = time;
        let ends = if from == 0 { [source, destination] } else { [destination, source] };
        let path = self.paths.iter().position(|path| path.ends == ends).unwrap_or_else(|| {
            self.paths.push(Path { ends, sent: Default::default() });
            self.paths.len() - 1
        });
        self.paths[path].sent[from].packets += 1;
        let mut has_data = false;
        let mut rest = packet.get(COMMON_HEADER..).unwrap_or_default();
        while let Some(&[kind, _, high, low]) = rest.first_chunk::<4>() {
            let length = u16::from_be_bytes([high, low]);
            if length < 4 {
                break;
            }
            let chunk = &rest[..rest.len().min(usize::from(length))];
            match kind {
                chunk_type::DATA => {
                    has_data = true;
                    self.send(from, path, chunk, u32::from(length), time);
                }
                chunk_type::SACK | chunk_type::NR_SACK => self.data[1 - from].acknowledge(chunk, time),
                chunk_type::INIT => self.has_init = true,
                chunk_type::ABORT => self.is_aborted = true,
                chunk_type::SHUTDOWN_ACK => self.is_shut_down = true,
                _ => {}
            }
            rest = rest.get(usize::from(length).next_multiple_of(4)..).unwrap_or_default();
        }
        self.paths[path].sent[from].data_packets += u64::from(has_data);
    }

    fn send(&mut self, from: usize, path: usize, chunk: &[u8], length: u32, time: u64) {
        let Some(tsn) = number(chunk, 4) else { return };
        let bytes = u64::from(length.saturating_sub(DATA_HEADER));
        let copy = self.data[from].send(tsn, path, bytes, time);
        if copy != Sending::First {
            self.paths[path].sent[from].retransmissions += 1;
        }
        if let Sending::Another { before } = copy {
            // A capture may have copies of different lengths, whatever the RFC says.
            let last = &mut self.paths[before].sent[from].bytes;
            *last = last.saturating_sub(bytes);
        }
        if copy != Sending::Acknowledged {
            self.paths[path].sent[from].bytes += bytes;
        }
    }

    /// How it ended.
    pub(crate) const fn outcome(&self) -> &'static str {
        match (self.is_aborted, self.is_shut_down) {
            (true, _) => "aborted",
            (false, true) => "closed",
            (false, false) => "open",
        }
    }
}

impl Chunks {
    fn send(&mut self, tsn: u32, path: usize, bytes: u64, time: u64) -> Sending {
        let tsn = if self.next == 0 { 1 << 32 | u64::from(tsn) } else { extend(self.next, tsn) };
        self.next = self.next.max(tsn + 1);
        if self.sent.insert(tsn, tsn + 1) > 0 {
            self.bytes += bytes;
            self.last_new = Some(time);
            self.outstanding.insert(tsn, path);
            return Sending::First;
        }
        self.retransmissions += 1;
        match self.outstanding.get_mut(&tsn) {
            Some(last) => Sending::Another { before: std::mem::replace(last, path) },
            None => Sending::Acknowledged,
        }
    }

    /// A SACK: the cumulative TSN, the window, numbers of gap blocks and duplicates. NR-SACK has the same at its start.
    fn acknowledge(&mut self, chunk: &[u8], time: u64) {
        let (Some(cumulative), Some(counts)) = (number(chunk, 4), number(chunk, 12)) else { return };
        if chunk[0] == chunk_type::SACK {
            self.duplicates += u64::from(counts & 0xffff);
        }
        if self.next == 0 {
            return;
        }
        let cumulative = extend(self.next, cumulative);
        if self.acknowledged.is_none_or(|before| cumulative > before) {
            self.acknowledged = Some(cumulative);
            self.outstanding = self.outstanding.split_off(&(cumulative + 1));
            self.last_acknowledged = Some(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a DATA chunk of 100 bytes, of which the capture has `captured`.
    fn data(tsn: u32, captured: usize) -> Vec<u8> {
        let mut packet = vec![0x0f, 0xa0, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0, 3, 0, 116];
        packet.extend(tsn.to_be_bytes());
        packet.resize(12 + 116, 0);
        packet.truncate(captured);
        packet
    }

    #[test]
    fn chunks_that_come_again_on_another_path_are_retransmissions() {
        let ends: [[SocketAddr; 2]; 2] = [
            ["10.0.0.1:4000".parse().expect("good"), "10.0.0.2:80".parse().expect("good")],
            ["10.0.1.1:4000".parse().expect("good"), "10.0.1.2:80".parse().expect("good")],
        ];
        let mut association = Association::new(0);
        association.observe(0, ends[0], &data(u32::MAX, 128), 1);
        association.observe(0, ends[0], &data(0, 40), 2);
        association.observe(0, ends[1], &data(u32::MAX, 128), 3);
        let chunks = &association.data[0];
        assert_eq!((chunks.bytes, chunks.retransmissions, chunks.last_new), (200, 1, Some(2)));
        assert_eq!(association.paths.len(), 2);
        let [first, second] = [0, 1].map(|path| association.paths[path].sent[0]);
        assert_eq!((second.retransmissions, first.bytes, second.bytes), (1, 100, 100));
    }
}
