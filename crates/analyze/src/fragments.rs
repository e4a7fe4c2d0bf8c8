//! Packets that the network has cut into fragments (RFC 791, section 3.2; RFC 8200, section 4.5), put together again.
//!
//! Of a packet whose fragments were all captured, the headers are those of the first one, and the lengths those of all: it
//! is captured when the last of them is. A capture may have the first bytes of each only: then so has the packet.

use std::net::IpAddr;

use rustc_hash::FxHashMap;

use crate::capture::Record;
use crate::packet;
use crate::ranges::Ranges;

/// Packets of which fragments are kept, at most.
const MOST: usize = 256;
/// Linux keeps fragments for so long (`ipfrag_time`), in nanoseconds.
const LONGEST_WAIT: u64 = 30_000_000_000;
/// A fragment that comes again within this time, in nanoseconds, is a copy that the capture has twice.
const LATEST_COPY: u64 = 100_000_000;
/// The largest length that an IP header can state.
const LONGEST_PACKET: usize = 65_535;
const LINK_TYPE_RAW: u16 = 101;

/// The point of capture, addresses, protocol and identification.
type Key = (u16, IpAddr, IpAddr, u8, u32);

/// Packets of which not all fragments were captured yet.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    parts: FxHashMap<Key, Parts>,
    /// All fragments.
    captured: u64,
    /// Those of packets that are whole, with copies.
    used: u64,
    /// Packets that are whole.
    pub(crate) packets: u64,
}

/// What is known of a packet.
#[derive(Debug, Default)]
struct Parts {
    first_time: u64,
    fragments: u64,
    /// Which bytes behind the header came.
    present: Ranges,
    /// Which of them were captured.
    captured: Ranges,
    bytes: Vec<u8>,
    /// How many there are in all, once the last fragment came.
    length: Option<usize>,
    /// When it was whole.
    completed: Option<u64>,
}

/// A packet that is whole, as raw IP.
#[derive(Debug)]
pub(crate) struct Whole {
    bytes: Vec<u8>,
    original_length: u32,
    time: u64,
}

impl Whole {
    pub(crate) fn record(&self) -> Record<'_> {
        let Self { bytes, original_length, time } = self;
        Record { time: *time, link_type: LINK_TYPE_RAW, original_length: *original_length, bytes }
    }
}

impl Fragments {
    /// Fragments of packets that are not whole.
    pub(crate) const fn unread(&self) -> u64 {
        self.captured - self.used
    }

    /// A fragment was captured; returns its packet, if that is whole now.
    pub(crate) fn add(&mut self, point: u16, record: &Record<'_>) -> Option<Whole> {
        self.captured += 1;
        let (network, fragment) = packet::fragment(record)?;
        let (start, end) = (fragment.offset, fragment.offset + network.length);
        if end > LONGEST_PACKET {
            return None;
        }
        let key = (point, network.source, network.destination, network.protocol, fragment.identification);
        let time = record.time;
        if self.parts.get(&key).is_some_and(|parts| parts.is_over(time)) {
            self.parts.remove(&key);
        }
        if self.parts.len() == MOST && !self.parts.contains_key(&key) {
            let oldest = self.parts.iter().min_by_key(|(key, parts)| (parts.first_time, **key)).map(|(key, _)| *key);
            oldest.and_then(|oldest| self.parts.remove(&oldest));
        }
        let parts = self.parts.entry(key).or_insert_with(|| Parts { first_time: time, ..Parts::default() });
        if parts.completed.is_some() {
            self.used += 1;
            return None;
        }
        parts.fragments += 1;
        parts.present.insert(start as u64, end as u64);
        let captured_end = start + network.payload.len();
        if parts.bytes.len() < captured_end {
            parts.bytes.resize(captured_end, 0);
        }
        parts.bytes[start..captured_end].copy_from_slice(network.payload);
        parts.captured.insert(start as u64, captured_end as u64);
        if !fragment.has_more {
            parts.length = Some(end);
        }
        let length = parts.length.filter(|&length| parts.present.known(0, length as u64) == length as u64)?;
        let header = header(&key, length)?;
        self.packets += 1;
        self.used += parts.fragments;
        let captured = parts.captured.end_of_first().map_or(0, |end| (end as usize).min(length));
        let bytes = [&header, &parts.bytes[..captured]].concat();
        *parts = Parts { first_time: parts.first_time, completed: Some(time), ..Parts::default() };
        Some(Whole { bytes, original_length: (header.len() + length) as u32, time })
    }
}

impl Parts {
    /// Whether a fragment at a time is one of another packet with the same identification.
    fn is_over(&self, time: u64) -> bool {
        match self.completed {
            Some(completed) => time.saturating_sub(completed) > LATEST_COPY,
            None => time.saturating_sub(self.first_time) > LONGEST_WAIT,
        }
    }
}

/// The header of a packet that was not cut, with so many bytes behind it. `None` if no header can state that.
fn header(&(_, source, destination, protocol, identification): &Key, length: usize) -> Option<Vec<u8>> {
    const HEADER_V4: usize = 20;
    const HOP_LIMIT: u8 = 64;
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let [high, low] = u16::try_from(HEADER_V4 + length).ok()?.to_be_bytes();
            let [first, second] = (identification as u16).to_be_bytes();
            let fixed = [0x45, 0, high, low, first, second, 0, 0, HOP_LIMIT, protocol, 0, 0];
            Some([&fixed[..], &source.octets(), &destination.octets()].concat())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let [high, low] = u16::try_from(length).ok()?.to_be_bytes();
            let fixed = [0x60, 0, 0, 0, high, low, protocol, HOP_LIMIT];
            Some([&fixed[..], &source.octets(), &destination.octets()].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, read};

    /// A fragment of a datagram from 10.0.0.1:4000 to 10.0.0.2:53, of which the first `captured` bytes were captured.
    fn fragment(identification: u8, [start, end]: [u16; 2], has_more: bool, captured: usize) -> Vec<u8> {
        let datagram = [&[0x0f, 0xa0, 0, 53, 0x07, 0xd8, 0, 0][..], &[7; 2000]].concat();
        let [high, low] = (20 + end - start).to_be_bytes();
        let [flags, offset] = ((if has_more { 0x2000 } else { 0 }) | (start / 8)).to_be_bytes();
        let header = [0x45, 0, high, low, 0, identification, flags, offset, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let mut bytes = [&header[..], &datagram[usize::from(start)..usize::from(end)]].concat();
        bytes.truncate(20 + captured);
        bytes
    }

    fn record(bytes: &[u8], time: u64) -> Record<'_> {
        let original_length = u16::from_be_bytes([bytes[2], bytes[3]]).into();
        Record { time, link_type: LINK_TYPE_RAW, original_length, bytes }
    }

    /// The payload of a datagram that was put together, on the link and as far as it was captured.
    fn lengths(whole: &Whole) -> (u32, usize) {
        let packet = read(&whole.record()).expect("a datagram");
        let Body::Udp(datagram) = packet.body else { panic!("it is UDP") };
        assert_eq!(packet.source.to_string(), "10.0.0.1:4000");
        (datagram.length, datagram.payload.len())
    }

    #[test]
    fn fragments_in_any_order_are_one_packet_when_the_last_of_them_comes() {
        let mut fragments = Fragments::default();
        let last = fragment(1, [1480, 2008], false, 528);
        let [first, second] = [fragment(1, [0, 800], true, 800), fragment(1, [800, 1480], true, 680)];
        assert!(fragments.add(0, &record(&last, 1)).is_none() && fragments.add(0, &record(&first, 2)).is_none());
        assert!(fragments.add(1, &record(&second, 3)).is_none(), "of another point");
        assert!(fragments.add(0, &record(&first, 4)).is_none(), "a copy");
        let whole = fragments.add(0, &record(&second, 5)).expect("it is whole");
        assert_eq!((lengths(&whole), whole.time, fragments.packets, fragments.unread()), ((2000, 2000), 5, 1, 1));
        assert!(fragments.add(0, &record(&last, 6)).is_none(), "a copy of what is whole");
        assert_eq!((fragments.packets, fragments.unread()), (1, 1));
    }

    #[test]
    fn of_fragments_that_were_cut_the_lengths_are_those_on_the_link() {
        let mut fragments = Fragments::default();
        assert!(fragments.add(0, &record(&fragment(1, [0, 1480], true, 76), 1)).is_none());
        let whole = fragments.add(0, &record(&fragment(1, [1480, 2008], false, 76), 2)).expect("it is whole");
        assert_eq!(lengths(&whole), (2000, 68));
    }

    #[test]
    fn another_packet_with_the_same_identification_has_fragments_of_its_own_and_memory_is_bounded() {
        let mut fragments = Fragments::default();
        let [first, last] = [fragment(1, [0, 1480], true, 1480), fragment(1, [1480, 2008], false, 528)];
        assert!(fragments.add(0, &record(&first, 0)).is_none());
        assert!(fragments.add(0, &record(&last, LONGEST_WAIT + 1)).is_none(), "the first one was given up");
        assert!(fragments.add(0, &record(&first, LONGEST_WAIT + 2)).is_some());
        assert_eq!(fragments.unread(), 1);
        for point in 0..2 * MOST as u16 {
            fragments.add(point, &record(&first, u64::from(point)));
        }
        assert_eq!(fragments.parts.len(), MOST);
    }

    #[test]
    fn fragments_of_ipv6_are_one_packet_without_their_fragment_headers() {
        let datagram = [&[0x0f, 0xa0, 0, 53, 0, 24, 0, 0][..], &[7; 16]].concat();
        let fragment = |start: usize, end: usize| {
            let flags = (start | usize::from(end < 24)) as u8;
            let header = [0x60, 0, 0, 0, 0, (8 + end - start) as u8, 44, 64];
            [&header[..], &[0xfd; 32], &[17, 0, 0, flags, 1, 2, 3, 4], &datagram[start..end]].concat()
        };
        let mut fragments = Fragments::default();
        let parts = [fragment(0, 16), fragment(16, 24)];
        let of = |bytes| Record { time: 0, link_type: LINK_TYPE_RAW, original_length: 64, bytes };
        assert!(fragments.add(0, &of(&parts[0])).is_none());
        let whole = fragments.add(0, &of(&parts[1])).expect("it is whole");
        let packet = read(&whole.record()).expect("a datagram");
        let Body::Udp(datagram) = packet.body else { panic!("it is UDP") };
        assert_eq!((packet.destination.port(), datagram.length, datagram.payload), (53, 16, &[7; 16][..]));
    }
}
