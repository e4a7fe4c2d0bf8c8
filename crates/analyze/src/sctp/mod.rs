//! SCTP associations: their paths, and the chunks of data on them (RFC 9260).
//!
//! | to find | look in |
//! |---|---|
//! | what SACKs say of chunks, and why they are sent again | `chunks.rs` |
//! | what one end sent on a path, with round-trip times | `path.rs` |
//!
//! Chunks are read from the captured bytes as far as they go: a capture may have the first bytes of a packet only, and
//! the CRC32c may be left to the network card.

mod chunks;
mod path;

use std::net::SocketAddr;

use subflow_wire::sctp::chunk_type;

pub(crate) use chunks::Chunks;
use chunks::Sent;
pub(crate) use path::{Path, PathHalf};

use crate::passages::mixed_bytes;
use crate::sequence::{Sending, Tracing};
use crate::tcp::Cause;

/// An association, with its ends 0, which sent the first INIT or packet, and 1.
#[derive(Debug)]
pub(crate) struct Association {
    /// The tags of packets to each end.
    pub(crate) tags: [Option<u32>; 2],
    pub(crate) paths: Vec<Path>,
    pub(crate) data: [Chunks; 2],
    pub(crate) first_time: u64,
    pub(crate) last_time: u64,
    pub(crate) handshake: Handshake,
    pub(crate) is_aborted: bool,
    pub(crate) is_shut_down: bool,
    /// Whether times are kept to find packets at other points of capture.
    has_passages: bool,
}

/// When the first three packets were captured first, in nanoseconds (RFC 9260, section 5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    pub(crate) init: Option<u64>,
    init_ack: Option<u64>,
    cookie_echo: Option<u64>,
    /// Whether one was sent more than once: no time tells a round trip then.
    is_repeated: bool,
}

pub(crate) const COMMON_HEADER: usize = 12;
pub(crate) const DATA_HEADER: usize = 16;
/// A chunk of data of interleaved messages, with its TSN where DATA has it (RFC 8260, section 2.1).
pub(crate) const I_DATA: u8 = 64;
pub(crate) const I_DATA_HEADER: usize = 20;
/// Bytes of a packet by which it is known at another point: the header of the first chunk, with what it acknowledges.
const KNOWN_BY: usize = 48;
/// The most pairs of addresses of an association; what others carry counts for the last one. Hosts have few, but anybody
/// may send with a tag.
const MOST_PATHS: usize = 256;

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
    /// `has_passages` if there are several points of capture.
    pub(crate) fn new(has_passages: bool, time: u64) -> Self {
        Self {
            tags: [None; 2],
            paths: Vec::new(),
            data: Default::default(),
            first_time: time,
            last_time: time,
            handshake: Handshake::default(),
            is_aborted: false,
            is_shut_down: false,
            has_passages,
        }
    }

    /// A packet that the end `from` sends.
    pub(crate) fn observe(
        &mut self,
        from: usize,
        [source, destination]: [SocketAddr; 2],
        packet: &[u8],
        time: u64,
        tracing: &mut Tracing,
    ) {
        self.last_time = time;
        let ends = if from == 0 { [source, destination] } else { [destination, source] };
        let path = self.paths.iter().position(|path| path.ends == ends).unwrap_or_else(|| {
            if self.paths.len() == MOST_PATHS {
                return MOST_PATHS - 1;
            }
            self.paths.push(Path { ends, sent: Default::default(), traced: None });
            self.paths.len() - 1
        });
        let half = &mut self.paths[path].sent[from];
        half.packets += 1;
        if self.has_passages {
            // The checksum may be computed behind the point of capture.
            let known_by = packet.get(COMMON_HEADER..).unwrap_or_default();
            let known_by = &known_by[..known_by.len().min(KNOWN_BY)];
            half.passages.add(mixed_bytes(number(packet, 4).unwrap_or(0).into(), known_by), time);
        }
        let mut has_data = false;
        let mut rest = packet.get(COMMON_HEADER..).unwrap_or_default();
        while let Some(&[kind, _, high, low]) = rest.first_chunk::<4>() {
            let length = u16::from_be_bytes([high, low]);
            if length < 4 {
                break;
            }
            let chunk = &rest[..rest.len().min(usize::from(length))];
            match kind {
                chunk_type::DATA | I_DATA => {
                    has_data = true;
                    self.send(from, path, chunk, length.into(), time, tracing);
                }
                chunk_type::SACK | chunk_type::NR_SACK => {
                    self.data[1 - from].acknowledge(chunk, path, &mut self.paths, 1 - from, time);
                }
                chunk_type::HEARTBEAT => self.paths[path].sent[from].heartbeat(chunk, time),
                chunk_type::HEARTBEAT_ACK => self.paths[path].sent[1 - from].heartbeat_answered(chunk, time),
                chunk_type::INIT => self.handshake.note(|handshake| &mut handshake.init, time),
                chunk_type::INIT_ACK => self.handshake.note(|handshake| &mut handshake.init_ack, time),
                chunk_type::COOKIE_ECHO => self.handshake.note(|handshake| &mut handshake.cookie_echo, time),
                chunk_type::ABORT => self.is_aborted = true,
                chunk_type::SHUTDOWN_ACK => self.is_shut_down = true,
                _ => {}
            }
            rest = rest.get(usize::from(length).next_multiple_of(4)..).unwrap_or_default();
        }
        self.paths[path].sent[from].data_packets += u64::from(has_data);
    }

    fn send(&mut self, from: usize, path: usize, chunk: &[u8], length: u64, time: u64, tracing: &mut Tracing) {
        let Some(tsn) = number(chunk, 4) else { return };
        let header = if chunk[0] == I_DATA { I_DATA_HEADER } else { DATA_HEADER };
        let bytes = length.saturating_sub(header as u64);
        let (sent, position) = self.data[from].send(tsn, path, bytes, &mut self.paths, from, time);
        let sending = match sent {
            Sent::First => Sending::New,
            Sent::Another { before, .. } if before != path => Sending::Copied,
            Sent::Another { cause, .. } => Sending::Again(cause),
            Sent::Acknowledged => Sending::Again(Cause::Other),
        };
        tracing.add(&mut self.paths[path].traced, from, (sending, position), time);
        if let Sent::Another { before, .. } = sent {
            // A capture may have copies of different lengths, whatever the RFC says.
            let last = &mut self.paths[before].sent[from].bytes;
            *last = last.saturating_sub(bytes);
        }
        if sent != Sent::Acknowledged {
            self.paths[path].sent[from].bytes += bytes;
        }
        self.paths[path].sent[from].over_time.sent(time, bytes);
    }

    /// How it ended.
    pub(crate) const fn outcome(&self) -> &'static str {
        match (self.is_aborted, self.is_shut_down) {
            (true, _) => "aborted",
            (false, true) => "closed",
            (false, false) => "open",
        }
    }

    /// The end that the point of capture is nearer to; `None` if the handshake does not tell.
    pub(crate) fn nearest_end(&self) -> Option<usize> {
        let Handshake { init, init_ack, cookie_echo, is_repeated } = self.handshake;
        let (beyond, before) = (init_ack?.checked_sub(init?)?, cookie_echo?.checked_sub(init_ack?)?);
        (!is_repeated && beyond != before).then_some(usize::from(beyond < before))
    }
}

impl Handshake {
    fn note(&mut self, packet: fn(&mut Self) -> &mut Option<u64>, time: u64) {
        if packet(self).is_some() {
            self.is_repeated = true;
        } else {
            *packet(self) = Some(time);
        }
    }

    /// The round-trip time from one end to the other, in nanoseconds: from INIT to COOKIE ECHO.
    pub(crate) fn round_trip(&self) -> Option<u64> {
        let (Some(init), Some(cookie_echo), false) = (self.init, self.cookie_echo, self.is_repeated) else {
            return None;
        };
        self.init_ack.and_then(|_| cookie_echo.checked_sub(init))
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

    fn observe(association: &mut Association, from: usize, ends: [SocketAddr; 2], packet: &[u8], time: u64) {
        association.observe(from, ends, packet, time, &mut Tracing::default());
    }

    /// A packet with a chunk.
    fn chunk(kind: u8, value: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x0f, 0xa0, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, kind, 0, 0, 4 + value.len() as u8];
        packet.extend(value);
        packet
    }

    fn sack(cumulative: u32, gaps: &[[u16; 2]]) -> Vec<u8> {
        let mut value = cumulative.to_be_bytes().to_vec();
        value.extend([0, 1, 0, 0, 0, gaps.len() as u8, 0, 0]);
        value.extend(gaps.iter().flatten().flat_map(|offset| offset.to_be_bytes()));
        chunk(chunk_type::SACK, &value)
    }

    fn ends() -> [[SocketAddr; 2]; 2] {
        [["10.0.0.1:4000", "10.0.0.2:80"], ["10.0.1.1:4000", "10.0.1.2:80"]]
            .map(|ends| ends.map(|end| end.parse().expect("good")))
    }

    #[test]
    fn chunks_that_come_again_on_another_path_are_retransmissions() {
        let ends = ends();
        let mut association = Association::new(false, 0);
        observe(&mut association, 0, ends[0], &data(u32::MAX, 128), 1);
        observe(&mut association, 0, ends[0], &data(0, 40), 2);
        observe(&mut association, 0, ends[1], &data(u32::MAX, 128), 3);
        let chunks = &association.data[0];
        assert_eq!((chunks.bytes, chunks.retransmissions, chunks.last_new), (200, 1, Some(2)));
        assert_eq!(association.paths.len(), 2);
        let [first, second] = [0, 1].map(|path| &association.paths[path].sent[0]);
        assert_eq!((second.retransmissions, first.bytes, second.bytes), (1, 100, 100));
    }

    #[test]
    fn round_trips_are_those_of_chunks_and_of_heartbeats() {
        const MS: u64 = 1_000_000;
        let [ends, _] = ends();
        let back = [ends[1], ends[0]];
        let mut association = Association::new(false, 0);
        observe(&mut association, 0, ends, &data(1, 128), 0);
        observe(&mut association, 0, ends, &data(2, 128), 5 * MS);
        observe(&mut association, 1, back, &sack(2, &[]), 45 * MS);
        observe(&mut association, 0, ends, &chunk(chunk_type::HEARTBEAT, &[0, 1, 0, 8, 1, 2, 3, 4]), 100 * MS);
        observe(&mut association, 1, back, &chunk(chunk_type::HEARTBEAT_ACK, &[0, 1, 0, 8, 1, 2, 3, 4]), 130 * MS);
        let half = &association.paths[0].sent[0];
        assert_eq!((half.round_trips.count, half.round_trips.minimum), (1, 40 * MS));
        assert_eq!((half.heartbeat_trips.count, half.heartbeat_trips.minimum), (1, 30 * MS));
    }

    #[test]
    fn gaps_make_a_retransmission_fast_and_waiting_one_a_timeout() {
        const MS: u64 = 1_000_000;
        let [ends, _] = ends();
        let back = [ends[1], ends[0]];
        let mut association = Association::new(false, 0);
        for tsn in 1..=6 {
            observe(&mut association, 0, ends, &data(tsn, 128), u64::from(tsn) * MS);
        }
        // 2 is missing: three gap reports, and it is sent again at once.
        for (at, last) in [(42, 2), (43, 3), (44, 4)] {
            observe(&mut association, 1, back, &sack(1, &[[2, last]]), at * MS);
        }
        observe(&mut association, 0, ends, &data(2, 128), 44 * MS);
        observe(&mut association, 1, back, &sack(5, &[]), 84 * MS);
        // 6 is lost, too, and nothing comes behind it.
        observe(&mut association, 0, ends, &data(6, 128), 1090 * MS);
        let half = &association.paths[0].sent[0];
        assert_eq!((half.retransmissions, half.fast, half.after_timeout, half.timeouts), (2, 1, 1, 1));
    }
}
