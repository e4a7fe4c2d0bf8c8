//! SCTP packets of kernels' hosts by their ends. A program with an SCTP of its own, such as usrsctp, has raw sockets, of
//! which no kernel lists an association, and a kernel with SCTP does not report how an association ended: what is known of
//! both is what passes the devices.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Packet, SctpPacket};

/// The most pairs of ends that are kept, a pair for each direction.
const MOST_PAIRS: usize = 2000;

/// What SCTP packets carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpCarried {
    /// Packets.
    pub packets: u64,
    /// Bytes of user data in them, also of data that was sent again.
    pub data_bytes: u64,
    /// Bytes of user data that were sent for the first time, by their transmission sequence numbers.
    pub new_bytes: u64,
    /// DATA chunks that were sent again.
    pub repeated_chunks: u64,
    /// When the first packet was sent.
    pub began: Instant,
    /// When the last one was.
    pub last: Instant,
    /// Whether a packet ended the association: it had ABORT or SHUTDOWN COMPLETE.
    pub ended: bool,
}

impl SctpCarried {
    /// Nothing, at `now`.
    pub fn none(now: Instant) -> Self {
        Self { packets: 0, data_bytes: 0, new_bytes: 0, repeated_chunks: 0, began: now, last: now, ended: false }
    }

    /// Adds what others carried.
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.data_bytes += other.data_bytes;
        self.new_bytes += other.new_bytes;
        self.repeated_chunks += other.repeated_chunks;
        self.began = self.began.min(other.began);
        self.last = self.last.max(other.last);
        self.ended |= other.ended;
    }
}

/// The SCTP packets that kernels have sent, directly in IP or in UDP (RFC 6951). An association of several addresses
/// has several pairs of ends.
#[derive(Clone, Debug, Default)]
pub struct SctpTraffic {
    by_ends: BTreeMap<[SocketAddr; 2], SctpCarried>,
    /// The data that was sent, by ports and verification tag: those of all paths of a direction of an association.
    sent: BTreeMap<(u16, u16, u32), SentData>,
    /// Packets between further ends, beyond those that are kept.
    further: Option<SctpCarried>,
}

impl SctpTraffic {
    /// Each pair of ends, the sender first, with what it sent to the other end.
    pub fn by_ends(&self) -> impl Iterator<Item = ([SocketAddr; 2], SctpCarried)> {
        self.by_ends.iter().map(|(&ends, &carried)| (ends, carried))
    }

    /// What was sent between ends that are not kept, of which there are too many.
    pub fn further(&self) -> Option<SctpCarried> {
        self.further
    }

    /// Counts a packet that was sent at `now`, if it is one of SCTP.
    pub(crate) fn count(&mut self, packet: &Packet, now: Instant) {
        let Body::Sctp(body) = &packet.body else { return };
        let ends = [
            SocketAddr::new(packet.ip.source, body.source_port),
            SocketAddr::new(packet.ip.destination, body.destination_port),
        ];
        let ended =
            body.chunks.iter().any(|chunk| matches!(chunk, Chunk::Abort { .. } | Chunk::ShutdownComplete { .. }));
        let mut carried = SctpCarried { packets: 1, ended, ..SctpCarried::none(now) };
        self.count_data(body, &mut carried);
        let has_room = self.by_ends.len() < MOST_PAIRS || self.by_ends.contains_key(&ends);
        let none = SctpCarried::none(now);
        let kept = if has_room { self.by_ends.entry(ends).or_insert(none) } else { self.further.get_or_insert(none) };
        kept.add(carried);
    }

    fn count_data(&mut self, body: &SctpPacket, carried: &mut SctpCarried) {
        carried.data_bytes = u64::from(body.user_data_length());
        let key = (body.source_port, body.destination_port, body.verification_tag);
        for chunk in &body.chunks {
            let Chunk::Data(data) = chunk else { continue };
            if self.sent.len() == MOST_PAIRS && !self.sent.contains_key(&key) {
                carried.new_bytes += u64::from(data.payload.length);
                continue;
            }
            let is_new = self.sent.entry(key).or_default().is_new(data.tsn);
            match is_new {
                true => carried.new_bytes += u64::from(data.payload.length),
                false => carried.repeated_chunks += 1,
            }
        }
    }
}

/// Numbers that are known individually, at and below the highest one: more than any window has.
const KNOWN: u32 = 1 << 15;

/// Which transmission sequence numbers were sent. Those of several paths do not come in their order.
#[derive(Clone, Debug, Default)]
struct SentData {
    highest: u32,
    /// By the number modulo [`KNOWN`], a bit each; empty before the first one.
    seen: Vec<u64>,
}

impl SentData {
    /// Whether a number is sent for the first time; it is not afterwards.
    fn is_new(&mut self, tsn: u32) -> bool {
        if self.seen.is_empty() {
            self.seen = vec![0; KNOWN as usize / 64];
            self.highest = tsn.wrapping_sub(1);
        }
        let ahead = tsn.wrapping_sub(self.highest);
        if ahead == 0 {
            return false;
        }
        // Half of all numbers are after it (RFC 1982).
        if ahead < 1 << 31 {
            self.forget_after_highest(ahead.min(KNOWN));
            self.highest = tsn;
        } else if self.highest.wrapping_sub(tsn) >= KNOWN || self.has(tsn) {
            return false;
        }
        self.mark(tsn, true);
        true
    }

    /// The next so many numbers were not sent: whole words of bits at a time, since a packet may skip many numbers often.
    fn forget_after_highest(&mut self, count: u32) {
        let mut step = 1;
        while step <= count {
            let number = self.highest.wrapping_add(step);
            let bit = number % KNOWN;
            if bit.is_multiple_of(64) && step + 63 <= count {
                self.seen[bit as usize / 64] = 0;
                step += 64;
            } else {
                self.mark(number, false);
                step += 1;
            }
        }
    }

    fn has(&self, tsn: u32) -> bool {
        let bit = tsn % KNOWN;
        self.seen[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    fn mark(&mut self, tsn: u32, is_seen: bool) {
        let bit = tsn % KNOWN;
        let word = &mut self.seen[bit as usize / 64];
        *word = *word & !(1 << (bit % 64)) | u64::from(is_seen) << (bit % 64);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use subflow_quantity::Duration;
    use subflow_wire::sctp::DataChunk;
    use subflow_wire::{Dscp, Ecn, IpHeader, TcpSegment};

    use super::*;

    fn packet(from: (u8, u16), to: (u8, u16), chunks: Vec<Chunk>) -> Packet {
        let [source, destination] = [from.0, to.0].map(|host| IpAddr::from([10, 0, 0, host]));
        let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let (source_port, destination_port) = (from.1, to.1);
        Packet { ip, body: Body::Sctp(SctpPacket { source_port, destination_port, chunks, ..SctpPacket::default() }) }
    }

    fn data(tsn: u32) -> Chunk {
        let mut data = DataChunk { tsn, ..DataChunk::default() };
        data.payload.length = 100;
        Chunk::Data(data)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn each_direction_has_its_packets_and_data_that_is_sent_again_counts_once() {
        let mut traffic = SctpTraffic::default();
        // Numbers pass the largest one, over two paths whose packets are read one path after the other.
        let largest = u32::MAX;
        traffic.count(&packet((1, 7000), (2, 9), vec![data(largest - 1), data(1)]), at(5));
        traffic.count(&packet((3, 7000), (4, 9), vec![data(largest), data(0), data(1), data(largest - 1)]), at(7));
        traffic.count(&packet((2, 9), (1, 7000), vec![Chunk::ShutdownComplete { reflected: false }]), at(9));
        traffic.count(&Packet { body: Body::Tcp(TcpSegment::default()), ..packet((1, 7), (2, 9), Vec::new()) }, at(9));
        let found: Vec<_> = traffic.by_ends().collect();
        let ends = |one: &str, other: &str| [one, other].map(|end| end.parse::<SocketAddr>().expect("an address"));
        let carried = |packets, data_bytes, new_bytes, repeated_chunks, ms, ended| SctpCarried {
            packets,
            data_bytes,
            new_bytes,
            repeated_chunks,
            began: at(ms),
            last: at(ms),
            ended,
        };
        let expected = [
            (ends("10.0.0.1:7000", "10.0.0.2:9"), carried(1, 200, 200, 0, 5, false)),
            (ends("10.0.0.2:9", "10.0.0.1:7000"), carried(1, 0, 0, 0, 9, true)),
            (ends("10.0.0.3:7000", "10.0.0.4:9"), carried(1, 400, 200, 2, 7, false)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_that_are_passed_over_have_not_been_sent() {
        let mut data = SentData::default();
        let mut highest = u32::MAX - 200;
        assert!(data.is_new(highest));
        for step in [1, 63, 64, 65, 130, 1000, KNOWN - 1, KNOWN, KNOWN + 70, 3] {
            // What has those bits now was sent before, all of it.
            (1..500).for_each(|back| {
                let _ = data.is_new(highest.wrapping_sub(back));
            });
            assert!(data.is_new(highest.wrapping_add(step)));
            let passed = step.min(KNOWN);
            assert!((1..passed).all(|back| !data.has(highest.wrapping_add(step - back))), "{step}");
            highest = highest.wrapping_add(step);
        }
    }

    #[test]
    fn numbers_far_below_the_highest_one_have_been_sent_before() {
        let mut sent = SentData::default();
        assert!(sent.is_new(5) && !sent.is_new(5));
        assert!(sent.is_new(5 + 3 * KNOWN) && !sent.is_new(5 + 2 * KNOWN) && !sent.is_new(5));
        assert!(sent.is_new(4 + 3 * KNOWN) && !sent.is_new(4 + 3 * KNOWN));
    }

    #[test]
    fn a_scan_of_all_ports_does_not_fill_the_memory() {
        let mut traffic = SctpTraffic::default();
        (0..3000).for_each(|port| traffic.count(&packet((1, 7000), (2, port), vec![data(1)]), at(1)));
        traffic.count(&packet((1, 7000), (2, 0), Vec::new()), at(2));
        let further = traffic.further().expect("there are more");
        assert_eq!((traffic.by_ends().count(), traffic.sent.len(), further.packets), (2000, 2000, 1000));
        assert_eq!(traffic.by_ends().next().map(|(_, carried)| carried.packets), Some(2), "what is known goes on");
    }
}
