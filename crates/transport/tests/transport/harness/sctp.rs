//! Hands on SCTP packets, and the check of what associations deliver: the right bytes, each once, in the order of their
//! stream.

use std::collections::{BTreeMap, BTreeSet};

use subflow_quantity::Instant;
use subflow_transport::sctp::{Association, Delivery};
use subflow_wire::sctp::{Chunk, DataChunk, SackChunk};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, SctpPacket};

use super::edge::pattern;
use super::{Fate, Pair};

/// A packet on its way out, to be looked at and changed.
pub(crate) struct LeavingSctp<'a> {
    pub(crate) from: usize,
    pub(crate) ecn: &'a mut Ecn,
    pub(crate) packet: &'a mut SctpPacket,
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(crate) struct SentSctp {
    pub(crate) at: Instant,
    pub(crate) from: usize,
    pub(crate) path: usize,
    pub(crate) ecn: Ecn,
    pub(crate) packet: SctpPacket,
}

type Tamper = Box<dyn FnMut(&mut LeavingSctp<'_>) -> Fate>;

/// What each side got.
#[derive(Debug, Default)]
struct Received {
    /// Bytes taken, by TSN, until they are delivered.
    chunks: BTreeMap<u64, (DataChunk, Vec<u8>)>,
    /// Offsets of what was delivered.
    delivered: BTreeSet<u64>,
    /// The end of what was last delivered in order, by stream.
    ends: BTreeMap<u16, u64>,
    bytes: u64,
}

/// What a pair does with SCTP packets.
#[derive(Default)]
pub(crate) struct Hooks {
    tampers: Vec<Tamper>,
    pub(crate) log: Vec<SentSctp>,
    /// Where the data of each TSN on the wire stands in what its sender wrote, by sender.
    offsets: [BTreeMap<u32, u64>; 2],
    received: [Received; 2],
}

impl Hooks {
    pub(super) fn tamper_with(&mut self, from: usize, ecn: &mut Ecn, packet: &mut SctpPacket) -> Fate {
        for data in packet.chunks.iter().filter_map(data_of) {
            self.offsets[from].insert(data.tsn, data.payload.stream_offset);
        }
        let mut fate = Fate::Pass;
        for tamper in &mut self.tampers {
            if fate != Fate::Drop {
                let next = tamper(&mut LeavingSctp { from, ecn, packet });
                fate = if next == Fate::Pass { fate } else { next };
            }
        }
        fate
    }

    pub(super) fn note(&mut self, sent: SentSctp, keep: bool) {
        if keep {
            self.log.push(sent);
        }
    }

    /// Keeps what `to` took of a packet, and checks what it delivers. `bytes` begin with the common header.
    pub(super) fn check(
        &mut self,
        to: usize,
        association: &mut Association,
        packet: &SctpPacket,
        bytes: &[u8],
        trust: bool,
    ) {
        let data = packet.chunks.iter().enumerate().filter_map(|(index, chunk)| Some((index, *data_of(chunk)?)));
        for ((index, data), range) in data.zip(packet.payload_ranges()) {
            let taken = association.taken_chunks().iter().find(|taken| taken.index == index);
            if let Some(taken) = taken {
                self.received[to].chunks.insert(taken.tsn, (data, bytes[range].to_vec()));
            }
        }
        while let Some(delivery) = association.poll_delivery() {
            self.check_delivery(to, &delivery, trust);
        }
        assert!(trust || self.received[to].bytes == association.bytes_received());
    }

    fn check_delivery(&mut self, to: usize, delivery: &Delivery, trust: bool) {
        let received = &mut self.received[to];
        let mut length = 0;
        for tsn in delivery.tsns.0..=delivery.tsns.1 {
            let (data, bytes) = received.chunks.remove(&tsn).expect("what is delivered was taken");
            length += bytes.len() as u64;
            if trust {
                continue;
            }
            let offset = self.offsets[1 - to][&data.tsn];
            for (at, &byte) in (offset..).zip(&bytes) {
                assert_eq!(byte, pattern(1 - to, at), "byte {at}");
            }
            assert!(received.delivered.insert(offset), "delivered twice: {offset}");
            if !delivery.unordered {
                let end = received.ends.entry(delivery.stream).or_default();
                assert!(offset >= *end, "stream {} goes back from {end} to {offset}", delivery.stream);
                *end = offset + bytes.len() as u64;
            }
        }
        assert_eq!(length, delivery.bytes);
        received.bytes += length;
    }
}

pub(crate) fn data_of(chunk: &Chunk) -> Option<&DataChunk> {
    match chunk {
        Chunk::Data(data) => Some(data),
        _ => None,
    }
}

/// The SACK of a packet, or what an NR-SACK has in common with one.
pub(crate) fn sack_of(packet: &SctpPacket) -> Option<&SackChunk> {
    packet.chunks.iter().find_map(|chunk| match chunk {
        Chunk::Sack(sack) => Some(sack),
        Chunk::NrSack(nr_sack) => Some(&nr_sack.sack),
        _ => None,
    })
}

pub(crate) fn has(packet: &SctpPacket, which: fn(&Chunk) -> bool) -> bool {
    packet.chunks.iter().any(which)
}

pub(crate) fn has_data(packet: &SctpPacket) -> bool {
    has(packet, |chunk| matches!(chunk, Chunk::Data(_)))
}

/// Drops the packets for which `which` holds, the first `times` of them.
pub(crate) fn drop_first(
    mut times: usize,
    mut which: impl FnMut(&LeavingSctp<'_>) -> bool + 'static,
) -> impl FnMut(&mut LeavingSctp<'_>) -> Fate {
    move |leaving| {
        if times > 0 && which(leaving) {
            times -= 1;
            return Fate::Drop;
        }
        Fate::Pass
    }
}

/// Drops the first transmissions of data packets with these numbers, counted from 0, of `from`; what is sent again
/// passes.
pub(crate) fn drop_data(from: usize, numbers: &[usize]) -> impl FnMut(&mut LeavingSctp<'_>) -> Fate + use<> {
    let numbers = numbers.to_vec();
    let mut seen: Vec<u32> = Vec::new();
    move |leaving| {
        let Some(tsn) = leaving.packet.chunks.iter().find_map(data_of).map(|data| data.tsn) else { return Fate::Pass };
        if leaving.from != from || seen.contains(&tsn) {
            return Fate::Pass;
        }
        seen.push(tsn);
        if numbers.contains(&(seen.len() - 1)) { Fate::Drop } else { Fate::Pass }
    }
}

impl Pair {
    /// Every SCTP packet that leaves from now on passes `tamper`.
    pub(crate) fn tamper_sctp(&mut self, tamper: impl FnMut(&mut LeavingSctp<'_>) -> Fate + 'static) {
        self.sctp.tampers.push(Box::new(tamper));
    }

    pub(crate) fn stop_tampering_sctp(&mut self) {
        self.sctp.tampers.clear();
    }

    /// A packet with these chunks as the peer of `to` would send it over the first path, with the tag that `to` gave in
    /// its last INIT or INIT ACK.
    pub(crate) fn sctp_packet_to(&self, to: usize, chunks: Vec<Chunk>) -> Packet {
        let opening = self.sctp.log.iter().rev().filter(|sent| sent.from == to).find_map(|sent| {
            sent.packet.chunks.iter().find_map(|chunk| match chunk {
                Chunk::Init(init) | Chunk::InitAck(init) => Some((init.initiate_tag, &sent.packet)),
                _ => None,
            })
        });
        let (verification_tag, like) = opening.expect("it has opened or answered");
        let (source_port, destination_port) = (like.destination_port, like.source_port);
        let body = SctpPacket {
            source_port,
            destination_port,
            verification_tag,
            encapsulation: like.encapsulation.map(|own| subflow_wire::sctp::UdpEncapsulation {
                source_port: own.destination_port,
                destination_port: own.source_port,
            }),
            may_fragment: false,
            chunks,
        };
        let (source, destination) = (self.address(1 - to, 0), self.address(to, 0));
        Packet {
            ip: IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
            body: Body::Sctp(body),
        }
    }

    /// [`sctp_packet_to`](Self::sctp_packet_to), changed by `change`, is on its way for a millisecond.
    pub(crate) fn inject_sctp(&mut self, to: usize, chunks: Vec<Chunk>, change: impl FnOnce(&mut SctpPacket)) {
        let mut packet = self.sctp_packet_to(to, chunks);
        if let Body::Sctp(body) = &mut packet.body {
            change(body);
        }
        self.inject(to, &packet, super::ms(1));
    }

    /// The packet that was sent `back` packets ago arrives once more, unchanged.
    pub(crate) fn repeat_sctp(&mut self, back: usize) {
        let Some(number) = self.sctp.log.len().checked_sub(1) else { return };
        let SentSctp { from, path, packet, .. } = self.sctp.log[number - back % (number + 1)].clone();
        let servers = self.addresses(1);
        let ends = [self.address(0, path / servers), self.address(1, path % servers)];
        let ip = IpHeader {
            source: ends[from],
            destination: ends[1 - from],
            hop_limit: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        };
        self.repeat(1 - from, &Packet { ip, body: Body::Sctp(packet) }, super::ms(1));
    }

    /// The SCTP packets that `from` has sent since `since`.
    pub(crate) fn sent_sctp(&self, from: usize, since: Instant) -> impl Iterator<Item = &SentSctp> {
        self.sctp.log.iter().filter(move |sent| sent.from == from && sent.at >= since)
    }
}
